"""Mooncake rows: every field, what may be absent, and sessions that could be read in two ways."""

from __future__ import annotations

import pytest
from reading import joined, paths, read, refusal

GOOD = '{"timestamp":5,"input_length":512,"output_length":1,"hash_ids":[1]}'


def row(
    timestamp: str = "0", input_length: str = "512", output_length: str = "1", hash_ids: str = "[1]", more: str = ""
) -> str:
    return (
        f'{{"timestamp":{timestamp},"input_length":{input_length},"output_length":{output_length},'
        f'"hash_ids":{hash_ids}{more}}}'
    )


def test_a_row_is_a_request() -> None:
    trace = read(joined([row("27482", "6955", "52", "[46,47,48,49,50,51,52,53,54,55,56,57,2353,2354]")]))
    assert list(trace.t_us) == [27_482_000]
    assert list(trace.input_tokens) == [6955]
    assert list(trace.output_tokens) == [52]
    assert list(trace.block_size_tokens) == [512] * 13 + [299]
    assert (trace.block_tokens, trace.sessions, list(trace.session), trace.namespaces) == (512, [], [-1], [""])


def test_the_block_size_is_512_unless_told_otherwise() -> None:
    content = joined([row(input_length="33", hash_ids="[1,2,3]")])
    assert list(read(content, block_tokens=16).block_size_tokens) == [16, 16, 1]
    assert refusal(content).startswith("x.jsonl:1: 3 block ids for 33 input tokens, not 1 (512 tokens a block)")


@pytest.mark.parametrize(
    ("timestamp", "t_us"),
    [
        ("0.5", 500),
        ("1.0004", 1000),
        ("1.0006", 1001),
        ("0.0005", 0),
        ("0.0015", 2),
        ("-0.0", 0),
        ("1e3", 1_000_000),
        ("1760587779519.310", 1_760_587_779_519_310),
        ("9007199254740", 9_007_199_254_740_000),
    ],
)
def test_a_timestamp_in_milliseconds_becomes_the_nearest_microsecond(timestamp: str, t_us: int) -> None:
    assert list(read(joined([row(timestamp)])).t_us) == [t_us]


WAYS = (
    "pass --turns cumulative (every row is a whole prompt), --turns delta (rows list only what is new) or "
    "--turns delta+outputs (and the answers before it are part of a prompt)"
)

BAD_FIELDS = {
    "timestamp": [
        ("NaN", "timestamp NaN is not a finite number"),
        ("Infinity", "timestamp Infinity is not a finite number"),
        ('"12"', 'timestamp "12" is not a number of milliseconds'),
        ("null", "timestamp null is not a number of milliseconds"),
        ("true", "timestamp true is not a number of milliseconds"),
        ("[1]", "timestamp a list is not a number of milliseconds"),
        ("9007199254741", "timestamp 9007199254741 is out of range: at most 9007199254740 ms from zero"),
        ("-1e300", "timestamp -1e+300 is out of range: at most 9007199254740 ms from zero"),
        (str(2**64), "timestamp 1.8446744073709552e+19 is out of range: at most 9007199254740 ms from zero"),
    ],
    "input_length": [
        ("-1", "input_length -1 is not an integer from 0 to 16777216"),
        ("512.0", "input_length 512.0 is not an integer from 0 to 16777216"),
        ('"512"', 'input_length "512" is not an integer from 0 to 16777216'),
        (str(2**63), "input_length 9223372036854775808 is not an integer from 0 to 16777216"),
        ("null", "hash_ids without input_length"),
    ],
    "output_length": [
        ("-1", "output_length -1 is not an integer from 0 to 16777216"),
        (str(2**24 + 1), "output_length 16777217 is not an integer from 0 to 16777216"),
        ("false", "output_length false is not an integer from 0 to 16777216"),
        ("{}", "output_length an object is not an integer from 0 to 16777216"),
    ],
    "hash_ids": [('"1"', 'hash_ids "1" is not a list'), ("1", "hash_ids 1 is not a list")],
    "more": [
        (',"session_id":[1]', "session_id a list is not text"),
        (',"session_id":1.5', "session_id 1.5 is not text"),
    ],
}


