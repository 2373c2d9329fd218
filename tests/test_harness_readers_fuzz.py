"""Whatever the bytes, a reader gives a trace that holds together or one sentence, and never anything else."""

from __future__ import annotations

import contextlib
import gzip
import json
import lzma
import struct
from itertools import pairwise
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reading import NATIVE_HEADER, joined, read

from harness.errors import TraceError
from harness.readers.registry import FORMATS, RECORDS
from harness.trace import NO_BLOCK, Trace

# A format without a sample is fuzzed all the same, from nothing.
SAMPLES = {
    "mooncake": joined(
        [
            '{"timestamp":0,"input_length":1000,"output_length":5,"hash_ids":[1,2],"session_id":"a"}',
            '{"timestamp":1.5,"input_length":1100,"output_length":5,"hash_ids":[1,3],"delay":5}',
            '{"timestamp":1,"input_length":10}',
        ]
    ).encode(),
    "native": joined(
        [
            NATIVE_HEADER,
            '{"kind":"request","t_ms":0,"input_tokens":40,"output_tokens":5,"blocks":[1,2],"session":"a"}',
            '{"kind":"access","t_ms":5,"span":"system","tokens":4000,"bytes":67108864}',
            '{"kind":"clear","t_ms":900,"tier":"hbm"}',
            '{"kind":"fault","t_ms":950,"tier":"disk","until_ms":1200.5}',
            '{"kind":"pressure","t_ms":960,"tier":"hbm","fill_ppm":1000000}',
        ]
    ).encode(),
    "bailian": joined(
        [
            '{"chat_id":1,"parent_chat_id":-1,"timestamp":0,"input_length":30,"output_length":5,"hash_ids":[1,2],"turn":1}',
            '{"chat_id":2,"parent_chat_id":1,"timestamp":1.5,"input_length":32,"output_length":5,"hash_ids":[2,1]}',
        ]
    ).encode(),
    "dynamo": joined(
        [
            '{"timestamp":9,"event":{"schema":"dynamo.request.trace.v1","event_type":"request_end","agent_context":'
            '{"session_id":"s"},"request":{"model":"m","input_tokens":20,"output_tokens":2,"cached_tokens":3,'
            '"request_received_ms":5,"replay":{"trace_block_size":16,"input_length":20,"input_sequence_hashes":[1,2]}}}}',
            '{"timestamp":9,"event":{"schema":"dynamo.request.trace.v1","event_type":"tool_end"}}',
        ]
    ).encode(),
    "tair": joined(
        [
            '{"source":"i","type":"GetCacheLocation","trigger_time_us":5,"keys":[1,-2],"tokens":[]}',
            '{"source":"i","type":"StartWriteCache","trigger_time_us":6,"write_session_id":"w","keys":[1,-2]}',
            '{"source":"i","type":"FinishWriteCache","trigger_time_us":7,"write_session_id":"w"}',
        ]
    ).encode(),
    "tair-optimizer": joined(
        [
            '{"instance_id":"a","timestamp_us":5,"tokens":[],"keys":[1,2],"query_type":"prefix_match"}',
            '{"instance_id":"a","timestamp_us":6,"keys":[1,3],"input_len":30,"output_len":4}',
        ]
    ).encode(),
    "lmcache-lookups": joined(
        ['{"timestamp":1.5,"model_name":"m","chunk_size":256,"seq_len":600,"chunk_hashes":["0xab","0xcd"]}']
    ).encode(),
    "lmcache-agent": joined(
        ['{"timestamp":1760587779519310,"input":"hello","output":"you","session_id":"x"}']
    ).encode(),
    "lct": b"".join(
        len(frame).to_bytes(4, "big") + frame
        for frame in map(
            msgspec.msgpack.encode,
            [
                {"type": "header", "magic": b"LMCT", "format_version": 1, "level": "events"},
                {
                    "t_mono": 0.5,
                    "qualname": "events.batch",
                    "args": {
                        "event_type": "access",
                        "entries": [{"key": {"chunk_hash_hex": "ab", "model_name": "m"}, "size_bytes": 9}],
                    },
                },
            ],
        )
    ),
    "weka": b'{"id":"a","block_size":64,"hash_id_scope":"local","requests":[{"t":0.5,"type":"n","model":"m","in":70,'
    b'"out":2,"hash_ids":[1]},{"t":9,"type":"subagent","agent_id":"b","duration_ms":5,"requests":[{"t":0,"type":"s","in":64,'
    b'"hash_ids":[1]}]}]}',
    "fak-events": joined(
        ['{"Direction":"restore","SpanDigest":"a","Tokens":5,"FromTier":"cxl","ToTier":"hbm","Outcome":"ok"}']
    ).encode(),
    "azure": b"TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,4808,10\r\n",
    "burstgpt": b"Timestamp,Session ID,Model,Request tokens,Response tokens\n5.5,,M,472,18\n45,12,M,10,0\n",
    "libcachesim": b"".join(struct.pack("<IQIq", *row) for row in ((1, 7, 512, 3), (1, 8, 9, -1), (2, 7, 512, -1))),
    "libcachesim-csv": b"time,obj_id,obj_size\n1,77,4096\n2,a,5\n",
}
NAMES = [row.name for row in FORMATS]

