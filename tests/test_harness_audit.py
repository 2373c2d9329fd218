"""Every check passes on an honest replay, and fails, saying why, when its balance is broken by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from builders import BLOCK_BYTES, Ask, comparison_of, engine_of, trace_of
from hypothesis import given
from strategies import engines, moderate, run_options, traces

from harness.audit import Check, audit, misses
from harness.engine import Engine
from harness.replay import ArmResult
from harness.trace import Trace
from policy.decisions import COLD, PRESSURE
from policy.tiers import DISK, DRAM, HBM

NAMES = ["tokens", "used_bytes", "capacity", "flow", "one_tier", "cold_equal", "cold_refused", "ceiling"]


def arms() -> dict[str, ArmResult]:
    """Six requests on HBM of two blocks and DRAM of three: hits, losses, and something left in each tier."""
    rows = [Ask("ab", 0), Ask("cd", 10), Ask("ab", 20), Ask("ef", 30), Ask("cd", 40), Ask("ab", 50)]
    engine = engine_of({"hbm": 2 * BLOCK_BYTES, "dram": 3 * BLOCK_BYTES})
    return comparison_of(trace_of(*rows), engine).arms


def broken(tamper: Callable[[ArmResult], None], policy: str = "tiered") -> dict[str, str]:
    """The checks that fail after `tamper`, with their details."""
    results = arms()
    tamper(results[policy])
    checks = audit(list(results.values()), results["infinite"])
    assert [check.name for check in checks] == NAMES
    assert all(check.ok == (check.detail == "") for check in checks)
    return {check.name: check.detail for check in checks if not check.ok}


def test_an_honest_replay_balances() -> None:
    results = arms()
    assert audit(list(results.values()), results["infinite"]) == [Check(name, True) for name in NAMES]
    assert results["tiered"].ledger.used_bytes[DRAM] > 0, "or the checks would have nothing to hold"
    assert misses(results["tiered"]) > misses(results["infinite"])


def test_tokens_that_are_not_accounted_for_are_found() -> None:
    def tamper(arm: ArmResult) -> None:
        arm.ledger.input_tokens += 1

    assert broken(tamper) == {"tokens": "tiered: 48 tokens accounted of 49"}


@pytest.mark.parametrize("book", ["obligatory_tokens", "unidentified_tokens"])
def test_every_book_of_tokens_counts(book: str) -> None:
    def tamper(arm: ArmResult) -> None:
        setattr(arm.ledger, book, getattr(arm.ledger, book) + 1)

    assert broken(tamper) == {"tokens": "tiered: 49 tokens accounted of 48"}


def test_a_hit_counted_twice_is_found() -> None:
    def tamper(arm: ArmResult) -> None:
        arm.ledger.hit_tokens[DISK] += 4

    assert broken(tamper) == {"tokens": "tiered: 52 tokens accounted of 48"}


def test_bytes_that_only_the_ledger_holds_are_found() -> None:
    def tamper(arm: ArmResult) -> None:
        arm.ledger.used_bytes[HBM] += 1
        arm.ledger.in_bytes.add(HBM, 1)

    assert broken(tamper) == {
        "used_bytes": "tiered: hbm holds 8000 by the policy, 8001 by the ledger, 8000 by span",
    }


def test_bytes_of_a_span_that_its_tier_does_not_know_of_are_found() -> None:
    def tamper(arm: ArmResult) -> None:
        span = list(arm.ledger.where).index(DRAM)
        arm.ladder.held_bytes[span] += 5

    assert broken(tamper) == {
        "used_bytes": "tiered: dram holds 12000 by the policy, 12000 by the ledger, 12005 by span",
    }


def test_a_tier_that_ever_held_too_much_is_found() -> None:
    def tamper(arm: ArmResult) -> None:
        arm.ledger.over_capacity = 2

    assert broken(tamper) == {"capacity": "tiered: a tier held more than its capacity 2 times"}


@pytest.mark.parametrize(("book", "rest"), [("in_bytes", 12_001), ("out_bytes", 11_999)])
def test_bytes_that_flowed_without_being_held_are_found(book: str, rest: int) -> None:
    def tamper(arm: ArmResult) -> None:
        getattr(arm.ledger, book).add(DRAM, 1)

    assert broken(tamper) == {"flow": f"tiered: dram: {rest} bytes in less out, 12000 held"}


def test_a_span_that_left_a_tier_it_was_not_in_is_found() -> None:
    def tamper(arm: ArmResult) -> None:
        arm.ledger.wrong_source = 3

    assert broken(tamper) == {"one_tier": "tiered: 3 moves left a tier in which the span was not"}


def test_a_span_that_the_ledger_sees_elsewhere_is_found() -> None:
    def tamper(arm: ArmResult) -> None:
        arm.ledger.where[0] = DISK

    assert broken(tamper) == {"one_tier": "tiered: span 0 is in two places"}


def test_a_span_that_is_gone_and_still_holds_bytes_is_found() -> None:
    def tamper(arm: ArmResult) -> None:
        gone = list(arm.ledger.where).index(-1)
        arm.ladder.held_bytes[gone] = 1

    assert broken(tamper)["one_tier"].endswith("is in two places")


def test_cold_tokens_that_differ_from_the_ceilings_are_found() -> None:
    def tamper(arm: ArmResult) -> None:
        arm.ledger.computed_tokens[COLD] += 4
        arm.ledger.computed_tokens[PRESSURE] -= 4

    assert broken(tamper) == {"cold_equal": "tiered: 28 cold tokens, 24 in the ceiling"}


def test_more_refused_tokens_than_cold_ones_are_found() -> None:
    def tamper(arm: ArmResult) -> None:
        arm.ledger.refused_tokens[0] += 20
        arm.ledger.refused_tokens[4] += 5

    assert broken(tamper) == {"cold_refused": "tiered: 25 cold tokens refused of 24"}


def test_an_arm_that_computes_less_than_the_ceiling_is_found() -> None:
    def tamper(arm: ArmResult) -> None:
        too_many = misses(arm) - 20
        arm.ledger.computed_tokens[PRESSURE] -= too_many
        arm.ledger.hit_tokens[HBM] += too_many

    assert broken(tamper) == {"ceiling": "tiered: 20 tokens computed, fewer than the ceiling's 24"}


def test_every_arm_that_fails_is_named() -> None:
    results = arms()
    for arm in results.values():
        arm.ledger.input_tokens += 1
    tokens, *others = audit(list(results.values()), results["infinite"])
    assert tokens.detail == (
        "tiered: 48 tokens accounted of 49; blind-lru: 48 tokens accounted of 49; infinite: 48 tokens accounted of 49"
    )
    assert all(check.ok for check in others)


@moderate(40)
@given(trace=traces(), engine=engines, options=run_options)
def test_every_replay_balances(trace: Trace, engine: Engine, options: dict[str, Any]) -> None:
    checks = comparison_of(trace, engine, against=("blind-lru", "tiered-reference"), **options).checks
    assert [check for check in checks if not check.ok] == []
