"""What a trace may be: a file, a folder, a pattern or the standard input, in any compression; several files as one."""

from __future__ import annotations

import gzip
import hashlib
import lzma
from pathlib import Path

import orjson
import pytest
import zstandard
from reading import NATIVE_HEADER, joined, native, paths, read, refusal
from running import fakbench

from harness.errors import TraceError
from harness.readers import read_trace

ROW = '{"timestamp":%d,"input_length":512,"output_length":1,"hash_ids":[%d]}'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `day` of two files that overlap in time, in the current directory."""
    monkeypatch.chdir(tmp_path)
    day = Path("day")
    (day / "deeper").mkdir(parents=True)
    (day / "b.jsonl").write_bytes(lzma.compress(joined([ROW % (0, 1), ROW % (5, 2)]).encode()))
    (day / "a.log").write_bytes(zstandard.compress(joined([ROW % (2, 1), ROW % (9, 3)]).encode()))
    (day / ".hidden").write_text("not a trace")
    return day


def message(path: str, **options: object) -> str:
    with pytest.raises(TraceError) as caught:
        read_trace(Path(path), **options)
    return str(caught.value)


def test_a_folder_is_one_trace_in_the_order_of_its_names(folder: Path) -> None:
    trace = read_trace(folder, id_scope="global")
    assert (trace.name, trace.format, list(trace.t_us)) == ("day", "mooncake", [2000, 9000, 0, 5000])
    assert paths(trace) == [[1], [3], [1], [2]]
    assert trace.namespaces == [""]
    # A file that begins before the one before it ended does not step back in time.
    assert trace.notices == {}
    assert trace.conventions["id_scope"] == "global (set)"


def test_ids_of_one_file_are_not_those_of_another_where_that_is_asked_for(folder: Path) -> None:
    trace = read_trace(folder, id_scope="file")
    assert list(trace.path) == [0, 1, 2, 3]
    assert trace.namespaces == ["a.log", "b.jsonl"]
    assert trace.conventions["id_scope"] == "file (set)"


def test_sessions_are_as_local_as_ids(folder: Path) -> None:
    row = '{"timestamp":0,"input_length":512,"output_length":1,"hash_ids":[1],"session_id":"s"}'
    for name in ("a.log", "b.jsonl"):
        (folder / name).write_text(joined([row]))
    assert read_trace(folder, id_scope="file").sessions == ["a.log/s", "b.jsonl/s"]
    assert read_trace(folder, id_scope="global").sessions == ["s"]


def test_several_files_are_refused_where_nobody_says_what_their_ids_mean(folder: Path) -> None:
    assert message("day") == (
        "a.log: is one of several files, and mooncake does not say whether an id means the same in all of them: "
        "pass --id-scope global if it does, or --id-scope file if every file has its own"
    )
    (folder / "a.log").unlink()
    assert read_trace(folder).requests == 2


def test_a_pattern_names_files_beneath_the_folder_they_share(folder: Path) -> None:
    (folder / "deeper" / "a.log").write_bytes((folder / "a.log").read_bytes())
    trace = read_trace(Path("day/[a]*"), id_scope="file")
    assert (trace.name, trace.namespaces) == ("[a]*", [""])
    trace = read_trace(Path("day/**/a.log").parent.parent / "*" / "a.log", id_scope="file")
    assert trace.requests == 2
    assert message("day/*.csv") == "day/*.csv: no files there; name a trace file, a folder of them, a pattern, or -"


def test_the_digest_of_several_files_is_that_of_their_sha256sum_listing(folder: Path) -> None:
    first = hashlib.sha256(joined([ROW % (2, 1), ROW % (9, 3)]).encode()).hexdigest()
    second = hashlib.sha256(joined([ROW % (0, 1), ROW % (5, 2)]).encode()).hexdigest()
    listing = f"{first}  a.log\n{second}  b.jsonl\n"
    assert read_trace(folder, id_scope="global").sha256 == hashlib.sha256(listing.encode()).hexdigest()


def test_files_of_two_block_sizes_are_not_one_trace(folder: Path) -> None:
    (folder / "c").write_text(native('{"kind":"request","t_ms":0,"input_tokens":16,"blocks":[77]}'))
    assert message("day", id_scope="global") == (
        "c: has blocks of 16 tokens and the files before it of 512: read them apart"
    )


def test_formats_may_be_mixed_and_each_file_is_told_by_its_content(folder: Path) -> None:
    header = NATIVE_HEADER.replace("16", "512")
    (folder / "c").write_text(joined([header, '{"kind":"request","t_ms":1,"input_tokens":512,"blocks":[1]}']))
    trace = read_trace(folder, id_scope="global")
    assert (trace.format, trace.requests, len(trace.block_names)) == ("mooncake+native", 5, 3)
    assert trace.conventions["block_tokens"] == "512 (default); 512 (declared)"


def test_a_bad_line_is_named_with_its_file_and_a_contradiction_with_both(folder: Path) -> None:
    row = '{"timestamp":0,"input_length":1024,"output_length":1,"hash_ids":[9,1]}'
    (folder / "c").write_text(joined([row]))
    assert message("day", id_scope="global").startswith(
        "day/c:1: block 1 follows block 9 here but is first at a.log:1 (byte 0). "
    )
    (folder / "c").write_text("what is this\n")
    assert message("day", id_scope="global").startswith("day/c:1: not JSON, and no JSON object is near")


def test_the_standard_input_is_a_trace_too() -> None:
    content = joined([ROW % (0, 1), ROW % (5, 1)]).encode()
    for piped in (content, gzip.compress(content)):
        ran = fakbench("replay", "-", "--now", "0", "--format", "json", stdin=piped)
        assert (ran.code, ran.err) == (0, "")
        trace = orjson.loads(ran.out)["trace"]
        assert (trace["name"], trace["requests"], trace["sha256"]) == ("-", 2, hashlib.sha256(content).hexdigest())


def test_what_is_set_for_a_trace_is_noted_as_set() -> None:
    trace = read(joined([ROW % (1, 1)]), block_tokens=600, time_unit="s", tail="ceil")
    assert list(trace.t_us) == [1_000_000]
    assert trace.conventions == {
        "block_tokens": "600 (set)",
        "time_unit": "s (set)",
        "ids": "prefixes (format)",
        "tail": "ceil (set)",
    }


def test_tails_are_detected_and_told() -> None:
    rows = ['{"timestamp":0,"input_length":600,"hash_ids":[1,2]}', '{"timestamp":0,"input_length":700,"hash_ids":[1]}']
    assert read(joined(rows)).conventions["tail"] == "ceil in 1 requests, floor in 1 (detected)"
    assert read(joined(rows[:1])).conventions["tail"] == "ceil (detected)"
    assert read(joined(rows[1:])).conventions["tail"] == "floor (detected)"
    assert read(joined([ROW % (0, 1)])).conventions["tail"] == "no partial blocks (detected)"


def test_a_span_of_many_years_is_refused_with_the_units() -> None:
    rows = joined([ROW % (0, 1), ROW % (1_760_587_779_519, 1)])
    assert refusal(rows) == (
        "x.jsonl: spans 55 years, with times in ms (format): pass --time-unit s, ms or us if they are in another unit, "
        "and read files whose times begin at different points apart"
    )
    assert read(rows, time_unit="us").requests == 2


def test_a_unit_that_contradicts_the_format_is_refused() -> None:
    rows = native('{"kind":"request","t_ms":0,"input_tokens":16,"blocks":[1]}')
    assert read(rows, time_unit="ms").conventions["time_unit"] == "ms (declared)"
    assert refusal(rows, time_unit="s") == (
        "x.jsonl: --time-unit s contradicts the format, whose times are in ms: leave the option out"
    )
