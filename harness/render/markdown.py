"""The same view as Markdown, for a pull request or an issue."""

from __future__ import annotations

from typing import Any

from harness.render.text import printable
from harness.render.view import Table, build_view

_SPECIAL = "\\`*_{}[]<>#|~!&"


def render_markdown(report: dict[str, Any]) -> str:
    """The view of a report as Markdown."""
    view = build_view(report)
    parts = ["\n".join(f"* {_escaped(line)}" for line in view.before)]
    parts += [f"### {table.title}\n\n{_table(table)}" for table in view.tables]
    parts.append("\n".join(f"* {_escaped(line)}" for line in view.after))
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    rules = ["---" if index < table.left else "---:" for index in range(len(table.columns))]
    lines = [[_escaped(cell) for cell in table.columns], rules]
    lines += [[_escaped(cell) for cell in row] for row in table.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escaped(text: str) -> str:
    return "".join("\\" + character if character in _SPECIAL else character for character in printable(text))
