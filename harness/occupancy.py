"""What tiers hold over the trace: at most, on average, and at its end, over all replicas and pools of an arm."""

from __future__ import annotations

from harness.fleet import ArmResult
from harness.pool_book import Gauge
from policy.tiers import TIER_COUNT


def tiers_of(arm: ArmResult) -> list[int]:
    """The tiers that an arm uses, hot to cold."""
    return [tier for tier in range(TIER_COUNT) if arm.replicas[0].ladder.present[tier]]


def occupancy_bytes(arm: ArmResult, tier: int, duration_us: int) -> dict[str, int]:
    """Bytes in a tier, summed over its holders: of the peaks, what has to be there in all."""
    held = {"peak": 0, "mean": 0, "end": 0}
    for pool in arm.pools:
        if pool.state.tier == tier:
            for name, figure in over_time(pool.book.used_bytes, duration_us).items():
                held[name] += figure
    for replica in arm.replicas:
        books = replica.ledger
        held["peak"] += books.peak_bytes[tier]
        held["mean"] += _mean(books.byte_us[tier], books.used_bytes[tier], duration_us)
        held["end"] += books.used_bytes[tier]
    return held


def over_time(gauge: Gauge, duration_us: int) -> dict[str, int]:
    """Peak, mean and end of a gauge."""
    return {"peak": gauge.peak, "mean": _mean(gauge.byte_us, gauge.value, duration_us), "end": gauge.value}


def _mean(byte_us: int, end_bytes: int, duration_us: int) -> int:
    return byte_us // duration_us if duration_us else end_bytes
