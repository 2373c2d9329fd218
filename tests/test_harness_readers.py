"""Reading any trace: what a file is, what is wrong with it, and what its content is called."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from reading import joined, native, read, refusal

from harness.errors import TraceError
from harness.readers import read_trace
from harness.readers.registry import FORMATS, format_named

ROW = '{"timestamp":0,"input_length":512,"output_length":1,"hash_ids":[1]}'
REQUEST = '{"kind":"request","t_ms":0,"input_tokens":16,"blocks":[1]}'
KNOWN = "; ".join(f"{row.name} ({row.summary})" for row in FORMATS)


def test_the_format_is_told_by_the_first_record() -> None:
    assert read(joined([ROW])).format == "mooncake"
    assert read(native(REQUEST)).format == "native"


def test_a_format_can_be_named_instead() -> None:
    assert read(joined([ROW]), format="mooncake").requests == 1
    assert refusal(joined([ROW]), format="native") == (
        'x.jsonl:1: no header before this line: a native trace starts with {"kind":"trace",'
        '"schema":"fakbench.trace/1","block_tokens":16}'
    )


def test_a_format_that_does_not_exist_is_refused_with_those_that_do() -> None:
    names = [row.name for row in FORMATS]
    assert {"native", "mooncake"} <= set(names)
    assert refusal(joined([ROW]), format="no-such-format") == (
        f"--trace-format no-such-format is not known: use auto or one of {', '.join(names)}"
    )


def test_every_format_is_found_by_its_name() -> None:
    assert [format_named(row.name) for row in FORMATS] == list(FORMATS)
    for row in FORMATS:
        assert row.name != "auto"
        assert row.summary
        assert not row.summary.endswith(".")


def test_options_that_mean_nothing_are_refused() -> None:
    assert refusal(joined([ROW]), tail="round") == "--tail 'round' is not known: use one of auto, ceil, floor"
    for size in (0, -1, 2**20 + 1):
        assert refusal(joined([ROW]), block_tokens=size) == (
            f"--block-tokens {size} is not an integer from 1 to 1048576"
        )


def test_a_record_of_no_known_format_is_refused_with_the_formats() -> None:
    assert refusal('{"t":1}\n') == f"x.jsonl:1: not a row of a known format: {KNOWN}"
    assert refusal('\n{"kind":"span"}\n') == f"x.jsonl:2: not a row of a known format: {KNOWN}"


def test_text_without_json_is_refused_with_the_reason_and_the_formats() -> None:
    message = "and no JSON object is near: the known formats are"
    assert refusal("moment,tokens\n1,2\n") == f"x.jsonl:1: not JSON, {message} {KNOWN}"
    assert refusal("\n[1]\n") == f"x.jsonl:2: a list where an object is needed, {message} {KNOWN}"
    assert refusal(b"\0" * 64) == f"x.jsonl:1: NUL bytes, {message} {KNOWN}"


def test_an_unreadable_first_line_does_not_hide_the_format() -> None:
    assert refusal(joined(["# note", ROW])) == (
        "x.jsonl:1: not JSON (byte 0). Fix the line, or pass --lenient to leave it out."
    )
    assert read(joined(["# note", ROW]), lenient=True).format == "mooncake"


def test_the_format_is_looked_for_in_the_first_hundred_lines_that_are_not_blank() -> None:
    noise = ["#"] * 99
    assert read(joined([*noise, "", "", ROW]), lenient=True).notices == {"not_json": 99}
    assert refusal(joined([*noise, "#", ROW]), lenient=True).startswith("x.jsonl:1: not JSON, and no JSON object")


@pytest.mark.parametrize("content", [b"", b"\n", b"\r\n \n", b"\xef\xbb\xbf", b"\n" * 1000])
def test_a_file_without_content_is_empty(content: bytes) -> None:
    assert refusal(content) == "x.jsonl: is empty: a trace needs at least one request"
    assert refusal(content, lenient=True, format="native") == refusal(content)


def test_a_file_without_requests_is_refused() -> None:
    assert refusal(native()) == "x.jsonl: holds no requests"
    assert refusal(native('{"kind":"clear","t_ms":1}', '{"kind":"clear","t_ms":0}')) == "x.jsonl: holds no requests"
    assert refusal(native("{", "{", '{"kind":"x"}'), lenient=True) == (
        "x.jsonl: holds no requests that can be read (not_json 2, unknown_kind 1)"
    )


def test_a_file_that_cannot_be_opened_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")

    def message(name: str) -> str:
        with pytest.raises(TraceError) as caught:
            read_trace(Path(name))
        return str(caught.value)

    assert message("absent.jsonl") == "absent.jsonl: no such file"
    assert message("folder") == "folder: no files there; name a trace file, a folder of them, a pattern, or -"
    assert message("loop") == "loop: cannot be read: Too many levels of symbolic links"
    assert message("nul\0name") == r"'nul\x00name' is not a file name"


def test_a_file_that_may_not_be_read_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(TraceError, match=r"^x\.jsonl: permission denied$"):
        read_trace(Path("x.jsonl"))


def test_a_trace_is_called_by_its_file_and_hashed_by_its_content(tmp_path: Path) -> None:
    content = joined([ROW]).encode()
    (tmp_path / "day.jsonl").write_bytes(content)
    trace = read_trace(tmp_path / "day.jsonl")
    assert (trace.name, trace.sha256) == ("day.jsonl", hashlib.sha256(content).hexdigest())


def test_up_to_eight_problems_are_told_and_the_rest_counted() -> None:
    message = refusal(joined([ROW, *["#"] * 10]))
    told = "; ".join(f"line {2 + i} (byte {68 + 2 * i}): not JSON" for i in range(8))
    assert message == (
        f"x.jsonl: 10 of 11 lines cannot be read: {told}; and 2 more. "
        "Fix the lines, or pass --lenient to leave them out."
    )


def test_every_trace_that_the_project_ships_is_read(root: Path) -> None:
    shipped = sorted((root / "traces").glob("*.jsonl"))
    assert shipped
    for path in shipped:
        trace = read_trace(path)
        assert trace.requests > 0
        assert trace.format == "native"
