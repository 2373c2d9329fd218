"""What moving and reading cost between the tiers of one machine, as flat columns of latency and bandwidth.

A move is charged at the figures of the colder of its two tiers: the destination's on the way down, the source's for a
restore. A read in place is a restore that leaves the bytes where they are. Where the machine has a link between the
two tiers, the narrowest of link and tiers counts.
"""

from array import array

from policy.cost import attend_extra_ns, stage_ns
from policy.tiers import HBM, TIER_COUNT


class TierCosts:
    """Costs by tier. `bandwidth[source * TIER_COUNT + destination]` is what a move between the two gets, in MB/s."""

    def __init__(self, latency_ns: "array[int]", bandwidth_mb_s: "array[int]") -> None:
        self.latency_ns = latency_ns
        self.own_bandwidth_mb_s = bandwidth_mb_s
        self.bandwidth_mb_s = array("q", [0]) * (TIER_COUNT * TIER_COUNT)
        for source in range(TIER_COUNT):
            for destination in range(TIER_COUNT):
                charged = max(source, destination)
                self.bandwidth_mb_s[source * TIER_COUNT + destination] = bandwidth_mb_s[charged]

    def narrow(self, source: int, destination: int, link_mb_s: int) -> None:
        """A link from `source` to `destination`: moves that way get the narrowest of it and both tiers."""
        at = source * TIER_COUNT + destination
        both = min(self.own_bandwidth_mb_s[source], self.own_bandwidth_mb_s[destination])
        self.bandwidth_mb_s[at] = min(link_mb_s, both)

    def move_ns(self, source: int, destination: int, size_bytes: int) -> int:
        """Time of moving `size_bytes` between two tiers, at the figures of the colder one."""
        colder = source if source > destination else destination
        return stage_ns(size_bytes, self.latency_ns[colder], self.bandwidth_mb_s[source * TIER_COUNT + destination])

    def read_ns(self, tier: int, size_bytes: int) -> int:
        """Time of bringing `size_bytes` from `tier` to HBM, or of one read of them where they are."""
        return stage_ns(size_bytes, self.latency_ns[tier], self.bandwidth_mb_s[tier * TIER_COUNT + HBM])

    def attend_ns(self, tier: int, size_bytes: int, output_tokens: int) -> int:
        """Extra time of using a span in `tier` instead of HBM for a prefill and `output_tokens` decode steps."""
        return attend_extra_ns(self.read_ns(tier, size_bytes), self.read_ns(HBM, size_bytes), output_tokens)
