"""What a well-formed machine may still get wrong: nonsense that no schema sees, and figures worth a second look."""

from __future__ import annotations

from collections.abc import Iterator

from harness.catalog.findings import Finding
from harness.catalog.machine import Link, Machine
from harness.catalog.magnitude import (
    GFLOPS,
    GIBIBYTE,
    MEGABYTES,
    MEMORY_RATE,
    PARTS,
    USD_PER_GB,
    USD_PER_HOUR,
    WEAR,
    too_small,
)
from policy.tiers import HBM, tier_code


def machine_errors(machine: Machine, path: str) -> Iterator[Finding]:
    """Why a machine cannot be used, in the order of its fields."""
    yield from _accelerator_errors(machine, f"{path}.accelerators")
    for name, tier in machine.tiers.present():
        yield from too_small(tier.capacity_bytes, f"{path}.tiers.{name}.capacity_bytes", GIBIBYTE)
    yield from _hbm_errors(machine, path)
    seen: dict[tuple[str, str], int] = {}
    for index, link in enumerate(machine.links):
        where = f"{path}.links[{index}]"
        first = seen.setdefault((link.a, link.b), index)
        if first != index:
            yield Finding(where, f"{link.a}-{link.b} is already listed as links[{first}]; keep one of them")
        yield from _link_errors(machine, link, where)
    yield from _price_errors(machine, f"{path}.price")


def machine_warnings(machine: Machine, path: str) -> Iterator[Finding]:
    """Tiers that are slower than a colder one, in latency and then in bandwidth, each naming the faster ones."""
    tiers = machine.tiers.present()
    latencies = [(name, tier.read_latency_ns.value) for name, tier in tiers]
    yield from _slower_than_colder(latencies, -1, "ns", f"{path}.tiers", "read_latency_ns")
    rates = [(name, _rate_from_hbm(machine, name)) for name, _ in tiers]
    yield from _slower_than_colder(rates, 1, "MB/s", f"{path}.tiers", "bandwidth_mb_s")


def _slower_than_colder(
    figures: list[tuple[str, int]], better: int, unit: str, path: str, field: str
) -> Iterator[Finding]:
    """Every pair of tiers, adjacent or not; `better` is the sign of an improvement."""
    for index, (name, value) in enumerate(figures):
        colder = figures[index + 1 :]
        faster = [f"{other} ({found} {unit})" for other, found in colder if (found - value) * better > 0]
        if faster:
            yield Finding(
                f"{path}.{name}.{field}.value",
                f"{name} ({value} {unit}) is slower than the colder {' and '.join(faster)}; "
                "correct a slip, or keep it: the ladder goes by rank, not by speed",
            )


def _accelerator_errors(machine: Machine, path: str) -> Iterator[Finding]:
    group = machine.accelerators
    if group is None:
        return
    if group.memory_bytes.value == 0:
        yield Finding(
            f"{path}.memory_bytes.value", "0 is an accelerator without memory; give the bytes of one accelerator"
        )
    yield from too_small(group.memory_bytes, f"{path}.memory_bytes", GIBIBYTE)
    yield from too_small(group.memory_bandwidth_mb_s, f"{path}.memory_bandwidth_mb_s", MEMORY_RATE)
    yield from too_small(group.bf16_dense_gflops, f"{path}.bf16_dense_gflops", GFLOPS)
    if group.fp8_dense_gflops is not None:
        bf16, fp8 = group.bf16_dense_gflops.value, group.fp8_dense_gflops.value
        if fp8 < bf16:
            yield Finding(
                f"{path}.fp8_dense_gflops.value", f"{fp8} is slower than bf16_dense_gflops {bf16}; check both"
            )
    yield from too_small(group.mfu_ppm, f"{path}.mfu_ppm", PARTS)
    yield from too_small(group.kv_memory_utilisation_ppm, f"{path}.kv_memory_utilisation_ppm", PARTS)
    yield from too_small(group.overhead_bytes, f"{path}.overhead_bytes", MEGABYTES)