@pytest.mark.parametrize(
    ("field", "value", "sentence"), [(field, *case) for field, cases in BAD_FIELDS.items() for case in cases]
)
def test_a_field_that_cannot_be_is_refused_by_name(field: str, value: str, sentence: str) -> None:
    content = joined([GOOD, row(**{field: value})])
    assert refusal(content) == f"x.jsonl:2: {sentence} (byte 68). Fix the line, or pass --lenient to leave it out."
    assert read(content, lenient=True).requests == 1


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"input_length":1}', "timestamp is missing"),
        ('{"timestamp":1}', "input_length is missing"),
        ('{"timestamp":1,"hash_ids":[]}', "input_length is missing"),
        ('{"timestamp":1,"hash_ids":[1]}', "hash_ids without input_length"),
        ('{"timestamp":1,"input_length":null}', "input_length null is not an integer from 0 to 16777216"),
        ("{}", "timestamp is missing"),
    ],
)
def test_a_field_that_must_be_there_is_missed_by_name(line: str, sentence: str) -> None:
    assert refusal(joined([GOOD, line])) == (
        f"x.jsonl:2: {sentence} (byte 68). Fix the line, or pass --lenient to leave it out."
    )


def test_a_row_without_output_length_has_no_output_and_is_counted() -> None:
    rows = ['{"timestamp":1,"input_length":512,"hash_ids":[1]}', row(output_length="null"), row(output_length="0")]
    trace = read(joined(rows))
    assert list(trace.output_tokens) == [0, 0, 0]
    assert trace.notices["rows_without_output_length"] == 2


def test_rows_with_fields_that_mean_nothing_here_are_counted() -> None:
    trace = read(
        joined([row(more=',"group_id":7,"priority":1'), row(more=',"session_id":"a"'), row(more=',"delay":1')])
    )
    assert trace.notices == {"rows_with_ignored_fields": 2}


def test_time_that_steps_back_is_counted_and_the_order_of_the_file_kept() -> None:
    trace = read(joined(row(timestamp) for timestamp in ("5", "5", "3.5", "-1", "2", "1")))
    assert list(trace.t_us) == [5000, 5000, 3500, -1000, 2000, 1000]
    assert trace.notices == {"time_steps_back": 3, "largest_step_back_us": 4500, "negative_times": 1}


def test_sessions_are_kept_in_order_of_first_appearance() -> None:
    ids = ['"b"', '"a"', '"b"', "7", "null", '""']
    trace = read(joined(row(more=f',"session_id":{name}') for name in ids))
    assert trace.sessions == ["b", "a", "7", ""]
    assert list(trace.session) == [0, 1, 0, 2, -1, 3]


def test_turns_that_repeat_their_prompt_are_requests() -> None:
    session = ',"session_id":"a"'
    trace = read(joined([row(more=session), row(input_length="900", hash_ids="[1,2]", more=session)]))
    assert paths(trace) == [[1], [1, 2]]


@pytest.mark.parametrize("lenient", [False, True])
def test_a_turn_with_a_delay_and_no_timestamp_is_refused_with_both_readings(lenient: bool) -> None:
    turn = '{"session_id":"a","delay":250.5,"input_length":300,"output_length":50,"hash_ids":[2]}'
    assert refusal(joined([row(more=',"session_id":"a"'), "#", turn]), lenient=lenient) == (
        "x.jsonl:3: a delay and no timestamp: a turn of a session, either cumulative (its whole prompt) or delta (only "
        f"its new blocks): {WAYS}"
    )


@pytest.mark.parametrize("lenient", [False, True])
def test_a_turn_that_may_list_only_its_new_blocks_is_refused_with_both_readings(lenient: bool) -> None:
    rows = [row(more=',"session_id":"a"'), row(hash_ids="[2]"), row(hash_ids='["1"]', more=',"session_id":"a"')]
    assert refusal(joined(rows), lenient=lenient) == (
        'x.jsonl:3: session "a" begins with block 1 and this turn with "1": cumulative (a whole new prompt) or delta '
        f"(only its new blocks)? P{WAYS[1:]}"
    )


def test_the_last_of_two_values_of_a_field_counts() -> None:
    assert list(read(joined([row(more=',"timestamp":9')])).t_us) == [9000]


