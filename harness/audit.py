"""The accounts that must balance, checked in every run and printed with it: the ledger's books against the policy's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.fleet import ArmResult, Pool, Replica
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
    return sum(sum(replica.ledger.computed_tokens) for replica in arm.replicas)


def audit(arms: list[ArmResult], ceiling: ArmResult) -> list[Check]:
    """Every check over every arm; a failed one names the arm and the two figures."""
    return [
        _over_arms("tokens", arms, _each_replica(_tokens)),
        _over_arms("used_bytes", arms, _each_replica(_used_bytes), _each_pool(_pool_bytes)),
        _over_arms("capacity", arms, _each_replica(_capacity), _each_pool(_pool_capacity)),
        _over_arms("flow", arms, _each_replica(_flow), _each_pool(_pool_flow)),
        _over_arms("one_tier", arms, _each_replica(_one_tier), _each_pool(_pool_source)),
        _over_arms("cold_equal", arms, lambda arm: _cold(arm, ceiling)),
        _over_arms("cold_refused", arms, _refused),
        _over_arms("ceiling", arms, lambda arm: _not_above(arm, ceiling)),
    ]


Find = Callable[[ArmResult], str]


def _over_arms(name: str, arms: list[ArmResult], *finds: Find) -> Check:
    found = [f"{arm.policy}: {problem}" for arm in arms for find in finds if (problem := find(arm))]
    return Check(name, not found, "; ".join(found))


def _each_replica(find: Callable[[Replica], str]) -> Find:
    """The problems of every replica, which are named where there are several."""

    def over(arm: ArmResult) -> str:
        found = [(index, problem) for index, replica in enumerate(arm.replicas) if (problem := find(replica))]
        if len(arm.replicas) == 1:
            return "".join(problem for _, problem in found)
        return ", ".join(f"replica {index}: {problem}" for index, problem in found)

    return over


def _each_pool(find: Callable[[Pool], str]) -> Find:
    """The problems of every pool."""

    def over(arm: ArmResult) -> str:
        found = [(pool, problem) for pool in arm.pools if (problem := find(pool))]
        return ", ".join(
            f"{LADDER[pool.state.tier]} pool of replica {pool.hosts.start}: {problem}" for pool, problem in found
        )

    return over


def _tokens(replica: Replica) -> str:
    books = replica.ledger
    accounted = sum(books.hit_tokens) + books.prefill_tokens()
    return "" if accounted == books.input_tokens else f"{accounted} tokens accounted of {books.input_tokens}"


def _used_bytes(replica: Replica) -> str:
    """The policy's count of what a tier holds is the ledger's, and is the sum of the spans that are in it."""
    sums = [0] * TIER_COUNT
    ladder = replica.ladder
    for span, held_bytes in enumerate(ladder.held_bytes):
        if held_bytes:
            sums[ladder.life.tier[span]] += held_bytes
    for tier in range(TIER_COUNT):
        if not ladder.is_pooled(tier):
            figures = (ladder.used_bytes(tier), replica.ledger.used_bytes[tier], sums[tier])
            if len(set(figures)) != 1:
                return f"{LADDER[tier]} holds {_three(figures)}"
    return ""


def _pool_bytes(pool: Pool) -> str:
    figures = (pool.state.used_bytes(), pool.book.used_bytes.value, sum(pool.state.held_bytes))
    return "" if len(set(figures)) == 1 else f"holds {_three(figures)}"


def _three(figures: tuple[int, int, int]) -> str:
    return f"{figures[0]} by the policy, {figures[1]} by the ledger, {figures[2]} by span"


def _capacity(replica: Replica) -> str:
    over = replica.ledger.over_capacity
    return f"a tier held more than its capacity {over} times" if over else ""


def _pool_capacity(pool: Pool) -> str:
    over = pool.book.over_capacity
    return f"held more than its capacity {over} times" if over else ""


def _flow(replica: Replica) -> str:
    books = replica.ledger
    for tier in range(TIER_COUNT):
        rest = books.in_bytes[tier] - books.out_bytes[tier]
        if rest != books.used_bytes[tier]:
            return f"{LADDER[tier]}: {rest} bytes in less out, {books.used_bytes[tier]} held"
    return ""


def _pool_flow(pool: Pool) -> str:
    rest = pool.book.in_bytes - pool.book.out_bytes
    held_bytes = pool.book.used_bytes.value
    return "" if rest == held_bytes else f"{rest} bytes in less out, {held_bytes} held"


def _one_tier(replica: Replica) -> str:
    """A span that serves holds bytes in one tier, the one from which the ledger last saw it enter; no other does."""
    ledger = replica.ledger
    if ledger.wrong_source:
        return f"{ledger.wrong_source} moves left a tier in which the span was not"
    ladder = replica.ladder
    life = ladder.life
    for span in range(len(ladder.held_bytes)):
        where = life.tier[span] if serveable(life.state[span]) else -1
        if where != ledger.where[span] or (where >= 0) != (ladder.held_bytes[span] > 0):
            return f"span {span} is in two places"
    return ""


def _pool_source(pool: Pool) -> str:
    wrong = pool.book.wrong_source
    return f"{wrong} moves into it of what it held, or out of it of what it did not" if wrong else ""


def _cold(arm: ArmResult, ceiling: ArmResult) -> str:
    mine = sum(replica.ledger.computed_tokens[COLD] for replica in arm.replicas)
    best = ceiling.ledger.computed_tokens[COLD]
    return "" if mine == best else f"{mine} cold tokens, {best} in the ceiling"


def _refused(arm: ArmResult) -> str:
    books = arm.books()
    refused, cold = sum(books.refused_tokens), books.computed_tokens[COLD]
    return "" if refused <= cold else f"{refused} cold tokens refused of {cold}"


def _not_above(arm: ArmResult, ceiling: ArmResult) -> str:
    mine, best = misses(arm), misses(ceiling)
    return "" if mine >= best else f"{mine} tokens computed, fewer than the ceiling's {best}"
