"""Comma-separated traces: times of any precision, rows that failed, and reuse that nobody knows."""

from __future__ import annotations

import pytest
from reading import joined, read, refusal

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens"
BURST = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type"
LATER = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type"


@pytest.mark.parametrize(
    ("time", "t_us"),
    [
        ("1970-01-01 00:00:00", 0),
        ("1970-01-01T00:00:01Z", 1_000_000),
        ("1970-01-01 00:00:00.0000015", 2),
        ("1970-01-01 00:00:00.0000025", 2),
        ("1970-01-01 00:00:00.000002501", 3),
        ("1970-01-01 00:00:00.999999999", 1_000_000),
        ("1970-01-01 02:00:00+02:00", 0),
        ("1969-12-31 19:30:00-0430", 0),
        ("1969-12-31 23:59:59.5", -500_000),
        ("2023-11-16 18:17:03.9799600", 1_700_158_623_979_960),
        ("2024-02-29 00:00:00", 1_709_164_800_000_000),
    ],
)
def test_a_written_time_becomes_the_nearest_microsecond(time: str, t_us: int) -> None:
    trace = read(joined([AZURE, f"{time},10,2"]))
    assert (trace.format, list(trace.t_us), list(trace.input_tokens)) == ("azure", [t_us], [10])
    assert (list(trace.unidentified_tokens), list(trace.output_tokens)) == ([10], [2])


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("2023-02-29 00:00:00,1,1", 'TIMESTAMP "2023-02-29 00:00:00" is no day of the calendar'),
        ("2023-11-16 24:00:00,1,1", 'TIMESTAMP "2023-11-16 24:00:00" is not a time like 2023-11-16 18:17:03.9799600'),
        ("5,1,1", 'TIMESTAMP "5" is not a time like 2023-11-16 18:17:03.9799600'),
        ("2023-11-16 00:00:00,-1,1", 'ContextTokens "-1" is not an integer from 0 to 16777216'),
        ("2023-11-16 00:00:00,1,16777217", 'GeneratedTokens "16777217" is not an integer from 0 to 16777216'),
        ("2023-11-16 00:00:00,1,\u0663", 'GeneratedTokens "\\u0663" is not an integer from 0 to 16777216'),
        ("2023-11-16 00:00:00,1", "2 cells where the first line has 3"),
        ('"2023-11-16 00:00:00,1,1', "quotes that do not match"),
    ],
)
def test_a_row_that_cannot_be_is_refused_by_name(row: str, sentence: str) -> None:
    good = "2023-11-16 00:00:00,1,1"
    message = refusal(joined([AZURE, good, row]))
    assert message == f"x.jsonl:3: {sentence} (byte 64). Fix the line, or pass --lenient to leave it out."
    assert read(joined([AZURE, good, row]), lenient=True).requests == 1


def test_other_bytes_in_text_are_told_for_what_they_are() -> None:
    content = joined([AZURE, "2023-11-16 00:00:00,1,1"]).encode()
    assert "x.jsonl:3: NUL bytes" in refusal(content + b"\0\0\n")
    assert "x.jsonl:3: not UTF-8" in refusal(content + b"\xff\n")
    assert refusal(joined([AZURE])) == "x.jsonl: holds no requests"


def test_a_later_file_with_images_is_read_without_them() -> None:
    assert read(joined([AZURE + ",NumImages", "2025-01-01 00:00:00,7,1,3"])).input_tokens[0] == 7


def test_both_forms_of_burstgpt_are_read() -> None:
    old = read(joined([BURST, "5,ChatGPT,472,18,490,API log"]))
    new = read(
        joined([LATER, "19440110.25,5f0e,1.0,GPT-4,472,18,490,Conversation log", "19440111,,,GPT-4,1,1,2,API log"])
    )
    assert (old.format, list(old.t_us), old.namespaces, old.sessions) == ("burstgpt", [5_000_000], ["ChatGPT"], [])
    assert (list(new.t_us), new.sessions, list(new.session)) == ([19440110250000, 19440111000000], ["5f0e"], [0, -1])
    assert new.conventions["reuse"] == "unknown: no request has block ids"
    assert new.conventions["time_unit"] == "s (format)"


def test_rows_that_failed_are_dropped_or_kept_and_counted() -> None:
    rows = joined([BURST, "5,ChatGPT,472,0,472,API log", "6,ChatGPT,1,1,2,API log"])
    dropped, kept = read(rows), read(rows, failed_rows="keep")
    assert (list(dropped.input_tokens), dropped.notices["failed_rows"]) == ([1], 1)
    assert (list(kept.input_tokens), kept.notices["failed_rows"]) == ([472, 1], 1)
    assert dropped.conventions["failed_rows"] == "drop (default)"
    assert kept.conventions["failed_rows"] == "keep (set)"


@pytest.mark.parametrize("time", ["nan", "inf", "1e999", "1_0", "", "0x1", "1" * 41])
def test_a_time_that_is_no_decimal_number_is_refused(time: str) -> None:
    assert f'Timestamp "{time[:40]}" is not a number of seconds' in refusal(joined([BURST, f"{time},M,1,1,2,x"]))


def test_times_are_decimal_and_exact() -> None:
    rows = joined([BURST, *(f"{time},M,1,1,2,x" for time in ("0.0000005", "0.0000015", "1e-6", ".1"))])
    assert list(read(rows).t_us) == [0, 2, 1, 100_000]
    assert "is out of range: at most 9007199254 s from zero" in refusal(joined([BURST, "9007199255,M,1,1,2,x"]))
    assert list(read(rows, time_unit="ms").t_us) == [0, 0, 0, 100]


OBJECTS = ["1,77,4096", "2,a-name,512", "2,77,4096", "3,78,0"]


def test_libcachesim_csv_is_objects_of_their_own_bytes() -> None:
    named = read(joined(["time,obj_id,obj_size", *OBJECTS]))
    assert (named.format, list(named.t_us), list(named.path)) == (
        "libcachesim-csv",
        [10**6, 2 * 10**6, 2 * 10**6],
        [0, 1, 0],
    )
    assert (list(named.block_size_bytes), list(named.block_size_tokens)) == ([4096, 512], [1, 1])
    assert named.notices == {"requests_without_bytes": 1}
    assert named.conventions["columns"] == "time 1, object 2, bytes 3 (declared)"
    bare = read(joined(OBJECTS), format="libcachesim-csv")
    assert (bare.path, bare.conventions["columns"]) == (named.path, "time 1, object 2, bytes 3 (default)")
    other = read(joined(["size;id;ts", "4096;77;1", "4096;77;2"]))
    assert (list(other.path), other.conventions["columns"]) == ([0, 0], "time 3, object 2, bytes 1 (declared)")


def test_an_object_has_one_size_and_every_line_three_columns() -> None:
    message = refusal(joined(["1,77,4096", "2,77,512", "3,77"]), format="libcachesim-csv")
    assert "line 2 (byte 10): span 77 holds 1 tokens in 512 bytes here but 1 tokens in 4096 bytes at line 1" in message
    assert "line 3 (byte 19): 2 cells where 3 are needed" in message