options = st.fixed_dictionaries(
    {
        "lenient": st.booleans(),
        "chain_ids": st.none() | st.booleans(),
        "tail": st.sampled_from(["auto", "ceil", "floor"]),
        "block_tokens": st.sampled_from([None, 1, 16, 512]),
        "time_unit": st.sampled_from(["auto", "s", "us"]),
        "turns": st.sampled_from(["auto", "cumulative", "delta", "delta+outputs"]),
        "id_scope": st.sampled_from(["auto", "file"]),
        "failed_rows": st.sampled_from(["drop", "keep"]),
    }
)
fragments = st.sampled_from(
    [
        b"\n",
        b"\r\n",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b'"',
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"-",
        b"1e999",
        b"NaN",
        b"null",
        b"true",
        b"0",
        b"1.5",
        b"18446744073709551616",
        b"-9223372036854775809",
        b'"x"',
        b"[1,1]",
        b"[" * 2000,
    ]
) | st.binary(max_size=4)


def consistent(trace: Trace) -> bool:
    """What every trace promises: paths that walk the forest, tokens that add up, columns of one length."""
    assert len(trace.path_start) == trace.requests + 1
    columns = (trace.input_tokens, trace.output_tokens, trace.unidentified_tokens, trace.namespace, trace.session)
    assert {len(column) for column in columns} == {trace.requests}
    assert len(trace.block_parent) == len(trace.block_size_tokens) == len(trace.block_names)
    assert len(trace.block_parent) == len(trace.block_size_bytes)
    for request in range(trace.requests):
        path = list(trace.blocks_of(request))
        assert [trace.block_parent[block] for block in path] == [NO_BLOCK, *path][: len(path)]
        named = sum(trace.block_size_tokens[block] for block in path)
        assert named + trace.unidentified_tokens[request] == trace.input_tokens[request]
    assert all(parent < block for block, parent in enumerate(trace.block_parent))
    assert all(earlier.before_request <= later.before_request for earlier, later in pairwise(trace.controls))
    return True


def survives(content: bytes, how: dict[str, Any]) -> None:
    try:
        trace = read(content, **how)
    except TraceError as error:
        message = str(error)
    else:
        assert consistent(trace)
        return
    assert "x.jsonl" in message
    assert "\n" not in message


def test_a_sample_is_recognised_as_its_format_and_has_fields_to_spoil() -> None:
    assert set(NAMES) >= SAMPLES.keys()
    assert FIELDS.keys() == {row.name for row in FORMATS if row.name in SAMPLES and row.shape == RECORDS}
    for name, sample in SAMPLES.items():
        trace = read(sample)
        assert trace.format == name
        assert consistent(trace)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=40)
@given(content=st.binary(max_size=200), how=options)
@example(content=b"", how={})
def test_any_bytes_are_read_or_refused(name: str, content: bytes, how: dict[str, Any]) -> None:
    survives(content, how)
    survives(content, {**how, "format": name})
    survives(SAMPLES.get(name, b"") + content, how)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=60)
@given(
    changes=st.lists(st.tuples(st.integers(0, 600), st.integers(0, 6), fragments), min_size=1, max_size=6), how=options
)
def test_a_spoilt_trace_is_read_or_refused(
    name: str, changes: list[tuple[int, int, bytes]], how: dict[str, Any]
) -> None:
    content = SAMPLES.get(name, b"")
    for at, removed, added in changes:
        content = content[:at] + added + content[at + removed :]
    survives(content, how)
    survives(content, {**how, "format": name})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("codec", ["gzip", "zstd", "xz"])
