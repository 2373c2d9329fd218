"""Vectors about the reuse gate and about pools, answered with every departure off, as the vectors write them."""

from __future__ import annotations

import math
from dataclasses import asdict
from decimal import Decimal

from conformance_codes import ProfileSets, Vector, profile_from
from conformance_entries import verdict_fields

from policy.entry import Derivation, Entry, EntryId, Security, Validity
from policy.gate import SharePolicy, materialization_verdict
from policy.gate_key import GateKey, key_of
from policy.gate_rules import STRICT_GATE
from policy.gate_view import Quality, is_approximate, is_local_kv, semantic_shareable
from policy.pool import PoolProfile, plan_fleet_reuse
from policy.pool_reuse import pool_reuse_verdict
from policy.pool_rules import STRICT_POOL
from policy.residency import Residency
from policy.tiers import tier_code

Answer = tuple[object, object]


def key_matches(vector: Vector, _: ProfileSets) -> Answer:
    have, want = (GateKey(**vector["in"][side]) for side in ("have", "want"))
    reason = have.mismatch(want)
    return vector["out"], {
        "have_complete": have.complete(),
        "have_string": have.text(),
        "ok": reason == "",
        "reason": reason,
        "want_complete": want.complete(),
        "want_string": want.text(),
    }


def quality_acceptable(vector: Vector, _: ProfileSets) -> Answer:
    return vector["out"], quality_from(vector["in"]).acceptable(STRICT_GATE)


def view(vector: Vector, _: ProfileSets) -> Answer:
    name = vector["in"]["view"]
    return vector["out"], {"is_approximate": is_approximate(name), "is_local_kv": is_local_kv(name)}


def materialize(vector: Vector, _: ProfileSets) -> Answer:
    given = vector["in"]
    stored = entry_from(given["stored"])
    verdict = materialization_verdict(
        given["view"],
        stored,
        GateKey(**given["want"]),
        quality_from(given["quality"]),
        SharePolicy(**given["prefill_share"]) if given["prefill_share"] else None,
        rules=STRICT_GATE,
    )
    answer = verdict_fields(verdict)
    answer["key_of_stored"] = asdict(key_of(stored))
    answer["semantic_shareable"] = semantic_shareable(stored)
    if verdict.entry is not None and verdict.entry.labels:
        answer["entry_labels"] = dict(verdict.entry.labels)
    return vector["out"], answer


def pool_profile(vector: Vector, _: ProfileSets) -> Answer:
    pool = pool_from(vector["in"])
    return vector["out"], {"fabric_shareable": pool.fabric_shareable(STRICT_POOL), "reachable": pool.reachable()}


def fleet_reuse(vector: Vector, _: ProfileSets) -> Answer:
    given = vector["in"]
    plan = plan_fleet_reuse(
        pool_from(given["pool"]),
        profile_from(given["profile"]),
        given["tenants"],
        given["tokens"],
        given["size_bytes"],
        given["per_token_prefill_nanos"],
        STRICT_POOL,
    )
    return vector["out"], {
        "bytes_deduplicated": plan.bytes_deduplicated(),
        "per_tenant_attend_nanos": plan.per_tenant_obtain_ns,
        "per_tenant_recompute_nanos": plan.per_tenant_recompute_ns,
        "pooled_prefill_tokens": plan.pooled_prefill_tokens,
        "pooled_resident_bytes": plan.pooled_resident_bytes,
        "prefill_tokens_saved": plan.prefill_tokens_saved(),
        "private_prefill_tokens": plan.private_prefill_tokens,
        "private_resident_bytes": plan.private_resident_bytes,
        "reachable": plan.reachable,
        "shareable": plan.shareable,
        "tenants": plan.tenants,
    }


def pool_reuse(vector: Vector, _: ProfileSets) -> Answer:
    given = vector["in"]
    verdict = pool_reuse_verdict(
        entry_from(given["stored"]), GateKey(**given["want"]), rules=STRICT_POOL, gate_rules=STRICT_GATE
    )
    return vector["out"], verdict_fields(verdict)


def entry_from(fields: Vector) -> Entry:
    """A stored entry. A part that no vector has is an error, not a silence."""
    given = dict(fields)
    return Entry(
        id=EntryId(**given.pop("id")),
        derivation=Derivation(**given.pop("derivation")),
        security=Security(**given.pop("security")),
        validity=Validity(**given.pop("validity", {})),
        residency=Residency(**given.pop("residency", {})),
        **given,
    )


def quality_from(fields: Vector) -> Quality:
    """Evidence in parts per million: a loss is rounded up and a bound down, so that rounding lets nothing pass."""
    return Quality(
        fields.get("measured", False),
        math.ceil(_exact_ppm(fields.get("quality_delta", 0.0))),
        math.floor(_exact_ppm(fields.get("max_quality_delta", 0.0))),
        fields.get("faults_observed", 0),
    )


def _exact_ppm(figure: float) -> Decimal:
    return Decimal(repr(figure)) * 1_000_000


def pool_from(fields: Vector) -> PoolProfile:
    return PoolProfile(tier_code(fields["tier"]), fields["hosts"], fields["coherent"], fields["share"])
