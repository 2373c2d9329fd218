"""Real traffic, to the token: what each policy makes of two published traces on machines too small for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.arguments import Arguments
from harness.catalog.lookup import load_catalog
from harness.comparison import compare
from harness.readers import read_trace
from harness.report import build_report
from harness.resolve import resolve_engine

AGAINST = ("blind-lru", "tiered-reference")


def report_on(trace: Path, root: Path, arguments: Arguments) -> dict[str, Any]:
    engine = resolve_engine(load_catalog(root / "catalog.json"), arguments.engine_options())
    return build_report(compare(read_trace(trace), engine, arguments.replay_options()))


@pytest.fixture(scope="module")
def conversation(shared: Path, root: Path) -> dict[str, Any]:
    """Mooncake's conversation trace, 12,031 requests, on four tiers."""
    arguments = Arguments(
        machine="reference",
        against=AGAINST,
        capacity=("hbm=400GB", "dram=2TB", "cxl=2TB", "disk=8TB"),
        drop_tier=("numa_far", "remote"),
        kv_bytes_per_token=327_680,
        prefill_ns_per_token=250_000,
        span_tokens=4096,
    )
    return report_on(shared / "traces" / "mooncake" / "conversation_trace.jsonl", root, arguments)


@pytest.fixture(scope="module")
def thousand(shared: Path, root: Path) -> dict[str, Any]:
    """A thousand requests on three tiers, where whatever is not used soon expires."""
    arguments = Arguments(
        machine="reference",
        against=AGAINST,
        capacity=("hbm=30GB", "dram=90GB", "disk=200GB"),
        drop_tier=("numa_far", "cxl", "remote"),
        kv_bytes_per_token=131_072,
        prefill_ns_per_token=45_000,
        ttl=("hbm=5s", "dram=20s", "disk=60s"),
        grace="2s",
        span_tokens=4096,
    )
    return report_on(shared / "traces" / "dynamo" / "mooncake_trace_1000.jsonl", root, arguments)


def causes(arm: dict[str, Any]) -> dict[str, int]:
    return {cause: tokens for cause, tokens in arm["tokens"]["reprefilled"].items() if tokens}


def milliseconds(ns: int) -> int:
    return (ns + 500_000) // 1_000_000


def test_every_arm_of_the_conversation_has_the_same_tokens_and_the_same_cold_ones(conversation: dict[str, Any]) -> None:
    assert conversation["audit"]["balanced"]
    for arm in conversation["arms"].values():
        assert arm["tokens"]["input"] == 144_793_823
        assert arm["tokens"]["cold"] == 90_695_412
        assert arm["tokens"]["unidentified"] == 0


@pytest.mark.parametrize(
    ("policy", "hits", "obligatory", "lost", "prefill_ms", "stage_ms"),
    [
        ("blind-lru", {"hbm": 8_500_616}, 25, {"pressure": 45_597_770}, 34_073_302, 0),
        (
            "tiered",
            {"hbm": 8_500_616, "dram": 28_860_408, "cxl": 9_472_697, "disk": 6_424_380},
            118,
            {"pressure": 840_192},
            22_883_931,
            380_782,
        ),
        (
            "tiered-reference",
            {"hbm": 8_500_616, "dram": 4_001_946, "cxl": 3_309_701, "disk": 13_132_955},
            64,
            {"pressure": 24_403_825, "stranded": 749_304},
            28_962_151,
            636_136,
        ),
        ("infinite", {"hbm": 54_098_293}, 118, {}, 22_673_883, 0),
    ],
)
def test_the_conversation_trace_on_four_tiers(
    conversation: dict[str, Any],
    policy: str,
    hits: dict[str, int],
    obligatory: int,
    lost: dict[str, int],
    prefill_ms: int,
    stage_ms: int,
) -> None:
    arm = conversation["arms"][policy]
    assert arm["tokens"]["hit"] == hits
    assert arm["tokens"]["obligatory"] == obligatory
    assert causes(arm) == lost
    assert milliseconds(arm["time_ns"]["prefill"]) == prefill_ms
    assert milliseconds(arm["time_ns"]["stage"]) == stage_ms
    assert arm["lifecycle"] == {"expiring": 0, "expired": 0, "revived": 0}


def test_every_arm_of_the_thousand_has_the_same_tokens_and_the_same_cold_ones(thousand: dict[str, Any]) -> None:
    assert thousand["audit"]["balanced"]
    for arm in thousand["arms"].values():
        assert arm["tokens"]["input"] == 9_792_030
        assert arm["tokens"]["cold"] == 5_965_828
        assert arm["tokens"]["unidentified"] == 0


@pytest.mark.parametrize(
    ("policy", "hits", "obligatory", "lost", "stage_ns", "lifecycle"),
    [
        ("blind-lru", {"hbm": 2_825_216}, 0, {"pressure": 1_000_986}, 0, (0, 0, 0)),
        (
            "tiered",
            {"hbm": 2_820_096, "dram": 60_559, "disk": 312_731},
            7,
            {"pressure": 632_809},
            5_883_280_708,
            (2_285, 104, 916),
        ),
        (
            "tiered-reference",
            {"hbm": 2_669_056, "dram": 212_437, "disk": 614_647},
            8,
            {"pressure": 77_312, "expired": 241_364, "stranded": 11_378},
            11_603_641_313,
            (3_721, 467, 2_236),
        ),
        ("infinite", {"hbm": 3_826_191}, 11, {}, 0, (0, 0, 0)),
    ],
)
def test_a_thousand_requests_under_ttls(
    thousand: dict[str, Any],
    policy: str,
    hits: dict[str, int],
    obligatory: int,
    lost: dict[str, int],
    stage_ns: int,
    lifecycle: tuple[int, int, int],
) -> None:
    arm = thousand["arms"][policy]
    assert arm["tokens"]["hit"] == hits
    assert arm["tokens"]["obligatory"] == obligatory
    assert causes(arm) == lost
    assert arm["time_ns"]["stage"] == stage_ns
    assert (arm["lifecycle"]["expiring"], arm["lifecycle"]["revived"], arm["lifecycle"]["expired"]) == lifecycle
