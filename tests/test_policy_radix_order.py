"""The radix arms: whole leaves leave HBM, dropped or demoted, as a naive RadixAttention over blocks says."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from builders import BLOCK_BYTES, KV_BYTES, Ask, arm_of, engine_of, moves, options_of, report_of, reprefilled, trace_of
from hypothesis import given
from hypothesis import strategies as st
from radix_arm_model import RadixArm
from strategies import SEEDS, grow_rows, moderate

from harness.comparison import compare
from harness.readers import read_trace
from harness.report import build_report
from harness.trace import Trace
from policy.radix_order import RadixOrder
from policy.tiers import HBM

ONE = BLOCK_BYTES


def test_a_leaf_goes_whole_where_recency_lets_go_of_its_end_alone() -> None:
    trace = trace_of(Ask("abc"), Ask("x", 1), Ask("abc", 2))
    engine = engine_of({"hbm": 3 * ONE})
    assert moves(arm_of(trace, engine, "blind-lru"))[:1] == [("evict", "hbm", "recompute", 2)]
    radix = arm_of(trace, engine, "radix")
    # x takes the place of all of abc; then abc needs that of x.
    assert moves(radix) == [("evict", "hbm", "recompute", 4), ("fill", "", "hbm", 7)]
    assert reprefilled(radix) == {"pressure": 12}


def test_what_a_leaf_lets_go_of_is_demoted_deepest_first_and_found_again() -> None:
    trace = trace_of(Ask("abc"), Ask("x", 1), Ask("abc", 2))
    engine = engine_of({"hbm": 3 * ONE, "dram": 2 * ONE, "disk": 10 * ONE})
    stream = BytesIO()
    report = build_report(compare(trace, engine, options_of("radix-tiered", ("radix",)), stream))
    first = [line for line in map(json.loads, stream.getvalue().splitlines()) if line.get("t_us") == 1]
    # c and b go to DRAM; a would too, and for it c moves on to disk.
    assert [(line["action"], line["span"], line["from"], line["to"]) for line in first] == [
        ("demote", 2, "hbm", "dram"),
        ("demote", 1, "hbm", "dram"),
        ("spill", 2, "dram", "disk"),
        ("demote", 0, "hbm", "dram"),
        ("fill", 3, "", "hbm"),
    ]
    tiered = report["arms"]["radix-tiered"]
    assert reprefilled(tiered) == {}
    assert sum(tiered["tokens"]["hit"].values()) == 11


def test_a_running_request_keeps_what_it_matched() -> None:
    trace = trace_of(Ask("ab"), Ask("cd", 1), Ask("abe", 2))
    radix = arm_of(trace, engine_of({"hbm": 4 * ONE}), "radix")
    assert radix["tokens"]["hit"] == {"hbm": 8}
    assert moves(radix) == [("evict", "hbm", "recompute", 2), ("fill", "", "hbm", 5)]


@moderate(150)
@given(seed=SEEDS, length=st.integers(1, 60), blocks=st.integers(1, 12))
def test_the_arm_drops_what_a_naive_radix_attention_drops(seed: int, length: int, blocks: int) -> None:
    rows, sizes = grow_rows(seed, length, controls=False, accesses=False, in_order=True)
    trace = trace_of(*rows, sizes=sizes)
    if not trace.requests:
        return
    stream = BytesIO()
    accounts: list[dict[int, int]] = []
    report = build_report(
        compare(
            trace,
            engine_of({"hbm": blocks * ONE}),
            options_of("radix", ("infinite",)),
            stream,
            lambda account: accounts.append({account.request: sum(account.hit_tokens) + account.obligatory_tokens}),
        )
    )
    assert report["audit"]["balanced"]
    model = RadixArm({block: size * KV_BYTES for block, size in enumerate(trace.block_size_tokens)}, blocks * ONE)
    order = sorted(range(trace.requests), key=trace.t_us.__getitem__)
    for number, request in enumerate(order):
        model.serve(number, trace.blocks_of(request))
    tokens = trace.block_size_tokens
    assert accounts == [
        {request: sum(tokens[block] for block in hit)} for request, hit in zip(order, model.hits, strict=True)
    ]
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    block_of = {line["span"]: line["blocks"] for line in lines if line.get("kind") == "span"}
    gone = [block_of[line["span"]] for line in lines if line.get("action") in ("evict", "drop")]
    assert gone == [[trace.block_names[block]] for block in model.dropped]


def test_every_span_in_hbm_is_in_the_tree_after_every_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or room could be asked for that no leaf gives."""
    seen = 0
    end = RadixOrder.end

    def checked(order: RadixOrder, path: Any) -> None:
        nonlocal seen
        end(order, path)
        known: set[int] = set()
        waiting = [order._tree.root]
        while waiting:
            node = waiting.pop()
            known.update(node.key)
            waiting.extend(node.children.values())
        held = {span for span, tier in enumerate(order.where) if tier == HBM}
        assert held <= known
        seen += len(held)

    monkeypatch.setattr(RadixOrder, "end", checked)
    for seed in range(40):
        rows, sizes = grow_rows(seed, 60)
        report_of(
            trace_of(*rows, sizes=sizes),
            engine_of({"hbm": 4 * ONE, "dram": 3 * ONE, "disk": 9 * ONE}),
            "radix-tiered",
            against=("radix",),
            ttl_us={"hbm": 20, "dram": 30},
            grace_us=5,
        )
    assert seen > 1000


def cut_of(trace: Trace, requests: int) -> Trace:
    """The first requests of a trace."""
    for column in (trace.t_us, trace.input_tokens, trace.output_tokens, trace.unidentified_tokens):
        del column[requests:]
    del trace.namespace[requests:], trace.session[requests:], trace.path_start[requests + 1 :]
    del trace.path[trace.path_start[requests] :]
    return trace


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "conversation_trace",
            {"radix-tiered": 7_169_990, "blind-lru": 10_782_196, "radix": 10_819_060, "tiered": 7_143_878},
        ),
        (
            "synthetic_trace",
            {"radix-tiered": 13_566_386, "blind-lru": 17_499_764, "radix": 17_520_244, "tiered": 13_509_042},
        ),
    ],
)
def test_the_radix_arms_stand_beside_the_others_on_the_mooncake_traces(
    shared: Path, name: str, expected: dict[str, int]
) -> None:
    trace = cut_of(read_trace(shared / "traces" / "mooncake" / f"{name}.jsonl"), 3000)
    engine = engine_of(
        {"hbm": 400 * 10**9, "dram": 600 * 10**9}, prefill_ns_per_token=250_000, kv_bytes_per_token=327_680
    )
    report = report_of(trace, engine, "radix-tiered", against=("blind-lru", "radix", "tiered"), span_tokens=4096)
    assert {arm: sum(reprefilled(figures).values()) for arm, figures in report["arms"].items()} == {
        **expected,
        "infinite": 0,
    }
