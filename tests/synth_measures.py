"""What published workloads are like and what the generators' defaults give, measured alike: the table of docs/synth.md.

`python tests/synth_measures.py` prints the table. Reuse is what an infinite cache of whole blocks would answer: the
tokens of the leading blocks that some earlier request had, over all input tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from harness.synth.draws import Draws
from harness.synth.load import default_recipe
from harness.synth.rag import Rag, retrieve
from harness.synth.records import Request
from harness.synth.registry import WORKLOADS


class Row(NamedTuple):
    """A statistic: what is published, where, what the defaults give, and between which two values that must lie."""

    workload: str
    statistic: str
    published: str
    source: str
    generated: int
    low: int
    high: int


def requests(workload: str, **knobs: int) -> list[Request]:
    """The requests of a workload with seed 1, its defaults but for `knobs`."""
    recipe = msgspec.structs.replace(default_recipe(workload, 1), **knobs)
    return [record for record in WORKLOADS[workload].generate(recipe) if isinstance(record, Request)]


def mean(values: Iterable[int]) -> int:
    kept = list(values)
    return round(sum(kept) / len(kept))


def quantile(values: Iterable[int], ppm: int) -> int:
    kept = sorted(values)
    return kept[min(len(kept) - 1, len(kept) * ppm // 1_000_000)]


def reused_tokens(records: list[Request], block_tokens: int) -> list[int]:
    """For each request, its tokens in leading blocks that an earlier one had."""
    seen: set[int] = set()
    found = []
    for record in records:
        count = 0
        while count < len(record.blocks) and record.blocks[count] in seen:
            count += 1
        found.append(min(count * block_tokens, record.input_tokens))
        seen.update(record.blocks)
    return found


def reuse_ppm(records: list[Request], block_tokens: int) -> int:
    return sum(reused_tokens(records, block_tokens)) * 1_000_000 // sum(record.input_tokens for record in records)


def gaps_ms(records: Iterable[Request]) -> list[int]:
    """Times from a session's request to its next."""
    last: dict[str, int] = {}
    found = []
    for record in records:
        if record.session in last:
            found.append(record.t_ms - last[record.session])
        last[record.session] = record.t_ms
    return found


def rows() -> list[Row]:
    return [*chat_rows(), *agent_rows(), *few_shot_rows(), *rag_rows(), *batch_rows()]


