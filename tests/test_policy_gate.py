"""The reuse gate: strictly what the original says, and each departure from it on and off."""

from __future__ import annotations

import re
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest
from gate_cases import GOOD, STORED, WANT, Ask, only, secured, seen, without

from policy.entry import SCOPE_AGENT, SCOPE_FLEET, SCOPE_TENANT, Entry, EntryId, with_label, with_options
from policy.gate import SharePolicy
from policy.gate_key import GateKey
from policy.gate_rules import GATE_RULE_SPECS, SAFE_GATE, STRICT_GATE, GateRules
from policy.gate_trust import Reader
from policy.gate_view import UNMEASURED, Quality, mark_lossy, semantic_shareable
from policy.kv_prefix import kv_prefix_entry
from policy.residency import Residency
from policy.transfer import TransferEvent, lower
from policy.verdict import Verdict

RULES = tuple(spec.name for spec in GATE_RULE_SPECS)
HIT = ("hit", "")
FAMILY = SharePolicy(True, "llama3", "pd9")
ACMES = {"tenant": "acme", "agent": "agent-1"}
ELSEWHERE = replace(WANT, model_id="llama-3-8b-instruct")
LOSSY = with_options(STORED, [mark_lossy()])

# By rule: questions that only this rule answers otherwise than the original, which serves them all.
SHOWS: dict[str, list[tuple[Ask, tuple[str, str]]]] = {
    "view_known": [
        (Ask(view=""), ("miss", "unknown_view")),
        (Ask(view="bogus"), ("miss", "unknown_view")),
        (Ask(view="KV_SPAN"), ("miss", "unknown_view")),
    ],
    "taint_refused": [
        (Ask(secured(taint=2)), ("quarantine", "taint_denied")),
        (Ask(secured(taint=0)), ("miss", "taint_denied")),
        (Ask(secured(taint=7)), ("miss", "taint_denied")),
    ],
    "admission_required": [
        (Ask(secured(admission_verdict="quarantine")), ("quarantine", "taint_denied")),
        *(
            (Ask(secured(admission_verdict=verdict)), ("miss", "admission_denied"))
            for verdict in ("", "deny", "defer", "require_witness", "transform", "ALLOW")
        ),
    ],
    "scope_known": [(Ask(secured(scope=scope)), ("miss", "scope_denied")) for scope in (9, -1)],
    "tenant_compared": [
        (Ask(secured(scope=SCOPE_TENANT)), ("miss", "scope_denied")),
        (Ask(secured({"tenant": "other"}, scope=SCOPE_TENANT)), ("miss", "scope_denied")),
        (Ask(secured({"tenant": ""}, scope=SCOPE_TENANT), reader=Reader()), ("miss", "scope_denied")),
        (Ask(secured(scope=SCOPE_AGENT), reader=Reader()), ("miss", "scope_denied")),
        (Ask(secured(ACMES | {"agent": "agent-2"}, scope=SCOPE_AGENT)), ("miss", "scope_denied")),
        (Ask(secured(ACMES | {"tenant": "other"}, scope=SCOPE_AGENT)), ("miss", "scope_denied")),
    ],
    "media_compared": [
        (Ask(replace(STORED, id=replace(STORED.id, media_type="memory_view"))), ("miss", "media_mismatch")),
    ],
    "residency_required": [
        (Ask(replace(STORED, residency=Residency(tier))), ("miss", "absent"))
        for tier in ("", "provider", "recompute", "HBM")
    ],
    "family_required": [
        (Ask(want=ELSEWHERE, share=SharePolicy(True, *named)), ("miss", "model_mismatch"))
        for named in (("", ""), ("llama3", ""), ("", "pd9"))
    ],
    "quality_bounded": [
        (Ask(view="compressed_kv", quality=Quality(True, 1, bound, 0)), ("miss", "approximate_fault"))
        for bound in (0, -1)
    ],
    "faults_refused": [
        (Ask(view="compressed_kv", quality=replace(GOOD, faults_observed=faults)), ("miss", "approximate_fault"))
        for faults in (1, 50, -1)
    ],
    "lossy_enforced": [
        (Ask(LOSSY, view="kv_span"), ("miss", "approximate_fault")),
        (Ask(LOSSY, view="kv_prefix"), ("miss", "approximate_fault")),
    ],
}
# Rules that rename a refusal, or refuse a hit that cannot serve: by rule, the question and what the original says.
RENAMES: dict[str, list[tuple[Ask, tuple[str, str], tuple[str, str]]]] = {
    "handle_valid": [
        (Ask(replace(STORED, id=handle)), HIT, ("miss", "invalid_handle"))
        for handle in (EntryId("", "kv_span", 128, "positions"), EntryId("d1", "kv_span", -1, "positions"))
    ],
    "key_gap_named": [
        (Ask(want=replace(WANT, policy_version="")), ("miss", "model_mismatch"), ("miss", "incomplete_key")),
    ],
}


def test_every_rule_is_shown() -> None:
    assert sorted([*SHOWS, *RENAMES]) == sorted(RULES)


