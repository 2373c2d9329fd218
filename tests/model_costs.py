"""The design's costs, in nanoseconds, for the naive model: one machine, its tiers by name."""

from __future__ import annotations

from harness.engine import Engine
from policy.profiles import TierProfile

TIERS = ("hbm", "dram", "numa_far", "cxl", "disk", "remote")
NEVER_CHEAP_NS = 2**62


class Costs:
    """What moving and reading bytes costs between the tiers of a machine, narrowed by its links."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.profiles: dict[str, TierProfile] = {TIERS[code]: profile for code, profile in engine.profiles.items()}

    def attendable(self, tier: str) -> bool:
        return self.profiles[tier].byte_addressable and self.profiles[tier].coherent

    def bandwidth(self, source: str, to: str) -> int:
        """What a transfer gets: the colder tier's figure, or where there is a link the narrowest of it and both."""
        for link in self.engine.links:
            ends = self.profiles[source].bandwidth_mb_s, self.profiles[to].bandwidth_mb_s
            if (source, to) == (TIERS[link.hotter], TIERS[link.colder]):
                return min(link.down_mb_s, *ends)
            if (to, source) == (TIERS[link.hotter], TIERS[link.colder]):
                return min(link.up_mb_s, *ends)
        return self.profiles[max(source, to, key=TIERS.index)].bandwidth_mb_s

    def transfer_ns(self, size_bytes: int, source: str, to: str) -> int:
        """At the colder tier's figures: the destination's on the way down, the source's for a restore."""
        bandwidth = self.bandwidth(source, to)
        if bandwidth <= 0:
            return NEVER_CHEAP_NS
        colder = max(source, to, key=TIERS.index)
        return self.profiles[colder].read_latency_ns + size_bytes * 1000 // bandwidth

    def restore_ns(self, size_bytes: int, tier: str) -> int:
        return self.transfer_ns(size_bytes, tier, "hbm")

    def attend_ns(self, size_bytes: int, tier: str, output_tokens: int) -> int:
        slower = max(0, self.restore_ns(size_bytes, tier) - self.restore_ns(size_bytes, "hbm"))
        return (1 + output_tokens) * slower

    def load(self, size_bytes: int, tier: str, output_tokens: int) -> tuple[int, str]:
        """What using bytes in a tier costs beyond HBM, and the way: hbm, attend or restore."""
        if tier == "hbm":
            return 0, "hbm"
        restore = self.restore_ns(size_bytes, tier)
        attend = self.attend_ns(size_bytes, tier, output_tokens)
        if self.attendable(tier) and attend <= restore:
            return attend, "attend"
        return restore, "restore"
