"""Negative controls: an honest what-if says no where there is nothing to gain, and never counts what was not there."""

from __future__ import annotations

from typing import Any

import pytest
from builders import (
    BLOCK_BYTES,
    Ask,
    Clear,
    Row,
    Tier,
    arm_of,
    engine_of,
    moves,
    outcome,
    report_of,
    reprefilled,
    trace_of,
)

AGAINST = ("blind-lru", "tiered-reference")
LADDER = {"hbm": 4 * BLOCK_BYTES, "dram": 8 * BLOCK_BYTES, "disk": 100 * BLOCK_BYTES}


def test_traffic_without_reuse_saves_nothing_and_demotion_shows_only_its_cost() -> None:
    rows = [Ask([f"{request}-{block}" for block in range(3)], 100 * request) for request in range(20)]
    report = report_of(trace_of(*rows), engine_of(LADDER), against=AGAINST)
    for name, saved in report["comparison"]["arms"].items():
        assert (saved["tokens_saved"], saved["prefill_ns_saved"], saved["net_ns_saved"]) == (0, 0, 0), name
        assert (saved["verdict"], saved["reason"]) == ("does_not_pay", "no_reuse"), name
    arm = report["arms"]["tiered"]
    assert {row["action"] for row in arm["moves"]} == {"fill", "demote", "spill"}
    assert arm["time_ns"]["offload"] > 0
    assert arm["time_ns"]["stage"] == arm["time_ns"]["attend"] == 0


def test_where_reuse_fits_in_hbm_tiers_add_nothing() -> None:
    report = report_of(trace_of(*[Ask("abcd", 100 * request) for request in range(20)]), engine_of(LADDER))
    assert outcome(report["arms"]["tiered"]) == outcome(report["arms"]["blind-lru"])
    saved = report["comparison"]["arms"]["tiered"]
    assert (saved["tokens_saved"], saved["net_ns_saved"]) == (0, 0)
    assert (saved["verdict"], saved["reason"]) == ("does_not_pay", "baseline_keeps_everything")


def test_nothing_behind_a_hole_is_a_hit() -> None:
    """Blocks 2 and 3 are safe in DRAM when block 1 is lost with HBM: no hit, and their copies are dropped."""
    rows: list[Row] = [Ask([1, 2, 3], 0), Ask([8, 9], 1), Clear("hbm", 2), Ask([1, 2, 3], 3)]
    arm = arm_of(trace_of(*rows), engine_of({"hbm": 3 * BLOCK_BYTES, "dram": 9 * BLOCK_BYTES}))
    assert arm["tokens"]["hit"] == {"hbm": 0, "dram": 0}
    assert reprefilled(arm) == {"cleared": 4, "stranded": 8}
    assert moves(arm) == [
        ("demote", "hbm", "dram", 2),
        ("fill", "", "hbm", 8),
        ("drop", "hbm", "recompute", 3),
        ("drop", "dram", "recompute", 2),
    ]


def test_the_deepest_block_goes_first_so_that_no_hole_opens() -> None:
    rows = [Ask([1, 2, 3], 0), Ask([9], 1), Ask([1, 2, 3], 2)]
    arm = arm_of(trace_of(*rows), engine_of({"hbm": 3 * BLOCK_BYTES}), "blind-lru")
    assert arm["tokens"]["hit"] == {"hbm": 8}
    assert reprefilled(arm) == {"pressure": 4}


def test_a_prompt_that_is_all_hit_computes_its_last_token_again() -> None:
    arm = arm_of(trace_of(Ask([1, 2]), Ask([1, 2])), engine_of({"hbm": 0}, prefill_ns_per_token=1000))
    assert (arm["tokens"]["input"], arm["tokens"]["hit"], arm["tokens"]["obligatory"]) == (16, {"hbm": 7}, 1)
    assert arm["time_ns"]["prefill"] == 9 * 1000


