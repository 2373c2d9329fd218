"""An exclusive LRU ladder that always demotes and always restores, as naive lists: what a curve's splits stand for.

A request's spans are lifted out of wherever they are and laid on HBM, the root on top; then every tier that holds too
much hands its least recently used spans down, whole, and the last lets them go.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.workload import Workload


def ladder_hits(workload: Workload, capacities: Sequence[int]) -> list[int]:
    """Hit tokens by tier, hot to cold, obligatory last tokens apart. No request may exceed the first capacity."""
    spans, tree, trace = workload.spans, workload.tree, workload.trace
    tiers: list[list[int]] = [[] for _ in capacities]
    hits = [0] * len(capacities)
    for request in workload.events:
        path = list(tree.path[tree.path_start[request] : tree.path_start[request + 1]])
        served = 0
        for span in path:
            where = [number for number, tier in enumerate(tiers) if span in tier]
            if not where:
                break
            hits[where[0]] += spans.tokens[span]
            last = where[0]
            served += 1
        if path and served == len(path) and not trace.unidentified_tokens[request]:
            hits[last] -= 1
        tiers = [[span for span in tier if span not in path] for tier in tiers]
        tiers[0] = path + tiers[0]
        for number, capacity in enumerate(capacities):
            while sum(spans.size_bytes[span] for span in tiers[number]) > capacity:
                victim = tiers[number].pop()
                if number + 1 < len(tiers):
                    tiers[number + 1].insert(0, victim)
    return hits
