"""Prefixes that requests share: the roots with most requests, and how deep those requests go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.stats.names import shown_name
from harness.stats.reuse import Reuse
from harness.trace import Trace

_MOST_ROOTS = 5


def shared_roots(trace: Trace, order: Sequence[int], reuse: Reuse) -> list[dict[str, Any]]:
    """The first blocks that most requests begin with, most first; equal ones in order of appearance."""
    tree, uses = reuse.tree, reuse.uses
    roots = [span for span in range(len(tree)) if reuse.root[span] == span and uses[span] > 1]
    roots = sorted(roots, key=lambda span: (-uses[span], span))[:_MOST_ROOTS]
    half = dict.fromkeys(roots, 0)
    for span, root in enumerate(reuse.root):
        if root in half and 2 * uses[span] >= uses[root]:
            half[root] = max(half[root], tree.context_tokens[span] + tree.tokens[span])
    return [
        {
            "block": shown_name(trace.block_names[tree.span_blocks[tree.first_block[root]]]),
            "namespace": trace.namespaces[trace.namespace[order[reuse.first_at[root]]]],
            "requests": uses[root],
            "shared_by_all_tokens": tree.tokens[root],
            "shared_by_half_tokens": half[root],
        }
        for root in roots
    ]
