"""One request against a ladder: match, cut, serve, fill, and the recency of the path.

An engine computes the rest of a prompt in one piece, so a hit is always a prefix: spans that are resident behind a gap
do not count, and a hit is cut where loading stops paying. Source: the design's replay rules.
"""

from array import array

from policy.cost import NEVER_NS
from policy.decisions import (
    APPROXIMATE_FAULT_CAUSE,
    ATTEND,
    BYPASSED,
    FAULT,
    FAULT_CAUSE,
    FILL,
    NO_DIRECTIVE,
    NO_REASON,
    OK,
    RESTORE,
    RESTORED,
    ROUTE,
    STREAM,
)
from policy.ladder import Ladder
from policy.lifecycle import serveable
from policy.lossy import lossy_serves
from policy.tiers import HBM, NO_TIER, TIER_COUNT


class Serving:
    """Serves requests from one ladder. A path is the spans of a request, root first."""

    def __init__(self, ladder: Ladder) -> None:
        self.ladder = ladder
        # One compression, one view: the gate gives one answer for every lossy span of the arm, if there can be any.
        self.refuses_lossy = int(ladder.rules.compress_ppm > 0 and not lossy_serves(ladder.rules))

    def begin(self, path: "array[int]") -> None:
        """A request begins: nothing of its path may be moved to make room."""
        ladder = self.ladder
        ladder.order.begin(path)
        for span in path:
            if ladder.held_bytes[span]:
                ladder.pinned_bytes[ladder.life.tier[span]] += ladder.held_bytes[span]

    def end(self, path: "array[int]", now: int) -> None:
        """The request is over. The path is touched from its deepest span to its root."""
        ladder = self.ladder
        ladder.order.end(path)
        for tier in range(TIER_COUNT):
            ladder.pinned_bytes[tier] = 0
        if ladder.rules.promote_accesses_per_1000_s:
            for span in path:
                ladder.promote_if_hot(span, now)

    def match(self, path: "array[int]") -> int:
        """How many leading spans of `path` are serveable, and served by the gate."""
        state = self.ladder.life.state
        refuses_lossy = self.refuses_lossy
        for at in range(len(path)):
            if not serveable(state[path[at]]) or (refuses_lossy and self.refused(path[at])):
                return at
        return len(path)

    def usable(self, span: int) -> bool:
        """Whether the span's copy, if there is one, may serve a request."""
        return serveable(self.ladder.life.state[span]) and not self.refused(span)

    def refused(self, span: int) -> bool:
        """Whether the gate refuses the span's copy as too lossy for how requests ask."""
        return bool(self.refuses_lossy and self.ladder.lossy[span])

    def discard(self, span: int, cause: int, now: int) -> None:
        """Drop a copy that did not serve its request: for `cause`, or because the gate refuses it."""
        self.ladder.drop(span, APPROXIMATE_FAULT_CAUSE if self.refused(span) else cause, now)

    def cut(self, path: "array[int]", run: int, output_tokens: int) -> int:
        """How much of the leading `run` is worth loading: the cut that saves most, the longest on a tie."""
        ladder = self.ladder
        saved_ns = 0
        most_ns = 0
        kept = 0
        for at in range(run):
            span = path[at]
            tier = ladder.life.tier[span]
            saved_ns += ladder.spans.recompute_ns[span]
            if tier != HBM:
                load_ns = self.load_ns(span, tier, output_tokens)
                if load_ns >= NEVER_NS:
                    break
                saved_ns -= load_ns
            if saved_ns >= most_ns:
                most_ns = saved_ns
                kept = at + 1
        return kept

    def load_ns(self, span: int, tier: int, output_tokens: int) -> int:
        """What using a span of a colder tier costs: the cheaper of restoring it and attending it in place."""
        costs = self.ladder.costs
        held_bytes = self.ladder.held_bytes[span]
        if self.attends(span, tier, output_tokens):
            return costs.attend_ns(tier, held_bytes, output_tokens)
        return costs.read_ns(tier, held_bytes)

    def attends(self, span: int, tier: int, output_tokens: int) -> bool:
        """Whether a span is used where it is: it can be, exactly as it is, and a restore is not cheaper."""
        ladder = self.ladder
        if not ladder.life.attendable[tier] or ladder.lossy[span]:
            return False
        held_bytes = ladder.held_bytes[span]
        restore_ns = ladder.costs.read_ns(tier, held_bytes)
        return restore_ns < NEVER_NS and ladder.costs.attend_ns(tier, held_bytes, output_tokens) <= restore_ns

    def serve(self, span: int, output_tokens: int, now: int) -> bool:
        """Use a span of the hit. False where reading it met a fault: its copy is then gone."""
        ladder = self.ladder
        tier = ladder.life.tier[span]
        held_bytes = ladder.held_bytes[span]
        if ladder.life.touch(span, now):
            ladder.revived_count += 1
            ladder.watch(span)
        if now < ladder.fault_until[tier]:
            ladder.journal.add(now, RESTORED, RESTORE, span, tier, HBM, FAULT, NO_REASON, 0)
            ladder.drop(span, FAULT_CAUSE, now)
            return False
        if tier == HBM:
            return True
        if self.attends(span, tier, output_tokens):
            ladder.journal.add(now, ATTEND, ROUTE, span, tier, tier, OK, NO_REASON, held_bytes)
        elif ladder.make_room(HBM, ladder.spans.size_bytes[span], now):
            ladder.restore(span, now)
        else:
            ladder.journal.add(now, STREAM, RESTORE, span, tier, HBM, OK, NO_REASON, held_bytes)
        return True

    def fill(self, span: int, now: int) -> bool:
        """A span that was computed enters HBM if room can be made there. False: it is bypassed."""
        ladder = self.ladder
        size_bytes = ladder.spans.size_bytes[span]
        if not ladder.make_room(HBM, size_bytes, now):
            ladder.lost_by[span] = BYPASSED
            return False
        ladder.life.start(span, HBM, now)
        ladder.life.mark_resident(span, now)
        ladder.lossy[span] = 0
        ladder.arrive(span, HBM, size_bytes)
        ladder.journal.add(now, FILL, NO_DIRECTIVE, span, NO_TIER, HBM, OK, NO_REASON, size_bytes)
        return True