def test_the_rules_are_attributes_all_on_by_default_and_all_off_in_the_strict_form() -> None:
    assert [field.name for field in fields(GateRules)] == list(RULES)
    assert asdict(SAFE_GATE) == {spec.name: spec.default for spec in GATE_RULE_SPECS} == dict.fromkeys(RULES, 1)
    assert asdict(STRICT_GATE) == dict.fromkeys(RULES, 0)
    assert {spec.maximum for spec in GATE_RULE_SPECS} == {1}


@pytest.mark.parametrize(("rule", "ask", "refused"), [(rule, *show) for rule, shows in SHOWS.items() for show in shows])
def test_a_rule_refuses_what_the_original_serves_and_nothing_else_does(
    rule: str, ask: Ask, refused: tuple[str, str]
) -> None:
    assert ask.verdict(STRICT_GATE).can_serve()
    assert seen(ask.verdict(without(rule))) == HIT
    assert seen(ask.verdict(only(rule))) == refused
    assert seen(ask.verdict(SAFE_GATE)) == refused


@pytest.mark.parametrize(
    ("rule", "ask", "original", "renamed"), [(rule, *show) for rule, shows in RENAMES.items() for show in shows]
)
def test_a_rule_renames_what_the_original_does_not_serve_either(
    rule: str, ask: Ask, original: tuple[str, str], renamed: tuple[str, str]
) -> None:
    assert not ask.verdict(STRICT_GATE).can_serve()
    assert seen(ask.verdict(STRICT_GATE)) == seen(ask.verdict(without(rule))) == original
    assert seen(ask.verdict(only(rule))) == seen(ask.verdict(SAFE_GATE)) == renamed


@pytest.mark.parametrize(
    "ask",
    [
        Ask(),
        Ask(view="kv_prefix"),
        Ask(quality=UNMEASURED),
        Ask(reader=Reader()),
        Ask(view="compressed_kv"),
        Ask(view="compressed_kv", quality=Quality(True, 20_000, 20_000)),
        Ask(LOSSY, view="compressed_kv"),
        Ask(secured(ACMES, scope=SCOPE_TENANT)),
        Ask(secured(ACMES, scope=SCOPE_TENANT), reader=Reader("acme", "agent-2")),
        Ask(secured(ACMES, scope=SCOPE_AGENT)),
        Ask(secured({"agent": "agent-1"}, scope=SCOPE_AGENT), reader=Reader("", "agent-1")),
        Ask(secured({"tenant": "other"}, scope=SCOPE_FLEET)),
        *(Ask(replace(STORED, residency=Residency(tier))) for tier in ("hbm", "numa_far", "cxl", "disk", "remote")),
    ],
)
def test_with_every_rule_on_what_is_in_order_is_served_as_it_is(ask: Ask) -> None:
    assert ask.verdict(SAFE_GATE) == Verdict("hit", "", ask.stored, ask.stored.id, None)
    assert ask.verdict(SAFE_GATE).can_serve()


@pytest.mark.parametrize("rules", [SAFE_GATE, STRICT_GATE])
def test_a_provider_s_cache_changes_cost_and_is_never_served(rules: GateRules) -> None:
    for ask in (Ask(view="provider_prefix"), Ask(view="provider_prefix", want=GateKey())):
        verdict = ask.verdict(rules)
        assert verdict == Verdict(
            "transform", "policy_mismatch", STORED, STORED.id, {"provider_cache": "cost_latency_only"}
        )
        assert not verdict.can_serve()


@pytest.mark.parametrize("rules", [SAFE_GATE, STRICT_GATE])
def test_the_first_axis_that_differs_is_the_reason(rules: GateRules) -> None:
    axes = ("tokenizer_id", "serializer_id", "position_regime", "policy_version", "admitter_version")
    reasons = ("tokenizer", "serializer", "position", "policy", "admitter")
    for at, reason in enumerate(reasons):
        want = replace(WANT, **dict.fromkeys(axes[at:], "other"))
        assert seen(Ask(want=want).verdict(rules)) == ("miss", f"{reason}_mismatch")
        # One axis besides the model is one too many for sharing across models.
        want = replace(want, model_id="other")
        assert seen(Ask(want=want, share=FAMILY).verdict(rules)) == ("miss", "model_mismatch")


def test_an_incomplete_key_names_what_each_side_lacks() -> None:
    stored = kv_prefix_entry([1, 2], "llama-3-8b", "llama-bpe", "a7")
    assert Ask(stored).verdict(SAFE_GATE) == Verdict(
        "miss", "incomplete_key", meta={"stored_lacks": "serializer_id, policy_version"}
    )
    assert Ask(want=replace(WANT, model_id="")).verdict(SAFE_GATE).meta == {"wanted_lacks": "model_id"}
    assert Ask(stored, GateKey()).verdict(STRICT_GATE) == Verdict("miss", "model_mismatch")


