"""Spans against a naive cut of the prefix tree, and the rules of the cut one by one."""

from __future__ import annotations

from array import array

import pytest
from builders import BLOCK_TOKENS, Access, Ask, trace_of
from hypothesis import given
from hypothesis import strategies as st
from spanning_model import naive_spans
from strategies import moderate, traces

from harness.spanning import SpanTree, cut_spans, replay_order
from harness.trace import Trace


def spans_of(trace: Trace, span_tokens: int = 4096) -> list[str]:
    """Each span of a trace as its block names run together."""
    return named(trace, cut_spans(trace, replay_order(trace), span_tokens))


def named(trace: Trace, tree: SpanTree) -> list[str]:
    return ["".join(str(trace.block_names[block]) for block in blocks) for blocks in blocks_of(tree)]


def blocks_of(tree: SpanTree) -> list[tuple[int, ...]]:
    return [
        tuple(tree.span_blocks[first : first + count])
        for first, count in zip(tree.first_block, tree.block_count, strict=True)
    ]


def path_of(tree: SpanTree, request: int) -> array[int]:
    return tree.path[tree.path_start[request] : tree.path_start[request + 1]]


def test_an_unbranched_path_is_one_span() -> None:
    assert spans_of(trace_of(Ask("abcde"))) == ["abcde"]


def test_a_span_ends_where_paths_part() -> None:
    assert spans_of(trace_of(Ask("abcd"), Ask("abxy"))) == ["ab", "cd", "xy"]


def test_roots_part_too() -> None:
    assert spans_of(trace_of(Ask("ab"), Ask("xy"))) == ["ab", "xy"]


def test_a_span_ends_where_some_request_ends_even_a_later_one() -> None:
    assert spans_of(trace_of(Ask("abcd"), Ask("abc"), Ask("a"))) == ["a", "bc", "d"]


@pytest.mark.parametrize(
    ("span_tokens", "expected"),
    [
        (0, ["a", "b", "c", "d", "e"]),
        (1, ["a", "b", "c", "d", "e"]),
        (BLOCK_TOKENS, ["a", "b", "c", "d", "e"]),
        (BLOCK_TOKENS + 1, ["ab", "cd", "e"]),
        (2 * BLOCK_TOKENS, ["ab", "cd", "e"]),
        (5 * BLOCK_TOKENS, ["abcde"]),
    ],
)
def test_a_span_ends_with_the_block_that_brings_it_to_its_length(span_tokens: int, expected: list[str]) -> None:
    assert spans_of(trace_of(Ask("abcde")), span_tokens) == expected


def test_the_length_counts_from_a_spans_own_start() -> None:
    trace = trace_of(Ask("abcde"), Ask("axyz"))
    assert spans_of(trace, 2 * BLOCK_TOKENS) == ["a", "bc", "de", "xy", "z"]


def test_spans_are_numbered_as_the_replay_meets_them_and_paths_stay_in_file_order() -> None:
    trace = trace_of(Ask("ab", 9), Ask("xy", 3), Ask("x", 3))
    order = replay_order(trace)
    assert order == [1, 2, 0]
    tree = cut_spans(trace, order, 4096)
    assert named(trace, tree) == ["x", "y", "ab"]
    assert [list(path_of(tree, request)) for request in range(3)] == [[2], [0, 1], [0]]


def test_the_context_of_a_span_is_what_lies_in_front_of_it() -> None:
    tree = cut_spans(trace_of(Ask("abc"), Ask("axy"), sizes={"y": 1}), [0, 1], 0)
    assert list(tree.tokens) == [4, 4, 4, 4, 1]
    assert list(tree.context_tokens) == [0, 4, 8, 4, 8]


def test_an_access_is_one_span_with_the_bytes_that_it_states() -> None:
    trace = trace_of(Access("s", 5000, 123), Access("t", 7), Ask("a"))
    tree = cut_spans(trace, [0, 1, 2], 4)
    assert list(tree.tokens) == [5000, 7, 4]
    assert list(tree.stated_bytes) == [123, 0, 0]


def test_a_request_without_blocks_has_an_empty_path() -> None:
    tree = cut_spans(trace_of(Ask("a"), Ask([], tail=5), Ask("a")), [0, 1, 2], 4096)
    assert list(tree.path_start) == [0, 1, 1, 2]


@moderate(200)
@given(trace=traces(), span_tokens=st.sampled_from([0, 1, 4, 5, 7, 9, 16, 4096]))
def test_the_cut_is_the_naive_one(trace: Trace, span_tokens: int) -> None:
    order = replay_order(trace)
    tree = cut_spans(trace, order, span_tokens)
    tokens = dict(enumerate(trace.block_size_tokens))
    expected = naive_spans([list(trace.blocks_of(request)) for request in order], tokens, span_tokens)
    found = blocks_of(tree)
    assert found == expected
    assert len(tree) == len(expected)
    assert list(tree.tokens) == [sum(tokens[block] for block in span) for span in expected]
    assert list(tree.stated_bytes) == [sum(trace.block_size_bytes[block] for block in span) for span in expected]
    for request in range(trace.requests):
        path = path_of(tree, request)
        assert [block for span in path for block in found[span]] == list(trace.blocks_of(request))
        for position, span in enumerate(path):
            assert tree.context_tokens[span] == sum(tree.tokens[before] for before in path[:position])
