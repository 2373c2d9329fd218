"""Statistics of published traces, to the last block; what was published of them is met."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import engine_of

from harness.isolation import isolate
from harness.readers import read_trace
from harness.stats.document import StatsOptions, build_stats
from harness.trace import IDENTITY_AXES, Trace


def stats_of(trace: Trace) -> dict[str, Any]:
    """The document, with a machine of no limits."""
    return build_stats(isolate(trace, IDENTITY_AXES), engine_of({"hbm": 0}), StatsOptions(24))


def naive(trace: Trace) -> tuple[int, int, int, int, int]:
    """References, distinct blocks, blocks and tokens seen before, and tokens of whole hits, by one set."""
    known: set[int] = set()
    seen = seen_tokens = whole = 0
    for request in sorted(range(trace.requests), key=lambda request: trace.t_us[request]):
        path = trace.blocks_of(request)
        hits = [block for block in path if block in known]
        seen += len(hits)
        seen_tokens += sum(trace.block_size_tokens[block] for block in hits)
        whole += len(path) > 0 and len(hits) == len(path) and not trace.unidentified_tokens[request]
        known.update(path)
    return len(trace.path), len(known), seen, seen_tokens, whole


@pytest.mark.parametrize(
    ("file", "requests", "references", "distinct", "seen_ppm", "seen_tokens_ppm", "obligatory"),
    [
        ("mooncake/conversation_trace.jsonl", 12_031, 288_500, 182_790, 366_412, 373_623, 118),
        ("mooncake/synthetic_trace.jsonl", 3_993, 121_877, 43_924, 639_603, 651_244, 213),
        ("dynamo/mooncake_trace_1000.jsonl", 1_000, 19_686, 12_207, 379_914, 390_746, 11),
        ("tair/event_publisher.log", 102, 4_246, 980, 769_194, 769_194, 1),
        ("weka", 2_228, 4_195_371, 144_306, 965_603, 965_603, 0),
    ],
)
def test_published_traces_come_back_as_published(
    shared: Path,
    file: str,
    requests: int,
    references: int,
    distinct: int,
    seen_ppm: int,
    seen_tokens_ppm: int,
    obligatory: int,
) -> None:
    trace = read_trace(shared / "traces" / file)
    document = stats_of(trace)
    blocks, reuse = document["blocks"], document["reuse"]
    assert document["trace"]["requests"] == requests
    assert (blocks["references"], blocks["distinct"]) == (references, distinct)
    assert reuse["seen_of_references_ppm"] == seen_ppm
    assert reuse["seen_of_identified_tokens_ppm"] == seen_tokens_ppm
    assert reuse["leading"] == reuse["seen"]
    assert reuse["obligatory_tokens"] == obligatory
    seen = reuse["seen"]
    found = (references, distinct, seen["blocks"], seen["tokens"], obligatory)
    assert found == naive(trace)
    assert sum(reuse["requests_by_share_seen"].values()) == requests
    assert reuse["gap_us"]["count"] == reuse["distance_tokens"]["count"] == seen["blocks"]


def test_the_conversation_trace_in_time(shared: Path) -> None:
    document = stats_of(read_trace(shared / "traces" / "mooncake" / "conversation_trace.jsonl"))
    # Times fall on few values, so the order of the file decides; see the ties.
    assert document["arrivals"]["ties"] == {"groups": 1180, "requests": 12_031, "largest": 28}
    assert document["arrivals"]["steps_back"] == {"count": 0, "largest_us": 0}
    assert document["live_set"]["peak_tokens"] == 4_165_629
    assert max(row["live_tokens"] for row in document["series"]) == 4_165_629
    assert document["reuse"]["gap_us"]["p50"] == 113_999_000
    assert document["reuse"]["distance_tokens"]["p50"] == 4_147_413
    # One block begins every request.
    assert document["shared_roots"] == [
        {
            "block": "0",
            "namespace": "",
            "requests": 12_031,
            "shared_by_all_tokens": 512,
            "shared_by_half_tokens": 512,
        }
    ]
    assert document["tails"] == {
        "whole": 22,
        "partial_with_id": 12_009,
        "partial_without_id": 0,
        "access": 0,
        "without_ids": 0,
    }


def test_stack_distances_are_those_of_the_naive_stack(shared: Path) -> None:
    trace = read_trace(shared / "traces" / "tair" / "event_publisher.log")
    stack: list[int] = []
    distances = []
    for request in sorted(range(trace.requests), key=lambda request: trace.t_us[request]):
        path = trace.blocks_of(request)
        for block in path:
            if block in stack:
                distances.append(sum(trace.block_size_tokens[above] for above in stack[stack.index(block) :]))
        for block in reversed(path):
            if block in stack:
                stack.remove(block)
            stack.append(block)
    found = stats_of(trace)["reuse"]["distance_tokens"]
    assert (found["count"], found["max"]) == (3_266, max(distances))
    assert found["mean"] == sum(distances) // len(distances)
    assert found["p50"] == sorted(distances)[-(-len(distances) // 2) - 1]


def test_reuse_without_ids_is_unknown_and_not_none(shared: Path) -> None:
    document = stats_of(read_trace(shared / "traces" / "azure" / "AzureLLMInferenceTrace_code.csv"))
    assert document["trace"]["requests"] == 8_819
    assert [document[name] for name in ("blocks", "reuse", "live_set", "shared_roots")] == [None] * 4
    assert document["tails"]["without_ids"] == 8_819
    assert document["tokens"]["input"] == document["tokens"]["of_requests_without_ids"] == 18_059_974
    assert "seen_tokens" not in document["series"][0]
    assert document["trace"]["conventions"]["reuse"] == "unknown: no request has block ids"