def test_a_token_that_no_block_names_is_computed_so_no_hit_is_computed_again() -> None:
    arm = arm_of(trace_of(Ask([1, 2], tail=3), Ask([1, 2], tail=3)), engine_of({"hbm": 0}))
    assert (arm["tokens"]["hit"], arm["tokens"]["obligatory"], arm["tokens"]["unidentified"]) == ({"hbm": 8}, 0, 6)


def test_a_slower_tier_costs_time_and_not_hits() -> None:
    rows: list[Row] = [Ask([block], 10 * at) for at, block in enumerate([1, 2, 3, 1, 2, 3])]
    fast, slow = (
        arm_of(trace_of(*rows), engine_of({"hbm": BLOCK_BYTES, "disk": Tier(0, 100, bandwidth)}))
        for bandwidth in (4000, 1000)
    )
    assert fast["tokens"] == slow["tokens"]
    assert (fast["time_ns"]["stage"], slow["time_ns"]["stage"]) == (3 * 1100, 3 * 4100)
    assert slow["ttft_ns"]["p50"] > fast["ttft_ns"]["p50"] or slow["ttft_ns"]["p90"] > fast["ttft_ns"]["p90"]


def test_equal_stamps_are_taken_in_the_order_of_the_file() -> None:
    rows = [Ask([1], 5), Ask([2], 5), Ask([1], 5)]
    engine = engine_of({"hbm": BLOCK_BYTES})
    assert reprefilled(arm_of(trace_of(*rows), engine, "blind-lru")) == {"pressure": 4}
    rows = [Ask([2], 5), Ask([1], 5), Ask([1], 5)]
    assert reprefilled(arm_of(trace_of(*rows), engine, "blind-lru")) == {}


def prompt_of(tokens: list[str], block_tokens: int, t_us: int) -> tuple[Ask, dict[Any, int]]:
    """A prompt as whole blocks that name their prefixes; what does not fill a block is named by none."""
    whole = len(tokens) // block_tokens
    path = ["".join(tokens[: (block + 1) * block_tokens]) for block in range(whole)]
    return Ask(path, t_us, tail=len(tokens) - whole * block_tokens), dict.fromkeys(path, block_tokens)


@pytest.mark.parametrize(("block_tokens", "hits"), [(16, 992), (64, 960), (256, 768), (512, 512), (1024, 0)])
def test_coarser_blocks_share_less_of_a_prefix(block_tokens: int, hits: int) -> None:
    """Two prompts with 1,000 tokens in common."""
    first, sizes = prompt_of(["s"] * 1000 + ["a"] * 200, block_tokens, 0)
    second, more = prompt_of(["s"] * 1000 + ["b"] * 200, block_tokens, 1)
    trace = trace_of(first, second, sizes=sizes | more)
    for policy in ("tiered", "blind-lru"):
        arm = arm_of(trace, engine_of({"hbm": 0}), policy, span_tokens=4096)
        assert arm["tokens"]["hit"] == {"hbm": hits}


def test_spans_do_not_depend_on_the_size_of_blocks() -> None:
    """Prompts of whole 512-token pieces: the same spans, hits and times, however finely blocks name them."""
    prompts = ["s" * 1024 + "a" * 1536, "s" * 1024 + "b" * 512, "s" * 1024 + "a" * 512, "s" * 1024 + "a" * 1536]
    outcomes = []
    for block_tokens in (16, 64, 512):
        asks = [prompt_of(list(prompt), block_tokens, 10 * at) for at, prompt in enumerate(prompts)]
        sizes = {block: size for _, more in asks for block, size in more.items()}
        trace = trace_of(*(ask for ask, _ in asks), sizes=sizes)
        report = report_of(trace, engine_of({"hbm": 2_600_000, "disk": 0}), span_tokens=4096)
        assert report["trace"]["spans"] == 4
        outcomes.append([outcome(arm) for arm in report["arms"].values()])
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert outcomes[0][0]["tokens"]["hit"]["disk"] > 0
