"""Tables for a terminal or a file: ASCII, no colour, as wide as they need, the same bytes everywhere."""

from __future__ import annotations

import io
from typing import Any

from rich.box import ASCII2
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from harness.render.text import printable
from harness.render.view import Table, build_view

# Wide enough that no cell is ever cut or wrapped, whatever the terminal: the bytes may not depend on it.
_WIDTH = 400


def render_table(report: dict[str, Any]) -> str:
    """The view of a report as ASCII tables."""
    view = build_view(report)
    parts = ["\n".join(printable(line) for line in view.before)]
    parts += [f"{table.title}\n{ascii_table(table)}" for table in view.tables]
    parts.append("\n".join(printable(line) for line in view.after))
    return "\n\n".join(parts) + "\n"


def ascii_table(table: Table) -> str:
    """One table, without its title and without a final newline."""
    grid = RichTable(box=ASCII2, show_edge=False)
    for index, column in enumerate(table.columns):
        grid.add_column(Text(column), justify="left" if index < table.left else "right", no_wrap=True)
    for row in table.rows:
        grid.add_row(*(Text(printable(cell)) for cell in row))
    stream = io.StringIO()
    # Pinned: rich would otherwise take colour and width from the environment, and markup from the data.
    console = Console(
        file=stream, width=_WIDTH, color_system=None, force_terminal=False, markup=False, emoji=False, highlight=False
    )
    console.print(grid)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())
