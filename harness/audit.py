"""The accounts that must balance, checked in every run and printed with it: the ledger's books against the policy's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.replay import ArmResult
from policy.decisions import COLD
from policy.lifecycle import serveable
from policy.tiers import LADDER, TIER_COUNT


@dataclass(frozen=True, slots=True)
class Check:
    """One balance: its name, whether it holds, and where it does not, the figures that differ."""

    name: str
    ok: bool
    detail: str = ""


def misses(arm: ArmResult) -> int:
    """Tokens that an arm computed although blocks name them."""
    return sum(arm.ledger.computed_tokens)


def audit(arms: list[ArmResult], ceiling: ArmResult) -> list[Check]:
    """Every check over every arm; a failed one names the arm and the two figures."""
    return [
        _over_arms("tokens", arms, _tokens),
        _over_arms("used_bytes", arms, _used_bytes),
        _over_arms("capacity", arms, _capacity),
        _over_arms("flow", arms, _flow),
        _over_arms("one_tier", arms, _one_tier),
        _over_arms("cold_equal", arms, lambda arm: _cold(arm, ceiling)),
        _over_arms("ceiling", arms, lambda arm: _not_above(arm, ceiling)),
    ]


def _over_arms(name: str, arms: list[ArmResult], find: Callable[[ArmResult], str]) -> Check:
    found = [f"{arm.policy}: {problem}" for arm in arms if (problem := find(arm))]
    return Check(name, not found, "; ".join(found))


def _tokens(arm: ArmResult) -> str:
    books = arm.ledger
    accounted = sum(books.hit_tokens) + sum(books.computed_tokens) + books.obligatory_tokens + books.unidentified_tokens
    return "" if accounted == books.input_tokens else f"{accounted} tokens accounted of {books.input_tokens}"


def _used_bytes(arm: ArmResult) -> str:
    """The policy's count of what a tier holds is the ledger's, and is the sum of the spans that are in it."""
    sums = [0] * TIER_COUNT
    life = arm.ladder.life
    for span, held_bytes in enumerate(arm.ladder.held_bytes):
        if held_bytes:
            sums[life.tier[span]] += held_bytes
    for tier in range(TIER_COUNT):
        figures = (arm.ladder.used_bytes(tier), arm.ledger.used_bytes[tier], sums[tier])
        if len(set(figures)) != 1:
            return f"{LADDER[tier]} holds {figures[0]} by the policy, {figures[1]} by the ledger, {figures[2]} by span"
    return ""


def _capacity(arm: ArmResult) -> str:
    over = arm.ledger.over_capacity
    return f"a tier held more than its capacity {over} times" if over else ""


def _flow(arm: ArmResult) -> str:
    books = arm.ledger
    for tier in range(TIER_COUNT):
        rest = books.in_bytes[tier] - books.out_bytes[tier]
        if rest != books.used_bytes[tier]:
            return f"{LADDER[tier]}: {rest} bytes in less out, {books.used_bytes[tier]} held"
    return ""


def _one_tier(arm: ArmResult) -> str:
    """A span that serves holds bytes in one tier, the one from which the ledger last saw it enter; no other does."""
    if arm.ledger.wrong_source:
        return f"{arm.ledger.wrong_source} moves left a tier in which the span was not"
    life = arm.ladder.life
    for span in range(len(arm.ladder.held_bytes)):
        where = life.tier[span] if serveable(life.state[span]) else -1
        if where != arm.ledger.where[span] or (where >= 0) != (arm.ladder.held_bytes[span] > 0):
            return f"span {span} is in two places"
    return ""


def _cold(arm: ArmResult, ceiling: ArmResult) -> str:
    mine, best = arm.ledger.computed_tokens[COLD], ceiling.ledger.computed_tokens[COLD]
    return "" if mine == best else f"{mine} cold tokens, {best} in the ceiling"


def _not_above(arm: ArmResult, ceiling: ArmResult) -> str:
    mine, best = misses(arm), misses(ceiling)
    return "" if mine >= best else f"{mine} tokens computed, fewer than the ceiling's {best}"
