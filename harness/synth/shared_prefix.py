"""One prefix that comes back every other access, other tenants' spans between: the smallest case for demoting.

An LRU cache that holds one of the spans but not two misses the prefix on every turn after the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from harness.synth.recipe import MAX_GAP_MS, MAX_PROMPT_TOKENS, MAX_REQUESTS, Recipe, knob
from harness.synth.records import Access, Record


class SharedPrefix(Recipe, tag="shared-prefix", frozen=True, kw_only=True):
    """Knobs of `shared-prefix`."""

    turns: Annotated[int, knob(1, MAX_REQUESTS // 2, "accesses to the prefix")] = 8
    gap_ms: Annotated[int, knob(0, MAX_GAP_MS, "time from an access to the next")] = 1000
    prefix_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "tokens of the prefix")] = 4000
    prefix_bytes: Annotated[int, knob(1, 2**50, "bytes of the prefix")] = 67_108_864
    tenant_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "tokens of a tenant's span")] = 4000
    tenant_bytes: Annotated[int, knob(1, 2**50, "bytes of a tenant's span")] = 67_108_864


def generate(recipe: SharedPrefix) -> Iterator[Record]:
    """The prefix, tenant 1, the prefix, tenant 2, and so on; the prefix comes last."""
    for turn in range(recipe.turns):
        t_ms = 2 * turn * recipe.gap_ms
        yield Access(t_ms, "system-prompt", recipe.prefix_tokens, recipe.prefix_bytes)
        if turn + 1 < recipe.turns:
            yield Access(t_ms + recipe.gap_ms, f"tenant-{turn + 1}", recipe.tenant_tokens, recipe.tenant_bytes)
