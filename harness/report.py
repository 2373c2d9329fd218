"""The report: one ordered, versioned document about a replay. Tables, Markdown and every other form are views of it.

Integers throughout; ratios in parts per million, rounded toward zero; absent tiers are absent keys, zero causes stay.
Fields may be added in later versions, and never change their meaning under one schema name (docs/report.md).
"""

from __future__ import annotations

from typing import Any

from harness.comparison import Comparison
from harness.fleet import ArmResult
from harness.fleet_report import fleet_section
from harness.ledger import Books, split_move_key
from harness.levels import isolation_section
from harness.occupancy import occupancy_bytes, tiers_of
from harness.utilisation import busiest, engine_busy_ppm, link_utilisation_ppm, tier_utilisation_ppm
from harness.verdict import compare_arm
from harness.warnings import find_warnings
from harness.workload import US_PER_MS
from policy.decisions import (
    ACTION_NAMES,
    COLD,
    DIRECTIVE_NAMES,
    OUTCOME_NAMES,
    REASON_NAMES,
    REPREFILL_CAUSES,
)
from policy.identity import REFUSALS
from policy.policies.registry import CEILING
from policy.rules import RULE_SPECS
from policy.tiers import LADDER, TIER_NAMES

SCHEMA = "fakbench.report/1"

_PERCENTILES = (50, 90, 99)


def build_report(comparison: Comparison) -> dict[str, Any]:
    """The report of a comparison as a document, ready for `harness.documents.canonical_bytes`."""
    options = comparison.options
    arms = {name: _arm(comparison, arm) for name, arm in comparison.arms.items()}
    baseline = options.against[0]
    return {
        "schema": SCHEMA,
        "now_ms": options.now_ms,
        "trace": _trace(comparison),
        "machine": _machine(comparison),
        "model": _model(comparison),
        "parameters": _parameters(comparison),
        **fleet_section(comparison),
        "arms": arms,
        "comparison": {
            "baseline": baseline,
            "arms": {name: compare_arm(arms[name], arms[baseline], arms[CEILING]) for name in arms if name != baseline},
        },
        **({"isolation": isolation_section(comparison.isolated, comparison.levels)} if comparison.levels else {}),
        "audit": {
            "balanced": all(check.ok for check in comparison.checks),
            "checks": [
                {"name": check.name, "ok": check.ok} | ({"detail": check.detail} if check.detail else {})
                for check in comparison.checks
            ],
        },
        "warnings": find_warnings(arms, comparison),
    }


def _trace(comparison: Comparison) -> dict[str, Any]:
    workload = comparison.workload
    trace = comparison.isolated.source
    return {
        "name": trace.name,
        "format": trace.format,
        "sha256": trace.sha256,
        "requests": trace.requests,
        "input_tokens": sum(trace.input_tokens),
        "output_tokens": sum(trace.output_tokens),
        "blocks": len(trace.path),
        "distinct_blocks": len(trace.block_parent),
        "block_tokens": trace.block_tokens,
        "spans": len(workload.tree),
        "span_ms": workload.duration_us // US_PER_MS,
        "notices": dict(trace.notices),
    }


def _machine(comparison: Comparison) -> dict[str, Any]:
    engine = comparison.engine
    return {
        "id": engine.machine_id,
        "digest": engine.machine_digest,
        "tiers": {
            LADDER[tier]: {
                "capacity_bytes": profile.capacity_bytes,
                "read_latency_ns": profile.read_latency_ns,
                "bandwidth_mb_s": profile.bandwidth_mb_s,
                "byte_addressable": profile.byte_addressable,
                "coherent": profile.coherent,
                "persistent": profile.persistent,
                "share": profile.share,
            }
            for tier, profile in sorted(engine.profiles.items())
        },
        "links": [
            {
                "hotter": LADDER[link.hotter],
                "colder": LADDER[link.colder],
                "down_mb_s": link.down_mb_s,
                "up_mb_s": link.up_mb_s,
                "both_mb_s": link.both_mb_s,
            }
            for link in engine.links
        ],
        "derivation": list(engine.derivation),
    }


