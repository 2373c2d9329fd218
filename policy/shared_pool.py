"""A tier that several hosts share: which spans it holds, each once for all of them.

A pool is memory and an order of use, no planner: the host that needs room in it decides, on its own ladder, where the
pool's least recently used span goes (`policy.pooled_ladder`). Source: memory pools behind a CXL switch, and remote KV
stores (Mooncake). Left out: contention for the pool's own link, and the failure of a pool as a whole.
"""

from array import array

from policy.decisions import COLD
from policy.recency import Recency


class FleetClock:
    """Counts the touches and the losses of all who share pools, so that of two the later can be told."""

    def __init__(self) -> None:
        self.touches = 0
        self.losses = 0

    def loss(self) -> int:
        """The number of a loss: larger than that of any before."""
        self.losses += 1
        return self.losses


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
        # Why a span was lost here last, and the number of that loss; `COLD` where it never was.
        self.lost_by = array("q", [COLD]) * spans
        self.lost_at = array("q", [0]) * spans

    def admit(self, span: int, size_bytes: int, lossy: int, stamp: int) -> None:
        """A span that was not here is here now; room was made for it. `stamp` is its age where it was."""
        self.free_bytes -= size_bytes
        self.held_bytes[span] = size_bytes
        self.lossy[span] = lossy
        self.order.stamp[span] = max(self.order.stamp[span], stamp)
        if self.order.pinned[span]:
            self.pinned_bytes += size_bytes
        self.order.enter(span, self.tier)

    def remove(self, span: int, cause: int, loss: int) -> None:
        """A span that was here is here no more, because of `cause`: the loss of that number."""
        size_bytes = self.held_bytes[span]
        self.free_bytes += size_bytes
        if self.order.pinned[span]:
            self.pinned_bytes -= size_bytes
        self.held_bytes[span] = 0
        self.lost_by[span] = cause
        self.lost_at[span] = loss
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
