"""The one way to print a table: the same bytes whatever the terminal, the environment and the data say."""

from __future__ import annotations

import io

from rich.box import ASCII2
from rich.console import Console
from rich.table import Table


def new_grid() -> Table:
    """An empty table with ASCII rules and no frame."""
    return Table(box=ASCII2, show_edge=False)


def printed(grid: Table, width: int) -> str:
    """`grid` as text at most `width` wide, trailing blanks stripped, without a final newline."""
    stream = io.StringIO()
    # rich would otherwise take colour and width from the environment, and markup from the data.
    console = Console(
        file=stream, width=width, color_system=None, force_terminal=False, markup=False, emoji=False, highlight=False
    )
    console.print(grid)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())