def test_other_tools_have_other_names_for_the_fields() -> None:
    rows = [
        '{"created_time":1.5,"input_tokens":600,"output_tokens":7,"hash_ids":[-1,"b"],"session_id":"a"}',
        '{"delay_ms":2,"input_tokens":700,"output_tokens":8,"hash_ids":[-1,18446744073709551615],"session_id":"a"}',
    ]
    trace = read(joined(rows), turns="cumulative")
    assert list(trace.t_us) == [1500, 3500]
    assert list(trace.input_tokens) == [600, 700]
    assert list(trace.output_tokens) == [7, 8]
    assert paths(trace) == [[-1, "b"], [-1, 2**64 - 1]]
    assert trace.notices == {"arrivals_from_delays": 1}


SESSION = '"session_id":"a"'


def turn(tokens: int, ids: str, more: str = "", output: int = 0) -> str:
    rest = f',"output_length":{output},"hash_ids":{ids},{SESSION}{more}'
    return f'{{"delay":1,"input_length":{tokens}{rest}}}'


def first(tokens: int, ids: str, output: int = 0) -> str:
    return f'{{"timestamp":0,"input_length":{tokens},"output_length":{output},"hash_ids":{ids},{SESSION}}}'


def test_a_block_that_was_partial_grows_and_is_another_block() -> None:
    trace = read(joined([first(1100, "[1,2,3]"), turn(300, "[4]"), turn(200, "[5,6]")]), turns="delta")
    assert list(trace.input_tokens) == [1100, 1400, 1600]
    assert paths(trace) == [[1, 2, 3], [1, 2, 4], [1, 2, 5, 6]]
    assert [trace.block_size_tokens[trace.block_names.index(name)] for name in (3, 4, 5, 6)] == [76, 376, 512, 64]


def test_the_answer_is_part_of_the_next_prompt_where_that_is_asked_for() -> None:
    rows = joined([first(512, "[1]", 88), turn(100, "[2]", output=12), turn(12, "[3]")])
    assert list(read(rows, turns="delta+outputs").input_tokens) == [512, 700, 724]
    assert list(read(rows, turns="delta").input_tokens) == [512, 612, 624]


def test_a_turn_without_ids_leaves_the_rest_of_its_session_without_names() -> None:
    trace = read(joined([first(1100, "[1,2,3]"), turn(300, "[]"), turn(200, "[9]")]), turns="delta")
    assert list(trace.input_tokens) == [1100, 1400, 1600]
    assert paths(trace) == [[1, 2, 3], [1, 2], [1, 2]]
    assert list(trace.unidentified_tokens) == [0, 376, 576]


def test_a_session_that_begins_without_ids_has_none() -> None:
    trace = read(joined([first(100, "[]"), turn(512, "[9]")]), turns="delta")
    assert (paths(trace), list(trace.unidentified_tokens)) == ([[], []], [100, 612])


def test_a_prefix_that_is_reset_starts_anew() -> None:
    trace = read(joined([first(512, "[1]"), turn(600, "[2,3]", ',"prefix_reset":true')]), turns="delta")
    assert paths(trace) == [[1], [2, 3]]


def test_too_many_ids_for_a_turn_are_refused_with_both_numbers() -> None:
    message = refusal(joined([first(512, "[1]"), turn(100, "[2,3]")]), turns="delta")
    assert message.startswith("x.jsonl:2: 3 block ids for 612 input tokens, not 2 or 1 (512 tokens a block)")


def test_a_delay_follows_a_turn_of_its_session_or_nothing() -> None:
    alone = '{"delay":1,"input_length":512,"hash_ids":[1]}'
    for rows in ([turn(512, "[1]")], [first(512, "[1]"), alone]):
        assert "a delay and no timestamp, and no turn of a session before it" in refusal(joined(rows), turns="delta")
    for delay in ("-1", "9007199254740"):
        row = turn(512, "[1]").replace('"delay":1', f'"delay":{delay}')
        assert f"delay {delay} is negative or leads out of range" in refusal(
            joined([first(512, "[1]").replace('"timestamp":0', '"timestamp":1'), row]), turns="cumulative"
        )


def test_turns_that_repeat_without_end_are_refused_before_they_take_memory() -> None:
    rows = [first(1, "[0]"), *(turn(1, f"[{i}]") for i in range(1, 2500))]
    message = refusal(joined(rows), turns="delta", block_tokens=1, lenient=False)
    assert "turns repeat what was listed before them more than 1000 times: no recording" in message


def test_a_session_longer_than_a_prompt_may_be_is_refused() -> None:
    message = refusal(joined([first(2**24, "[]"), turn(1, "[]")]), turns="delta")
    assert "the turns of this session add up to more than 16777216 tokens" in message
