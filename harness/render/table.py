"""Tables for a terminal or a file: ASCII, no colour, as wide as they need, the same bytes everywhere."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from harness.render.pinned import new_grid, printed
from harness.render.tables import Table
from harness.render.text import printable
from harness.render.view import View, build_view

# Wide enough that no cell is ever cut or wrapped, whatever the terminal: the bytes may not depend on it.
_WIDTH = 4000


def render_table(report: dict[str, Any]) -> str:
    """The view of a report as ASCII tables."""
    return view_as_table(build_view(report))


def view_as_table(view: View) -> str:
    """Any view as ASCII tables."""
    parts = ["\n".join(printable(line) for line in view.before)]
    parts += [f"{table.title}\n{ascii_table(table)}" for table in view.tables]
    parts.append("\n".join(printable(line) for line in view.after))
    return "\n\n".join(parts) + "\n"


def ascii_table(table: Table) -> str:
    """One table, without its title and without a final newline."""
    grid = new_grid()
    for index, column in enumerate(table.columns):
        grid.add_column(Text(column), justify="left" if index < table.left else "right", no_wrap=True)
    for row in table.rows:
        grid.add_row(*(Text(printable(cell)) for cell in row))
    return printed(grid, _WIDTH)
