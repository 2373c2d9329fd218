"""A span and a wish that fit each other in every way, for tests that spoil one thing at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from policy.entry import (
    ADMISSION_ALLOW,
    KV_SPAN,
    SCOPE_FLEET,
    TRUSTED,
    UNIT_POSITIONS,
    Derivation,
    Entry,
    EntryId,
    Security,
    Validity,
)
from policy.gate import SharePolicy, materialization_verdict
from policy.gate_key import GateKey
from policy.gate_rules import SAFE_GATE, STRICT_GATE, GateRules
from policy.gate_trust import Reader
from policy.gate_view import Quality
from policy.residency import Residency
from policy.verdict import Verdict

WANT = GateKey("llama-3-8b", "llama-bpe", "chatml-v1", "rope-500k", "p3", "a7")

STORED = Entry(
    plane="kv_prefix",
    id=EntryId("d1", KV_SPAN, 128, UNIT_POSITIONS),
    derivation=Derivation("kv", "llama-3-8b", "llama-bpe", "chatml-v1", "rope-500k"),
    security=Security(TRUSTED, SCOPE_FLEET, ADMISSION_ALLOW, "a7"),
    validity=Validity("p3"),
    residency=Residency("dram", "kv", "borrow"),
)


def secured(labels: dict[str, str] | None = None, **changes: Any) -> Entry:
    """`STORED` with other security."""
    return replace(STORED, security=replace(STORED.security, **changes), labels=labels or {})


def seen(verdict: Verdict) -> tuple[str, str]:
    """What a verdict says."""
    return verdict.kind, verdict.reason


GOOD = Quality(True, 10_000, 20_000, 0)
ACME = Reader("acme", "agent-1")


@dataclass(frozen=True)
class Ask:
    """One question to the gate; what is not said is as it should be."""

    stored: Entry = STORED
    want: GateKey = WANT
    view: str = "kv_span"
    quality: Quality = GOOD
    share: SharePolicy | None = None
    reader: Reader = ACME

    def verdict(self, rules: GateRules) -> Verdict:
        return materialization_verdict(self.view, self.stored, self.want, self.quality, self.share, self.reader, rules)


def only(rule: str) -> GateRules:
    """The original with one departure."""
    return replace(STRICT_GATE, **{rule: 1})


def without(rule: str) -> GateRules:
    """Every departure but one."""
    return replace(SAFE_GATE, **{rule: 0})
