"""Tair's two formats: reads are requests, and what no write had made readable by then is counted."""

from __future__ import annotations

import json

import pytest
from reading import joined, paths, read, refusal


def event(kind: str, t_us: int, keys: list[object] | None = None, session: str = "w", source: str = "i") -> str:
    row: dict[str, object] = {"id": "x", "source": source, "type": kind, "trigger_time_us": t_us}
    if keys is not None:
        row["keys"] = keys
    if kind != "GetCacheLocation":
        row["write_session_id"] = session
    return json.dumps(row)


def log(*rows: str) -> str:
    return joined(rows)


def test_a_read_is_a_request_of_its_instance() -> None:
    trace = read(log(event("GetCacheLocation", 5, [-1, 2]), event("GetCacheLocation", 7, [-1], source="j")))
    assert (trace.format, list(trace.t_us), paths(trace)) == ("tair", [5, 7], [[-1, 2], [-1]])
    assert (trace.namespaces, list(trace.input_tokens)) == (["i", "j"], [32, 16])
    assert read(log(event("GetCacheLocation", 5, [1])), block_tokens=64).input_tokens[0] == 64


@pytest.mark.parametrize(
    ("end", "read_us", "early"),
    [(1000, 999, 2), (1000, 1000, 0), (None, 100_009, 2), (None, 100_010, 0)],
    ids=["before it ends", "when it ends", "before 100 ms", "after 100 ms"],
)
def test_a_write_can_be_read_from_its_end_or_100_ms_after_it_began(end: int | None, read_us: int, early: int) -> None:
    rows = [event("GetCacheLocation", 0, [1, 2]), event("StartWriteCache", 10, [1, 2])]
    if end is not None:
        rows.append(event("FinishWriteCache", end))
    trace = read(log(*rows, event("GetCacheLocation", read_us, [1, 2, 3])))
    assert trace.notices.get("references_before_their_write", 0) == early
    assert trace.notices.get("writes_without_an_end", 0) == (end is None)


def test_what_nobody_wrote_is_early_for_ever_and_an_end_without_a_beginning_is_nothing() -> None:
    rows = [event("FinishWriteCache", 1), event("GetCacheLocation", 2, [1]), event("GetCacheLocation", 10**9, [1])]
    assert read(log(*rows)).notices == {"references_before_their_write": 1}


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (
            '{"type":"Other","trigger_time_us":1}',
            'type "Other" is not GetCacheLocation, StartWriteCache or FinishWriteCache',
        ),
        (
            '{"type":"GetCacheLocation","trigger_time_us":"1"}',
            'trigger_time_us "1" is not an integer from -9007199254740992',
        ),
        ('{"type":"GetCacheLocation","trigger_time_us":1,"keys":1}', "keys 1 is not a list"),
        ('{"type":"GetCacheLocation","trigger_time_us":1,"keys":[1,1]}', "block 1 is twice in this request"),
    ],
)
def test_an_event_that_cannot_be_is_refused(row: str, sentence: str) -> None:
    assert sentence in refusal(log(event("GetCacheLocation", 0, [1]), row))


def test_reads_and_turns_of_the_optimizer_are_requests_and_writes_are_counted() -> None:
    rows = [
        '{"instance_id":"a","trace_id":"t","timestamp_us":5,"tokens":[],"keys":[1,2],"query_type":"prefix_match"}',
        '{"instance_id":"a","trace_id":"t","timestamp_us":6,"tokens":[],"keys":[1,2]}',
        '{"instance_id":"b","trace_id":"t","timestamp_us":7,"keys":[1,3],"input_len":30,"output_len":4,"total_keys":[1,3,9]}',
    ]
    trace = read(joined(rows))
    assert (trace.format, paths(trace), list(trace.input_tokens)) == ("tair-optimizer", [[1, 2], [1, 3]], [32, 30])
    assert (list(trace.output_tokens), trace.namespaces) == ([0, 4], ["a", "b"])
    assert trace.notices == {"writes_not_replayed": 1}