def _hbm_errors(machine: Machine, path: str) -> Iterator[Finding]:
    """The tier `hbm` is the memory of one accelerator: as large, and at most as fast."""
    if machine.accelerators is None:
        return
    capacity, memory = machine.tiers.hbm.capacity_bytes.value, machine.accelerators.memory_bytes.value
    rate, memory_rate = machine.tiers.hbm.bandwidth_mb_s.value, machine.accelerators.memory_bandwidth_mb_s.value
    # Where a figure of the accelerator is a slip, that is said already, and once is enough.
    if capacity != memory and memory >= GIBIBYTE.least:
        yield Finding(
            f"{path}.tiers.hbm.capacity_bytes.value",
            f"{capacity} differs from accelerators.memory_bytes {memory}; "
            "hbm is the memory of one accelerator, so give both the same value",
        )
    if rate > memory_rate >= MEMORY_RATE.least:
        yield Finding(
            f"{path}.tiers.hbm.bandwidth_mb_s.value",
            f"{rate} is above accelerators.memory_bandwidth_mb_s {memory_rate}; "
            "hbm reaches at most the memory's own rate",
        )


def _link_errors(machine: Machine, link: Link, path: str) -> Iterator[Finding]:
    present = dict(machine.tiers.present())
    absent = [(end, name) for end, name in (("a", link.a), ("b", link.b)) if name not in present]
    for end, name in absent:
        yield Finding(f"{path}.{end}", f"'{name}' is not a tier of this machine; add the tier or remove the link")
    if tier_code(link.a) >= tier_code(link.b):
        yield Finding(
            f"{path}.a", f"'{link.a}' is not hotter than b, '{link.b}'; let a be the hotter end and swap the directions"
        )
        return
    if link.per_accelerator and (machine.accelerators is None or tier_code(link.a) != HBM):
        yield Finding(
            f"{path}.per_accelerator",
            "true, but only a link from the hbm of a machine with accelerators is; write false",
        )
        return
    if absent:
        return
    ends = [(name, _rate_seen_by(machine, link, name)) for name in (link.a, link.b)]
    for field, figure in (("a_to_b_mb_s", link.a_to_b_mb_s), ("b_to_a_mb_s", link.b_to_a_mb_s)):
        if all(figure.value > rate for _, rate in ends):
            joined = " and ".join(f"{name} ({rate})" for name, rate in ends)
            yield Finding(
                f"{path}.{field}.value",
                f"{figure.value} is wider than both of its ends, {joined}; remove or correct it",
            )
    if link.both_mb_s is not None and link.both_mb_s.value > link.a_to_b_mb_s.value + link.b_to_a_mb_s.value:
        yield Finding(
            f"{path}.both_mb_s.value",
            f"{link.both_mb_s.value} is above the sum of its directions "
            f"({link.a_to_b_mb_s.value} + {link.b_to_a_mb_s.value}); give what both reach together",
        )


def _price_errors(machine: Machine, path: str) -> Iterator[Finding]:
    price = machine.price
    if price is None:
        return
    present = dict(machine.tiers.present())
    if price.usd_micros_per_hour is not None:
        yield from too_small(price.usd_micros_per_hour, f"{path}.usd_micros_per_hour", USD_PER_HOUR)
    if price.usd_micros_per_gb is not None:
        for name, figure in price.usd_micros_per_gb.present():
            where = f"{path}.usd_micros_per_gb.{name}"
            if name not in present:
                yield Finding(where, f"'{name}' is not a tier of this machine; add the tier or remove the price")
            yield from too_small(figure, where, USD_PER_GB)
    if price.rated_drive_write_bytes is not None:
        where = f"{path}.rated_drive_write_bytes"
        if "disk" not in present:
            yield Finding(where, "this machine has no tier 'disk' to wear out; add the tier or remove the figure")
        yield from too_small(price.rated_drive_write_bytes, where, WEAR)


def _node_rate(machine: Machine, name: str) -> int:
    """The bandwidth of a tier for the whole node."""
    rate = dict(machine.tiers.present())[name].bandwidth_mb_s.value
    return rate * machine.accelerator_count if tier_code(name) == HBM else rate


def _rate_from_hbm(machine: Machine, name: str) -> int:
    """What the node's accelerators together can read from a tier: the narrower of the tier and a link to it."""
    rate = _node_rate(machine, name)
    for link in machine.links:
        if tier_code(link.a) == HBM and link.b == name:
            width = link.b_to_a_mb_s.value
            rate = min(rate, width * machine.accelerator_count if link.per_accelerator else width)
    return rate


def _rate_seen_by(machine: Machine, link: Link, name: str) -> int:
    """The bandwidth of a tier as the link sees it: one accelerator's share of HBM where the link is per accelerator."""
    if link.per_accelerator:
        return dict(machine.tiers.present())[name].bandwidth_mb_s.value
    return _node_rate(machine, name)
