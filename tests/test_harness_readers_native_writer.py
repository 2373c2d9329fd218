"""A trace written in the native format reads back as the same columns, and what cannot be said in it is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import joined, native, read

from harness.errors import FakbenchError, TraceError
from harness.readers import read_trace
from harness.readers.builder import TraceBuilder
from harness.readers.native_writer import native_lines, write_native
from harness.readers.source import Options
from harness.trace import IDENTITY_AXES, MAX_BLOCK_BYTES, MAX_TOKENS, Trace
from policy.identity import Identity
from policy.tiers import LADDER

BLOCK_TOKENS = 16

LINES = (
    '{"kind":"trace","schema":"fakbench.trace/1","block_tokens":16,"name":"n","notes":"all kinds"}',
    '{"kind":"clear","t_ms":0}',
    '{"kind":"request","t_ms":0.5,"input_tokens":20,"output_tokens":3,"blocks":[18446744073709551615,"b"],"session":"s"}',
    '{"kind":"request","t_ms":1,"input_tokens":20,"output_tokens":0,"blocks":[18446744073709551615],"namespace":"é"}',
    '{"kind":"fault","t_ms":2,"tier":"disk","until_ms":3}',
    '{"kind":"pressure","t_ms":2,"tier":"hbm","fill_ppm":500000}',
    '{"kind":"access","t_ms":3,"span":"b","tokens":4000,"bytes":67108864}',
    '{"kind":"access","t_ms":3,"span":7,"tokens":1,"output_tokens":2,"session":"s","namespace":"é"}',
    '{"kind":"access","t_ms":3,"span":"b","tokens":4000,"bytes":67108864,"adapter":"é","tenant":"s"}',
    '{"kind":"request","t_ms":3,"input_tokens":9,"output_tokens":0,"namespace":"é","model":"m","tokenizer":"t","salt":"0"}',
    '{"kind":"request","t_ms":-4,"input_tokens":0,"output_tokens":0}',
    '{"kind":"clear","t_ms":5,"tier":"cxl"}',
)


def written(trace: Trace) -> bytes:
    return b"".join(native_lines(trace))


def columns(trace: Trace, *left_out: str) -> dict[str, Any]:
    """What a trace carries, apart from what was said about the file it came from."""
    about_the_file = ("format", "sha256", "notices", "conventions", *left_out)
    return {name: value for name, value in dataclasses.asdict(trace).items() if name not in about_the_file}


def test_the_lines_that_were_read_are_the_lines_that_are_written() -> None:
    assert written(read(joined(LINES))).decode() == joined(LINES)


ids = st.integers(0, 5) | st.sampled_from(["1", "a"]) | st.integers(-(2**63), 2**64 - 1)
spaces = st.sampled_from(["", "n", "é"])
identities = st.builds(Identity, **dict.fromkeys(IDENTITY_AXES, spaces))
sessions = st.none() | st.sampled_from(["", "s", "t"])
times_us = st.integers(0, 10**7) | st.integers(-(2**51), 2**51) | st.integers(-(2**43), 2**43).map(lambda ms: ms * 1000)


@st.composite
def traces(draw: st.DrawFn, chain_ids: bool = False) -> Trace:
    """What a builder makes of any rows."""
    builder = TraceBuilder(Options(lenient=True, chain_ids=chain_ids))
    builder.trace.block_tokens = BLOCK_TOKENS
    builder.trace.name, builder.trace.notes = draw(st.text()), draw(st.text())
    for line in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(["request", "request", "access", "clear", "fault", "pressure"]))
        t_us, tier = draw(times_us), draw(st.sampled_from(LADDER))
        who: dict[str, Any] = {"namespace": draw(spaces), "session": draw(sessions), "identity": draw(identities)}
        if kind == "request":
            path = draw(st.lists(ids, max_size=4))
            tokens = max(0, len(path) * BLOCK_TOKENS + draw(st.integers(-BLOCK_TOKENS, BLOCK_TOKENS)))
            builder.request(line, t_us, tokens, draw(st.integers(0, MAX_TOKENS)), path, **who)
        elif kind == "access":
            size_bytes = draw(st.just(0) | st.integers(1, MAX_BLOCK_BYTES))
            tokens = draw(st.integers(1, MAX_TOKENS))
            builder.access(line, t_us, draw(ids), tokens, size_bytes, draw(st.integers(0, 9)), **who)
        elif kind == "clear":
            builder.control("clear", t_us, draw(st.sampled_from(["", tier])), 0)
        elif kind == "fault":
            builder.control("fault", t_us, tier, t_us + 1000 * draw(st.integers(1, 1000)))
        else:
            builder.control("pressure", t_us, tier, draw(st.integers(0, 1_000_000)))
    builder.finish()
    return builder.trace


@settings(deadline=None)
@given(traces())
def test_any_trace_reads_back_as_it_was(trace: Trace) -> None:
    if trace.requests:
        assert columns(read(written(trace))) == columns(trace)


@settings(deadline=None)
@given(traces(chain_ids=True))
def test_a_trace_whose_names_repeat_reads_back_but_for_the_names(trace: Trace) -> None:
    if trace.requests:
        again = read(written(trace))
        assert columns(again, "block_names") == columns(trace, "block_names")
        assert written(again) == written(trace)


def test_blocks_whose_names_repeat_are_written_as_numbers() -> None:
    rows = [
        '{"kind":"request","t_ms":0,"input_tokens":32,"blocks":[7,7]}',
        '{"kind":"access","t_ms":0,"span":"a","tokens":5}',
    ]
    lines = written(read(native(*rows), chain_ids=True)).decode().splitlines()
    assert lines[1:] == [
        '{"kind":"request","t_ms":0,"input_tokens":32,"output_tokens":0,"blocks":[0,1]}',
        '{"kind":"access","t_ms":0,"span":"a","tokens":5}',
    ]


@pytest.mark.parametrize("name", [b"\x00\xff", 2**64, -(2**63) - 1, ("a", "b"), None])
def test_blocks_whose_names_are_not_json_are_written_as_numbers(name: object) -> None:
    trace = read(native('{"kind":"request","t_ms":0,"input_tokens":32,"blocks":["a","b"]}'))
    trace.block_names[1] = name
    assert b'"blocks":[0,1]}' in written(trace)


def test_a_trace_of_another_format_is_written_with_its_own_names() -> None:
    row = '{"timestamp":1,"input_length":600,"output_length":2,"hash_ids":[5,9]}'
    trace = read(joined([row, row]))
    again = read(written(trace))
    assert (again.format, again.name, columns(again)) == ("native", "x.jsonl", columns(trace))


def message(trace: Trace) -> str:
    with pytest.raises(TraceError) as caught:
        written(trace)
    return str(caught.value)


def small() -> Trace:
    return read(native('{"kind":"request","t_ms":0,"input_tokens":40,"blocks":[1,2,3]}'))


def test_lengths_that_a_reader_would_not_find_again_are_refused() -> None:
    expected = (
        "request 0 cannot be written: its blocks are not 16 tokens each and a last partial one of 40 input tokens"
    )
    for column, index, value in (
        ("block_size_tokens", 0, 15),
        ("block_size_tokens", 2, 16),
        ("unidentified_tokens", 0, 8),
        ("unidentified_tokens", 0, 40),
    ):
        trace = small()
        getattr(trace, column)[index] = value
        assert message(trace) == expected
    trace = read(native('{"kind":"request","t_ms":0,"input_tokens":40}'))
    trace.unidentified_tokens[0] = 39
    assert message(trace) == expected


def test_a_trace_without_a_block_size_is_refused() -> None:
    assert message(Trace()) == "a trace of 0 tokens a block cannot be written: set block_tokens"


def test_a_time_that_milliseconds_would_round_is_refused() -> None:
    trace = small()
    trace.t_us[0] = 2**53 - 1
    assert message(trace) == (
        "the time 9007199254740991 us cannot be written: as milliseconds it would be rounded to 9007199254740.99"
    )


def test_text_that_is_not_unicode_is_refused() -> None:
    trace = small()
    trace.name = "\ud800"
    assert message(trace).startswith("a trace event cannot be written as JSON: ")


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("old")
    trace = small()
    trace.t_us[0] = 2**53 - 1
    with pytest.raises(TraceError):
        write_native(trace, path)
    assert path.read_text() == "old"
    write_native(small(), path)
    assert columns(read_trace(path)) == columns(small())
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(FakbenchError, match=r"x\.jsonl: cannot be written \(No such file or directory\)"):
        write_native(small(), tmp_path / "absent" / "x.jsonl")
