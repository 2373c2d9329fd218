"""Whatever the bytes, a reader gives a trace that holds together or one sentence, and never anything else."""

from __future__ import annotations

import gzip
from itertools import pairwise
from typing import Any

import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reading import NATIVE_HEADER, joined, read

from harness.errors import TraceError
from harness.readers.registry import FORMATS
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
}
NAMES = [row.name for row in FORMATS]

options = st.fixed_dictionaries(
    {
        "lenient": st.booleans(),
        "chain_ids": st.booleans(),
        "tail": st.sampled_from(["auto", "ceil", "floor"]),
        "block_tokens": st.sampled_from([None, 1, 16, 512]),
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
    assert set(NAMES) >= SAMPLES.keys() == FIELDS.keys()
    for name, sample in SAMPLES.items():
        trace = read(sample)
        assert trace.format == name
        assert consistent(trace)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None)
@given(content=st.binary(max_size=200), how=options)
@example(content=b"", how={})
def test_any_bytes_are_read_or_refused(name: str, content: bytes, how: dict[str, Any]) -> None:
    survives(content, how)
    survives(content, {**how, "format": name})
    survives(SAMPLES.get(name, b"") + content, how)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None)
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
@pytest.mark.parametrize("codec", ["gzip", "zstd"])
@settings(deadline=None, max_examples=50)
@given(changes=st.lists(st.tuples(st.integers(0, 250), st.integers(0, 6), st.binary(max_size=3)), max_size=3))
def test_a_spoilt_compressed_trace_is_read_or_refused(
    name: str, codec: str, changes: list[tuple[int, int, bytes]]
) -> None:
    plain = SAMPLES.get(name, b"")
    content = gzip.compress(plain, mtime=0) if codec == "gzip" else zstandard.ZstdCompressor().compress(plain)
    for at, removed, added in changes:
        content = content[:at] + added + content[at + removed :]
    survives(content, {"lenient": True})


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)
FIELDS = {
    "mooncake": ["timestamp", "input_length", "output_length", "hash_ids", "session_id", "delay"],
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
@settings(deadline=None)
@given(data=st.data(), how=options)
def test_any_values_in_known_fields_are_read_or_refused(name: str, data: st.DataObject, how: dict[str, Any]) -> None:
    import json

    fields = st.dictionaries(st.sampled_from(FIELDS[name]), values | st.integers(0, 100), max_size=7)
    rows = data.draw(st.lists(fields, min_size=1, max_size=4))
    if name == "native":
        rows = [{"kind": data.draw(st.sampled_from(KINDS)), **row} for row in rows]
    survives(SAMPLES[name] + joined(json.dumps(row) for row in rows).encode(), how)
