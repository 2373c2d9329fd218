"""Carrying out a decision on a span's lifecycle: the record of what was decided, not the movement of bytes.

Source: the original plane's `Apply`. It asks no questions: an evicted span that is moved lives again.
"""

from policy.decisions import COMPRESS_DEMOTE, DEMOTE, EVICT, NO_DIRECTIVE, PROMOTE, SPILL
from policy.lifecycle import Lifecycle


def apply(action: int, to_tier: int, lifecycle: Lifecycle, span: int, now: int) -> int:
    """Do `action` to `span` at `now` and return the directive for an adapter; any other action changes nothing."""
    if action in (PROMOTE, DEMOTE, SPILL, COMPRESS_DEMOTE):
        return lifecycle.move_to(span, to_tier, now)
    if action == EVICT:
        return lifecycle.evict(span, now)
    return NO_DIRECTIVE
