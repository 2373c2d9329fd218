"""Whose KV may serve whom: the gate says hit exactly within a class, and else names the first axis that differs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.entry import SCOPE_AGENT, SCOPE_FLEET, SCOPE_TENANT
from policy.identity import AXES, AXIS_NAMES, NOT_STATED, REFUSALS, Identity, reuse_verdict, scope_for
from policy.verdict import HIT, MISS

# Names that a careless encoding of what is not stated, or of two axes at once, would confuse.
names = st.sampled_from(["", "a", "A", "=", "=a", "not stated", "a;tok=b"])
identities = st.builds(Identity, **dict.fromkeys(AXIS_NAMES, names))
axes_chosen = st.lists(st.sampled_from(AXIS_NAMES), unique=True)


@given(stored=identities, wanted=identities, axes=axes_chosen)
def test_the_gate_serves_whom_agrees_in_the_chosen_axes_and_nobody_else(
    stored: Identity, wanted: Identity, axes: list[str]
) -> None:
    mine, theirs = stored.only(axes), wanted.only(axes)
    verdict = reuse_verdict(mine, theirs, scope_for(axes))
    assert verdict.can_serve() == (mine == theirs)
    differing = [reason for axis, reason in AXES if getattr(mine, axis) != getattr(theirs, axis)]
    assert (verdict.kind, verdict.reason) == ((MISS, differing[0]) if differing else (HIT, ""))


def test_the_reasons_are_those_of_the_axes_in_the_order_of_comparison() -> None:
    assert list(dict.fromkeys(reason for _, reason in AXES)) == list(REFUSALS)
    assert REFUSALS == ("model_mismatch", "tokenizer_mismatch", "adapter_mismatch", "salt_mismatch", "scope_denied")
    assert AXIS_NAMES == ("model", "tokenizer", "adapter", "salt", "tenant", "session")


@pytest.mark.parametrize(
    ("axes", "scope"),
    [((), SCOPE_FLEET), (("salt",), SCOPE_FLEET), (("salt", "tenant"), SCOPE_TENANT), (("session",), SCOPE_AGENT)],
)
def test_a_span_is_admitted_in_the_narrowest_scope_that_is_kept_apart(axes: tuple[str, ...], scope: int) -> None:
    assert scope_for(axes) == scope
    assert scope_for((*axes, "session")) == SCOPE_AGENT


def test_an_identity_in_no_axis_is_not_stated() -> None:
    assert Identity("m", "t", "a", "s", "x", "y").only(()) == NOT_STATED
    assert Identity("m", "t", "a", "s", "x", "y").only(("salt", "model")) == Identity(model="m", salt="s")
