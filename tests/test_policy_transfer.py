"""Transfer events become entries, entries become verdicts, and a failed restore is a typed miss or fault."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from hashlib import sha256

import pytest

from policy.entry import (
    KV_SPAN,
    QUARANTINED,
    SCOPE_FLEET,
    SCOPE_TENANT,
    TAINTED,
    TRUSTED,
    UNIT_POSITIONS,
    Coherence,
    Derivation,
    Entry,
    EntryId,
    Metrics,
    Security,
    with_label,
    with_residency,
)
from policy.kv_prefix import kv_prefix_entry
from policy.residency import Residency
from policy.transfer import DeletionCertificate, TransferEvent, lower, remote_residency_verdict, verdict_of
from policy.verdict import Verdict, fault, hit, miss

EVENT = TransferEvent(
    direction="restore",
    outcome="ok",
    span_digest="span-1",
    tokens=4000,
    bytes_moved=4096,
    from_tier="disk",
    to_tier="hbm",
    owner="vllm",
    lease="lease-1",
    model_id="m",
    tokenizer_id="t",
    serializer_id="s",
    position_mode="relocatable",
)


def digest_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def test_an_event_is_lowered_to_an_entry_that_says_what_moved_and_where_it_is_now() -> None:
    assert lower(EVENT) == Entry(
        plane="kv_transfer",
        id=EntryId("span-1", KV_SPAN, 4000, UNIT_POSITIONS),
        derivation=Derivation("vllm", "m", "t", "s", "relocatable"),
        security=Security(TRUSTED, SCOPE_FLEET, "allow", "vllm"),
        residency=Residency("hbm", "vllm", "lease-1"),
        metrics=Metrics(4096),
        labels={"direction": "restore", "outcome": "ok", "from_tier": "disk", "to_tier": "hbm"},
    )


def test_an_empty_event_has_the_defaults_of_an_engine() -> None:
    assert lower(TransferEvent()) == Entry(
        plane="kv_transfer",
        id=EntryId(digest_of("\0\0"), KV_SPAN, 0, UNIT_POSITIONS),
        derivation=Derivation(producer="engine", position_mode="prefix_aligned"),
        security=Security(TRUSTED, SCOPE_FLEET, "allow", "engine"),
        residency=Residency("", "engine"),
        labels={"direction": "", "outcome": "ok"},
    )


def test_a_span_without_a_digest_is_named_by_direction_model_and_tokenizer() -> None:
    event = TransferEvent(direction="offload", model_id="m", tokenizer_id="t", tokens=7)
    assert lower(event).id.digest == digest_of("offload\0m\0t")
    assert lower(TransferEvent(direction="offload", model_id="m", tokenizer_id="t")).id.digest == lower(event).id.digest


def test_a_name_with_half_a_surrogate_pair_is_a_name_of_its_own() -> None:
    broken = [lower(TransferEvent(model_id=name)).id.digest for name in ("\ud800", "\udc00", "?")]
    assert len(dict.fromkeys(broken)) == 3


def test_security_that_an_event_sets_is_taken_as_it_is() -> None:
    given = Security(QUARANTINED, SCOPE_TENANT, "deny", "referee")
    assert lower(TransferEvent(owner="vllm", security=given)).security == given


def test_only_a_missing_admitter_falls_back_to_the_owner() -> None:
    event = TransferEvent(owner="vllm", security=Security(TAINTED, 9))
    assert lower(event).security == Security(TAINTED, 9, "", "vllm")


def test_a_deletion_certificate_and_a_fault_reason_become_labels_where_they_are_not_empty() -> None:
    certificate = DeletionCertificate("schema", "", "digest")
    event = TransferEvent(outcome="fault", fault_reason="io error", deletion_certificate=certificate)
    assert lower(event).labels == {
        "direction": "",
        "outcome": "fault",
        "fault_reason": "io error",
        "deletion_certificate_schema": "schema",
        "deletion_certificate_digest": "digest",
    }


def test_options_run_last_and_in_order() -> None:
    options = with_label("outcome", "missed"), with_label("outcome", "fault"), with_residency("cxl", "o", "")
    entry = lower(EVENT, *options)
    assert (entry.labels["outcome"], entry.residency) == ("fault", Residency("cxl", "o"))


@pytest.mark.parametrize(
    ("record", "name"),
    [
        (EVENT, "outcome"),
        (lower(EVENT), "labels"),
        (lower(EVENT).residency, "tier"),
        (lower(EVENT).residency.share, "kind"),
        (verdict_of(lower(EVENT)), "kind"),
    ],
)
def test_what_was_reported_cannot_be_changed_in_place(record: object, name: str) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(record, name, "")


def test_an_outcome_of_ok_is_a_hit_that_can_serve() -> None:
    entry = lower(EVENT)
    verdict = verdict_of(entry)
    assert verdict == Verdict("hit", "", entry, entry.id)
    assert verdict.can_serve()


def test_a_missed_restore_is_a_miss_and_names_no_entry() -> None:
    verdict = verdict_of(lower(EVENT, with_label("outcome", "missed")))
    assert verdict == Verdict("miss", "restore_miss")
    assert not verdict.can_serve()


def test_a_failed_restore_is_a_fault_that_names_what_failed() -> None:
    entry = lower(EVENT, with_label("outcome", "fault"))
    verdict = verdict_of(entry)
    assert verdict == Verdict("fault", "residency_fault", entry, entry.id)
    assert not verdict.can_serve()


@pytest.mark.parametrize("outcome", ["", "OK", "weird", "miss"])
def test_an_outcome_nobody_knows_is_an_absent_span_and_never_a_hit(outcome: str) -> None:
    assert verdict_of(lower(EVENT, with_label("outcome", outcome))) == Verdict("miss", "absent")


def test_an_entry_without_an_outcome_is_absent() -> None:
    assert verdict_of(Entry()) == Verdict("miss", "absent")


@pytest.mark.parametrize("direction", ["", "offload", "restore", "route", "migrate", "teleport"])
@pytest.mark.parametrize(("outcome", "kind"), [("ok", "hit"), ("missed", "miss"), ("fault", "fault")])
def test_the_direction_plays_no_part_in_the_verdict(direction: str, outcome: str, kind: str) -> None:
    assert verdict_of(lower(TransferEvent(direction, outcome))).kind == kind


@pytest.mark.parametrize(
    "handle",
    [
        EntryId("", "kv_span", 1, "positions"),
        EntryId("d", "", 1, "positions"),
        EntryId("d", "kv_span", -1, "positions"),
        EntryId("d", "kv_span", 1, ""),
    ],
)
def test_a_hit_whose_handle_cannot_be_followed_cannot_serve(handle: EntryId) -> None:
    assert not hit(Entry(id=handle)).can_serve()


def test_only_a_hit_can_serve_however_good_the_handle() -> None:
    entry = Entry(id=EntryId("d", "kv_span", 0, "positions"))
    assert hit(entry).can_serve()
    assert not fault("residency_fault", entry).can_serve()
    assert not miss("restore_miss").can_serve()
    assert not Verdict("transform", "", entry, entry.id).can_serve()
    assert not Verdict("hit", "", entry, None).can_serve()


def test_a_remote_span_that_arrived_is_a_hit_in_remote() -> None:
    verdict = remote_residency_verdict("ok", "d", 128, 77, "ignored")
    assert verdict.entry == Entry(
        plane="kv_transfer",
        id=EntryId("d", "kv_span", 128, "positions"),
        derivation=Derivation(producer="engine", position_mode="prefix_aligned"),
        security=Security(TRUSTED, SCOPE_FLEET, "allow", "engine"),
        residency=Residency("remote", "engine"),
        metrics=Metrics(77),
        labels={"direction": "restore", "outcome": "ok", "to_tier": "remote"},
    )
    assert (verdict.kind, verdict.reason, verdict.can_serve()) == ("hit", "", True)


def test_a_remote_fault_carries_its_reason_but_neither_length_nor_bytes() -> None:
    verdict = remote_residency_verdict("fault", "d", 128, 77, "timeout")
    assert (verdict.kind, verdict.reason, verdict.handle) == (
        "fault",
        "residency_fault",
        EntryId("d", "kv_span", 0, "positions"),
    )
    assert verdict.entry is not None
    assert verdict.entry.metrics == Metrics(0)
    assert verdict.entry.labels == {
        "direction": "restore",
        "outcome": "fault",
        "to_tier": "remote",
        "fault_reason": "timeout",
    }


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [("miss", "restore_miss"), ("", "absent"), ("unknown", "absent"), ("missed", "absent"), ("OK", "absent")],
)
def test_any_other_remote_answer_is_a_typed_miss(outcome: str, reason: str) -> None:
    assert remote_residency_verdict(outcome, "d", 128, 77, "timeout") == Verdict("miss", reason)


def test_a_prefix_of_this_machine_is_an_entry_lent_from_dram() -> None:
    assert kv_prefix_entry([1, 2, 3], "m", "t") == Entry(
        plane="kv_prefix",
        id=EntryId("ca73761ddabfffcbe51170be0b07f67bafcdbed202545c60707573d36dc935b4", KV_SPAN, 3, UNIT_POSITIONS),
        derivation=Derivation("kv", "m", "t", "", "prefix_aligned"),
        security=Security(TRUSTED, SCOPE_FLEET, "allow", "kv"),
        residency=Residency("dram", "kv", "borrow"),
        coherence=Coherence("policy"),
    )


def test_a_prefix_may_bring_its_own_owner_digest_and_length() -> None:
    entry = kv_prefix_entry([1, 2, 3], "m", "t", "radixkv", "d", 2)
    assert entry.id == EntryId("d", "kv_span", 2, "positions")
    assert (entry.derivation.producer, entry.security.admitted_by, entry.residency.owner) == ("radixkv",) * 3
