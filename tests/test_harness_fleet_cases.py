"""Fleets small enough to be done by hand: two to four hosts, spans of one block, exact figures and exact directives."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from builders import (
    BLOCK_BYTES,
    BLOCK_TOKENS,
    DEAR_PREFILL_NS,
    Ask,
    Clear,
    Fault,
    Pressure,
    Row,
    Tier,
    engine_of,
    options_of,
    reprefilled,
    trace_of,
)

from harness.comparison import compare
from harness.engine import Engine, LinkLimit
from harness.fleet import FleetOptions
from harness.report import build_report
from harness.routing import ROUTERS
from harness.workload import prepare
from policy.pool import PoolProfile, plan_fleet_reuse
from policy.share import CXL_HDM, RDMA
from policy.tiers import CXL, REMOTE, tier_code

BLOCK = BLOCK_BYTES
T = BLOCK_TOKENS
ONE = {"hbm": BLOCK, "cxl": 0}
Line = tuple[int, str, str, str, str]


class Told:
    """A fleet's report, and its directives as (replica, action, block, from, to); a fault is called "fault"."""

    def __init__(self, rows: list[Row], engine: Engine, replicas: int, router: str = "round-robin", **more: Any):
        pools: dict[str, int] = more.pop("pools", {})
        fleet = FleetOptions(replicas, router, {tier_code(name): hosts for name, hosts in pools.items()})
        stream = io.BytesIO()
        self.report = build_report(compare(trace_of(*rows), engine, options_of(fleet=fleet, **more), stream))
        assert self.report["audit"]["balanced"], self.report["audit"]
        lines = [json.loads(line) for line in stream.getvalue().splitlines()]
        name = {line["span"]: line["blocks"][0] for line in lines if line.get("kind") == "span"}
        self.lines: list[Line] = [
            (
                line["replica"],
                "fault" if line["outcome"] == "fault" else line["action"],
                name[line["span"]],
                line["from"],
                line["to"],
            )
            for line in lines
            if "action" in line
        ]
        self.arm: dict[str, Any] = self.report["arms"]["tiered"]
        self.fleet: dict[str, Any] = self.report["fleet"]["arms"]["tiered"]

    def after(self, line: Line) -> list[Line]:
        return self.lines[self.lines.index(line) + 1 :]


def asks(*blocks: str, start_us: int = 0) -> list[Row]:
    """Requests for one block each, dealt to the replicas in turn, 10 us apart."""
    return [Ask(block, start_us + 10 * at) for at, block in enumerate(blocks)]


# --- what a pool does ---


def test_hosts_attend_one_copy_where_it_lies() -> None:
    told = Told(asks("a", "x", "b", "a", "c", "a"), engine_of(ONE), 2, pools={"cxl": 2})
    assert told.lines == [
        (0, "fill", "a", "", "hbm"),
        (1, "fill", "x", "", "hbm"),
        (0, "demote", "a", "hbm", "cxl"),
        (0, "fill", "b", "", "hbm"),
        (1, "attend", "a", "cxl", "cxl"),
        (0, "demote", "b", "hbm", "cxl"),
        (0, "fill", "c", "", "hbm"),
        (1, "attend", "a", "cxl", "cxl"),
    ]
    (pool,) = told.fleet["pools"]
    assert (pool["zero_copy"], pool["held_bytes"]["end"], pool["deduplicated_bytes"]["end"]) == (True, 2 * BLOCK, BLOCK)
    assert told.arm["tokens"]["hit"] == {"hbm": 0, "cxl": 2 * T - 2}
    assert told.arm["tokens"]["obligatory"] == 2


