"""Inputs that broke other people's tools, each with the one right outcome, strictly and leniently.

Every case is here in full; where `../shared/cases` is present, its file must have the same outcome.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from reading import joined, paths, read, refusal

from harness.spanning import replay_order


def rows(*values: str) -> bytes:
    """Mooncake rows from `timestamp,input_length,output_length,[ids]`."""
    fields = ("timestamp", "input_length", "output_length", "hash_ids")
    return joined(
        "{" + ",".join(f'"{field}":{value}' for field, value in zip(fields, row.split(",", 3), strict=False)) + "}"
        for row in values
    ).encode()


def cut_gzip() -> bytes:
    # Stored, not compressed: where the cut falls then does not depend on the machine's zlib.
    content = rows(*(f"{i},512,1,[{i}]" for i in range(200)))
    kept = content.index(b'{"timestamp":188,') + 15
    return gzip.compress(content, compresslevel=0, mtime=0)[: 15 + kept]


CASES = {
    "02-too-many-ids-for-length.jsonl": rows("0,12,5,[0]", "200,24,8,[0,1]", "400,1025,8,[0,2]"),
    "03-partial-tail-ceil-and-floor.jsonl": rows("0,33,2,[10,20,99]", "1,33,2,[10,20]", "2,32,2,[10,20]"),
    "04-ids-above-32-and-63-bits.jsonl": rows(
        "0,1024,1,[4294967297,8589934593]",
        "1,1024,1,[1,8589934593]",
        "2,1024,1,[18446744073709551615,9223372036854775808]",
        "3,1024,1,[9007199254740993,9007199254740992]",
    ),
    "05-delta-session.jsonl": joined(
        [
            '{"session_id":"s1","timestamp":0.0,"input_length":1024,"output_length":100,"hash_ids":[0,1],"group_id":7}',
            '{"session_id":"s1","delay":250.5,"input_length":300,"output_length":50,"hash_ids":[2]}',
            '{"session_id":"s2","timestamp":5.0,"input_length":1500,"output_length":10,"hash_ids":[0,1,3]}',
        ]
    ).encode(),
    "06-bad-timestamps.jsonl": rows(
        "-5,10,1,[1]", "NaN,10,1,[2]", "Infinity,10,1,[3]", '"12",10,1,[4]', "null,10,1,[5]", "7,10,1,[6]"
    ),
    "12-missing-and-empty-fields.jsonl": rows("0,100,1", "1,100,1,[]", "2,100,1,null", "3,0,0,[]")
    + b'{"timestamp":4,"hash_ids":[1]}\n'
    + rows("5,600,1,[1,1]"),
    "13-dirty-text.jsonl": b"\xef\xbb\xbf"
    + rows("0,512,1,[1]").replace(b"\n", b"\r\n")
    + b"\r\n   \r\n"
    + rows("1,512,1,[1]").replace(b"\n", b"\r\n")
    + b"# a note someone left\r\n"
    + rows("2,512,1,[1]")[:-2],
    "14-nul-hole-and-fragment.jsonl": rows("0,512,1,[1]") + bytes(64) + b'\n,"hash_ids":[2]}\n' + rows("9,512,1,[1]"),
    "15-truncated.jsonl.gz": cut_gzip(),
    "16-two-members-blank-lines.jsonl.gz": gzip.compress(rows("0,512,1,[1]") + b"\n", mtime=0)
    + gzip.compress(b"\n" + rows("1,512,1,[1]"), mtime=0),
    "17-plain-text-named-gz.jsonl.gz": rows("0,512,1,[1]"),
    "18-out-of-order-session.jsonl": joined(
        [
            '{"timestamp":1760587779519310,"input":"book a flight","output":"","session_id":"x"}',
            *['{"timestamp":1760587779332029,"input":"hello","output":"book a flight","session_id":"x"}'] * 2,
        ]
    ).encode(),
    "20-azure-seven-digits.csv": "\r\n".join(
        [
            "TIMESTAMP,ContextTokens,GeneratedTokens",
            "2023-11-16 18:15:46.0010000,374,44",
            "2023-11-16 18:15:46.0020000,396,109",
            "2023-11-16 18:15:46.0090000,879,55",
            "2023-11-16 18:15:46.0110001,91,16",
            "2024-05-10 00:00:00.009930+00:00,12,3",
            "2024-05-10T00:00:01Z,12,0",
        ]
    ).encode(),
    "21-burstgpt-failed-rows.csv": joined(
        [
            "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type",
            "5,,1.2,ChatGPT,472,18,490,API log",
            "45.5,12,0.0,GPT-4,1087,0,1087,Conversation log",
            "118,12,9.1,GPT-4,1200,230,1430,Conversation log",
            "118,,3,ChatGPT,nan,7,7,API log",
        ]
    ).encode(),
    "41-fak-cache-events.jsonl": joined(
        [
            '{"Direction":"offload","SpanDigest":"sha256:aa","Tokens":512,"ModelID":"m","TokenizerID":"",'
            '"PositionMode":"prefix_aligned","FromTier":"hbm","ToTier":"cxl","Owner":"engine","Lease":"",'
            '"Outcome":"ok","FaultReason":"","BytesMoved":65536}',
            '{"Direction":"restore","SpanDigest":"sha256:aa","Tokens":512,"FromTier":"cxl","ToTier":"hbm",'
            '"Outcome":"fault","FaultReason":"link down","BytesMoved":0}',
            '{"Direction":"restore","SpanDigest":"sha256:bb","Tokens":512,"FromTier":"remote","ToTier":"",'
            '"Outcome":"missed"}',
            '{"Direction":"migrate","SpanDigest":"sha256:cc","Tokens":0,"FromTier":"numa_far","ToTier":"provider",'
            '"Outcome":""}',
            '{"Direction":"teleport","SpanDigest":"","Tokens":-1,"FromTier":"tape","ToTier":"hbm","Outcome":"late"}',
        ]
    ).encode(),
    "40-same-stamp-burst.jsonl": rows("3000,1536,1,[0,1,2]", "3000,512,1,[0]", "3000,1024,1,[0,1]"),
}
BINARY = ("15-", "16-")

Case = Callable[[str], bytes]


@pytest.fixture(params=["here", "shared"])
def case(request: pytest.FixtureRequest) -> Case:
    """The content of a case by its number: as written above, and as in the shared folder."""
    folder: Path | None = None
    if request.param == "shared":
        folder = request.getfixturevalue("shared") / "cases"

    def content(number: str) -> bytes:
        (name,) = (name for name in CASES if name.startswith(f"{number}-"))
        return CASES[name] if folder is None else (folder / name).read_bytes()

    return content


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith(BINARY)])
def test_the_cases_written_here_are_the_shared_ones(shared: Path, name: str) -> None:
    assert CASES[name] == (shared / "cases" / name).read_bytes()


def test_case_02_ids_that_do_not_fit_the_length_are_named_with_both_numbers(case: Case) -> None:
    message = refusal(case("02"))
    assert message.startswith(
        "x.jsonl: 2 of 3 lines cannot be read: "
        "line 2 (byte 67): 2 block ids for 24 input tokens, not 1 (512 tokens a block); "
        "line 3 (byte 138): block 0 holds 512 tokens here but 12 at line 1 "
        "(2 block ids for 1025 input tokens, so all are whole). Fix the lines, "
    )
    assert "line 3 (byte 138): 2 block ids for 1025 input tokens, not 3 (512 tokens a block)" in (
        refusal(case("02"), tail="ceil")
    )


def test_case_02_leniently_inconsistent_rows_are_kept_and_reuse_nothing(case: Case) -> None:
    trace = read(case("02"), lenient=True)
    assert list(trace.input_tokens) == [12, 24, 1025]
    assert list(trace.unidentified_tokens) == [0, 24, 1025]
    assert trace.notices == {"rows_with_inconsistent_ids": 2}


def test_case_03_a_tail_with_an_id_and_one_without_are_both_read(case: Case) -> None:
    trace = read(case("03"), block_tokens=16)
    assert paths(trace) == [[10, 20, 99], [10, 20], [10, 20]]
    assert list(trace.block_size_tokens) == [16, 16, 1]
    assert list(trace.unidentified_tokens) == [0, 1, 0]
    assert trace.notices == {"rows_with_floor_tail": 1}


def test_case_04_wide_ids_are_neither_cut_nor_merged(case: Case) -> None:
    trace = read(case("04"), chain_ids=True)
    names = [name for path in paths(trace) for name in path]
    assert names == [2**32 + 1, 2**33 + 1, 1, 2**33 + 1, 2**64 - 1, 2**63, 2**53 + 1, 2**53]
    assert len(set(names)) == 7


def test_case_04_an_id_after_two_blocks_is_refused_unless_chained(case: Case) -> None:
    assert refusal(case("04")) == (
        "x.jsonl:2: block 8589934593 follows block 1 here but follows block 4294967297 at line 1 (byte 89). "
        "Fix the line, pass --chain-ids if an id means a block only together with the blocks before it, "
        "or pass --lenient to count the tokens as unidentified."
    )
    trace = read(case("04"), lenient=True)
    assert list(trace.unidentified_tokens) == [0, 1024, 0, 0]
    assert trace.notices == {"rows_with_inconsistent_ids": 1}


@pytest.mark.parametrize("lenient", [False, True])
def test_case_05_a_session_of_deltas_is_refused_and_never_guessed(case: Case, lenient: bool) -> None:
    assert refusal(case("05"), lenient=lenient) == (
        "x.jsonl:2: a delay and no timestamp: a turn of a session, either cumulative (its whole prompt) or delta (only "
        "its new blocks): pass --turns cumulative (every row is a whole prompt), --turns delta (rows list only what is "
        "new) or --turns delta+outputs (and the answers before it are part of a prompt)"
    )


@pytest.mark.parametrize(
    ("turns", "tokens", "tail_tokens"), [("delta", 1324, 300), ("delta+outputs", 1424, 400), ("cumulative", 300, 300)]
)
def test_case_05_a_session_of_deltas_is_read_as_it_is_asked_to_be(
    case: Case, turns: str, tokens: int, tail_tokens: int
) -> None:
    trace = read(case("05"), turns=turns)
    assert list(trace.input_tokens) == [1024, tokens, 1500]
    assert paths(trace) == [[0, 1], [2] if turns == "cumulative" else [0, 1, 2], [0, 1, 3]]
    assert trace.block_size_tokens[trace.block_names.index(2)] == tail_tokens
    assert list(trace.t_us) == [0, 250_500, 5_000]
    assert trace.notices == {
        "rows_with_ignored_fields": 1,
        "arrivals_from_delays": 1,
        "time_steps_back": 1,
        "largest_step_back_us": 245_500,
    }
    assert trace.conventions["turns"] == f"{turns} (set)"


def test_case_06_bad_timestamps_are_refused_with_their_lines(case: Case) -> None:
    assert refusal(case("06")) == (
        "x.jsonl: 4 of 6 lines cannot be read: line 2 (byte 68): timestamp NaN is not a finite number; "
        "line 3 (byte 137): timestamp Infinity is not a finite number; "
        'line 4 (byte 211): timestamp "12" is not a number of milliseconds; '
        "line 5 (byte 281): timestamp null is not a number of milliseconds. "
        "Fix the lines, or pass --lenient to leave them out."
    )


def test_case_06_leniently_a_negative_time_is_read_and_said(case: Case) -> None:
    trace = read(case("06"), lenient=True)
    assert list(trace.t_us) == [-5000, 7000]
    assert trace.notices == {"negative_times": 1, "not_finite": 2, "bad_time": 2}


def test_case_12_an_id_twice_and_ids_without_a_length_are_refused(case: Case) -> None:
    assert refusal(case("12")) == (
        "x.jsonl: 2 of 6 lines cannot be read: line 5 (byte 254): hash_ids without input_length; "
        "line 6 (byte 285): block 1 is twice in this request. Fix the lines, "
        "pass --chain-ids if an id means a block only together with the blocks before it, "
        "or pass --lenient to leave out what cannot be read and count the tokens of the other rows as unidentified."
    )


def test_case_12_leniently_rows_without_ids_have_unknown_reuse(case: Case) -> None:
    trace = read(case("12"), lenient=True)
    assert list(trace.input_tokens) == [100, 100, 100, 0, 600]
    assert list(trace.unidentified_tokens) == [100, 100, 100, 0, 600]
    assert trace.notices == {"rows_without_ids": 3, "bad_field": 1, "rows_with_inconsistent_ids": 1}


def test_case_13_a_comment_and_a_cut_last_line_are_refused_at_their_physical_lines(case: Case) -> None:
    assert refusal(case("13")) == (
        "x.jsonl: 2 of 4 lines cannot be read: line 5 (byte 148): not JSON; "
        "line 6 (byte 171): the last line is cut short. Fix the lines, or pass --lenient to leave them out."
    )


def test_case_13_leniently_two_rows_are_read_and_the_cut_tail_is_said(case: Case) -> None:
    trace = read(case("13"), lenient=True)
    assert list(trace.t_us) == [0, 1000]
    assert trace.notices == {"not_json": 1, "truncated_tail": 1}


def test_case_14_a_hole_and_a_fragment_are_named_with_offset_and_reason(case: Case) -> None:
    assert refusal(case("14")) == (
        "x.jsonl: 2 of 4 lines cannot be read: line 2 (byte 68): NUL bytes; line 3 (byte 133): not JSON. "
        "Fix the lines, or pass --lenient to leave them out."
    )
    trace = read(case("14"), lenient=True)
    assert list(trace.t_us) == [0, 9000]
    assert trace.notices == {"nul_bytes": 1, "not_json": 1}


@pytest.mark.parametrize("lenient", [False, True])
def test_case_15_a_cut_gzip_is_refused_with_the_rows_read_so_far(case: Case, lenient: bool) -> None:
    assert refusal(case("15"), lenient=lenient) == (
        "x.jsonl: the gzip data is cut short, rows read so far: 188; get the whole file again"
    )


def test_case_16_every_gzip_member_is_read_and_blank_lines_are_not_rows(case: Case) -> None:
    trace = read(case("16"))
    assert list(trace.t_us) == [0, 1000]
    assert trace.notices == {}


def test_case_17_content_and_not_the_name_says_what_a_file_is(case: Case, tmp_path: Path) -> None:
    from harness.readers import read_trace

    (tmp_path / "x.jsonl.gz").write_bytes(case("17"))
    assert read_trace(tmp_path / "x.jsonl.gz").requests == 1


def test_case_40_rows_of_one_stamp_keep_the_order_of_the_file(case: Case) -> None:
    trace = read(case("40"))
    assert list(trace.t_us) == [3_000_000] * 3
    assert paths(trace) == [[0, 1, 2], [0], [0, 1]]
    assert (len(trace.path), len(trace.block_names)) == (6, 3)


def test_case_18_steps_back_are_told_and_duplicates_kept(case: Case) -> None:
    trace = read(case("18"))
    assert list(trace.t_us) == [1760587779519310, 1760587779332029, 1760587779332029]
    # The replay puts them in order of time, and the two of one time in that of the file.
    assert replay_order(trace) == [1, 2, 0]
    assert trace.sessions == ["x"]
    assert trace.notices == {"rows_without_ids": 3, "time_steps_back": 1, "largest_step_back_us": 187_281}
    assert trace.conventions["time_unit"] == "us (format)"
    assert trace.conventions["reuse"] == "unknown: no request has block ids"


def test_case_18_microseconds_taken_for_seconds_are_refused_with_the_units(case: Case) -> None:
    rows = case("18").replace(b"1760587779332029", b"1")
    assert refusal(rows) == (
        "x.jsonl: spans 55 years, with times in us (format): pass --time-unit s, ms or us if they are in another unit, "
        "and read files whose times begin at different points apart"
    )
    assert "is out of range: at most 9007199254 s from zero" in refusal(rows, time_unit="s")


def test_case_20_seven_digits_and_every_form_of_an_offset_are_kept(case: Case) -> None:
    trace = read(case("20"))
    assert [time - trace.t_us[0] for time in trace.t_us[:4]] == [0, 1_000, 8_000, 10_000]
    assert trace.t_us[0] == 1_700_158_546_001_000
    assert list(trace.t_us[4:]) == [1_715_299_200_009_930, 1_715_299_201_000_000]
    assert list(trace.unidentified_tokens) == list(trace.input_tokens) == [374, 396, 879, 91, 12, 12]
    assert trace.conventions["reuse"] == "unknown: no request has block ids"


def test_case_21_a_bad_number_is_named_by_its_line(case: Case) -> None:
    assert refusal(case("21")) == (
        'x.jsonl:5: Request tokens "nan" is not an integer from 0 to 16777216 (byte 222). '
        "Fix the line, or pass --lenient to leave it out."
    )


@pytest.mark.parametrize(
    ("failed_rows", "tokens", "sessions"), [("drop", [472, 1200], [-1, 0]), ("keep", [472, 1087, 1200], [-1, 0, 0])]
)
def test_case_21_failed_rows_are_dropped_or_kept_and_a_blank_session_is_none(
    case: Case, failed_rows: str, tokens: list[int], sessions: list[int]
) -> None:
    trace = read(case("21"), lenient=True, failed_rows=failed_rows)
    assert (list(trace.input_tokens), list(trace.session), trace.sessions) == (tokens, sessions, ["12"])
    assert trace.notices["failed_rows"] == 1
    assert trace.notices["bad_field"] == 1


def test_case_41_everything_wrong_with_an_event_is_named(case: Case) -> None:
    assert refusal(case("41")) == (
        'x.jsonl:5: Direction "teleport" is not one of restore, route, offload, migrate; FromTier "tape" is not one of '
        'hbm, dram, numa_far, cxl, disk, remote, provider, recompute; Outcome "late" is not one of ok, missed, fault; '
        "Tokens -1 is not an integer from 0 to 16777216 (byte 617). Fix the line, or pass --lenient to leave it out."
    )


def test_case_41_leniently_outcomes_are_kept_apart_in_the_order_of_the_file(case: Case) -> None:
    trace = read(case("41"), lenient=True)
    assert (list(trace.t_us), list(trace.path)) == ([0, 0], [0, 1])
    assert [name for _, name in trace.block_names] == ["sha256:aa", "sha256:bb"]
    assert trace.notices == {
        "outcomes_ok": 2,
        "moves_not_replayed": 2,
        "outcomes_fault": 1,
        "outcomes_missed": 1,
        "bad_field": 1,
    }
