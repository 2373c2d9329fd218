"""The prefix tree of some paths cut into spans, naively: from the design's text, by searching."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

Block = TypeVar("Block", bound=Hashable)


def naive_spans(
    paths: Sequence[Sequence[Block]], tokens: Mapping[Block, int], span_tokens: int
) -> list[tuple[Block, ...]]:
    """Maximal unbranched runs of blocks, each a tuple, in order of first appearance.

    A run also ends where some path ends, and with the block that brings it to `span_tokens` (0: every block).
    """
    children: dict[Block, list[Block]] = {}
    ends = [path[-1] for path in paths if path]
    for path in paths:
        for parent, child in pairwise(path):
            if child not in children.setdefault(parent, []):
                children[parent].append(child)
    spans: list[tuple[Block, ...]] = []
    for path in paths:
        run: list[Block] = []
        for block in path:
            run.append(block)
            full = sum(tokens[member] for member in run) >= span_tokens
            if full or block in ends or len(children[block]) > 1:
                if tuple(run) not in spans:
                    spans.append(tuple(run))
                run = []
        assert not run, "the last block of a path ends a run"
    return spans
