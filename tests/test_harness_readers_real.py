"""Published traces are read to the last block."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.readers import read_trace
from harness.readers.native_writer import write_native


@pytest.mark.parametrize(
    ("file", "requests", "references", "distinct", "input_tokens"),
    [
        ("mooncake/conversation_trace.jsonl", 12_031, 288_500, 182_790, 144_793_823),
        ("mooncake/synthetic_trace.jsonl", 3_993, 121_877, 43_924, 61_194_628),
        ("dynamo/mooncake_trace_1000.jsonl", 1_000, 19_686, 12_207, 9_792_030),
    ],
)
@pytest.mark.parametrize("chain_ids", [False, True])
def test_a_published_mooncake_trace_is_read_whole(
    shared: Path, file: str, requests: int, references: int, distinct: int, input_tokens: int, chain_ids: bool
) -> None:
    trace = read_trace(shared / "traces" / file, chain_ids=chain_ids)
    assert trace.format == "mooncake"
    assert trace.requests == requests
    assert len(trace.path) == references
    assert len(trace.block_names) == distinct
    assert sum(trace.input_tokens) == input_tokens
    assert sum(trace.unidentified_tokens) == 0
    assert trace.notices == {}


def test_a_published_trace_survives_the_native_format(shared: Path, tmp_path: Path) -> None:
    trace = read_trace(shared / "traces" / "dynamo" / "mooncake_trace_1000.jsonl")
    write_native(trace, tmp_path / "x.jsonl")
    again = read_trace(tmp_path / "x.jsonl")
    again.format, again.sha256 = trace.format, trace.sha256
    assert again == trace


@pytest.mark.parametrize("file", ["azure/AzureLLMInferenceTrace_code.csv", "tair/event_publisher.log"])
def test_a_published_trace_of_another_format_is_refused(shared: Path, file: str) -> None:
    from harness.errors import TraceError

    with pytest.raises(TraceError, match="known format"):
        read_trace(shared / "traces" / file)