def _model(comparison: Comparison) -> dict[str, Any]:
    engine = comparison.engine
    prefill = engine.prefill
    return {
        "id": engine.model_id,
        "digest": engine.model_digest,
        "kv_bytes_per_token": engine.kv_bytes_per_token,
        "prefill_ns_per_token": prefill.ns_per_token,
        "prefill_roofline": {
            "linear_flop_per_token": prefill.linear_flop_per_token,
            "attention_flop_per_pair": prefill.attention_flop_per_pair,
            "mflop_per_s": prefill.mflop_per_s,
        },
    }


def _parameters(comparison: Comparison) -> dict[str, Any]:
    options = comparison.options
    return {
        "span_tokens": options.span_tokens,
        "ttl_us": {LADDER[tier]: ttl for tier, ttl in sorted(options.ttl_us.items())},
        "grace_us": options.grace_us,
        "demote_on_expiry": options.demote_on_expiry,
        "isolation": list(options.isolation),
    }


def _arm(comparison: Comparison, arm: ArmResult) -> dict[str, Any]:
    books = arm.books()
    engine = comparison.engine
    ledgers = [replica.ledger for replica in arm.replicas]
    ladders = [replica.ladder for replica in arm.replicas]
    tiers = tiers_of(arm)
    duration_us = comparison.workload.duration_us
    return {
        "rules": {spec.name: getattr(arm.rules, spec.name) for spec in RULE_SPECS},
        "tokens": {
            "input": books.input_tokens,
            "hit": {LADDER[tier]: books.hit_tokens[tier] for tier in tiers},
            "cold": books.computed_tokens[COLD],
            "cold_refused": dict(zip(REFUSALS, books.refused_tokens, strict=True)),
            "obligatory": books.obligatory_tokens,
            "unidentified": books.unidentified_tokens,
            "reprefilled": dict(zip(REPREFILL_CAUSES, books.computed_tokens[1:], strict=True)),
        },
        "time_ns": {
            "prefill": books.prefill_ns,
            "stage": books.stage_ns,
            "attend": books.attend_ns,
            "offload": books.offload_ns,
            "promote": books.promote_ns,
        },
        # Of a fleet, the busiest replica's. The ceiling's one engine does the work of all.
        "engine_busy_ppm": max(engine_busy_ppm(ledger, duration_us) for ledger in ledgers)
        * len(ledgers)
        // comparison.options.fleet.replicas,
        "utilisation_ppm": busiest(tier_utilisation_ppm(engine, ledger, tiers, duration_us) for ledger in ledgers),
        "link_utilisation_ppm": busiest(link_utilisation_ppm(engine, ledger, duration_us) for ledger in ledgers),
        "ttft_ns": _percentiles(books),
        "moves": _moves(books),
        "evictions": {REASON_NAMES[reason]: count for reason, count in sorted(books.evictions_by_reason.items())},
        "lifecycle": {
            "expiring": sum(ladder.expiring_count for ladder in ladders),
            "expired": sum(ladder.expired_count for ladder in ladders),
            "revived": sum(ladder.revived_count for ladder in ladders),
        },
        "occupancy_bytes": {LADDER[tier]: occupancy_bytes(arm, tier, duration_us) for tier in tiers},
        "directives_sha256": comparison.directives_sha256[arm.policy],
    }


def _percentiles(books: Books) -> dict[str, int]:
    """Nearest-rank percentiles of the time to first token, without queueing."""
    ordered = sorted(books.ttft_ns)
    return {f"p{percent}": ordered[-(-percent * len(ordered) // 100) - 1] for percent in _PERCENTILES}


def _moves(books: Books) -> list[dict[str, Any]]:
    """A row for each kind of move that occurred, in the order of the codes."""
    rows = []
    for key, count in enumerate(books.move_count):
        if count:
            action, directive, source, destination, outcome = split_move_key(key)
            rows.append(
                {
                    "action": ACTION_NAMES[action],
                    "directive": DIRECTIVE_NAMES[directive],
                    "from": TIER_NAMES[source],
                    "to": TIER_NAMES[destination],
                    "outcome": OUTCOME_NAMES[outcome],
                    "count": count,
                    "bytes": books.move_bytes[key],
                    "tokens": books.move_tokens[key],
                }
            )
    return rows
