"""Traces of objects: libCacheSim's binary form, and fak's cache events."""

from __future__ import annotations

import pytest
from reading import joined, read, refusal

from harness.readers.libcachesim import RECORD

NEVER = -1
REQUESTS = [(5, 2**64 - 1, 4096, 3), (5, 7, 512, 2**63 - 1), (9, 2**64 - 1, 4096, NEVER), (9, 8, 0, NEVER)]


def binary(*requests: tuple[int, int, int, int]) -> bytes:
    return b"".join(RECORD.pack(*request) for request in requests)


def test_a_binary_request_is_an_access_of_an_object() -> None:
    trace = read(binary(*REQUESTS))
    assert (trace.format, list(trace.t_us), list(trace.path)) == (
        "libcachesim",
        [5_000_000, 5_000_000, 9_000_000],
        [0, 1, 0],
    )
    assert (list(trace.block_size_bytes), list(trace.input_tokens)) == ([4096, 512], [1, 1, 1])
    assert [name for _, name in trace.block_names] == [2**64 - 1, 7]
    assert trace.notices == {"requests_without_bytes": 1}


def test_records_are_found_wherever_pieces_end(monkeypatch: pytest.MonkeyPatch) -> None:
    content = binary(*REQUESTS)
    whole = read(content)
    monkeypatch.setattr("harness.readers.opening.PIECE_BYTES", 9)
    assert read(content) == whole


def test_a_cut_last_record_is_its_own_kind() -> None:
    content = binary(*REQUESTS * 60)[:-1]
    message = refusal(content, format="libcachesim")
    assert "record 240: the last record has 23 of 24 bytes" in message
    assert read(content, format="libcachesim", lenient=True).notices["truncated_tail"] == 1


@pytest.mark.parametrize(
    "requests",
    [
        [(9, 1, 1, NEVER), (5, 1, 1, NEVER)],
        [(5, 1, 1, 1)],
        [(5, 1, 1, 0)],
        [(5, 1, 1, 2**41)],
    ],
    ids=["time steps back", "next use is itself", "next use is none", "next use is too far"],
)
def test_bytes_that_make_no_sense_as_requests_are_not_taken_for_them(requests: list[tuple[int, int, int, int]]) -> None:
    assert "libcachesim" not in refusal(binary(*requests)).split("known formats")[0]


EVENT = '{"Direction":"%s","SpanDigest":"%s","Tokens":%s,"ModelID":"m","TokenizerID":"t","Outcome":"%s"}'


def test_what_asks_for_a_span_is_a_request_and_what_moves_one_is_counted() -> None:
    rows = [EVENT % row for row in (("offload", "a", 5, "ok"), ("restore", "a", 5, ""), ("route", "a", 5, "fault"))]
    trace = read(joined([*rows, EVENT % ("restore", "", 3, "missed"), EVENT % ("restore", "b", 0, "ok")]))
    assert (trace.format, list(trace.t_us), list(trace.path)) == ("fak-events", [0, 0, 0], [0, 0, 1])
    assert (list(trace.input_tokens), trace.namespaces) == ([5, 5, 3], ["m/t"])
    assert [name for _, name in trace.block_names] == ["a", "restore|m|t"]
    assert trace.notices == {
        "outcomes_ok": 3,
        "moves_not_replayed": 1,
        "outcomes_fault": 1,
        "outcomes_missed": 1,
        "spans_without_tokens": 1,
    }
    assert trace.conventions["time_unit"] == "none: all arrive at 0, in the order of the file (format)"


def test_a_span_has_one_size() -> None:
    message = refusal(joined([EVENT % ("restore", "a", 5, "ok"), EVENT % ("restore", "a", 6, "ok")]))
    assert 'span "a" holds 6 tokens here but 5 tokens at line 1' in message
