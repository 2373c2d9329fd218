"""What the generators give lies where docs/synth.md says, and what it calls published is what the real traces give."""

from __future__ import annotations

import csv
import gzip
import itertools
from pathlib import Path

import orjson
import pytest
from synth_measures import Row, gaps_ms, mean, quantile, reuse_ppm, reused_tokens, rows, table_lines

from harness.synth.records import Request


@pytest.fixture(scope="module")
def measured() -> list[Row]:
    return rows()


def test_every_statistic_lies_in_its_band(measured: list[Row]) -> None:
    outside = [row for row in measured if not row.low <= row.generated <= row.high]
    assert outside == []


def test_the_table_in_the_documentation_is_the_measured_one(measured: list[Row], root: Path) -> None:
    documented = [line for line in (root / "docs" / "synth.md").read_text().splitlines() if line.count("|") == 7]
    assert documented == table_lines(measured)


def test_the_mooncake_figures_are_those_of_the_trace(shared: Path) -> None:
    with (shared / "traces/mooncake/conversation_trace.jsonl").open("rb") as file:
        lines = [orjson.loads(line) for line in file]
    records = [
        Request(line["timestamp"], line["input_length"], line["output_length"], line["hash_ids"]) for line in lines
    ]
    last: dict[int, int] = {}
    waits = []
    for record in records:
        known = [block for block in record.blocks if block in last]
        if len(known) > 1:
            waits.append(record.t_ms - last[known[-1]])
        last.update(dict.fromkeys(record.blocks, record.t_ms))
    assert len(records) == 12_031
    assert mean(record.input_tokens for record in records) == 12_035
    assert mean(record.output_tokens for record in records) == 343
    assert quantile((record.output_tokens for record in records), 500_000) == 350
    assert reuse_ppm(records, 512) == 373_623
    assert 1_000_000 * len(waits) // len(records) == 387_166
    assert quantile(waits, 500_000) == 123_000
    assert quantile(waits, 900_000) == 482_999
    assert round((records[-1].t_ms - records[0].t_ms) / (len(records) - len(waits))) == 480


def test_the_weka_figures_are_those_of_the_traces(shared: Path) -> None:
    steps, sessions, compactions, reused, all_tokens = [], 0, 0, 0, 0
    for path in sorted((shared / "traces/weka").glob("*.json.gz")):
        trace = orjson.loads(gzip.decompress(path.read_bytes()))
        own = [
            Request(round(1000 * r["t"]), r["in"], r["out"], r["hash_ids"], path.name)
            for r in trace["requests"]
            if r["type"] != "subagent"
        ]
        sessions += 1
        compactions += sum(
            after.input_tokens * 10 < before.input_tokens * 9 for before, after in itertools.pairwise(own)
        )
        steps += own
        every = [(r.t_ms, r) for r in own]
        for sub in (r for r in trace["requests"] if r["type"] == "subagent"):
            for r in sub["requests"]:
                every.append((round(1000 * (sub["t"] + r["t"])), Request(0, r["in"], r["out"], r["hash_ids"])))
        ordered = [request for _, request in sorted(every, key=lambda pair: pair[0])]
        reused += sum(reused_tokens(ordered, 64))
        all_tokens += sum(request.input_tokens for request in ordered)
    total_out = sum(step.output_tokens for step in steps)
    assert (sessions, len(steps), compactions) == (30, 2217, 17)
    assert round(len(steps) / sessions) == 74
    assert mean(step.input_tokens for step in steps) == 120_884
    assert quantile((step.input_tokens for step in steps), 500_000) == 109_486
    assert mean(step.output_tokens for step in steps) == 393
    assert quantile((step.output_tokens for step in steps), 500_000) == 194
    assert round(sum(step.input_tokens for step in steps) / total_out) == 307
    assert quantile(gaps_ms(steps), 500_000) == 18_000
    assert quantile(gaps_ms(steps), 900_000) == 109_000
    assert reused * 1_000_000 // all_tokens == 965_352
    assert compactions * 1_000_000 // len(steps) == 7_668


def test_the_azure_figures_are_those_of_the_trace(shared: Path) -> None:
    with (shared / "traces/azure/AzureLLMInferenceTrace_code.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 8819
    assert mean(int(line["ContextTokens"]) for line in lines) == 2048
    assert mean(int(line["GeneratedTokens"]) for line in lines) == 28