def chat_rows() -> list[Row]:
    records = requests("multi-turn-chat", sessions=7373)
    first = {record.session: record.t_ms for record in reversed(records)}
    waits = gaps_ms(records)
    moon, name = "Mooncake conversation", "multi-turn-chat"
    within = 1_000_000 * sum(wait <= 600_000 for wait in waits) // len(waits)
    return [
        Row(name, "requests", "12,031", moon, len(records), 11_500, 12_600),
        Row(name, "mean time between first turns, ms", "480", moon, max(first.values()) // 7372, 465, 495),
        Row(name, "mean input tokens", "12,035", moon, mean(r.input_tokens for r in records), 11_400, 12_700),
        Row(name, "mean output tokens", "343", moon, mean(r.output_tokens for r in records), 330, 356),
        Row(name, "median output tokens", "350", moon, quantile((r.output_tokens for r in records), 500_000), 335, 365),
        Row(
            name,
            "later turns, ppm of requests",
            "387,166",
            moon,
            1_000_000 * len(waits) // len(records),
            370_000,
            405_000,
        ),
        Row(
            name, "reuse, ppm of input tokens", "373,623 (paper: 40 %)", moon, reuse_ppm(records, 512), 350_000, 430_000
        ),
        Row(name, "median time to the next turn, ms", "123,000", moon, quantile(waits, 500_000), 112_000, 134_000),
        Row(name, "90 % of next turns within, ms", "482,999", moon, quantile(waits, 900_000), 440_000, 530_000),
        Row(
            name, "next turns within 10 minutes, ppm", "800,000 of reuses", "Bailian trace A", within, 800_000, 970_000
        ),
    ]


def agent_rows() -> list[Row]:
    records = requests("agent-loop")
    own = [record for record in records if "/" not in record.session]
    before: dict[str, int] = {}
    compactions = 0
    for record in own:
        compactions += record.input_tokens * 10 < before.get(record.session, 0) * 9
        before[record.session] = record.input_tokens
    weka, name = "Weka, 30 agents", "agent-loop"
    waits = gaps_ms(own)
    total_in, total_out = sum(r.input_tokens for r in own), sum(r.output_tokens for r in own)
    return [
        Row(name, "steps of an agent", "74", weka, round(len(own) / 100), 62, 86),
        Row(name, "mean input tokens", "120,884", weka, mean(r.input_tokens for r in own), 105_000, 136_000),
        Row(
            name,
            "median input tokens",
            "109,486",
            weka,
            quantile((r.input_tokens for r in own), 500_000),
            95_000,
            125_000,
        ),
        Row(name, "mean output tokens", "393", weka, mean(r.output_tokens for r in own), 370, 420),
        Row(name, "median output tokens", "194", weka, quantile((r.output_tokens for r in own), 500_000), 180, 208),
        Row(name, "input tokens for an output token", "307", weka, total_in // total_out, 260, 350),
        Row(name, "median time to the next step, ms", "18,000", weka, quantile(waits, 500_000), 16_500, 19_500),
        Row(name, "90 % of next steps within, ms", "109,000", weka, quantile(waits, 900_000), 98_000, 140_000),
        Row(name, "compactions, ppm of steps", "7,668", weka, 1_000_000 * compactions // len(own), 3_000, 10_000),
        Row(
            name,
            "reuse, ppm of input tokens",
            "965,352; TraceLab 958,106",
            weka,
            reuse_ppm(records, 512),
            955_000,
            980_000,
        ),
    ]


def few_shot_rows() -> list[Row]:
    records = requests("few-shot", requests=4000)
    tool, name = "Mooncake tool & agent", "few-shot"
    tasks: dict[int, int] = {}
    for record in records:
        tasks[record.blocks[3]] = tasks.get(record.blocks[3], 0) + 1
    return [
        Row(name, "mean time between requests, ms", "152", tool, records[-1].t_ms // 3999, 145, 160),
        Row(name, "mean input tokens", "8,596", tool, mean(r.input_tokens for r in records), 7_800, 9_400),
        Row(name, "mean output tokens", "182", tool, mean(r.output_tokens for r in records), 172, 192),
        Row(name, "reuse, ppm of input tokens", "590,000", tool, reuse_ppm(records, 512), 540_000, 640_000),
        Row(
            name,
            "requests of the commonest task, ppm",
            "361,000",
            "first 1,000 of it",
            1_000_000 * max(tasks.values()) // len(records),
            340_000,
            390_000,
        ),
    ]


def rag_rows() -> list[Row]:
    recipe = default_recipe("rag", 1)
    assert isinstance(recipe, Rag)
    draws = Draws(1)
    found = [document for _ in range(4000) for document in retrieve(recipe, draws)]
    hot = 1_000_000 * sum(document < 60 for document in found) // len(found)
    records = requests("rag")
    as_found = requests("rag", sort_documents=0)
    name = "rag"
    return [
        Row(name, "retrievals of the hottest 3 % of documents, ppm", "600,000", "RAGCache", hot, 570_000, 620_000),
        Row(name, "mean input tokens", "-", "-", mean(r.input_tokens for r in records), 1_750, 2_050),
        Row(name, "reuse, ppm of input tokens, popular first", "-", "-", reuse_ppm(records, 16), 300_000, 370_000),
        Row(name, "reuse, ppm of input tokens, as retrieved", "-", "-", reuse_ppm(as_found, 16), 180_000, 250_000),
    ]


def batch_rows() -> list[Row]:
    records = requests("batch", requests=4000)
    azure, name = "Azure 2023 code", "batch"
    return [
        Row(name, "mean time between requests, ms", "390", azure, records[-1].t_ms // 3999, 370, 410),
        Row(name, "mean input tokens", "2,048", azure, mean(r.input_tokens for r in records), 1_950, 2_150),
        Row(name, "mean output tokens", "28", azure, mean(r.output_tokens for r in records), 25, 31),
        Row(name, "reuse, ppm of input tokens", "-", "by construction", reuse_ppm(records, 16), 0, 0),
    ]


def table_lines(measured: list[Row]) -> list[str]:
    """The table as Markdown."""
    lines = [
        "| workload | statistic | published | source | generated | must lie in |",
        "|---|---|--:|---|--:|--:|",
    ]
    for row in measured:
        lines.append(
            f"| `{row.workload}` | {row.statistic} | {row.published} | {row.source} | {row.generated:,} "
            f"| {row.low:,} .. {row.high:,} |"
        )
    return lines


if __name__ == "__main__":
    print("\n".join(table_lines(rows())))
