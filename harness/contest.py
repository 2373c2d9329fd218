"""Blocks that several classes of an isolation ask for, by span: what one class's copy would have been to another.

Two classes agree in a leading part of the axes, in the order of comparison, and the first axis in which they differ is
why the gate refuses. So the classes that agree in as much are a group, and a group's members need no comparing.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from harness.isolation import Isolated
from harness.spanning import SpanTree
from policy.identity import AXIS_NAMES, Identity


@dataclass(frozen=True, slots=True)
class Contest:
    """Span `s` has the contested blocks `content[start[s]:start[s + 1]]`, of `tokens` each, and is its class's own.

    `groups[c]` are the groups of class `c`, those that agree with it in most axes first; there are `group_count`.
    """

    isolated: Isolated
    owner: array[int]
    start: array[int]
    content: array[int]
    tokens: array[int]
    groups: tuple[tuple[int, ...], ...]
    group_count: int


def contest_of(isolated: Isolated, tree: SpanTree) -> Contest | None:
    """The contested blocks of every span; None where no block is, so that nobody need ask."""
    if not isolated.separates:
        return None
    asked_by = array("q", [0]) * len(isolated.source.block_parent)
    for block in isolated.content:
        asked_by[block] += 1
    owner, start, content, tokens = array("q"), array("q", [0]), array("q"), array("q")
    for first, count in zip(tree.first_block, tree.block_count, strict=True):
        for part in tree.span_blocks[first : first + count]:
            block = isolated.content[part]
            if asked_by[block] > 1:
                content.append(block)
                tokens.append(isolated.trace.block_size_tokens[part])
        owner.append(isolated.owner[tree.span_blocks[first]])
        start.append(len(content))
    if not content:
        return None
    groups, group_count = _groups(isolated)
    return Contest(isolated, owner, start, content, tokens, groups, group_count)


def _groups(isolated: Isolated) -> tuple[tuple[tuple[int, ...], ...], int]:
    order = [axis for axis in AXIS_NAMES if len({getattr(identity, axis) for identity in isolated.classes}) > 1]
    numbers: dict[tuple[int, Identity], int] = {}
    groups = tuple(
        tuple(
            numbers.setdefault((depth, identity.only(order[:depth])), len(numbers))
            for depth in range(len(order) - 1, -1, -1)
        )
        for identity in isolated.classes
    )
    return groups, len(numbers)