def test_where_a_pool_is_only_reached_a_copy_is_staged_and_later_let_go_of() -> None:
    told = Told(asks("a", "x", "b", "a", "c", "y"), engine_of({"hbm": BLOCK, "remote": 0}), 2, pools={"remote": 2})
    assert told.lines == [
        (0, "fill", "a", "", "hbm"),
        (1, "fill", "x", "", "hbm"),
        (0, "spill", "a", "hbm", "remote"),
        (0, "fill", "b", "", "hbm"),
        (1, "spill", "x", "hbm", "remote"),
        (1, "copy", "a", "remote", "hbm"),
        (0, "spill", "b", "hbm", "remote"),
        (0, "fill", "c", "", "hbm"),
        (1, "dedupe", "a", "hbm", "remote"),
        (1, "fill", "y", "", "hbm"),
    ]
    (pool,) = told.fleet["pools"]
    assert (pool["zero_copy"], pool["held_bytes"]["end"]) == (False, 3 * BLOCK)
    # a is there for two hosts, x and b for one each.
    assert pool["deduplicated_bytes"]["end"] == BLOCK
    # No byte of the copy that was let go of went anywhere: three moves down, and one copy up.
    costs = engine_of({"remote": 0}).profiles[REMOTE]
    one_ns = costs.read_latency_ns + BLOCK * 1000 // costs.bandwidth_mb_s
    assert (told.arm["time_ns"]["offload"], told.arm["time_ns"]["stage"]) == (3 * one_ns, one_ns)


