"""How busy tiers and links are: the time that everything which moved needs of them, as a share of the trace's duration.

Derived from the sums of the ledger's moves, so each sum is rounded down once. A move keeps both of its tiers busy,
each for its own time; a read in place is one read for the prefill and one for each output token.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.engine import Engine, LinkLimit
from harness.ledger import Books, split_move_key
from policy.cost import PPM
from policy.decisions import ATTEND, DEDUPE, DROP, EVICT, FAULT, FILL
from policy.tiers import DRAM, HBM, LADDER, TIER_COUNT


class Traffic:
    """Operations and bytes by tier, and bytes by direction between two tiers."""

    def __init__(self, books: Books) -> None:
        self.operations = [books.decode_reads[tier] for tier in range(TIER_COUNT)]
        self.size_bytes = [books.decode_read_bytes[tier] for tier in range(TIER_COUNT)]
        self.crossed_bytes: dict[tuple[int, int], int] = {}
        for tier in range(HBM + 1, TIER_COUNT):
            self._cross(tier, HBM, books.decode_read_bytes[tier])
        for key, count in enumerate(books.move_count):
            if count:
                self._add(key, count, books.move_bytes[key])

    def _add(self, key: int, count: int, size_bytes: int) -> None:
        action, _, source, destination, outcome = split_move_key(key)
        if action in (FILL, EVICT, DROP, DEDUPE):
            return
        self.operations[source] += count
        self.size_bytes[source] += size_bytes
        if outcome == FAULT:
            # It cost the tier a latency, and no byte came.
            return
        if action == ATTEND:
            self._cross(source, HBM, size_bytes)
            return
        self.operations[destination] += count
        self.size_bytes[destination] += size_bytes
        self._cross(source, destination, size_bytes)

    def _cross(self, source: int, destination: int, size_bytes: int) -> None:
        self.crossed_bytes[source, destination] = self.crossed_bytes.get((source, destination), 0) + size_bytes


def engine_busy_ppm(books: Books, duration_us: int) -> int:
    """Parts per million of the trace that the engine needs for prefill and slower reads alone; 0 without a duration."""
    return _share_ppm(books.prefill_ns + books.attend_ns, duration_us) if duration_us else 0


def tier_utilisation_ppm(engine: Engine, books: Books, tiers: list[int], duration_us: int) -> dict[str, int]:
    """Parts per million for which each of `tiers` is busy; empty where the trace has no duration."""
    if not duration_us:
        return {}
    traffic = Traffic(books)
    busy = {}
    for tier in tiers:
        profile = engine.profiles[tier]
        ns = traffic.operations[tier] * profile.read_latency_ns
        if profile.bandwidth_mb_s > 0:
            ns += traffic.size_bytes[tier] * 1000 // profile.bandwidth_mb_s
        busy[LADDER[tier]] = _share_ppm(ns, duration_us)
    return busy


def link_utilisation_ppm(engine: Engine, books: Books, duration_us: int) -> dict[str, int]:
    """The same for links: the busier of the two ways, or both together where a link has a bound for that.

    The link between HBM and DRAM is the accelerator's own (PCIe, C2C): whatever enters or leaves HBM crosses it.
    """
    if not duration_us:
        return {}
    crossed = Traffic(books).crossed_bytes
    return {
        f"{LADDER[link.hotter]}-{LADDER[link.colder]}": _share_ppm(_link_ns(link, crossed), duration_us)
        for link in engine.links
    }


def busiest(shares: Iterable[dict[str, int]]) -> dict[str, int]:
    """Of the shares of several replicas, the largest at each place."""
    found: dict[str, int] = {}
    for share in shares:
        for place, ppm in share.items():
            found[place] = max(found.get(place, 0), ppm)
    return found


def _link_ns(link: LinkLimit, crossed: dict[tuple[int, int], int]) -> int:
    if (link.hotter, link.colder) == (HBM, DRAM):
        down = sum(size_bytes for (source, _), size_bytes in crossed.items() if source == HBM)
        up = sum(size_bytes for (_, destination), size_bytes in crossed.items() if destination == HBM)
    else:
        down = crossed.get((link.hotter, link.colder), 0)
        up = crossed.get((link.colder, link.hotter), 0)
    ns = max(down * 1000 // link.down_mb_s, up * 1000 // link.up_mb_s)
    if link.both_mb_s:
        ns = max(ns, (down + up) * 1000 // link.both_mb_s)
    return ns


def _share_ppm(busy_ns: int, duration_us: int) -> int:
    return busy_ns * PPM // (duration_us * 1000)
