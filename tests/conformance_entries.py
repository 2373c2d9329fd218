"""Vectors about cache entries: digests, transfer events and verdicts, written as the vectors write them."""

from __future__ import annotations

from dataclasses import asdict

from conformance_codes import ProfileSets, Vector, without_zeros

from policy.digest import digest_bytes, digest_token_ids
from policy.entry import Entry, EntryId, Security
from policy.kv_prefix import kv_prefix_entry
from policy.transfer import DeletionCertificate, TransferEvent, lower, remote_residency_verdict, verdict_of
from policy.verdict import Verdict

Answer = tuple[object, object]


def bytes_digest(vector: Vector, _: ProfileSets) -> Answer:
    return vector["out"], digest_bytes(vector["in"].encode())


def token_digest(vector: Vector, _: ProfileSets) -> Answer:
    return vector["out"], digest_token_ids(vector["in"])


def prefix_entry(vector: Vector, _: ProfileSets) -> Answer:
    given = vector["in"]
    entry = kv_prefix_entry(
        given["tokens"],
        given["model_id"],
        given["tokenizer_id"],
        given["owner"],
        given.get("digest", ""),
        given["length"],
    )
    return vector["out"], entry_fields(entry)


def transfer(vector: Vector, _: ProfileSets) -> Answer:
    entry = lower(event_from(vector["in"]))
    return vector["out"], {"entry": entry_fields(entry), "verdict": verdict_fields(verdict_of(entry))}


def remote_residency(vector: Vector, _: ProfileSets) -> Answer:
    given = vector["in"]
    verdict = remote_residency_verdict(
        given["outcome"], given["digest"], given["positions"], given["bytes_moved"], given["reason"]
    )
    answer = verdict_fields(verdict)
    answer["entry"] = entry_fields(verdict.entry or Entry())
    return vector["out"], answer


def event_from(fields: Vector) -> TransferEvent:
    """A transfer event; what is not the event's own (the security that was not set) is left out."""
    given = dict(fields)
    explicit = given.pop("security_set", False)
    security = Security(
        given.pop("taint", 0),
        given.pop("scope", 0),
        given.pop("admission_verdict", ""),
        given.pop("admitted_by", ""),
    )
    certificate = DeletionCertificate(**given.pop("deletion_certificate", {}))
    return TransferEvent(**given, deletion_certificate=certificate, security=security if explicit else None)


def entry_fields(entry: Entry) -> dict[str, object]:
    """Zero values are left out, except for taint, scope and every label."""
    fields = asdict(entry)
    kept = without_zeros(fields)
    assert isinstance(kept, dict)
    security = without_zeros(fields["security"])
    assert isinstance(security, dict)
    kept["security"] = security | {"taint": entry.security.taint, "scope": entry.security.scope}
    if entry.labels:
        kept["labels"] = dict(entry.labels)
    return kept


def verdict_fields(verdict: Verdict) -> dict[str, object]:
    return {
        "can_serve": verdict.can_serve(),
        "handle": without_zeros(asdict(verdict.handle or EntryId())),
        "kind": verdict.kind,
        "meta": verdict.meta,
        "reason": verdict.reason,
    }
