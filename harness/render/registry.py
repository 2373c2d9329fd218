"""Every form a report can be printed in. A new one is one file beside this and one row here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.documents import canonical_bytes


def _table(report: dict[str, Any]) -> str:
    # rich takes a while to load, and only this form needs it.
    from harness.render.table import render_table

    return render_table(report)


def _json(report: dict[str, Any]) -> str:
    return canonical_bytes(report).decode()


def _markdown(report: dict[str, Any]) -> str:
    from harness.render.markdown import render_markdown

    return render_markdown(report)


RENDERERS: dict[str, Callable[[dict[str, Any]], str]] = {
    "table": _table,
    "json": _json,
    "markdown": _markdown,
}
