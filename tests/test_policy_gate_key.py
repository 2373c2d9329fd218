"""The gate's key: six axes, compared in order, and an identity that no two keys share."""

from __future__ import annotations

from dataclasses import astuple, fields, replace
from itertools import pairwise

import pytest
from gate_cases import STORED, WANT
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy.digest import digest_bytes
from policy.entry import with_label, with_options
from policy.gate_key import AXES, GateKey, key_of

REASONS = ("model", "tokenizer", "serializer", "position", "policy", "admitter")

# Short names of the characters that the two forms are made of, so that names often look like forms.
names = st.text(alphabet="a1:;=\x00é\ud800", max_size=4)
keys = st.builds(GateKey, names, names, names, names, names, names)
steady = settings(deadline=None, derandomize=True, max_examples=300)


def test_the_axes_are_the_fields_in_order_of_comparison() -> None:
    assert [axis for axis, _, _ in AXES] == [field.name for field in fields(GateKey)]
    assert [reason for _, _, reason in AXES] == [f"{name}_mismatch" for name in REASONS]
    assert WANT.values() == astuple(WANT)


def test_the_first_axis_that_differs_gives_the_reason() -> None:
    for at, (_, _, reason) in enumerate(AXES):
        other = GateKey(*(value if axis < at else value.upper() + "!" for axis, value in enumerate(WANT.values())))
        assert WANT.mismatch(other) == reason
    assert WANT.mismatch(WANT) == ""


def test_a_key_is_complete_where_no_axis_is_missing_and_names_those_that_are() -> None:
    assert (WANT.complete(), WANT.missing()) == (True, ())
    for axis, _, _ in AXES:
        gap = replace(WANT, **{axis: ""})
        assert (gap.complete(), gap.missing()) == (False, (axis,))
    assert GateKey().missing() == tuple(axis for axis, _, _ in AXES)


def test_two_empty_keys_match_though_neither_is_complete() -> None:
    assert GateKey().mismatch(GateKey()) == ""


def test_the_readable_form_is_the_original_s_and_is_shared_by_different_keys() -> None:
    assert WANT.text() == "model=llama-3-8b;tok=llama-bpe;ser=chatml-v1;pos=rope-500k;policy=p3;admitter=a7"
    one, other = GateKey("a;tok=b", "c"), GateKey("a", "b;tok=c")
    assert one.text() == other.text() == "model=a;tok=b;tok=c;ser=;pos=;policy=;admitter="
    assert one.digest_key() == b"7:a;tok=b1:c0:0:0:0:"
    assert other.digest_key() == b"1:a7:b;tok=c0:0:0:0:"
    assert digest_bytes(one.digest_key()) != digest_bytes(other.digest_key())


def test_the_length_of_an_axis_is_in_bytes_and_half_a_surrogate_pair_is_a_name() -> None:
    assert GateKey("é", "\ud800").digest_key() == b"2:\xc3\xa93:\xed\xa0\x800:0:0:0:"


@steady
@given(one=keys, other=keys)
@example(one=GateKey("1:", ""), other=GateKey("", "1:"))
def test_matching_is_symmetric_and_is_equality(one: GateKey, other: GateKey) -> None:
    assert one.mismatch(other) == other.mismatch(one)
    assert (one.mismatch(other) == "") == (one == other)


@steady
@given(values=st.lists(names, min_size=6, max_size=6), at=st.integers(0, 4), cut=st.integers(0, 4))
def test_no_two_keys_have_one_digest_key(values: list[str], at: int, cut: int) -> None:
    """Moving characters over the border of two axes is what a form that is not injective forgets."""
    joined = values[at] + values[at + 1]
    moved = [*values[:at], joined[:cut], joined[cut:], *values[at + 2 :]]
    assert (GateKey(*values).digest_key() == GateKey(*moved).digest_key()) == (values == moved)


@steady
@given(known=st.lists(keys, max_size=8))
def test_digest_keys_are_told_apart_wherever_keys_are(known: list[GateKey]) -> None:
    ordered = sorted((key.digest_key(), astuple(key)) for key in known)
    for (digest_key, values), (other_digest_key, other_values) in pairwise(ordered):
        assert (digest_key == other_digest_key) == (values == other_values)


def test_the_key_of_an_entry_is_taken_from_its_derivation_validity_and_admission() -> None:
    assert key_of(STORED) == WANT


@pytest.mark.parametrize(
    ("label", "value", "expected"),
    [
        ("position_regime", "rope-10k", replace(WANT, position_regime="rope-10k")),
        ("position_regime", "", WANT),
        ("admitter_version", "a8", replace(WANT, admitter_version="a8")),
        ("admitter_version", "", WANT),
    ],
)
def test_a_label_comes_first_and_an_empty_one_does_not_count(label: str, value: str, expected: GateKey) -> None:
    assert key_of(with_options(STORED, [with_label(label, value)])) == expected
