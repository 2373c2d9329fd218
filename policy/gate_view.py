"""How a span is asked for: the views, and the evidence that an approximate one is good enough.

Source: the original plane's reuse views and quality evidence. Losses are integers in parts per million here.
"""

from dataclasses import dataclass

from policy.entry import Entry, EntryOption, with_label
from policy.gate_rules import SAFE_GATE, GateRules

PROVIDER_PREFIX = "provider_prefix"
KV_PREFIX = "kv_prefix"
EXACT_SPAN = "kv_span"
COMPRESSED_KV = "compressed_kv"

# What a semantic view holds: text for a model, and not the KV of one.
MEMORY_VIEW = "memory_view"

LABEL_LOSSY = "lossy"


def is_approximate(view: str) -> bool:
    """Whether the view accepts bytes that are not the exact ones."""
    return view == COMPRESSED_KV


def is_local_kv(view: str) -> bool:
    """Whether the view is of KV bytes held here. A provider's cache is not; neither is a view that is not known."""
    return view in (KV_PREFIX, EXACT_SPAN, COMPRESSED_KV)


def semantic_shareable(entry: Entry) -> bool:
    """Whether the entry holds meaning and no KV, so that any model may read it."""
    return entry.id.media_type == MEMORY_VIEW


def mark_lossy() -> EntryOption:
    """Marks an entry whose bytes went through a lossy compression, for good: the gate then knows them wherever seen."""
    return with_label(LABEL_LOSSY, "true")


def is_lossy(entry: Entry) -> bool:
    """Whether the entry is marked. Any value but the empty one marks it, `false` too: who is unsure does not serve."""
    return entry.labels.get(LABEL_LOSSY, "") != ""


@dataclass(frozen=True, slots=True)
class Quality:
    """What is known about an approximate span: its loss, the largest loss allowed, and the faults seen in use.

    `bound_ppm` of 0 or below is no bound. A loss below 0 is a gain. The zero value was never measured.
    """

    measured: bool = False
    delta_ppm: int = 0
    bound_ppm: int = 0
    faults_observed: int = 0

    def acceptable(self, rules: GateRules = SAFE_GATE) -> bool:
        """Whether the loss was measured and keeps to its bound; one that is equal to it does."""
        if not self.measured:
            return False
        if rules.faults_refused and self.faults_observed != 0:
            return False
        if self.bound_ppm <= 0:
            return not rules.quality_bounded
        return self.delta_ppm <= self.bound_ppm


UNMEASURED = Quality()
