"""The reuse gate over random questions, and over the vectors that show the original's weaknesses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conformance_gate import entry_from, quality_from
from gate_cases import STORED, WANT, Ask, only
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.entry import SCOPE_AGENT, SCOPE_FLEET, EntryId
from policy.gate import SharePolicy
from policy.gate_key import GateKey
from policy.gate_rules import GATE_RULE_SPECS, SAFE_GATE, STRICT_GATE, GateRules
from policy.gate_trust import Reader
from policy.gate_view import Quality
from policy.residency import Residency

# Names of weaknesses, the vectors that show them, and the rule that mends each.
QUIRKS = {
    "materialize_hit_on_unknown_view": {
        "materialization-000535": "view_known",
        "materialization-000550": "view_known",
        "materialization-000605": "view_known",
    },
    "materialize_hit_on_quarantined_entry": {
        "materialization-000583": "taint_refused",
        "materialization-000650": "admission_required",
        "materialization-000943": "taint_refused",
    },
    "hit_that_cannot_serve": {
        "materialization-000678": "handle_valid",
        "materialization-000788": "handle_valid",
        "materialization-000991": "handle_valid",
    },
    "compressed_hit_with_no_bound": {
        "materialization-000541": "quality_bounded",
        "materialization-000716": "quality_bounded",
        "materialization-000892": "quality_bounded",
    },
    "compressed_hit_with_faults_observed": {
        "materialization-000541": "faults_refused",
        "materialization-000601": "faults_refused",
        "materialization-000716": "faults_refused",
    },
}


@pytest.mark.parametrize("quirk", QUIRKS)
def test_a_known_weakness_of_the_original_is_mended_by_one_rule(shared: Path, quirk: str) -> None:
    known = json.loads((shared / "conformance" / "quirks.json").read_text())
    assert list(QUIRKS[quirk]) == known[quirk]["open_examples"]
    vectors = {}
    for line in (shared / "conformance" / "materialization.jsonl").read_text().splitlines():
        vector = json.loads(line)
        vectors[vector["id"]] = vector["in"]
    for name, rule in QUIRKS[quirk].items():
        ask = ask_of(vectors[name])
        assert ask.verdict(STRICT_GATE).kind == "hit", name
        assert ask.verdict(only(rule)).kind != "hit", name
        assert not ask.verdict(SAFE_GATE).can_serve(), name


def ask_of(given_in: dict[str, Any]) -> Ask:
    share = given_in["prefill_share"]
    return Ask(
        entry_from(given_in["stored"]),
        GateKey(**given_in["want"]),
        given_in["view"],
        quality_from(given_in["quality"]),
        SharePolicy(**share) if share else None,
        Reader(),
    )


def mostly(good: Any, *others: Any) -> st.SearchStrategy[Any]:
    """Mostly what is in order: else hardly a question would be answered with a hit."""
    return st.sampled_from([good] * 12 + list(others))


keys = st.builds(
    GateKey,
    mostly("llama-3-8b", "other", ""),
    *(mostly(value, "other", "") for value in WANT.values()[1:]),
)
labels = st.dictionaries(
    st.sampled_from(["tenant", "agent", "lossy", "position_regime", "admitter_version"]),
    st.sampled_from(["", "acme", "agent-1", "rope-500k", "a7"]),
    max_size=2,
)
entries = st.builds(
    lambda key, security, labels, handle, tier: replace(
        STORED,
        id=handle,
        derivation=replace(
            STORED.derivation,
            model_id=key.model_id,
            tokenizer_id=key.tokenizer_id,
            serializer_id=key.serializer_id,
            position_mode=key.position_regime,
        ),
        security=replace(STORED.security, **security, admitted_by=key.admitter_version),
        validity=replace(STORED.validity, policy_version=key.policy_version),
        residency=Residency(tier),
        labels=labels,
    ),
    keys,
    st.fixed_dictionaries(
        {
            "taint": mostly(1, 0, 2, 7),
            "scope": mostly(1, 0, 2, 9),
            "admission_verdict": mostly("allow", "", "deny", "quarantine"),
        }
    ),
    labels,
    mostly(STORED.id, EntryId(), replace(STORED.id, length=-1), replace(STORED.id, media_type="memory_view")),
    mostly("hbm", "disk", "provider", "recompute", ""),
)
asks = st.builds(
    Ask,
    entries,
    keys,
    st.sampled_from(["kv_prefix", "kv_span", "compressed_kv", "provider_prefix", "", "bogus"]),
    st.builds(Quality, st.booleans(), st.integers(-2, 2), st.integers(-1, 2), st.integers(0, 1)),
    st.none() | st.builds(SharePolicy, st.booleans(), st.sampled_from(["", "f"]), st.sampled_from(["", "d"])),
    st.builds(Reader, st.sampled_from(["", "acme"]), st.sampled_from(["", "agent-1"])),
)
bits = st.lists(st.integers(0, 1), min_size=len(GATE_RULE_SPECS), max_size=len(GATE_RULE_SPECS))
steady = settings(deadline=None, derandomize=True, max_examples=400)


@steady
@given(ask=asks, fewer=bits, more=bits)
def test_no_rule_ever_serves_what_is_refused_without_it(ask: Ask, fewer: list[int], more: list[int]) -> None:
    loose = GateRules(*fewer)
    tight = GateRules(*(max(pair) for pair in zip(fewer, more, strict=True)))
    if ask.verdict(tight).kind == "hit":
        assert ask.verdict(loose) == ask.verdict(tight)
        assert ask.verdict(STRICT_GATE) == ask.verdict(tight)


@steady
@given(ask=asks)
def test_with_every_rule_on_a_hit_can_serve_and_is_trusted_admitted_here_and_the_reader_s_to_have(ask: Ask) -> None:
    verdict = ask.verdict(SAFE_GATE)
    assert verdict.can_serve() == (verdict.kind == "hit")
    if verdict.can_serve():
        security, stored = ask.stored.security, ask.stored
        assert (security.taint, security.admission_verdict) == (1, "allow")
        assert security.scope in (0, 1, 2)
        if security.scope != SCOPE_FLEET:
            assert stored.labels.get("tenant", "") == ask.reader.tenant
            named = "agent" if security.scope == SCOPE_AGENT else "tenant"
            assert stored.labels[named] == getattr(ask.reader, named) != ""
        assert stored.residency.tier in ("hbm", "disk")
        assert ask.view in ("kv_prefix", "kv_span", "compressed_kv")
        if ask.view == "compressed_kv":
            assert ask.quality.measured
            assert 0 < ask.quality.bound_ppm >= ask.quality.delta_ppm
            assert ask.quality.faults_observed == 0
        else:
            assert stored.labels.get("lossy", "") == ""


@steady
@given(ask=asks)
def test_a_verdict_that_is_no_hit_has_a_reason(ask: Ask) -> None:
    for rules in (SAFE_GATE, STRICT_GATE):
        verdict = ask.verdict(rules)
        assert (verdict.reason == "") == (verdict.kind == "hit")
