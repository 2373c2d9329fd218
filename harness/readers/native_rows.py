"""What nearly all lines of a native trace are: requests with blocks, and nothing that is rare."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.readers.bulk import Columns


class PlainRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A `request` in the namespace "". A line with any other field, or with another kind, is read on its own."""

    kind: Literal["request"]
    t_ms: int | float
    input_tokens: int
    blocks: list[int]
    output_tokens: int = 0
    session: str | None = None


def columns(rows: list[PlainRequest]) -> Columns:
    """The rows as columns."""
    return Columns(
        [row.t_ms for row in rows],
        [row.input_tokens for row in rows],
        [row.output_tokens for row in rows],
        [row.blocks for row in rows],
        [row.session for row in rows],
    )
