"""The same view as Markdown, for a pull request or an issue."""

from __future__ import annotations

import re
from typing import Any

from harness.render.tables import Table
from harness.render.text import printable
from harness.render.view import View, build_view

# What begins markup, an automatic link, a mention, a formula or an emoji somewhere; a point makes links and lists.
_SPECIAL = "\\`*_{}[]<>#|~!&@$:"
_POINT = re.compile(r"\.(?!\d)|(?<!\d)\.")


def render_markdown(report: dict[str, Any]) -> str:
    """The view of a report as Markdown."""
    return view_as_markdown(build_view(report))


def view_as_markdown(view: View) -> str:
    """Any view as Markdown."""
    parts = ["\n".join(f"* {_escaped(line.strip())}" for line in view.before if line)]
    parts += [f"### {table.title}\n\n{_table(table)}" for table in view.tables]
    parts.append("\n".join(f"* {_escaped(line)}" for line in view.after))
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    rules = ["---" if index < table.left else "---:" for index in range(len(table.columns))]
    lines = [[_escaped(cell) for cell in table.columns], rules]
    lines += [[_escaped(cell) for cell in row] for row in table.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escaped(text: str) -> str:
    escaped = "".join("\\" + character if character in _SPECIAL else character for character in printable(text))
    return _POINT.sub(r"\\.", escaped)
