"""Which replica of a fleet gets a request: fixed before any arm runs, so that every arm is held to the same traffic.

A router sees what was sent where, and not what a cache still holds: two policies would else be compared on two
different sets of prompts. Source: round robin and least load as everywhere; `prefix` is the approximate-tree routing
of SGLang's router. Left out: queues and the speed of a replica. Ties go to the replica with the lowest number.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable

from harness.workload import Workload
from policy.cost import PPM

# Below this share of a prompt sent before, sharing is not worth a detour: a common system prompt draws nothing.
MATCHED_PPM = 500_000

Router = Callable[[Workload, int], "array[int]"]


def round_robin(workload: Workload, replicas: int) -> array[int]:
    """Each in turn, in the order of the replay."""
    routes = array("q", [0]) * workload.trace.requests
    for turn, request in enumerate(_requests(workload)):
        routes[request] = turn % replicas
    return routes


def least_loaded(workload: Workload, replicas: int) -> array[int]:
    """Whoever was sent the fewest input tokens so far."""
    routes = array("q", [0]) * workload.trace.requests
    loads = [0] * replicas
    for request in _requests(workload):
        replica = loads.index(min(loads))
        routes[request] = replica
        loads[replica] += workload.trace.input_tokens[request]
    return routes


def prefix(workload: Workload, replicas: int) -> array[int]:
    """Whoever was sent the longest beginning of this prompt, at least half of it; otherwise as `least_loaded`."""
    tree = workload.tree
    input_tokens = workload.trace.input_tokens
    routes = array("q", [0]) * workload.trace.requests
    loads = [0] * replicas
    # The replicas that were sent a span, one bit each.
    sent = [0] * len(tree)
    everyone = (1 << replicas) - 1
    for request in _requests(workload):
        path = tree.path[tree.path_start[request] : tree.path_start[request + 1]]
        candidates = everyone
        matched_tokens = 0
        for span in path:
            those = candidates & sent[span]
            if not those:
                break
            candidates = those
            matched_tokens += tree.tokens[span]
        if matched_tokens * PPM < input_tokens[request] * MATCHED_PPM:
            candidates = everyone
        replica = min((one for one in range(replicas) if candidates >> one & 1), key=loads.__getitem__)
        routes[request] = replica
        loads[replica] += input_tokens[request]
        for span in path:
            sent[span] |= 1 << replica
    return routes


def _requests(workload: Workload) -> list[int]:
    """Requests in the order of the replay."""
    return [event for event in workload.events if event >= 0]


ROUTERS: dict[str, Router] = {
    "round-robin": round_robin,
    "least-loaded": least_loaded,
    "prefix": prefix,
}
