"""The demonstration: the ladder, sharing, pressure, the cheap span, and eight turns that are really replayed.

The figures of the first four parts are the original demo's. Its fifth asserted that a blind LRU loses a shared
prefix on every turn; here a real LRU and the real planner replay a trace of those turns.
"""

from __future__ import annotations

from array import array

from harness.comparison import Comparison, ReplayOptions, compare
from harness.engine import Engine, Prefill
from harness.packaged import data_file
from harness.readers import read_trace
from harness.render.table import ascii_table
from harness.render.tables import Table
from harness.units import milliseconds
from policy.cost import recompute_ns
from policy.costs_by_tier import TierCosts
from policy.decisions import ACTION_NAMES, DIRECTIVE_NAMES, EVICT, REASON_NAMES
from policy.ladder import UNBOUNDED_BYTES
from policy.lifecycle import RESIDENT, SPILLED
from policy.placement import NO_ROOM, Planner
from policy.profiles import TierProfile, default_profiles
from policy.share import zero_copy
from policy.tiers import DISK, DRAM, HBM, TIER_COUNT, TIER_NAMES

TRACE = "traces/shared-prefix-8-turns.jsonl"

_PREFIX_BYTES = 64 * 2**20
_PREFIX_TOKENS = 4_000
_PREFILL_NS = 2_000_000
_CHEAP_BYTES = 48 * 2**10
_CHEAP_TOKENS = 3
_CHEAP_PREFILL_NS = 1_000
# Smaller than two spans, so that every other tenant's request pushes the prefix out of HBM.
_HBM_BYTES = 100_000_000


def demo_text() -> str:
    """The whole demonstration as text."""
    profiles = default_profiles()
    parts = (
        ("The residency ladder, hot to cold", _ladder(profiles)),
        ("What can be shared without a copy", _sharing(profiles)),
        ("A prefix of 4,000 tokens under rising pressure", _pressure(profiles)),
        ("A span that is cheap to compute", _cheap(profiles)),
        ("Eight turns on one prefix: blind LRU against tiering, replayed", _turns(profiles)),
    )
    return "\n".join(f"{number}. {title}\n\n{text}\n" for number, (title, text) in enumerate(parts, 1))


def _ladder(profiles: dict[int, TierProfile]) -> str:
    rows = [
        [
            TIER_NAMES[tier],
            "yes" if profile.attendable_in_place() else "no",
            profile.share or "copy",
            f"{profile.read_latency_ns:,}",
            f"{profile.bandwidth_mb_s:,}",
            _binary_size(profile.capacity_bytes),
        ]
        for tier, profile in profiles.items()
    ]
    columns = ["tier", "attend in place", "share", "latency ns", "MB/s", "capacity"]
    return ascii_table(Table("", columns, rows, left=3))


def _binary_size(capacity_bytes: int) -> str:
    if not capacity_bytes:
        return "unbounded"
    for unit, shift in (("TiB", 40), ("GiB", 30)):
        if capacity_bytes >> shift:
            return f"{capacity_bytes >> shift} {unit}"
    return f"{capacity_bytes} B"


def _sharing(profiles: dict[int, TierProfile]) -> str:
    lines = []
    for tier, profile in profiles.items():
        how = f"zero-copy through {profile.share}" if zero_copy(profile.share) else "a copy of the bytes"
        lines.append(f"  {TIER_NAMES[tier]:<9} {how}")
    return "\n".join(lines)


def _strict_planner(profiles: dict[int, TierProfile]) -> Planner:
    """The original planner over `profiles`, every tier with room."""
    attendable = array("q", [1 if profiles[tier].attendable_in_place() else 0 for tier in range(TIER_COUNT)])
    costs = TierCosts(
        array("q", [profiles[tier].read_latency_ns for tier in range(TIER_COUNT)]),
        array("q", [profiles[tier].bandwidth_mb_s for tier in range(TIER_COUNT)]),
    )
    return Planner(array("q", [UNBOUNDED_BYTES]) * TIER_COUNT, attendable, costs, best_rung=0, use_remote=0)