@settings(deadline=None, max_examples=15)
@given(changes=st.lists(st.tuples(st.integers(0, 250), st.integers(0, 6), st.binary(max_size=3)), max_size=3))
def test_a_spoilt_compressed_trace_is_read_or_refused(
    name: str, codec: str, changes: list[tuple[int, int, bytes]]
) -> None:
    plain = SAMPLES.get(name, b"")
    content = {"gzip": gzip.compress, "zstd": zstandard.compress, "xz": lzma.compress}[codec](plain)
    for at, removed, added in changes:
        content = content[:at] + added + content[at + removed :]
    survives(content, {"lenient": True})


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)
FIELDS = {
    "bailian": ["chat_id", "parent_chat_id", "timestamp", "input_length", "output_length", "hash_ids"],
    "dynamo": ["event", "timestamp"],
    "tair": ["type", "trigger_time_us", "source", "keys", "tokens", "write_session_id"],
    "tair-optimizer": ["instance_id", "timestamp_us", "keys", "tokens", "query_type", "input_len", "output_len"],
    "lmcache-lookups": ["timestamp", "chunk_size", "seq_len", "chunk_hashes", "model_name"],
    "lmcache-agent": ["timestamp", "input", "output", "session_id"],
    "fak-events": ["Direction", "SpanDigest", "Tokens", "FromTier", "ToTier", "Outcome", "ModelID", "TokenizerID"],
    "mooncake": ["timestamp", "input_length", "output_length", "hash_ids", "session_id", "delay", "prefix_reset"],
    "native": [
        "t_ms",
        "input_tokens",
        "output_tokens",
        "blocks",
        "session",
        "namespace",
        "span",
        "tokens",
        "bytes",
        "tier",
        "until_ms",
        "fill_ppm",
        "block_tokens",
        "schema",
        "name",
        "notes",
    ],
}
KINDS = ["request", "access", "clear", "fault", "pressure", "trace"]


@pytest.mark.parametrize("name", FIELDS)
@settings(deadline=None, max_examples=60)
@given(data=st.data(), how=options)
def test_any_values_in_known_fields_are_read_or_refused(name: str, data: st.DataObject, how: dict[str, Any]) -> None:
    fields = st.dictionaries(st.sampled_from(FIELDS[name]), values | st.integers(0, 100), max_size=7)
    rows = data.draw(st.lists(fields, min_size=1, max_size=4))
    if name == "native":
        rows = [{"kind": data.draw(st.sampled_from(KINDS)), **row} for row in rows]
    survives(SAMPLES[name] + joined(json.dumps(row) for row in rows).encode(), how)


FRAME = st.dictionaries(
    st.sampled_from(["type", "t_mono", "qualname", "args", "spec", "key_groups", "entries", "key", "v", "event_type"]),
    st.sampled_from(["events.batch", ".submit_prefetch_task", "access", "store", b"a"])
    | values
    | st.binary(max_size=3),
    max_size=6,
)


@settings(deadline=None, max_examples=100)
@given(frames=st.lists(FRAME, max_size=3), level=st.sampled_from(["storage", "events"]), lenient=st.booleans())
def test_any_recorded_call_is_read_or_refused(frames: list[dict[str, Any]], level: str, lenient: bool) -> None:
    head = {"type": "header", "magic": b"LMCT", "format_version": 1, "level": level}
    packed = []
    for frame in (head, *frames):
        with contextlib.suppress(OverflowError):
            packed.append(msgspec.msgpack.encode({"args": frame, **frame} if frame is not head else head))
    survives(b"".join(len(frame).to_bytes(4, "big") + frame for frame in packed), {"format": "lct", "lenient": lenient})


@settings(deadline=None, max_examples=100)
@given(data=st.data(), how=options)
def test_any_document_of_requests_is_read_or_refused(data: st.DataObject, how: dict[str, Any]) -> None:
    field = st.sampled_from(["t", "type", "model", "in", "out", "hash_ids", "agent_id", "duration_ms", "requests"])
    row = st.dictionaries(field, values | st.sampled_from(["n", "s", "subagent"]) | st.integers(0, 99), max_size=6)
    nested = st.fixed_dictionaries({"type": st.just("subagent"), "t": values, "requests": st.lists(row, max_size=2)})
    document = {"id": data.draw(values), "block_size": data.draw(st.integers(-1, 70)), "hash_id_scope": "local"}
    document["requests"] = data.draw(st.lists(row | nested, max_size=3))
    survives(json.dumps(document).encode(), how)
