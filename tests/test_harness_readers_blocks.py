"""Block identity: names of any width, one parent and one length each, and tails with an id or without."""

from __future__ import annotations

import pytest
from reading import joined, native, paths, read, refusal

WITHOUT_IDS = "pass --lenient to count the tokens as unidentified."
MIXED = "leave out what cannot be read and count the tokens of the other rows as unidentified"
CHAIN = "pass --chain-ids if an id means a block only together with the blocks before it"


def request(tokens: int, blocks: str, namespace: str = "") -> str:
    return f'{{"kind":"request","t_ms":0,"input_tokens":{tokens},"blocks":{blocks},"namespace":"{namespace}"}}'


def test_blocks_are_numbered_in_order_of_first_appearance() -> None:
    trace = read(native(request(48, "[7,5,9]"), request(48, '[7,5,"x"]'), request(16, "[7]"), request(20, "[3,4]")))
    assert list(trace.path) == [0, 1, 2, 0, 1, 3, 0, 4, 5]
    assert list(trace.path_start) == [0, 3, 6, 7, 9]
    assert trace.block_names == [7, 5, 9, "x", 3, 4]
    assert list(trace.block_parent) == [-1, 0, 1, 1, -1, 4]
    assert list(trace.block_size_tokens) == [16, 16, 16, 16, 16, 4]
    assert list(trace.block_size_bytes) == [0] * 6
    assert trace.notices == {}


def test_an_integer_and_the_same_digits_as_text_are_two_blocks() -> None:
    trace = read(native(request(16, "[1]"), request(16, '["1"]'), request(16, '[""]'), request(16, "[-1]")))
    assert trace.block_names == [1, "1", "", -1]


def test_ids_of_64_bits_are_kept_exactly() -> None:
    names: list[object] = [2**64 - 1, 2**63, 2**63 - 1, -(2**63), 2**53 + 1, 2**53, 2**32 + 1, 1]
    assert read(native(*(request(16, f"[{name}]") for name in names))).block_names == names


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (str(2**64), "1.8446744073709552e+19"),
        (str(-(2**63) - 1), "-9.223372036854776e+18"),
        ("1.0", "1.0"),
    ],
)
def test_an_id_that_is_not_exact_is_refused(name: str, shown: str) -> None:
    assert refusal(native(request(32, f"[1,{name}]"))) == (
        f"x.jsonl:2: block id {shown} is not an integer or text: write ids wider than 64 bits as text (byte 63). "
        f"Fix the line, or {WITHOUT_IDS}"
    )


@pytest.mark.parametrize(
    ("name", "shown"), [("true", "true"), ("null", "null"), ("[1]", "a list"), ('{"a":1}', "an object")]
)
def test_an_id_that_is_neither_integer_nor_text_is_refused(name: str, shown: str) -> None:
    assert refusal(native(request(16, f"[{name}]"))) == (
        f"x.jsonl:2: block id {shown} is not an integer or text (byte 63). Fix the line, or {WITHOUT_IDS}"
    )


def test_namespaces_never_share_a_block() -> None:
    trace = read(native(request(32, "[1,2]"), request(32, "[2,1]", "b"), request(16, "[1]")))
    assert list(trace.path) == [0, 1, 2, 3, 0]
    assert list(trace.namespace) == [0, 1, 0]
    assert trace.namespaces == ["", "b"]