def _pressure(profiles: dict[int, TierProfile]) -> str:
    planner = _strict_planner(profiles)
    recompute = recompute_ns(_PREFIX_TOKENS, _PREFILL_NS)
    rows = []
    tier = HBM
    while True:
        state = RESIDENT if profiles[tier].attendable_in_place() else SPILLED
        planner.plan(tier, state, 0, 0, 1, _PREFIX_BYTES, recompute, 0)
        moved = "-" if planner.action == EVICT else f"{planner.costs.move_ns(tier, planner.to_tier, _PREFIX_BYTES):,}"
        rows.append(
            [
                TIER_NAMES[tier],
                TIER_NAMES[planner.to_tier],
                ACTION_NAMES[planner.action],
                DIRECTIVE_NAMES[planner.directive],
                REASON_NAMES[planner.reason],
                moved,
            ]
        )
        if planner.action == EVICT:
            break
        tier = planner.to_tier
    columns = ["from", "to", "action", "directive", "reason", "stage ns"]
    return ascii_table(Table("", columns, rows, left=5)) + f"\n\n  recompute: {recompute:,} ns"


def _cheap(profiles: dict[int, TierProfile]) -> str:
    recompute = recompute_ns(_CHEAP_TOKENS, _CHEAP_PREFILL_NS)
    lines = [f"  recompute: {recompute:,} ns"]
    for words, open_tier in (("DRAM has room", DRAM), ("only disk has room", DISK)):
        planner = _strict_planner(profiles)
        for tier in range(TIER_COUNT):
            planner.room_bytes[tier] = UNBOUNDED_BYTES if tier == open_tier else NO_ROOM
        planner.plan(HBM, RESIDENT, 0, 0, 1, _CHEAP_BYTES, recompute, 0)
        lines.append(
            f"  {words}: staging {planner.costs.move_ns(HBM, open_tier, _CHEAP_BYTES):,} ns:"
            f" {ACTION_NAMES[planner.action]} to {TIER_NAMES[planner.to_tier]} ({REASON_NAMES[planner.reason]})"
        )
    return "\n".join(lines)


def replay_turns(profiles: dict[int, TierProfile]) -> Comparison:
    """The eight turns, replayed on the reference ladder with an HBM that holds one span at a time."""
    ladder = dict(profiles)
    ladder[HBM] = ladder[HBM].with_capacity(_HBM_BYTES)
    engine = Engine(
        machine_id="reference",
        machine_digest="",
        model_id="",
        model_digest="",
        kv_bytes_per_token=_PREFIX_BYTES // _PREFIX_TOKENS,
        prefill=Prefill(ns_per_token=_PREFILL_NS),
        profiles=ladder,
    )
    return compare(read_trace(data_file(TRACE)), engine, ReplayOptions())


def _turns(profiles: dict[int, TierProfile]) -> str:
    comparison = replay_turns(profiles)
    lines = [
        "  The turns of one tenant, with other tenants' prompts of the same size between them; 100 MB of HBM, which",
        "  holds one of them, and 2 ms of prefill a token.",
    ]
    for name in ("blind-lru", "tiered"):
        books = comparison.arms[name].ledger
        hits = ", ".join(f"{TIER_NAMES[tier]} {tokens:,}" for tier, tokens in enumerate(books.hit_tokens) if tokens)
        lines.append(
            f"  {name:<10} re-prefilled {sum(books.computed_tokens[1:]):>6,} tokens; hits: {hits or 'none'};"
            f" waited {milliseconds(books.prefill_ns)} ms of prefill, {milliseconds(books.stage_ns)} ms of staging,"
            f" {milliseconds(books.attend_ns)} ms of slower reads"
        )
    lost = {name: sum(comparison.arms[name].ledger.computed_tokens[1:]) for name in ("blind-lru", "tiered")}
    last = comparison.arms["tiered"].ledger.obligatory_tokens
    lines.append(
        f"  -> {lost['blind-lru'] - lost['tiered']:,} tokens need not be prefilled again when spans are demoted"
        f" instead of evicted; {last} last tokens are computed as every engine must"
    )
    return "\n".join(lines)
