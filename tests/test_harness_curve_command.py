"""`fakbench curve`: what it writes and prints, the same bytes every time, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from conftest import ROOT
from running import fakbench

TRACE = ROOT / "traces" / "multi-turn-chat.jsonl"
FAULTS = ROOT / "traces" / "rag-with-faults.jsonl"


def test_the_document_is_the_same_bytes_printed_and_written(tmp_path: Path) -> None:
    out = tmp_path / "curve.json"
    options = ("curve", TRACE, "--at", "hbm=1GB,dram=2GB", "--window", "5m", "--format", "json")
    first = fakbench(*options, "--out", out, PYTHONHASHSEED="1")
    second = fakbench(*options, PYTHONHASHSEED="2")
    assert (first.code, first.err) == (0, "")
    assert first.out == second.out == out.read_bytes()
    document = orjson.loads(first.out)
    assert list(document) == [
        "schema", "trace", "machine", "model", "parameters", "tokens", "live_set", "exactness", "knees", "curve",
        "splits", "windows",
    ]  # fmt: skip
    assert document["schema"] == "fakbench.curve/1"
    tokens = document["tokens"]
    parts = (tokens[name] for name in ("ceiling", "cold", "obligatory", "unidentified"))
    assert tokens["input"] == sum(parts) == 6_653_881
    assert [knee["capacity_bytes"] for knee in document["knees"]] == [105069805568, 136906407936, 181701443584]
    assert document["knees"][0]["per_node_bytes"] == 8 * document["knees"][0]["per_gpu_bytes"]
    assert document["splits"][1]["tiers"] == {
        "hbm": {
            "capacity_bytes": 1000000000,
            "hit_tokens": 345088,
            "down_to_here": 345088,
            "down_to_here_at_least": 345088,
        },
        "dram": {
            "capacity_bytes": 2000000000,
            "hit_tokens": 75776,
            "down_to_here": 420864,
            "down_to_here_at_least": 412672,
        },
    }
    assert [window["requests"] for window in document["windows"]] == [369, 234, 32]
    for point in document["curve"]:
        assert point["hit_tokens"] + point["reprefilled_tokens"] <= tokens["ceiling"] + tokens["obligatory"]
        assert point["exact"] == (point["capacity_bytes"] >= document["exactness"]["exact_from_bytes"])


def test_ranks_gpus_and_node_are_three_figures() -> None:
    ran = fakbench("curve", TRACE, "--tensor-parallel", "3", "--format", "json")
    knee = orjson.loads(ran.out)["knees"][0]
    engine = knee["capacity_bytes"]
    # Eight accelerators hold two engines of three, and two are left over.
    assert (knee["per_rank_bytes"], knee["per_node_bytes"]) == (-(-engine // 3), 2 * engine)
    assert knee["per_gpu_bytes"] == -(-2 * engine // 8)


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_forms_for_people_say_where_the_curve_is_exact(form: str) -> None:
    ran = fakbench("curve", TRACE, "--at", "hbm=0", "--window", "5m", "--format", form)
    assert (ran.code, ran.err) == (0, "")
    text = ran.out.decode().replace("\\", "")
    assert "equal to a replay of blind-lru to the token from 12.10 GB on" in text
    for title in ("Knees", "Tokens re-prefilled against capacity", "Splits", "Windows, each begun warm"):
        assert title in text
    assert "unbounded" in text


def test_csv_has_a_line_for_each_point() -> None:
    lines = fakbench("curve", TRACE, "--format", "csv").out.decode().splitlines()
    assert lines[0].split(",")[:3] == ["capacity_bytes", "tokens", "blocks"]
    assert len({line.count(",") for line in lines}) == 1
    assert lines[-1].startswith("549755813888,4194304,8192,")


def test_events_and_samples_are_never_called_exact() -> None:
    for options in ((FAULTS,), (TRACE, "--sample", "500000")):
        document = orjson.loads(fakbench("curve", *options, "--format", "json").out)
        points = [*document["knees"], *document["curve"], *document["splits"]]
        assert not any(point["exact"] for point in points)
        assert "exact_from_bytes" not in document["exactness"]
    assert document["exactness"]["error_ppm"] > 0
    assert "left out: " in fakbench("curve", FAULTS).out.decode()
    assert "two standard errors" in fakbench("curve", TRACE, "--sample", "500000").out.decode()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--at", "dram=1TB"),
            "--at dram: names no hbm; every engine computes in HBM, so give hbm=SIZE too",
        ),
        (("--at", "hbm"), "--at hbm: not an assignment; write it like --at dram=512GiB"),
        (("--at", "hbm=1GB,hbm=2GB"), "--at hbm=2GB: hbm is given twice; keep one"),
        (("--at", "hbm=much"), "--at much: not understood; give bytes or a size like 400GB or 512GiB (0 is unbounded)"),
        (("--sample", "0"), "--sample 0: out of range; give 1 to 1000000 spans of a million (1000000 is exact)"),
        (("--span-tokens", "-1"), "--span-tokens -1: out of range; give 0 (one block) to 16777216"),
        (
            ("--window", "1us"),
            "--window: would cut the trace's 889908000 microseconds into more than 10000 windows; give a longer one",
        ),
    ],
)
def test_bad_input_is_one_sentence(options: tuple[str, ...], message: str, tmp_path: Path) -> None:
    out = tmp_path / "curve.json"
    ran = fakbench("curve", TRACE, *options, "--out", out)
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.strip().endswith(message)
    assert not out.exists()


def test_who_shares_with_whom_is_as_in_a_replay() -> None:
    trace = ROOT / "traces" / "multi-tenant-rag.jsonl"
    ceilings = []
    for isolation in ("none", "adapter", "tenant", "all"):
        ran = fakbench("curve", trace, "--isolation", isolation, "--format", "json")
        ceilings.append(orjson.loads(ran.out)["tokens"]["ceiling"])
        replayed = fakbench("replay", trace, "--now", "0", "--isolation", isolation, "--format", "json")
        assert ceilings[-1] == orjson.loads(replayed.out)["arms"]["infinite"]["tokens"]["hit"]["hbm"]
    assert ceilings[0] > ceilings[1] > ceilings[2] == ceilings[3]
    refused = fakbench("curve", trace, "--isolation", "owner")
    assert refused.code == 2
    assert refused.err.startswith("fakbench: --isolation owner: owner is no axis; ")


def test_a_trace_is_read_as_a_replay_reads_it(tmp_path: Path) -> None:
    """Each block id of this format stands for its own tokens alone: unless it is chained, it has two parents here."""
    trace = tmp_path / "bailian.jsonl"
    rows = ((0.0, [1, 2]), (1.0, [3, 2]), (2.5, [1, 2]))
    trace.write_bytes(
        b"".join(
            orjson.dumps(
                {
                    "chat_id": number,
                    "parent_chat_id": -1,
                    "timestamp": time,
                    "input_length": 32,
                    "output_length": 1,
                    "type": "text",
                    "turn": 1,
                    "hash_ids": ids,
                },
                option=orjson.OPT_APPEND_NEWLINE,
            )
            for number, (time, ids) in enumerate(rows)
        )
    )
    ran = fakbench("curve", trace, "--format", "json")
    assert (ran.code, ran.err) == (0, "")
    replayed = fakbench("replay", trace, "--now", "0", "--format", "json")
    hits = orjson.loads(replayed.out)["arms"]["infinite"]["tokens"]["hit"]["hbm"]
    assert orjson.loads(ran.out)["tokens"]["ceiling"] == hits == 31