@pytest.mark.parametrize("rules", [SAFE_GATE, STRICT_GATE])
def test_a_span_of_another_model_is_a_marked_copy_where_the_family_shares_it(rules: GateRules) -> None:
    stored = replace(STORED, labels={"foo": "bar"})
    verdict = Ask(stored, ELSEWHERE, share=FAMILY).verdict(rules)
    assert seen(verdict) == HIT
    assert verdict.handle == stored.id
    assert verdict.entry == replace(
        stored,
        labels={
            "foo": "bar",
            "cross_model_share": "true",
            "share_splice": "KVCache.Clone",
            "share_family": "llama3",
        },
    )
    assert verdict.meta == {
        "cross_model_share": "true",
        "splice": "model.KVCache.Clone",
        "provider_family": "llama3",
        "provider_prefix_digest": "pd9",
    }
    assert stored.labels == {"foo": "bar"}


@pytest.mark.parametrize("rules", [SAFE_GATE, STRICT_GATE])
def test_a_span_of_another_model_is_a_miss_without_permission_and_needs_quality_all_the_same(rules: GateRules) -> None:
    for share in (None, SharePolicy(), SharePolicy(False, "llama3", "pd9")):
        assert seen(Ask(want=ELSEWHERE, share=share).verdict(rules)) == ("miss", "model_mismatch")
    ask = Ask(want=ELSEWHERE, share=FAMILY, view="compressed_kv", quality=UNMEASURED)
    assert seen(ask.verdict(rules)) == ("miss", "approximate_fault")


def test_a_share_policy_changes_nothing_for_a_span_of_the_model_that_is_wanted() -> None:
    for rules in (SAFE_GATE, STRICT_GATE):
        assert Ask(share=FAMILY).verdict(rules) == Verdict("hit", "", STORED, STORED.id)


def test_without_a_family_the_original_s_copy_carries_no_family_label() -> None:
    verdict = Ask(want=ELSEWHERE, share=SharePolicy(True)).verdict(STRICT_GATE)
    assert verdict.entry is not None
    assert verdict.entry.labels == {"cross_model_share": "true", "share_splice": "KVCache.Clone"}


def test_quality_is_measured_first_and_a_loss_equal_to_its_bound_passes() -> None:
    for rules in (SAFE_GATE, STRICT_GATE):
        assert [Quality(True, loss, 10).acceptable(rules) for loss in (-5, 9, 10, 11)] == [True, True, True, False]
        assert not Quality(False, 0, 10).acceptable(rules)
    assert Quality(True, 10**6, 0, 3).acceptable(STRICT_GATE)
    assert not UNMEASURED.acceptable()


def test_who_may_have_a_span_is_settled_before_anything_is_said_about_it() -> None:
    bare = Entry()
    assert seen(Ask(replace(bare, security=replace(bare.security, taint=2)), GateKey()).verdict(SAFE_GATE)) == (
        "quarantine",
        "taint_denied",
    )
    assert seen(Ask(bare, GateKey()).verdict(SAFE_GATE)) == ("miss", "taint_denied")
    assert seen(Ask(secured(scope=SCOPE_TENANT), GateKey()).verdict(SAFE_GATE)) == ("miss", "scope_denied")


def test_a_quarantined_span_is_named_and_a_refused_one_is_not() -> None:
    stored = secured(taint=2)
    assert Ask(stored).verdict(SAFE_GATE) == Verdict("quarantine", "taint_denied", stored, stored.id)
    assert Ask(secured(taint=0)).verdict(SAFE_GATE) == Verdict("miss", "taint_denied")


def test_any_value_of_the_mark_makes_a_span_lossy_and_the_empty_one_does_not() -> None:
    for value, expected in (("true", "miss"), ("false", "miss"), ("", "hit")):
        assert Ask(with_options(STORED, [with_label("lossy", value)])).verdict(SAFE_GATE).kind == expected


def test_a_memory_view_is_meaning_that_any_model_may_read_and_no_kv() -> None:
    view = replace(STORED, id=replace(STORED.id, media_type="memory_view"))
    assert (semantic_shareable(view), semantic_shareable(STORED)) == (True, False)


def test_an_event_that_says_it_dropped_a_span_is_no_span_to_serve() -> None:
    """The original records an eviction as an offload to `recompute` that went well, and its gate serves the entry."""
    event = TransferEvent(
        "offload",
        "ok",
        "d1",
        128,
        to_tier="recompute",
        model_id="llama-3-8b",
        tokenizer_id="llama-bpe",
        serializer_id="chatml-v1",
        position_mode="rope-500k",
        owner="a7",
    )
    stored = replace(lower(event), validity=STORED.validity)
    assert Ask(stored).verdict(STRICT_GATE).can_serve()
    assert Ask(stored).verdict(SAFE_GATE) == Verdict("miss", "absent")


def test_the_documentation_has_a_row_for_every_rule(root: Path) -> None:
    departures = (root / "docs" / "gate.md").read_text(encoding="utf-8").partition("## Where the gate departs")[2]
    assert re.findall(r"^\| `([a-z_]+)` \|", departures, re.MULTILINE) == list(RULES)
