"""Reading in bulk changes how long it takes and nothing else: held against the same lines read one by one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reading import NATIVE_HEADER, joined, native, paths, read

from harness.errors import TraceError
from harness.readers.bulk import Lane

SIZE = 16


def outcome(content: str, **options: Any) -> object:
    """Everything that reading gives: the trace and what was said about it, or the message."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            # Several chunks, and none of them all of the trace.
            patch.setattr("harness.readers.lines._CHUNK_BYTES", 300)
            trace = read(content, **options)
    except TraceError as error:
        return str(error)
    return trace, trace.conventions, trace.notices


def one_by_one(content: str, **options: Any) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lane, "take", lambda *_: False)
        return outcome(content, **options)


@st.composite
def rows(draw: st.DrawFn) -> list[tuple[float, int, list[int]]]:
    """Requests that number new blocks as they come, now and then with something that breaks the rule."""
    grown: list[list[int]] = [[]]
    total, t = 0, 100
    made: list[tuple[float, int, list[int]]] = []
    for _ in range(draw(st.integers(1, 12))):
        before = draw(st.sampled_from(grown))
        known = before[: draw(st.integers(0, len(before)))]
        new = draw(st.integers(0 if known else 1, 3))
        path = known + list(range(total, total + new))
        total += new
        t += draw(st.integers(0, 2))
        last = draw(st.sampled_from([SIZE, SIZE, 5]))
        tokens = (len(path) - 1) * SIZE + last
        wrong = draw(st.sampled_from(["", "", "", "", "id", "tokens", "time", "twice", "huge", "none", "negative"]))
        if wrong == "id":
            path = [*path[:-1], draw(st.integers(0, total + 2))]
        elif wrong == "twice":
            path = [*path, path[0]]
        elif wrong == "huge":
            path = [*path[:-1], draw(st.sampled_from([2**63, 2**64 - 1, 2**64]))]
        elif wrong == "negative":
            path = [draw(st.integers(-3, -1)), *path[1:]]
        elif wrong == "none":
            path = []
        made.append((t - 5 if wrong == "time" else t, tokens + (wrong == "tokens") * draw(st.integers(-20, 20)), path))
        if last == SIZE and not wrong:
            grown.append(path)
    return made


@settings(deadline=None, max_examples=300)
@given(rows=rows(), lenient=st.booleans(), native_form=st.booleans())
@example(rows=[(0, 16, [0]), (1, 32, [0, 2])], lenient=False, native_form=False)
@example(rows=[(0, 16, [0]), (1, 32, [0, 1]), (2, 48, [1, 0, 2])], lenient=True, native_form=True)
@example(rows=[(0, 5, [0]), (1, 32, [0, 1])], lenient=True, native_form=False)
@example(rows=[(0, 32, [0, 1]), (0, 21, [0, 1])], lenient=True, native_form=False)
@example(rows=[(9, 16, [0]), (1, 16, [0])], lenient=True, native_form=False)
@example(rows=[(0, 48, [0, 1, 2]), (1, 48, [0, 3, 4]), (2, 48, [0, 3, 2])], lenient=True, native_form=False)
@example(rows=[(0, 16, [0]), (-1, 0, []), (1, 32, [1, 0])], lenient=False, native_form=False)
@example(rows=[(0, 32, [0, 1]), (1, 16, [1])], lenient=True, native_form=False)
@example(rows=[(-1, 0, []), *[(1, 16, [0])] * 9, (2, 32, [1, 0])], lenient=False, native_form=False)
def test_what_is_read_in_bulk_is_what_is_read_line_by_line(
    rows: list[tuple[float, int, list[int]]], lenient: bool, native_form: bool
) -> None:
    if native_form:
        listed = [
            json.dumps(
                {"kind": "request", "t_ms": t, "input_tokens": tokens, "blocks": ids, "session": str(tokens % 3)}
            )
            for t, tokens, ids in rows
        ]
        content = joined([NATIVE_HEADER, *listed])
    else:
        # A row at a time before 0 stands for a blank line.
        content = joined(
            json.dumps({"timestamp": t, "input_length": tokens, "output_length": 1, "hash_ids": ids}) if t >= 0 else ""
            for t, tokens, ids in rows
        )
    options: dict[str, Any] = {"lenient": lenient} | ({} if native_form else {"block_tokens": SIZE})
    assert outcome(content, **options) == one_by_one(content, **options)


def test_a_plain_chunk_is_taken_in_bulk(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    take = Lane.take

    def watched(self: Lane, chunk: Any) -> bool:
        taken.append(take(self, chunk))
        return taken[-1]

    monkeypatch.setattr(Lane, "take", watched)
    request = '{"kind":"request","t_ms":%d,"input_tokens":%d,"output_tokens":5,"blocks":%s,"session":"a"}'
    trace = read(native(*(request % (t, 16 * t + 16, list(range(t + 1))) for t in range(2000))))
    assert trace.requests == 2000
    assert paths(trace)[5] == [0, 1, 2, 3, 4, 5]
    # The first chunk has the header, whose lines are read one by one.
    assert len(taken) > 10
    assert all(taken)