CONTRADICTIONS = {
    "twice": ([request(32, "[1,1]")], 2, "block 1 is twice in this request"),
    "twice, known": ([request(16, "[1]"), request(48, "[1,2,1]")], 3, "block 1 is twice in this request"),
    "another parent": (
        [request(32, "[1,2]"), request(32, "[3,2]")],
        3,
        "block 2 follows block 3 here but follows block 1 at line 2",
    ),
    "another known parent": (
        [request(48, "[1,2,3]"), request(32, "[1,3]")],
        3,
        "block 3 follows block 1 here but follows block 2 at line 2",
    ),
    "no parent": (
        [request(16, "[9]"), request(32, '["a",2]'), request(16, "[2]")],
        4,
        'block 2 is first here but follows block "a" at line 3',
    ),
    "a parent now": (
        [request(16, "[1]"), request(32, "[2,1]")],
        3,
        "block 1 follows block 2 here but is first at line 2",
    ),
    "longer": ([request(20, "[1,2]"), request(32, "[1,2]")], 3, "block 2 holds 16 tokens here but 4 at line 2"),
    "longer, then a child": (
        [request(20, "[1,2]"), request(48, "[1,2,3]")],
        3,
        "block 2 holds 16 tokens here but 4 at line 2",
    ),
    "shorter": ([request(32, "[1,2]"), request(20, "[1,2]")], 3, "block 2 holds 4 tokens here but 16 at line 2"),
    "whole for want of an id": (
        [request(20, "[1,2]"), request(33, "[1,2]")],
        3,
        "block 2 holds 16 tokens here but 4 at line 2 (2 block ids for 33 input tokens, so all are whole)",
    ),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_a_contradiction_is_refused_with_the_line_it_contradicts(case: str) -> None:
    rows, line, sentence = CONTRADICTIONS[case]
    content = native(*rows)
    offset = content.rindex('{"kind"')
    assert refusal(content) == f"x.jsonl:{line}: {sentence} (byte {offset}). Fix the line, {CHAIN}, or {WITHOUT_IDS}"


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_leniently_a_contradicting_row_keeps_its_tokens_unidentified(case: str) -> None:
    rows, _, _ = CONTRADICTIONS[case]
    good = read(native(*rows[:-1], request(0, "[]")), lenient=True)
    trace = read(native(*rows), lenient=True)
    assert trace.requests == len(rows)
    assert list(trace.path) == list(good.path)
    assert trace.block_names == good.block_names
    assert trace.unidentified_tokens[-1] == trace.input_tokens[-1] > 0
    assert trace.notices == {"rows_with_inconsistent_ids": 1}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_chained_ids_cannot_contradict(case: str) -> None:
    rows, _, _ = CONTRADICTIONS[case]
    trace = read(native(*rows), chain_ids=True)
    chains: dict[tuple[object, ...], int] = {}
    for request_, names in enumerate(paths(trace)):
        for depth, block in enumerate(trace.blocks_of(request_), 1):
            length = trace.block_size_tokens[block]
            assert chains.setdefault((*names[:depth], length), block) == block
    assert len(chains) == len(trace.block_names)
    assert sum(trace.unidentified_tokens) == (1 if case == "whole for want of an id" else 0)


def test_chained_ids_are_the_same_block_after_the_same_blocks_only() -> None:
    trace = read(native(request(32, "[1,1]"), request(48, "[1,1,2]"), request(32, "[2,1]")), chain_ids=True)
    assert list(trace.path) == [0, 1, 0, 1, 2, 3, 4]
    assert list(trace.block_parent) == [-1, 0, 1, -1, 3]
    assert trace.block_names == [1, 1, 2, 2, 1]


def test_chained_ids_of_different_lengths_are_different_blocks() -> None:
    trace = read(native(request(4, "[1]"), request(20, "[1,2]"), request(4, "[1]")), chain_ids=True)
    assert list(trace.path) == [0, 1, 2, 0]
    assert list(trace.block_size_tokens) == [4, 16, 4]


@pytest.mark.parametrize("name", ["1.0", "true"])
def test_chained_ids_are_exact_too(name: str) -> None:
    rows = native(request(16, "[1]"), request(16, f"[{name}]"))
    assert "is not an integer or text" in refusal(rows, chain_ids=True)


def test_a_tail_may_have_an_id_or_none_row_by_row() -> None:
    trace = read(native(request(33, "[1,2,3]"), request(33, "[1,2]"), request(32, "[1,2]"), request(15, "[4]")))
    assert list(trace.unidentified_tokens) == [0, 1, 0, 0]
    assert list(trace.block_size_tokens) == [16, 16, 1, 15]
    assert trace.notices == {"rows_with_floor_tail": 1}


COUNT = "Fix the line, give the right --block-tokens, or " + WITHOUT_IDS


@pytest.mark.parametrize(
    ("tail", "tokens", "blocks", "sentence"),
    [
        ("auto", 33, "[1]", "1 block id for 33 input tokens, not 3 or 2 (16 tokens a block)"),
        ("auto", 33, "[1,2,3,4]", "4 block ids for 33 input tokens, not 3 or 2 (16 tokens a block)"),
        ("auto", 32, "[1,2,3]", "3 block ids for 32 input tokens, not 2 (16 tokens a block)"),
        ("auto", 8, "[1,2]", "2 block ids for 8 input tokens, not 1 (16 tokens a block)"),
        ("auto", 0, "[1]", "1 block id for 0 input tokens, not 0 (16 tokens a block)"),
        ("ceil", 33, "[1,2]", "2 block ids for 33 input tokens, not 3 (16 tokens a block)"),
        ("floor", 33, "[1,2,3]", "3 block ids for 33 input tokens, not 2 (16 tokens a block)"),
        ("floor", 8, "[1]", "1 block id for 8 input tokens, not 0 (16 tokens a block)"),
    ],
)
def test_too_many_or_too_few_ids_are_refused_with_both_numbers(
    tail: str, tokens: int, blocks: str, sentence: str
) -> None:
    content = native(request(tokens, blocks))
    assert refusal(content, tail=tail) == f"x.jsonl:2: {sentence} (byte 63). {COUNT}"
    trace = read(content, tail=tail, lenient=True)
    assert (list(trace.path), list(trace.unidentified_tokens)) == ([], [tokens])
    assert trace.notices == {"rows_with_inconsistent_ids": 1}


def test_a_tail_can_be_asked_for() -> None:
    whole, ceil, floor = request(32, "[1,2]"), request(33, "[1,2,3]"), request(33, "[1,2]")
    assert read(native(whole, ceil), tail="ceil").notices == {}
    assert read(native(whole, floor), tail="floor").notices == {"rows_with_floor_tail": 1}


def test_rows_without_ids_have_unknown_reuse() -> None:
    bare = '{"kind":"request","t_ms":0,"input_tokens":40}'
    trace = read(native(bare, request(40, "[]"), request(40, "null"), request(0, "[]")), tail="ceil")
    assert list(trace.unidentified_tokens) == [40, 40, 40, 0]
    assert list(trace.path_start) == [0, 0, 0, 0, 0]
    assert trace.notices == {"rows_without_ids": 3}


def test_problems_of_several_kinds_are_told_with_every_way_out() -> None:
    rows = native("{", request(8, "[1,2]"), request(32, "[3,3]"))
    assert refusal(rows) == (
        "x.jsonl: 3 of 4 lines cannot be read: line 2 (byte 63): not JSON; "
        "line 3 (byte 65): 2 block ids for 8 input tokens, not 1 (16 tokens a block); "
        "line 4 (byte 140): block 3 is twice in this request. "
        f"Fix the lines, give the right --block-tokens, {CHAIN}, or pass --lenient to {MIXED}."
    )


def test_a_row_of_very_many_blocks_is_read() -> None:
    row = f'{{"timestamp":0,"input_length":{2**18},"output_length":0,"hash_ids":{list(range(2**18))}}}'
    trace = read(joined([row, row]), block_tokens=1)
    assert len(trace.block_names) == 2**18
    assert len(trace.path) == 2**19


@pytest.mark.parametrize("name", ["true", "false"])
def test_a_truth_value_is_no_id_even_where_a_number_equal_to_it_would_be(name: str) -> None:
    rows = native(request(32, "[0,1]"), request(32, "[0,true]" if name == "true" else "[false,1]"))
    assert f"x.jsonl:3: block id {name} is not an integer or text" in refusal(rows)


def test_a_path_with_another_middle_is_refused_where_ids_are_numbers_of_blocks() -> None:
    rows = native(request(48, "[0,1,2]"), request(48, "[0,3,4]"), request(48, "[0,3,2]"))
    assert "x.jsonl:4: block 2 follows block 3 here but follows block 1 at line 2" in refusal(rows)
    named = native(*(request(48, ids) for ids in ('["a","b","c"]', '["a","d","e"]', '["a","d","c"]')))
    assert 'x.jsonl:4: block "c" follows block "d" here but follows block "b" at line 2' in refusal(named)
