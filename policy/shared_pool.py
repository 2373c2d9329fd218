"""A tier that several hosts share: which spans it holds, each once for all of them.

A pool is memory and an order of use, no planner: the host that needs room in it decides, on its own ladder, where the
pool's least recently used span goes (`policy.pooled_ladder`). Source: memory pools behind a CXL switch, and remote KV
stores (Mooncake). Left out: contention for the pool's own link, and the failure of a pool as a whole.
"""

from array import array

from policy.decisions import COLD
from policy.recency import Recency


class SharedPool:
    """The spans of one tier, for the hosts that reach it. `in_place`: whether they can be attended where they are."""

    def __init__(self, tier: int, capacity_bytes: int, in_place: int, spans: int) -> None:
        self.tier = tier
        self.capacity_bytes = capacity_bytes
        # What it may hold: its capacity less what others hold of it; and what of that is free.
        self.limit_bytes = capacity_bytes
        self.free_bytes = capacity_bytes
        self.in_place = in_place
        self.order = Recency(spans)
        # Of what the running request uses: bytes that may not be moved.
        self.pinned_bytes = 0
        self.held_bytes = array("q", [0]) * spans
        self.lossy = bytearray(spans)
        # Why a span that was here is not any more; `COLD` where it moved on, or never was.
        self.lost_by = array("q", [COLD]) * spans

    def admit(self, span: int, size_bytes: int, lossy: int) -> None:
        """A span that was not here is here now; room was made for it."""
        self.free_bytes -= size_bytes
        self.held_bytes[span] = size_bytes
        self.lossy[span] = lossy
        self.lost_by[span] = COLD
        if self.order.pinned[span]:
            self.pinned_bytes += size_bytes
        self.order.enter(span, self.tier)

    def remove(self, span: int, cause: int) -> None:
        """A span that was here is here no more, because of `cause`."""
        size_bytes = self.held_bytes[span]
        self.free_bytes += size_bytes
        if self.order.pinned[span]:
            self.pinned_bytes -= size_bytes
        self.held_bytes[span] = 0
        self.lost_by[span] = cause
        self.order.leave(span)

    def begin(self, path: "array[int]") -> None:
        """A request of one of the hosts begins: nothing of its path may be moved to make room."""
        self.order.begin(path)
        for span in path:
            self.pinned_bytes += self.held_bytes[span]

    def end(self, path: "array[int]") -> None:
        """The request is over. Its path is touched from its deepest span to its root, whoever asked."""
        self.order.end(path)
        self.pinned_bytes = 0

    def used_bytes(self) -> int:
        """What it holds."""
        return self.limit_bytes - self.free_bytes
