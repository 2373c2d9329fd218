"""Who may use what another tenant left in a pool, with each departure from the original on and off."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conformance_gate import entry_from
from gate_cases import STORED, WANT, secured, seen
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_cases import only, pool_vectors, without

from policy.entry import SCOPE_AGENT, SCOPE_TENANT, Entry, EntryId
from policy.gate_key import GateKey
from policy.gate_rules import SAFE_GATE, STRICT_GATE, GateRules
from policy.gate_trust import Reader
from policy.pool_reuse import pool_reuse_verdict
from policy.pool_rules import POOL_RULE_SPECS, SAFE_POOL, STRICT_POOL, PoolRules
from policy.verdict import Verdict

ACME = Reader("acme")
EMPTY = GateKey()

# By rule: entries that the original shares with anyone, and the refusal.
SHOWS: dict[str, list[tuple[Entry, tuple[str, str]]]] = {
    "scope_known": [(secured(scope=scope), ("miss", "scope_denied")) for scope in (9, -1)],
    "tenant_compared": [
        (secured(labels, scope=SCOPE_TENANT), ("miss", "scope_denied"))
        for labels in ({}, {"tenant": ""}, {"tenant": "other"}, {"tenant": "ACME"})
    ],
    "admission_required": [
        (secured(admission_verdict=verdict), ("miss", "admission_denied"))
        for verdict in ("", "deny", "defer", "require_witness", "transform")
    ],
}

# Names of weaknesses with vectors that show them, and the rule that mends each.
QUIRKS = {
    "pool_hit_for_unknown_scope": ("scope_known", ("pool-001601", "pool-001723", "pool-001920")),
    "pool_hit_for_tenant_scope_without_tenant_check": (
        "tenant_compared",
        ("pool-001585", "pool-001605", "pool-001695"),
    ),
    "pool_hit_with_non_final_admission": ("admission_required", ("pool-001585", "pool-001591", "pool-001601")),
}


@pytest.mark.parametrize(
    ("rule", "stored", "refused"), [(rule, *show) for rule, shows in SHOWS.items() for show in shows]
)
def test_a_rule_refuses_what_the_original_shares_and_nothing_else_does(
    rule: str, stored: Entry, refused: tuple[str, str]
) -> None:
    assert pool_reuse_verdict(stored, WANT, ACME, STRICT_POOL, STRICT_GATE).can_serve()
    assert pool_reuse_verdict(stored, WANT, ACME, without(rule), STRICT_GATE).can_serve()
    assert seen(pool_reuse_verdict(stored, WANT, ACME, only(rule), STRICT_GATE)) == refused
    assert seen(pool_reuse_verdict(stored, WANT, ACME)) == refused


def test_every_rule_is_shown() -> None:
    economics = ["reach_limited", "share_kind_known"]
    assert economics + list(SHOWS) == [spec.name for spec in POOL_RULE_SPECS]


@pytest.mark.parametrize(("rules", "gate_rules"), [(SAFE_POOL, SAFE_GATE), (STRICT_POOL, STRICT_GATE)])
def test_refusals_come_in_order_quarantine_agent_taint_and_the_gate_last(
    rules: PoolRules, gate_rules: GateRules
) -> None:
    def verdict(stored: Entry, want: GateKey = EMPTY) -> Verdict:
        return pool_reuse_verdict(stored, want, ACME, rules, gate_rules)

    worst = secured(taint=2, scope=SCOPE_AGENT)
    assert verdict(worst) == Verdict("quarantine", "taint_denied", worst, worst.id)
    assert seen(verdict(secured(admission_verdict="quarantine", scope=SCOPE_AGENT))) == ("quarantine", "taint_denied")
    # An agent's own span does not cross over, not even to that agent.
    owned = secured({"tenant": "acme", "agent": ""}, taint=0, scope=SCOPE_AGENT)
    assert seen(verdict(owned)) == ("miss", "scope_denied")
    assert [seen(verdict(secured(taint=taint))) for taint in (0, 7)] == [("miss", "taint_denied")] * 2
    assert verdict(STORED, WANT) == Verdict("hit", "", STORED, STORED.id)
    assert seen(verdict(STORED, replace(WANT, model_id="other"))) == ("miss", "model_mismatch")


def test_a_tenant_s_own_span_is_shared_with_that_tenant() -> None:
    stored = secured({"tenant": "acme"}, scope=SCOPE_TENANT)
    assert pool_reuse_verdict(stored, WANT, ACME).can_serve()
    assert seen(pool_reuse_verdict(stored, WANT)) == ("miss", "scope_denied")


def test_the_gate_s_own_rules_hold_in_a_pool_too() -> None:
    stored = replace(STORED, id=replace(STORED.id, length=-1))
    assert pool_reuse_verdict(stored, WANT, ACME, SAFE_POOL, STRICT_GATE).kind == "hit"
    assert seen(pool_reuse_verdict(stored, WANT, ACME)) == ("miss", "invalid_handle")


@pytest.mark.parametrize("quirk", QUIRKS)
def test_a_known_weakness_of_the_original_is_mended_by_one_rule(shared: Path, quirk: str) -> None:
    rule, ids = QUIRKS[quirk]
    vectors = pool_vectors(shared, quirk, ids)
    for name in ids:
        stored, want = entry_from(vectors[name]["stored"]), GateKey(**vectors[name]["want"])
        assert pool_reuse_verdict(stored, want, ACME, STRICT_POOL, STRICT_GATE).kind == "hit", name
        assert pool_reuse_verdict(stored, want, ACME, only(rule), STRICT_GATE).kind == "miss", name


steady = settings(deadline=None, derandomize=True, max_examples=300)
security = st.fixed_dictionaries(
    {
        "taint": st.sampled_from([1, 1, 1, 1, 0, 2, 7]),
        "scope": st.sampled_from([1, 1, 1, 2, 2, 0, 9]),
        "admission_verdict": st.sampled_from(["allow", "allow", "allow", "allow", "", "deny", "quarantine"]),
    }
)


@steady
@given(
    changes=security,
    tenant=st.sampled_from(["acme", "other", ""]),
    model_id=st.sampled_from(["llama-3-8b", "llama-3-8b", "other", ""]),
    handle=st.sampled_from([STORED.id, STORED.id, EntryId()]),
)
def test_what_is_shared_safely_is_shared_strictly_and_is_a_hit_of_the_gate(
    changes: dict[str, Any], tenant: str, model_id: str, handle: EntryId
) -> None:
    stored = replace(secured({"tenant": tenant}, **changes), id=handle)
    want = replace(WANT, model_id=model_id)
    safe = pool_reuse_verdict(stored, want, ACME)
    if safe.kind == "hit":
        assert safe == pool_reuse_verdict(stored, want, ACME, STRICT_POOL, STRICT_GATE)
        assert changes["taint"] == 1
        assert changes["admission_verdict"] == "allow"
        assert changes["scope"] == 1 or (changes["scope"] == 2 and tenant == "acme")
        assert safe.can_serve()
