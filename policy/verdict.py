"""The typed answer to "may this cached span be used": never a silence that a caller could take for a recompute.

Source: the original plane's verdicts. A span that cannot be used is a `MISS` or a `FAULT` with its reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from policy.entry import Entry, EntryId

HIT = "hit"
MISS = "miss"
FAULT = "fault"

NO_REASON = ""
ABSENT = "absent"
RESTORE_MISS = "restore_miss"
RESIDENCY_FAULT = "residency_fault"


@dataclass(frozen=True)
class Verdict:
    """Kind, reason, and where there is one the entry and the handle it is about. A miss has neither."""

    kind: str
    reason: str = NO_REASON
    entry: Entry | None = None
    handle: EntryId | None = None
    meta: Mapping[str, str] | None = None

    def can_serve(self) -> bool:
        """Whether the span may be used: a hit whose handle is valid. A hit of negative length is not."""
        return self.kind == HIT and self.handle is not None and self.handle.valid()


def hit(entry: Entry) -> Verdict:
    """The entry is where it was said to be."""
    return Verdict(HIT, NO_REASON, entry, entry.id)


def miss(reason: str) -> Verdict:
    """There is nothing to use."""
    return Verdict(MISS, reason)


def fault(reason: str, entry: Entry) -> Verdict:
    """The entry was there and could not be had; it is named so that it can be dropped."""
    return Verdict(FAULT, reason, entry, entry.id)
