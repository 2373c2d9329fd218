"""What of a trace comes back: one walk over its requests in replay order.

The walk is over spans, unbranched runs of blocks that every request touches whole (`harness.spanning`), which is what
makes long prompts cheap. What is said of a span is then said of each of its blocks: the time of its last use is that
of all of them, and of their stack distances (`policy.stack_distance`) each is its neighbour's plus its own tokens.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.spanning import SpanTree, cut_spans
from harness.stats.counts import Counts
from harness.trace import MAX_TOKENS, Trace
from policy.cost import PPM
from policy.stack_distance import StackDistances

_NEVER = -1
# No distance is "near": what a sample would rest on is of no interest here.
_NOTHING_FAR = 2**62


@dataclass(slots=True)
class Tally:
    """So many blocks, and the tokens in them."""

    blocks: int = 0
    tokens: int = 0

    def add(self, blocks: int, tokens: int) -> None:
        """Count some more."""
        self.blocks += blocks
        self.tokens += tokens


@dataclass(slots=True)
class Reuse:
    """What the walk found. Columns of spans go by the ids of `tree`; those of requests are in file order."""

    tree: SpanTree
    references: Tally = field(default_factory=Tally)
    # Used before, wherever it stands in its request; and only behind blocks that were.
    seen: Tally = field(default_factory=Tally)
    leading: Tally = field(default_factory=Tally)
    # Requests that were seen to the last token, which has to be computed all the same.
    obligatory: int = 0
    # Who used it last: this session, another, or one of the two is not stated.
    same_session: Tally = field(default_factory=Tally)
    other_session: Tally = field(default_factory=Tally)
    no_session: Tally = field(default_factory=Tally)
    seen_tokens: array[int] = field(default_factory=lambda: array("q"))
    gap_us: Counts = field(default_factory=Counts)
    distance_tokens: Counts = field(default_factory=Counts)
    uses: array[int] = field(default_factory=lambda: array("q"))
    # By span: the request, as a place in the order, of its first use and of its last; and the root it hangs on.
    first_at: array[int] = field(default_factory=lambda: array("q"))
    last_at: array[int] = field(default_factory=lambda: array("q"))
    root: array[int] = field(default_factory=lambda: array("q"))


def find_reuse(trace: Trace, order: Sequence[int]) -> Reuse:
    """Walk `trace` in `order`, which is that of time."""
    tree = cut_spans(trace, list(order), MAX_TOKENS)
    spans = len(tree)
    never = array("q", [_NEVER]) * spans
    found = Reuse(tree, first_at=never[:], last_at=never[:], root=never[:])
    found.uses = array("q", [0]) * spans
    found.seen_tokens = array("q", [0]) * trace.requests
    distances = StackDistances(tree.tokens, tree.tokens, PPM, _NOTHING_FAR)
    whole = _whole_spans(trace, tree)
    reported = 0
    for place, request in enumerate(order):
        path = tree.path[tree.path_start[request] : tree.path_start[request + 1]]
        if not path:
            continue
        tail = trace.unidentified_tokens[request]
        distances.request(path, 1 if tail else 0)
        # The stack reports the spans that it knows, which are the first of the path, in its order.
        for span, distance in zip(path, distances.distance_bytes[reported:], strict=False):
            _count_distances(found, trace, span, distance, whole[span])
        reported = len(distances.distance_bytes)
        _use(found, trace, order, place, path)
    found.obligatory = distances.obligatory_tokens
    return found


def _use(found: Reuse, trace: Trace, order: Sequence[int], place: int, path: array[int]) -> None:
    """One request uses the spans of `path`."""
    tree, request = found.tree, order[place]
    leads = True
    for span in path:
        blocks, tokens = tree.block_count[span], tree.tokens[span]
        found.references.add(blocks, tokens)
        before = found.last_at[span]
        if before == _NEVER:
            leads = False
            found.first_at[span] = place
            found.root[span] = path[0]
        else:
            found.seen.add(blocks, tokens)
            found.seen_tokens[request] += tokens
            found.gap_us.add(trace.t_us[request] - trace.t_us[order[before]], blocks)
            if leads:
                found.leading.add(blocks, tokens)
            _who(found, trace.session[request], trace.session[order[before]]).add(blocks, tokens)
        found.last_at[span] = place
        found.uses[span] += 1


def _who(found: Reuse, session: int, before: int) -> Tally:
    if session < 0 or before < 0:
        return found.no_session
    return found.same_session if session == before else found.other_session


def _whole_spans(trace: Trace, tree: SpanTree) -> bytearray:
    """1 for each span whose blocks are all whole: their distances are evenly spaced."""
    sizes, whole = trace.block_size_tokens, trace.block_tokens
    return bytearray(
        all(sizes[block] == whole for block in tree.span_blocks[first : first + count])
        for first, count in zip(tree.first_block, tree.block_count, strict=True)
    )


def _count_distances(found: Reuse, trace: Trace, span: int, distance: int, whole: int) -> None:
    """The distances of a span's blocks: the last one's is the span's own, the one before it has as many tokens less."""
    tree, counts = found.tree, found.distance_tokens
    upto = distance - tree.tokens[span]
    if whole:
        counts.add_each(range(upto + trace.block_tokens, distance + 1, trace.block_tokens))
        return
    first = tree.first_block[span]
    for block in tree.span_blocks[first : first + tree.block_count[span]]:
        upto += trace.block_size_tokens[block]
        counts.add(upto)
