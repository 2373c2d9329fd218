"""Traces of agents and chats: sub-agents, ids of a file's own, rows written at the end, chats with parents."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from reading import joined, paths, read, refusal

from harness.errors import TraceError
from harness.readers import read_trace


def ask(t: float, tokens: int, ids: list[int], **more: Any) -> dict[str, Any]:
    return {"t": t, "type": "n", "model": "m", "in": tokens, "out": 5, "hash_ids": ids} | more


def agent(t: float, duration_ms: int, *times: float) -> dict[str, Any]:
    requests = [ask(time, 64, [9]) for time in times]
    return {"t": t, "type": "subagent", "agent_id": "a1", "duration_ms": duration_ms, "requests": requests}


def weka(*requests: object, **more: Any) -> str:
    return json.dumps({"id": "one", "block_size": 64, "hash_id_scope": "local", "requests": requests} | more)


def test_an_agentic_file_is_its_requests_with_floor_tails() -> None:
    trace = read(weka(ask(0, 130, [1, 2]), ask(1.5, 192, [1, 2, 3], model="k")))
    assert (trace.format, list(trace.t_us), trace.sessions) == ("weka", [0, 1_500_000], ["one"])
    assert (paths(trace), list(trace.unidentified_tokens)) == ([[1, 2], [1, 2, 3]], [2, 0])
    assert (trace.namespaces, list(trace.path)) == (["m", "k"], [0, 1, 2, 3, 4])
    assert trace.conventions["id_scope"] == "file (declared)"
    assert read(json.dumps(json.loads(weka(ask(0, 64, [1]))), indent=1)).requests == 1


@pytest.mark.parametrize(
    ("agents", "said", "t_us"),
    [
        ([agent(10, 5000, 0, 4)], "relative (detected, 1)", [10_000_000, 14_000_000]),
        ([agent(10, 5000, 10, 14)], "absolute (detected, 1)", [10_000_000, 14_000_000]),
        ([agent(1, 5000, 2, 4)], "relative (default)", [3_000_000, 5_000_000]),
        ([agent(0, 5000, 2, 4)], "relative (default)", [2_000_000, 4_000_000]),
    ],
)
def test_times_of_sub_agents_are_told_by_where_they_lie(agents: list[object], said: str, t_us: list[int]) -> None:
    trace = read(weka(*agents))
    assert (list(trace.t_us), trace.sessions) == (t_us, ["one/a1"])
    assert trace.conventions["subagent_times"] == said


def test_sub_agents_of_both_kinds_in_one_file_are_refused() -> None:
    assert refusal(weka(agent(10, 5000, 0), agent(10, 5000, 20))) == (
        "x.jsonl: 1 sub-agents have times that count from their own start and 1 from that of the file: "
        "correct it, so that all are of one kind"
    )


def test_requests_that_cannot_be_are_named_by_their_number() -> None:
    content = weka(ask(0, 64, [1]), ask(0, 64, [1], type="x"), 7, agent(10**9, 0, 10**10), ask(0, 128, [1, 1]))
    message = refusal(content)
    assert message.startswith("x.jsonl: 4 of 5 requests cannot be read: ")
    for sentence in (
        'request 2: type "x" is not n, s or subagent',
        "request 3: 7 where an object is needed",
        "request 4: t 10000000000 is out of range",
        "request 5: block 1 is twice in this request",
    ):
        assert sentence in message
    assert read(content, lenient=True).requests == 2
    assert refusal(weka(ask(0, 64, [1]), ask(0, 128, [2, 1]))).startswith(
        "x.jsonl: request 2: block 1 follows block 2 here but is first at request 1. Fix the request, "
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (weka(ask(0, 64, [1]))[:-9], "is not one whole JSON object with requests; get the file again"),
        (weka(block_size=0), "block_size 0 is not an integer from 1 to 1048576; get the file again"),
        (weka(hash_id_scope="x"), 'hash_id_scope "x" is not local or global; get the file again'),
        (weka(), "is empty: a trace needs at least one request"),
    ],
)
def test_a_file_that_is_not_whole_or_has_a_wrong_head_is_refused(content: str, sentence: str) -> None:
    assert refusal(content, lenient=True) == f"x.jsonl: {sentence}"


def test_a_request_that_is_nested_too_deeply_is_named() -> None:
    for deep in ("[" * 1500 + "]" * 1500, '{"type":"subagent","t":' + "[" * 1500 + "]" * 1500 + "}"):
        content = weka(ask(0, 64, [1]), "HERE").replace('"HERE"', deep)
        message = refusal(content)
        assert message.startswith("x.jsonl: ")
        assert "nested too deeply" in message or "is not one whole JSON object" in message


def test_ids_of_a_file_mean_nothing_in_another_unless_it_says_so(tmp_path: Path) -> None:
    for name, scope in (("a.json", "local"), ("b.json", "local"), ("c.json.gz", "global"), ("d.json", "global")):
        content = weka(ask(0, 64, [1]), hash_id_scope=scope).encode()
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    trace = read_trace(tmp_path)
    assert list(trace.path) == [0, 1, 2, 2]
    assert trace.namespaces == ["a.json/m", "b.json/m", "m"]
    assert trace.conventions["id_scope"] == "file (declared); global (declared)"
    (tmp_path / "b.json").write_text(weka(ask(0, 32, [1]), block_size=32))
    with pytest.raises(TraceError, match=r"^b\.json: has blocks of 32 tokens and the files before it of 64: read them"):
        read_trace(tmp_path)


def ended(received_ms: int, ids: list[int] | None, tokens: int = 32, **more: Any) -> str:
    request: dict[str, Any] = {"request_id": "r", "model": "m", "input_tokens": tokens, "output_tokens": 7}
    request |= {"request_received_ms": received_ms} | more
    if ids is not None:
        request["replay"] = {"trace_block_size": 16, "input_length": tokens, "input_sequence_hashes": ids}
    event = {"schema": "dynamo.request.trace.v1", "event_type": "request_end", "request": request}
    event |= {"event_time_unix_ms": received_ms + 99, "agent_context": {"session_id": "s"}}
    return json.dumps({"timestamp": received_ms + 99, "event": event})


def test_dynamo_rows_count_from_when_they_were_received() -> None:
    tool = '{"timestamp":1,"event":{"schema":"dynamo.request.trace.v1","event_type":"tool_start"}}'
    rows = [
        ended(50, [2**64 - 1, 5], cached_tokens=16),
        tool,
        ended(20, [2**64 - 1], 16, cached_tokens=3),
        ended(60, None),
    ]
    trace = read(joined(rows))
    assert (trace.format, list(trace.t_us), trace.block_tokens) == ("dynamo", [50_000, 20_000, 60_000], 16)
    assert (paths(trace), list(trace.unidentified_tokens)) == ([[2**64 - 1, 5], [2**64 - 1], []], [0, 0, 32])
    assert (trace.namespaces, trace.sessions, list(trace.output_tokens)) == (["m"], ["s"], [7, 7, 7])
    assert trace.notices == {
        "measured_cached_tokens": 19,
        "tool_events_ignored": 1,
        "time_steps_back": 1,
        "largest_step_back_us": 30_000,
        "rows_without_ids": 1,
    }
    assert trace.conventions["block_tokens"] == "16 (declared)"
    assert read(joined(rows[-1:])).conventions["reuse"] == "unknown: no request has block ids"


def test_dynamo_rows_that_cannot_be_are_refused() -> None:
    assert refusal(joined([ended(1, [1]).replace("trace.v1", "trace.v2")]), lenient=True) == (
        'x.jsonl:1: schema "dynamo.request.trace.v2" is not supported: this version reads dynamo.request.trace.v1'
    )
    for old, new, sentence in (
        ('"trace_block_size": 16', '"trace_block_size": 32', "trace_block_size 32 here but 16 before"),
        ("request_end", "request_begin", 'event_type "request_begin" is not request_end or a tool\'s'),
        ('"request": {', '"request": 1, "x": {', "request 1 is not an object"),
        ('"request_received_ms": 1', '"x": 1', "request_received_ms is missing"),
    ):
        assert sentence in refusal(joined([ended(1, [1], 16), ended(1, [1], 16).replace(old, new)]))


def chat(chat_id: int, parent: int, ids: list[int], tokens: int, t: float = 0) -> str:
    row = {"chat_id": chat_id, "parent_chat_id": parent, "timestamp": t, "input_length": tokens, "output_length": 3}
    return json.dumps(row | {"type": "text", "turn": 1, "hash_ids": ids})


def test_bailian_ids_are_chained_unless_that_is_turned_off() -> None:
    rows = joined([chat(1, -1, [5, 6], 32), chat(2, -1, [6, 5], 32, 1.5)])
    trace = read(rows)
    assert (trace.format, list(trace.path), list(trace.t_us)) == ("bailian", [0, 1, 2, 3], [0, 1_500_000])
    assert trace.conventions["ids"] == "chained (format)"
    assert "block 6 is first here but follows block 5 at line 1" in refusal(rows, chain_ids=False)


def test_a_bailian_session_is_a_chat_with_all_that_follows_from_it() -> None:
    parents = [(1, -1), (2, 1), (3, 2), (4, -1), (5, 99), (6, 99)]
    trace = read(joined(chat(name, parent, [name], 16) for name, parent in parents))
    assert trace.sessions == ["1", "4", "99"]
    assert list(trace.session) == [0, 0, 0, 1, 2, 2]
    assert trace.notices == {"parents_outside_the_trace": 2}
    assert "parent_chat_id 1.5 is not an integer" in refusal(joined([chat(1, -1, [], 16).replace("-1", "1.5")]))
