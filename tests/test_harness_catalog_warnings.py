"""Figures that are allowed and deserve a second look, word by word."""

from __future__ import annotations

from catalog_edits import edited

from harness.catalog import validate


def test_tiers_far_apart_are_compared_too() -> None:
    """A remote tier that beats all but HBM is named at each of them, in latency and then in bandwidth."""
    remote = "machines/reference/tiers/remote/"
    _, warnings = validate(edited((remote + "read_latency_ns/value", 100), (remote + "bandwidth_mb_s/value", 250_000)))

    slip = "; correct a slip, or keep it: the ladder goes by rank, not by speed"
    path = "machines.reference.tiers."
    assert [
        f"{path}hbm.read_latency_ns.value: hbm (200 ns) is slower than the colder dram (90 ns) and numa_far (140 ns) "
        f"and remote (100 ns){slip}",
        f"{path}numa_far.read_latency_ns.value: numa_far (140 ns) is slower than the colder remote (100 ns){slip}",
        f"{path}cxl.read_latency_ns.value: cxl (300 ns) is slower than the colder remote (100 ns){slip}",
        f"{path}disk.read_latency_ns.value: disk (10000 ns) is slower than the colder remote (100 ns){slip}",
        f"{path}numa_far.bandwidth_mb_s.value: numa_far (200000 MB/s) is slower than the colder remote (250000 MB/s)"
        + slip,
        f"{path}cxl.bandwidth_mb_s.value: cxl (64000 MB/s) is slower than the colder remote (250000 MB/s){slip}",
        f"{path}disk.bandwidth_mb_s.value: disk (7000 MB/s) is slower than the colder remote (250000 MB/s){slip}",
    ] == [str(warning) for warning in warnings if warning.path.startswith(path)]


def test_a_narrow_link_counts_when_tiers_are_compared() -> None:
    """CXL behind a 1 GB/s link to each of eight GPUs is slower than disk, whatever the pool can do."""
    _, warnings = validate(edited(("machines/h100-cxl-switch/links/1/b_to_a_mb_s/value", 1000)))

    assert (
        "machines.h100-cxl-switch.tiers.cxl.bandwidth_mb_s.value: cxl (8000 MB/s) is slower than the colder "
        "disk (56000 MB/s) and remote (190000 MB/s); correct a slip, or keep it: the ladder goes by rank, not by speed"
    ) in [str(warning) for warning in warnings]


def test_equal_tiers_are_not_warned_about() -> None:
    """Only a strictly faster colder tier is worth a second look."""
    tiers = "machines/reference/tiers/"
    _, warnings = validate(
        edited(
            (tiers + "hbm/read_latency_ns/value", 90),
            (tiers + "disk/bandwidth_mb_s/value", 12_000),
        )
    )

    assert [warning for warning in warnings if warning.path.startswith("machines.reference.")] == []