def test_a_pools_victim_moves_on_to_the_own_disk_of_the_host_that_needs_room() -> None:
    engine = engine_of({"hbm": BLOCK, "cxl": BLOCK // 2, "disk": 0})
    told = Told(asks("a", "x", "b", "y", "a", "a"), engine, 2, pools={"cxl": 2})
    # The pool has room for one block. a comes, is pushed out to host 1's disk by x, which host 0 cannot reach.
    assert told.after((0, "fill", "b", "", "hbm")) == [
        (1, "spill", "a", "cxl", "disk"),
        (1, "demote", "x", "hbm", "cxl"),
        (1, "fill", "y", "", "hbm"),
        (0, "spill", "x", "cxl", "disk"),
        (0, "demote", "b", "hbm", "cxl"),
        (0, "fill", "a", "", "hbm"),
        (1, "spill", "b", "cxl", "disk"),
        (1, "demote", "y", "hbm", "cxl"),
        (1, "restore", "a", "disk", "hbm"),
    ]
    assert reprefilled(told.arm) == {"pressure": T}


def test_a_pools_victim_moves_on_to_the_next_pool() -> None:
    engine = engine_of({"hbm": BLOCK, "cxl": BLOCK // 2, "remote": 0})
    told = Told(asks("a", "x", "b", "y", "a"), engine, 2, pools={"cxl": 2, "remote": 2})
    assert told.after((0, "fill", "b", "", "hbm")) == [
        (1, "spill", "a", "cxl", "remote"),
        (1, "demote", "x", "hbm", "cxl"),
        (1, "fill", "y", "", "hbm"),
        (0, "spill", "x", "cxl", "remote"),
        (0, "demote", "b", "hbm", "cxl"),
        (0, "copy", "a", "remote", "hbm"),
    ]
    assert reprefilled(told.arm) == {}


def test_a_pools_victim_with_nowhere_to_go_is_lost_to_all() -> None:
    engine = engine_of({"hbm": BLOCK, "cxl": BLOCK // 2})
    told = Told(asks("a", "x", "b", "y", "a", "a"), engine, 2, pools={"cxl": 2})
    assert (1, "evict", "a", "cxl", "recompute") in told.lines
    assert reprefilled(told.arm) == {"pressure": 2 * T}


def test_the_host_that_needs_room_and_holds_the_victim_itself_moves_nothing() -> None:
    engine = engine_of({"hbm": 2 * BLOCK, "remote": BLOCK // 2})
    # Host 0 puts a into the pool, which holds one block; host 1 has a copy when it needs room there for y.
    rows = asks("a", "x", "b", "y", "c", "a", "c", "z")
    told = Told(rows, engine, 2, pools={"remote": 2})
    assert (1, "copy", "a", "remote", "hbm") in told.lines
    assert (1, "dedupe", "a", "remote", "hbm") in told.lines


def test_spans_of_the_running_request_are_not_moved_in_a_pool() -> None:
    """The pool is full of a, which is asked for: what makes room for it in HBM cannot take its place."""
    engine = engine_of({"hbm": BLOCK, "remote": BLOCK // 2})
    told = Told(asks("a", "x", "b", "a"), engine, 2, pools={"remote": 2})
    assert told.after((0, "fill", "b", "", "hbm")) == [
        (1, "evict", "x", "hbm", "recompute"),
        (1, "copy", "a", "remote", "hbm"),
    ]


# --- what happens to a pool ---


def test_a_read_that_meets_a_fault_loses_the_pools_copy_for_all() -> None:
    rows = [*asks("a", "x", "b"), Fault("cxl", 25, 35), Ask("a", 30), Ask("a", 40)]
    told = Told(rows, engine_of(ONE), 2, pools={"cxl": 2})
    assert told.after((0, "fill", "b", "", "hbm")) == [
        (1, "fault", "a", "cxl", "hbm"),
        (1, "drop", "a", "cxl", "recompute"),
        (1, "demote", "x", "hbm", "cxl"),
        (1, "fill", "a", "", "hbm"),
        (0, "demote", "b", "hbm", "cxl"),
        (0, "fill", "a", "", "hbm"),
    ]
    assert reprefilled(told.arm) == {"fault": 2 * T}


def test_clear_strikes_a_pool_once() -> None:
    rows = [*asks("a", "x", "b"), Clear("cxl", 25), Ask("a", 30)]
    told = Told(rows, engine_of(ONE), 2, pools={"cxl": 2})
    assert [line for line in told.lines if line[1] == "drop"] == [(0, "drop", "a", "cxl", "recompute")]
    assert reprefilled(told.arm) == {"cleared": T}


@pytest.mark.parametrize(("fill_ppm", "left"), [(500_000, 1), (750_000, 0)])
def test_pressure_strikes_a_pool_once(fill_ppm: int, left: int) -> None:
    """Two hosts of one block each: half of two is one, however many hosts are told."""
    rows = [*asks("a", "x", "b", "y"), Pressure("cxl", fill_ppm, 35), Pressure("cxl", fill_ppm, 36)]
    told = Told(rows, engine_of({"hbm": BLOCK, "cxl": BLOCK}), 2, pools={"cxl": 2})
    held = told.arm["occupancy_bytes"]["cxl"]
    assert (held["peak"], held["end"]) == (2 * BLOCK, left * BLOCK)
    assert [line[2] for line in told.lines if line[1] == "evict"] == ["a", "x"][: 2 - left]


def test_a_span_whose_loading_does_not_pay_stays_in_the_pool() -> None:
    """Down to the pool it takes 1 us, up from it far more than computing."""
    link = LinkLimit(0, REMOTE, 10**6, 1, 0)
    engine = engine_of({"hbm": BLOCK, "remote": Tier(0, 0, 10**6)}, prefill_ns_per_token=1000, links=[link])
    told = Told(asks("a", "x", "b", "a", "c", "a"), engine, 2, pools={"remote": 2})
    assert [line for line in told.lines if line[1] in ("drop", "copy", "stream")] == []
    assert reprefilled(told.arm) == {"load_refused": T}
    assert told.fleet["pools"][0]["deduplicated_bytes"]["peak"] == 0


def test_what_only_another_replica_had_is_computed_again_as_elsewhere() -> None:
    told = Told(asks("a", "a", "a"), engine_of({"hbm": 0}), 2)
    assert told.arm["tokens"]["cold"] == T
    assert reprefilled(told.arm) == {"elsewhere": T}
    assert told.report["arms"]["infinite"]["tokens"]["hit"]["hbm"] == 2 * T - 2


def test_the_cause_is_the_latest_loss_of_the_replica_and_its_pools() -> None:
    """Host 0 lost a with its HBM; then host 1 put it into the pool, which lost it by a fault in host 1's read."""
    rows = [
        *[Ask("a", 0), Ask("a", 1), Clear("hbm", 2), Ask("x", 3), Ask("a", 4), Ask("x", 5), Ask("b", 6)],
        *[Clear("cxl", 7), Ask("a", 8)],
    ]
    told = Told([*rows], engine_of(ONE), 2, pools={"cxl": 2})
    assert told.lines[-2:] == [(0, "demote", "x", "hbm", "cxl"), (0, "fill", "a", "", "hbm")]
    assert reprefilled(told.arm) == {"elsewhere": T, "cleared": 2 * T}


def test_pools_of_different_hosts_do_not_vouch_for_each_other() -> None:
    """Hosts 0 to 2 share cxl, 0 and 1 remote: what leaves cxl for remote is lost to host 2 by pressure."""
    engine = engine_of({"hbm": BLOCK, "cxl": BLOCK // 3 + 1, "remote": 0})
    rows = asks("a", "x", "y", "b", "x", "y", "c", "x", "a")
    told = Told(rows, engine, 3, pools={"cxl": 3, "remote": 2})
    assert (0, "spill", "a", "cxl", "remote") in told.lines
    assert told.lines[-1] == (2, "fill", "a", "", "hbm")
    assert reprefilled(told.arm) == {"pressure": T}


# --- what a fleet saves, against the formula ---


def scenario(hosts: int) -> list[Row]:
    """Host 0 puts a into what it demotes to; then every other host asks for a."""
    others = [f"x{host}" for host in range(1, hosts)]
    blocks = ["a", *others, "b", *["a"] * (hosts - 1)]
    return [Ask([block], 10 * at) for at, block in enumerate(blocks)]


@pytest.mark.parametrize("hosts", [2, 3, 5])
@pytest.mark.parametrize(("tier", "code", "share"), [("cxl", CXL, CXL_HDM), ("remote", REMOTE, RDMA)])
def test_a_pool_saves_what_the_formula_says(hosts: int, tier: str, code: int, share: str) -> None:
    engine = engine_of({"hbm": BLOCK, tier: 0})
    pool = PoolProfile(code, hosts, tier == "cxl", share)
    plan = plan_fleet_reuse(pool, engine.profiles[code], hosts, T, BLOCK, DEAR_PREFILL_NS)
    told = Told(scenario(hosts), engine, hosts, pools={tier: hosts})
    # Beside a, every host computes one block of its own, and the last token of a hit.
    assert told.fleet["prefill_tokens"] - (hosts * T + hosts - 1) == plan.pooled_prefill_tokens == T
    (figures,) = told.fleet["pools"]
    spared = figures["deduplicated_bytes"]["end"]
    resident = told.fleet["resident_bytes"]["end"] - hosts * BLOCK
    assert resident == plan.pooled_resident_bytes
    if tier == "cxl":
        assert spared == plan.bytes_deduplicated() == (hosts - 1) * BLOCK
    else:
        # The formula counts a tenant's staged copy against the pool's; the replay counts copies in the pooled tier.
        assert (spared, plan.bytes_deduplicated()) == ((hosts - 1) * BLOCK, 0)


def test_without_a_pool_every_host_computes_its_own() -> None:
    engine = engine_of(ONE)
    plan = plan_fleet_reuse(PoolProfile(CXL, 1, True, CXL_HDM), engine.profiles[CXL], 4, T, BLOCK, DEAR_PREFILL_NS)
    told = Told(scenario(4), engine, 4)
    assert told.fleet["prefill_tokens"] - 4 * T == plan.private_prefill_tokens == 4 * T
    assert told.fleet["resident_bytes"]["end"] - 4 * BLOCK == plan.private_resident_bytes
    assert (told.fleet["pools"], told.fleet["deduplicated_bytes"]) == ([], {"mean": 0, "end": 0})


# --- routers ---


@pytest.mark.parametrize(
    ("router", "rows", "routes"),
    [
        ("round-robin", [Ask("abcd", 0), Ask("e", 1), Ask("f", 2), Ask("g", 3)], [0, 1, 2, 0]),
        # In the order of time, not of the file.
        ("round-robin", [Ask("a", 5), Ask("b", 0), Ask("c", 1)], [2, 0, 1]),
        ("least-loaded", [Ask("abcd", 0), Ask("e", 1), Ask("f", 2), Ask("g", 3), Ask("hi", 4)], [0, 1, 2, 1, 2]),
        # A tail that no block names is load like any other.
        ("least-loaded", [Ask("a", 0, tail=4), Ask("b", 1), Ask("c", 2), Ask("d", 3)], [0, 1, 2, 1]),
        # Half of the prompt was sent to 0; a block less than half would not draw.
        ("prefix", [Ask("ab", 0), Ask("abcd", 1), Ask("abcde", 2)], [0, 0, 0]),
        ("prefix", [Ask("ab", 0), Ask("abcde", 1)], [0, 1]),
        ("prefix", [Ask("ab", 0), Ask("abcd", 1, tail=1)], [0, 1]),
        # Two were sent the same beginning: the least loaded of them, not of all.
        ("prefix", [Ask("a", 0), Ask("abcdefg", 1), Ask("a", 2)], [0, 1, 0]),
        ("prefix", [Ask("ab", 0), Ask("abcde", 1), Ask("ab", 2), Ask("ab", 3)], [0, 1, 0, 0]),
    ],
)
def test_routers(router: str, rows: list[Row], routes: list[int]) -> None:
    workload = prepare(trace_of(*rows), engine_of({"hbm": 0}), 0, 0)
    assert list(ROUTERS[router](workload, 3)) == routes


def test_imbalance_is_the_largest_over_the_mean() -> None:
    told = Told([Ask("abc", 0), Ask("d", 1)], engine_of({"hbm": 0}), 2)
    section = told.report["fleet"]
    assert (section["input_tokens"], section["requests"]) == ([3 * T, T], [1, 1])
    assert section["input_imbalance_ppm"] == told.fleet["prefill_imbalance_ppm"] == 1_500_000


def test_a_replica_that_is_sent_nothing_counts_in_the_mean() -> None:
    told = Told([Ask("a", 0)], engine_of({"hbm": 0}), 4)
    assert told.report["fleet"]["input_imbalance_ppm"] == 4_000_000


def test_hosts_that_do_not_divide_the_replicas_leave_a_smaller_pool_and_one_alone_is_private() -> None:
    engine = engine_of({"hbm": BLOCK, "cxl": BLOCK, "remote": BLOCK})
    told = Told(asks(*"abcdefg"), engine, 5, pools={"cxl": 3, "remote": 4})
    assert [(pool["tier"], pool["replicas"]) for pool in told.fleet["pools"]] == [
        ("cxl", [0, 1, 2]),
        ("cxl", [3, 4]),
        ("remote", [0, 1, 2, 3]),
    ]


# --- rules that are off by default ---

COMPRESSING = {"compress_ppm": 500_000, "compress_measured": 1, "compress_delta_ppm": 1, "compress_bound_ppm": 1}


def test_a_span_that_the_pool_has_compressed_is_not_compressed_again() -> None:
    """Only the compressed form pays: host 1, which computed a as well, would write what the pool has."""
    engine = engine_of({"hbm": BLOCK, "remote": Tier(0, 0, 1000)}, prefill_ns_per_token=750)
    told = Told(asks("a", "a", "b", "b"), engine, 2, pools={"remote": 2}, settings=COMPRESSING)
    assert [line for line in told.lines if line[3] == "hbm"] == [
        (0, "compress_demote", "a", "hbm", "remote"),
        (1, "dedupe", "a", "hbm", "remote"),
    ]
    assert told.arm["occupancy_bytes"]["remote"]["end"] == BLOCK // 2


def test_promotion_counts_a_hosts_accesses_since_the_span_came_to_it() -> None:
    """Host 1 gets a from the pool after a second, and uses it a millisecond later: 1,000 accesses a second."""
    engine = engine_of({"hbm": BLOCK, "dram": BLOCK, "remote": 0})
    second = 1_000_000
    rows = [
        *[Ask("a", 0), Ask("x", 0), Ask("b", 1), Ask("x", 1), Ask("c", 2), Ask("x", 2)],
        *[Ask("c", 3), Ask("a", second), Ask("c", second), Ask("y", second + 1), Ask("c", second + 1)],
        *[Clear("hbm", second + 2), Ask("a", second + 1000)],
    ]
    told = Told(rows, engine, 2, pools={"remote": 2}, settings={"promote_accesses_per_1000_s": 900_000})
    assert told.lines[-2:] == [(1, "attend", "a", "dram", "dram"), (1, "promote", "a", "dram", "hbm")]
