"""`fakbench trace stats` and `trace head`: what they print and write, the same bytes every time, what they refuse."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from builders import BLOCK_BYTES, arm_of, engine_of
from conftest import ROOT
from reading import joined, native, read
from running import fakbench

from harness.isolation import isolate
from harness.stats.counts import Counts
from harness.stats.document import StatsOptions, build_stats
from harness.stats.head import build_head
from harness.stats.names import shortened

FAULTS = ROOT / "traces" / "rag-with-faults.jsonl"
TENANTS = ROOT / "traces" / "multi-tenant-rag.jsonl"

# Five requests for blocks of four tokens whose hits at every capacity are known (the example of the LiteHit paper).
WORKED = joined(
    [
        '{"kind":"trace","schema":"fakbench.trace/1","block_tokens":4}',
        '{"kind":"request","t_ms":0,"input_tokens":13,"blocks":["A","B","C"]}',
        '{"kind":"request","t_ms":1,"input_tokens":12,"blocks":["A","B","D"]}',
        '{"kind":"request","t_ms":2,"input_tokens":13,"blocks":["A","B","C"]}',
        '{"kind":"request","t_ms":3,"input_tokens":8,"blocks":["A","E"]}',
        '{"kind":"request","t_ms":4,"input_tokens":8,"blocks":["A","E"]}',
    ]
)


@pytest.mark.parametrize(("blocks", "hits"), [(2, 7), (3, 7), (0, 8)])
def test_the_worked_example_hits_as_worked_out(blocks: int, hits: int) -> None:
    trace = read(WORKED, tail="floor")
    arm = arm_of(trace, engine_of({"hbm": blocks * BLOCK_BYTES}), "blind-lru")
    # The last request is in the cache whole: its last token is computed all the same, and counted apart.
    assert arm["tokens"]["obligatory"] == 1
    assert arm["tokens"]["hit"]["hbm"] + arm["tokens"]["obligatory"] == 4 * hits


def test_the_worked_example_in_figures() -> None:
    document = build_stats(isolate(read(WORKED, tail="floor"), ()), engine_of({"hbm": 12000}), StatsOptions(2))
    reuse = document["reuse"]
    assert document["blocks"]["references"] == 13
    assert (document["blocks"]["distinct"], document["blocks"]["used_once"]) == (5, 1)
    assert reuse["seen"] == reuse["leading"] == {"blocks": 8, "tokens": 32}
    assert (reuse["obligatory_tokens"], reuse["servable_tokens"]) == (1, 31)
    # A, B and C are held until the third request, then A and E.
    assert document["live_set"] == {
        "peak_tokens": 12,
        "mean_tokens": (12 + 12 + 4 + 8) // 4,
        "peak_bytes": 12_000,
        "mean_bytes": 9_000,
        "peak_of_hbm_room_ppm": 1_000_000,
    }
    # A is on top each time; B and C lie below A and, the second time, D.
    assert reuse["distance_tokens"] == {"count": 8, "min": 4, "mean": 7, "p50": 4, "p90": 16, "p99": 16, "max": 16}
    assert document["tails"]["partial_without_id"] == 2
    assert document["series"] == [
        {"start_us": 0, "requests": 3, "input_tokens": 38, "seen_tokens": 20, "live_tokens": 12, "live_bytes": 12000},
        {"start_us": 2001, "requests": 2, "input_tokens": 16, "seen_tokens": 12, "live_tokens": 8, "live_bytes": 8000},
    ]


@pytest.mark.parametrize(
    ("events", "requests"),
    [
        (('{"kind":"request","t_ms":5,"input_tokens":0}',), 1),
        (('{"kind":"clear","t_ms":0}', '{"kind":"request","t_ms":5,"input_tokens":0}'), 1),
        (('{"kind":"request","t_ms":5,"input_tokens":16,"blocks":[0]}',), 1),
    ],
)
def test_one_request_has_statistics(events: tuple[str, ...], requests: int, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(native(*events))
    for form in ("table", "markdown", "json"):
        ran = fakbench("trace", "stats", tmp_path / "x.jsonl", "--format", form)
        assert (ran.code, ran.err) == (0, "")
    document = orjson.loads(ran.out)
    assert document["arrivals"]["requests_per_1000_s"] is None
    assert document["arrivals"]["gap_us"] is None
    assert len(document["series"]) == document["trace"]["requests"] == requests
    if document["reuse"] is None:
        assert document["lengths"]["blocks"] is None
    else:
        assert document["reuse"]["gap_us"] is None
        assert document["live_set"]["mean_tokens"] is None


def test_controls_alone_are_no_trace(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(native('{"kind":"clear","t_ms":0}'))
    for command in ("stats", "head"):
        ran = fakbench("trace", command, "x.jsonl", cwd=tmp_path)
        assert (ran.code, ran.out) == (2, b"")
        assert ran.err == "fakbench: x.jsonl: holds no requests\n"


def test_mixed_traces_leave_unknown_reuse_out_of_the_shares() -> None:
    request = '{"kind":"request","t_ms":%d,"input_tokens":16%s}'
    trace = read(native(request % (0, ',"blocks":[0]'), request % (1, ',"blocks":[0]'), request % (2, "")))
    document = build_stats(isolate(trace, ()), engine_of({"hbm": 0}), StatsOptions(1))
    reuse = document["reuse"]
    assert reuse["seen_of_references_ppm"] == reuse["seen_of_identified_tokens_ppm"] == 500_000
    assert reuse["seen_of_input_tokens_ppm"] == 333_333
    assert reuse["requests_by_share_seen"]["unknown"] == 1
    assert document["tokens"]["of_requests_without_ids"] == 16
    assert document["live_set"]["peak_of_hbm_room_ppm"] is None


def test_identities_share_nothing_unless_asked() -> None:
    documents = {}
    for isolation in ("none", "tenant", "all"):
        ran = fakbench("trace", "stats", TENANTS, "--isolation", isolation, "--format", "json")
        documents[isolation] = orjson.loads(ran.out)
        replayed = fakbench("replay", TENANTS, "--now", "0", "--isolation", isolation, "--format", "json")
        ceiling = orjson.loads(replayed.out)["arms"]["infinite"]["tokens"]
        reuse = documents[isolation]["reuse"]
        assert reuse["servable_tokens"] == ceiling["hit"]["hbm"]
        assert reuse["obligatory_tokens"] == ceiling["obligatory"]
    hits = [documents[isolation]["reuse"]["seen"]["blocks"] for isolation in documents]
    assert hits == sorted(hits, reverse=True)
    assert hits[0] > hits[2]
    assert documents["none"]["trace"]["isolation"] == []
    assert "tenant" in documents["none"]["trace"]["identity"]
    assert documents["all"]["trace"]["isolation_classes"] > 1


def test_the_document_is_the_same_bytes_printed_and_written(tmp_path: Path) -> None:
    out = tmp_path / "stats.json"
    first = fakbench("trace", "stats", FAULTS, "--format", "json", "--out", out, PYTHONHASHSEED="1", TZ="UTC")
    second = fakbench("trace", "stats", FAULTS, "--format", "json", PYTHONHASHSEED="2", TZ="Asia/Tokyo")
    assert (first.code, first.err) == (0, "")
    assert first.out == second.out == out.read_bytes()
    document = orjson.loads(first.out)
    assert list(document) == [
        "schema", "trace", "machine", "model", "tokens", "tails", "blocks", "reuse", "live_set", "shared_roots",
        "lengths", "arrivals", "sessions", "series",
    ]  # fmt: skip
    assert document["schema"] == "fakbench.trace_stats/1"
    assert sum(document["trace"]["controls"].values()) == 8


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_forms_for_people_are_the_same_bytes_and_say_it_in_words(form: str) -> None:
    first = fakbench("trace", "stats", FAULTS, "--format", form, COLUMNS="40", PYTHONHASHSEED="1")
    second = fakbench("trace", "stats", FAULTS, "--format", form, COLUMNS="200", PYTHONHASHSEED="2", FORCE_COLOR="1")
    assert first.out == second.out
    text = first.out.decode().replace("\\", "")
    for said in (
        "What comes back in a cache without bound",
        "of HBM room",
        "Input tokens of a request",
        "Live set over time",
        "ids: prefixes (format)",
        "controls: ",
    ):
        assert said in text


def test_unknown_reuse_is_called_unknown(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(native('{"kind":"request","t_ms":0,"input_tokens":9}'))
    text = fakbench("trace", "stats", tmp_path / "x.jsonl").out.decode()
    assert "no request has block ids, so reuse is unknown: it is not none" in text
    row = next(line for line in text.splitlines() if "seen before" in line)
    assert [cell.strip() for cell in row.split("|")[1:]] == ["unknown"] * 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--buckets", "0"), "--buckets 0: out of range; give 1 to 10000"),
        (("--buckets", "10001"), "--buckets 10001: out of range; give 1 to 10000"),
        (("--isolation", "none+tenant"), "--isolation none+tenant: none stands alone; leave it out, or the others"),
        (
            ("--block-tokens", "3"),
            "rag-with-faults.jsonl:1: --block-tokens 3 contradicts the header's block_tokens 16: leave the option out",
        ),
    ],
)
def test_bad_input_is_one_sentence(options: tuple[str, ...], message: str, tmp_path: Path) -> None:
    out = tmp_path / "stats.json"
    ran = fakbench("trace", "stats", FAULTS, *options, "--out", out)
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.strip().endswith(message)
    assert list(tmp_path.iterdir()) == []


def test_the_trace_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(content := WORKED.encode())
    ran = fakbench("trace", "stats", "x.jsonl", "--out", "x.jsonl", cwd=tmp_path)
    assert ran.code == 2
    assert ran.err == "fakbench: --out x.jsonl: is the same file as the trace; name another\n"
    assert (tmp_path / "x.jsonl").read_bytes() == content


def test_percentiles_are_of_the_nearest_rank_and_histograms_have_no_gaps() -> None:
    counts = Counts([0, 1, 5])
    counts.add(1000, 7)
    assert counts.summary() == {
        "count": 10,
        "min": 0,
        "mean": 700,
        "p50": 1000,
        "p90": 1000,
        "p99": 1000,
        "max": 1000,
    }
    rows = counts.histogram()
    assert [row["from"] for row in rows] == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    assert [row["to"] for row in rows] == [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023]
    assert [row["count"] for row in rows] == [1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 7]
    assert Counts().summary() is None
    assert Counts().histogram() == []


def test_the_head_is_the_first_requests_and_the_controls_before_the_next() -> None:
    trace = read(
        native(
            '{"kind":"request","t_ms":1,"input_tokens":20,"blocks":["a","b"],"session":"s","tenant":"t"}',
            '{"kind":"pressure","t_ms":2,"tier":"hbm","fill_ppm":7}',
            '{"kind":"access","t_ms":3,"span":"doc","tokens":9,"namespace":"n"}',
            '{"kind":"clear","t_ms":4}',
        )
    )
    first = {
        "kind": "request",
        "t_us": 1000,
        "input_tokens": 20,
        "output_tokens": 0,
        "unidentified_tokens": 0,
        "blocks": 2,
        "first_block": '"a"',
        "last_block": '"b"',
        "last_block_tokens": 4,
        "session": "s",
        "namespace": "",
        "identity": {"tenant": "t"},
    }
    assert build_head(trace, 1)["events"] == [first]
    events = build_head(trace, 5)["events"]
    assert events[0] == first
    assert events[1] == {"kind": "pressure", "t_us": 2000, "tier": "hbm", "fill_ppm": 7}
    assert (events[2]["first_block"], events[2]["namespace"]) == ('"doc"', "n")
    assert events[3:] == [{"kind": "clear", "t_us": 4000, "tier": None}]
    assert build_head(trace, 2)["events"] == events


def test_the_head_is_printed_in_every_form() -> None:
    first, second = (fakbench("trace", "head", FAULTS, "-n", "3", "--format", "json") for _ in range(2))
    assert first.out == second.out
    document = orjson.loads(first.out)
    assert document["schema"] == "fakbench.trace_head/1"
    assert [event["kind"] for event in document["events"]] == ["request"] * 3
    assert document["trace"]["requests"] == 160
    for form in ("table", "markdown"):
        ran = fakbench("trace", "head", FAULTS, "-n", "200", "--format", form)
        assert (ran.code, ran.err) == (0, "")
        text = ran.out.decode()
        assert "The first 160 requests, in the order of the file" in text
        assert sum(f" {kind} " in line for line in text.splitlines() for kind in ("clear", "fault", "pressure")) == 8
    ran = fakbench("trace", "head", FAULTS, "-n", "0")
    assert (ran.code, ran.err) == (2, "fakbench: --requests 0: out of range; give at least 1\n")


def test_names_that_would_steer_a_terminal_do_not(tmp_path: Path) -> None:
    name = "\\u001b[31m" + "x" * 60
    (tmp_path / "x.jsonl").write_text(
        native(*(f'{{"kind":"request","t_ms":{t},"input_tokens":16,"blocks":["{name}"]}}' for t in (0, 1)))
    )
    for command in ("stats", "head"):
        ran = fakbench("trace", command, tmp_path / "x.jsonl")
        assert (ran.code, ran.err) == (0, "")
        assert b"\x1b" not in ran.out
        assert b'x"' in ran.out
    assert shortened("abcdefghijkl", 12) == "abcdefghijkl"
    assert shortened("abcdefghijklm", 12) == "abcdef...klm"
