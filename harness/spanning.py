"""Cut the prefix forest of a trace into spans: maximal unbranched runs of blocks, the policy's unit.

A run also ends where some request ends, and at the first block boundary at or past `span_tokens` tokens from its own
start (0: one block per span). So a request touches whole spans only, and the work per request does not depend on
the block size. Span ids are dense, in order of first appearance in the replay.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from harness.trace import NO_BLOCK, Trace


@dataclass(slots=True)
class SpanTree:
    """Spans of a trace. Request `r` (in file order) walks `path[path_start[r]:path_start[r + 1]]`.

    `first_block[s]` and `block_count[s]` name the blocks of a span through `span_blocks`; `context_tokens[s]` is how
    many tokens lie in front of it.
    """

    tokens: array[int]
    context_tokens: array[int]
    stated_bytes: array[int]
    first_block: array[int]
    block_count: array[int]
    span_blocks: array[int]
    path_start: array[int]
    path: array[int]

    def __len__(self) -> int:
        return len(self.tokens)


def replay_order(trace: Trace) -> list[int]:
    """Request indices by time; file order breaks ties."""
    return sorted(range(trace.requests), key=trace.t_us.__getitem__)


def cut_spans(trace: Trace, order: list[int], span_tokens: int) -> SpanTree:
    """Build the spans of `trace`, numbered as `order` meets them."""
    starts_run = _run_starts(trace)
    path_start = trace.path_start
    path = trace.path
    block_tokens = trace.block_size_tokens
    block_bytes = trace.block_size_bytes
    span_of = array("q", [NO_BLOCK]) * len(block_tokens)

    tokens: array[int] = array("q")
    context: array[int] = array("q")
    stated: array[int] = array("q")
    first: array[int] = array("q")
    count: array[int] = array("q")
    blocks: array[int] = array("q")
    walked: dict[int, array[int]] = {}
    for request in order:
        spans: array[int] = array("q")
        at = path_start[request]
        end = path_start[request + 1]
        depth = 0
        while at < end:
            block = path[at]
            span = span_of[block]
            if span == NO_BLOCK:
                # A block that was never seen, so neither was anything behind it: the rest of the path is new.
                span = len(tokens)
                tokens.append(0)
                context.append(depth)
                stated.append(0)
                first.append(len(blocks))
                count.append(0)
                while True:
                    span_of[block] = span
                    blocks.append(block)
                    count[span] += 1
                    tokens[span] += block_tokens[block]
                    stated[span] += block_bytes[block]
                    at += 1
                    if at == end or starts_run[path[at]] or tokens[span] >= span_tokens:
                        break
                    block = path[at]
            else:
                at += count[span]
            spans.append(span)
            depth += tokens[span]
        walked[request] = spans

    paths: array[int] = array("q")
    starts: array[int] = array("q", [0])
    for request in range(trace.requests):
        paths.extend(walked[request])
        starts.append(len(paths))
    return SpanTree(tokens, context, stated, first, count, blocks, starts, paths)


def _run_starts(trace: Trace) -> bytearray:
    """1 for each block that begins a run: a root, a branch, or what follows where some request ends."""
    parents = trace.block_parent
    children = array("q", [0]) * len(parents)
    for parent in parents:
        if parent != NO_BLOCK:
            children[parent] += 1
    ends = bytearray(len(parents))
    path = trace.path
    for end in trace.path_start[1:]:
        if end:
            ends[path[end - 1]] = 1
    return bytearray(1 if parent == NO_BLOCK or children[parent] != 1 or ends[parent] else 0 for parent in parents)
