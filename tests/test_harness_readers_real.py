"""Published traces are read to the last block."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.readers import read_trace
from harness.readers.native_writer import write_native
from harness.trace import Trace


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


def reuse(trace: Trace) -> tuple[str, str]:
    """What an infinite cache hits, by references and by tokens."""
    tokens = sum(trace.block_size_tokens[block] for block in trace.path)
    by_blocks = 1 - len(trace.block_names) / len(trace.path)
    return f"{by_blocks:.4f}", f"{1 - sum(trace.block_size_tokens) / tokens:.4f}"


@pytest.mark.parametrize(
    ("file", "by_blocks", "by_tokens"),
    [
        ("mooncake/conversation_trace.jsonl", "0.3664", "0.3736"),
        ("mooncake/synthetic_trace.jsonl", "0.6396", "0.6512"),
        ("dynamo/mooncake_trace_1000.jsonl", "0.3799", None),
    ],
)
def test_an_infinite_cache_reuses_what_was_published(
    shared: Path, file: str, by_blocks: str, by_tokens: str | None
) -> None:
    found = reuse(read_trace(shared / "traces" / file))
    assert found == (by_blocks, by_tokens or found[1])


def test_the_published_tair_log_is_its_reads(shared: Path) -> None:
    trace = read_trace(shared / "traces" / "tair" / "event_publisher.log")
    assert (trace.format, trace.requests, len(trace.path), len(trace.block_names)) == ("tair", 102, 4246, 980)
    assert reuse(trace)[0] == "0.7692"
    assert trace.namespaces == ["3780643326877293460"]
    # One of the 3,266 references that repeat came before its write had finished: 0.7690 where that counts.
    assert trace.notices == {"writes_without_an_end": 6, "references_before_their_write": 1}


def test_the_published_azure_trace_has_unknown_reuse(shared: Path) -> None:
    trace = read_trace(shared / "traces" / "azure" / "AzureLLMInferenceTrace_code.csv")
    assert (trace.format, trace.requests, len(trace.path)) == ("azure", 8819, 0)
    assert trace.unidentified_tokens == trace.input_tokens
    assert sum(trace.input_tokens) == 18_059_974
    assert trace.notices == {"rows_without_ids": 8819}
    assert trace.conventions["reuse"] == "unknown: no request has block ids"


def test_the_published_weka_files_are_one_trace_of_thirty_namespaces(shared: Path) -> None:
    trace = read_trace(shared / "traces" / "weka")
    assert (trace.format, trace.requests, len(trace.path), len(trace.block_names)) == ("weka", 2228, 4195371, 144306)
    assert len({name.split("/")[0] for name in trace.namespaces}) == 30
    assert len(trace.sessions) == 31
    assert trace.notices["rows_with_floor_tail"] == 2194
    assert trace.conventions == {
        "block_tokens": "64 (declared)",
        "id_scope": "file (declared)",
        "time_unit": "s (format)",
        "subagent_times": "relative (detected, 1)",
        "ids": "prefixes (format)",
        "tail": "floor (detected)",
    }
    alone = read_trace(shared / "traces" / "weka" / "trace_0017.json.gz")
    assert (alone.requests, len(alone.path), len(alone.block_names)) == (265, 391273, 19355)
    # The sub-agent's eleven requests begin when it does, and not with the file.
    agent = [alone.t_us[r] for r in range(alone.requests) if alone.session[r] == 1]
    assert (len(agent), agent[0], agent[-1]) == (11, 21_450_819_000, 21_544_819_000)
