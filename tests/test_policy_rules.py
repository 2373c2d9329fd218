"""Every named rule, on and off, on the smallest trace that shows the difference which its row states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from builders import BLOCK_BYTES, Ask, Clear, Row, Tier, arm_of, engine_of, moves, reprefilled, trace_of

from policy.rules import RULE_SPECS

Arm = dict[str, Any]
# A rule's arm at a value of the rule, and what is seen at which value.
Shows = tuple[Callable[[int], Arm], Callable[[Arm], Any], dict[int, Any]]

ONE = BLOCK_BYTES


def arm(rule: str, *rows: Ask | Clear, **options: Any) -> Callable[[int], Arm]:
    """The `tiered` arm over `rows` as a function of one rule's value."""
    engine = options.pop("engine")
    settings = options.pop("settings", {})
    return lambda value: arm_of(trace_of(*rows), engine, settings={**settings, rule: value}, **options)


def tiers_hit(arm: Arm) -> dict[str, int]:
    return {tier: tokens for tier, tokens in arm["tokens"]["hit"].items() if tokens}


def held(arm: Arm) -> dict[str, int]:
    """Blocks that each tier holds in the end."""
    return {tier: figures["end"] // ONE for tier, figures in arm["occupancy_bytes"].items() if figures["end"]}


HBM_AND_DRAM = engine_of({"hbm": ONE, "dram": 4 * ONE})
HBM_AND_DISK = engine_of({"hbm": ONE, "disk": 4 * ONE})
A_B_A = (Ask("a", 0), Ask("b", 1), Ask("a", 2))
# HBM, DRAM and disk hold one block, one block and four.
THREE = engine_of({"hbm": ONE, "dram": ONE, "disk": 4 * ONE})
A_B_C = (Ask("a", 0), Ask("b", 1), Ask("c", 2))

# Moving a block to DRAM takes 103 ns, a quarter of it 93 ns; computing it takes 96 ns.
ONLY_SMALL_ONES_PAY = engine_of({"hbm": ONE, "dram": 4 * ONE}, prefill_ns_per_token=24)
COMPRESSED = {"compress_ppm": 250_000, "compress_measured": 1, "compress_bound_ppm": 10}

DROPPED = [("evict", "hbm", "recompute", 1), ("fill", "", "hbm", 2)]
SQUEEZED = [("compress_demote", "hbm", "dram", 1), ("fill", "", "hbm", 2)]

SHOWS: dict[str, Shows] = {
    "colder_tiers": (
        arm("colder_tiers", *A_B_A, engine=HBM_AND_DRAM),
        lambda arm: (tiers_hit(arm), reprefilled(arm)),
        {1: ({"dram": 3}, {}), 0: ({}, {"pressure": 4})},
    ),
    "hbm_unbounded": (
        arm("hbm_unbounded", *A_B_A, Clear("", 3), Ask("a", 4), engine=engine_of({"hbm": ONE})),
        lambda arm: (tiers_hit(arm), reprefilled(arm)),
        {0: ({}, {"pressure": 4, "cleared": 4}), 1: ({"hbm": 6}, {})},
    ),
    "ttls": (
        arm("ttls", Ask("a", 0), Ask("b", 10), engine=engine_of({"hbm": 2 * ONE, "dram": ONE}), ttl_us={"hbm": 10}),
        held,
        {1: {"hbm": 1, "dram": 1}, 0: {"hbm": 2}},
    ),
    # Demoting b pushes a from DRAM to disk; or b itself goes to disk, because DRAM is full.
    "cascade": (
        arm("cascade", *A_B_C, engine=THREE),
        moves,
        {
            1: [("demote", "hbm", "dram", 2), ("spill", "dram", "disk", 1), ("fill", "", "hbm", 3)],
            0: [("demote", "hbm", "dram", 1), ("spill", "hbm", "disk", 1), ("fill", "", "hbm", 3)],
        },
    ),
    "room_when_free": (
        arm("room_when_free", *A_B_C, engine=THREE),
        moves,
        {
            0: [("demote", "hbm", "dram", 2), ("spill", "dram", "disk", 1), ("fill", "", "hbm", 3)],
            1: [("demote", "hbm", "dram", 1), ("spill", "hbm", "disk", 1), ("fill", "", "hbm", 3)],
        },
    ),
    # The nearest rung has room and is too slow to pay.
    "best_rung": (
        arm(
            "best_rung",
            Ask("a"),
            Ask("b"),
            engine=engine_of({"hbm": ONE, "dram": Tier(ONE, 0, 1), "disk": ONE}, 100_000),
        ),
        moves,
        {
            1: [("spill", "hbm", "disk", 1), ("fill", "", "hbm", 2)],
            0: [("evict", "hbm", "recompute", 1), ("fill", "", "hbm", 2)],
        },
    ),
    "use_remote": (
        arm("use_remote", Ask("a"), Ask("b"), engine=engine_of({"hbm": ONE, "remote": 0})),
        moves,
        {1: [("spill", "hbm", "remote", 1), ("fill", "", "hbm", 2)], 0: DROPPED},
    ),
    # Remote is faster than the disk, and holds one block: what it loses to b, the disk would have kept.
    "remote_last": (
        arm(
            "remote_last",
            Ask("a"),
            Ask("b"),
            Ask("c"),
            engine=engine_of({"hbm": ONE, "disk": ONE, "remote": Tier(ONE, 0)}),
        ),
        moves,
        {
            1: [("spill", "hbm", "disk", 2), ("spill", "disk", "remote", 1), ("fill", "", "hbm", 3)],
            0: [("spill", "hbm", "remote", 2), ("evict", "remote", "recompute", 1), ("fill", "", "hbm", 3)],
        },
    ),
    # a enters disk at 1 and is asked for at 11, when its TTL there has run out.
    "ttl_on_spilled": (
        arm("ttl_on_spilled", Ask("a", 0), Ask("b", 1), Ask("a", 11), engine=HBM_AND_DISK, ttl_us={"disk": 10}),
        lambda arm: (tiers_hit(arm), reprefilled(arm), arm["lifecycle"]),
        {
            1: ({}, {"expired": 4}, {"expiring": 1, "expired": 1, "revived": 0}),
            0: ({"disk": 3}, {}, {"expiring": 0, "expired": 0, "revived": 0}),
        },
    ),
    # a is expiring from 10 on, is revived at 12 and would expire again at 22; or at once, and is gone at 17.
    "restart_on_revival": (
        arm(
            "restart_on_revival",
            Ask("a", 0),
            Ask("a", 12),
            Ask("b", 17),
            engine=engine_of({"hbm": 2 * ONE, "dram": ONE}),
            ttl_us={"hbm": 10},
            grace_us=5,
        ),
        lambda arm: (held(arm), arm["lifecycle"]),
        {
            1: ({"hbm": 2}, {"expiring": 1, "expired": 0, "revived": 1}),
            0: ({"hbm": 1, "dram": 1}, {"expiring": 2, "expired": 1, "revived": 1}),
        },
    ),
    # a is in DRAM and HBM is empty when a is asked for, once in 10 us: 100,000,000 times in 1,000 s.
    "radix": (
        arm("radix", Ask("ab"), Ask("c", 1), engine=engine_of({"hbm": 2 * ONE, "dram": 4 * ONE})),
        held,
        {0: {"hbm": 2, "dram": 1}, 1: {"hbm": 1, "dram": 2}},
    ),
    "promote_accesses_per_1000_s": (
        arm(
            "promote_accesses_per_1000_s",
            Ask("a", 0),
            Ask("b", 1),
            Clear("hbm", 2),
            Ask("a", 10),
            engine=HBM_AND_DRAM,
        ),
        held,
        {0: {"dram": 1}, 1: {"hbm": 1}, 10**8: {"hbm": 1}, 10**8 + 1: {"dram": 1}},
    ),
    "compress_ppm": (
        arm("compress_ppm", Ask("a"), Ask("b"), engine=ONLY_SMALL_ONES_PAY, settings=COMPRESSED),
        lambda arm: (moves(arm), arm["occupancy_bytes"]["dram"]["end"]),
        {0: (DROPPED, 0), 250_000: (SQUEEZED, 1000), 10**6: (DROPPED, 0)},
    ),
    "compress_measured": (
        arm("compress_measured", Ask("a"), Ask("b"), engine=ONLY_SMALL_ONES_PAY, settings=COMPRESSED),
        moves,
        {0: DROPPED, 1: SQUEEZED},
    ),
    "compress_delta_ppm": (
        arm("compress_delta_ppm", Ask("a"), Ask("b"), engine=ONLY_SMALL_ONES_PAY, settings=COMPRESSED),
        moves,
        {0: SQUEEZED, 10: SQUEEZED, 11: DROPPED},
    ),
    "compress_bound_ppm": (
        arm(
            "compress_bound_ppm",
            Ask("a"),
            Ask("b"),
            engine=ONLY_SMALL_ONES_PAY,
            settings={**COMPRESSED, "compress_delta_ppm": 5},
        ),
        moves,
        {4: DROPPED, 5: SQUEEZED},
    ),
    # a comes back to DRAM as a lossy copy, a quarter of its size.
    "exact_view": (
        arm(
            "exact_view",
            *A_B_A,
            engine=ONLY_SMALL_ONES_PAY,
            settings={**COMPRESSED, "compress_delta_ppm": 5},
        ),
        lambda arm: (tiers_hit(arm), reprefilled(arm)),
        {0: ({"dram": 3}, {}), 1: ({}, {"approximate_fault": 4})},
    ),
}


def test_every_rule_is_shown_at_two_values_or_more_its_default_among_them() -> None:
    assert list(SHOWS) == [spec.name for spec in RULE_SPECS]
    for spec in RULE_SPECS:
        _, _, seen = SHOWS[spec.name]
        assert len(seen) >= 2
        # The words of compression mean nothing without each other, so their defaults are shown by `compress_ppm`.
        assert spec.default in seen or spec.name == "compress_bound_ppm"
        assert len({repr(what) for what in seen.values()}) >= 2


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [(rule, value, what) for rule, (_, _, seen) in SHOWS.items() for value, what in seen.items()],
)
def test_a_rule_makes_the_difference_that_its_row_states(rule: str, value: int, expected: Any) -> None:
    at, see, _ = SHOWS[rule]
    assert see(at(value)) == expected


def test_the_default_of_a_rule_is_what_tiered_does_without_it() -> None:
    bare = arm_of(trace_of(*A_B_C), THREE)
    settings = {spec.name: spec.default for spec in RULE_SPECS}
    assert arm_of(trace_of(*A_B_C), THREE, settings=settings) == bare


def test_a_promotion_is_a_restore_to_the_next_warmer_rung() -> None:
    rows: list[Row] = [Ask("a", 0), Ask("b", 1), Clear("hbm", 2), Ask("a", 10)]
    arm = arm_of(trace_of(*rows), HBM_AND_DRAM, settings={"promote_accesses_per_1000_s": 1})
    promotion = next(row for row in arm["moves"] if row["action"] == "promote")
    assert (promotion["directive"], promotion["from"], promotion["to"]) == ("restore", "dram", "hbm")
    assert (promotion["count"], promotion["bytes"], promotion["tokens"]) == (1, ONE, 4)
