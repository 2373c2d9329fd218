"""What a report says of a fleet beside the sums in its arms: who served what, how evenly, and what pools spare.

An imbalance is the largest share over the mean one: 1,000,000 is even. `deduplicated_bytes` are copies that the hosts
of a pool would hold in that tier if each had its own.
"""

from __future__ import annotations

from typing import Any

from harness.comparison import Comparison
from harness.fleet import ArmResult, Pool, Replica
from harness.occupancy import occupancy_bytes, over_time, tiers_of
from harness.utilisation import engine_busy_ppm
from policy.cost import PPM
from policy.tiers import LADDER


def fleet_section(comparison: Comparison) -> dict[str, Any]:
    """The section `fleet` of a report; nothing for a fleet of one."""
    fleet = comparison.options.fleet
    if fleet.replicas == 1:
        return {}
    trace = comparison.workload.trace
    requests = [0] * fleet.replicas
    input_tokens = [0] * fleet.replicas
    for request, replica in enumerate(comparison.routing.routes):
        requests[replica] += 1
        input_tokens[replica] += trace.input_tokens[request]
    return {
        "fleet": {
            "replicas": fleet.replicas,
            "router": fleet.router,
            "pool_hosts": {LADDER[tier]: hosts for tier, hosts in sorted(fleet.hosts.items())},
            "requests": requests,
            "input_tokens": input_tokens,
            "input_imbalance_ppm": _imbalance_ppm(input_tokens),
            "arms": {
                name: _arm(comparison, arm)
                for name, arm in comparison.arms.items()
                if len(arm.replicas) == fleet.replicas
            },
        }
    }


def _arm(comparison: Comparison, arm: ArmResult) -> dict[str, Any]:
    duration_us = comparison.workload.duration_us
    tiers = tiers_of(arm)
    held = [occupancy_bytes(arm, tier, duration_us) for tier in tiers]
    spared = [over_time(pool.book.spared_bytes, duration_us) for pool in arm.pools]
    return {
        "prefill_tokens": sum(replica.ledger.prefill_tokens() for replica in arm.replicas),
        "prefill_imbalance_ppm": _imbalance_ppm([replica.ledger.prefill_ns for replica in arm.replicas]),
        "resident_bytes": _sums(held, ("mean", "end")),
        "deduplicated_bytes": _sums(spared, ("mean", "end")),
        "replicas": [_replica(replica, tiers, duration_us) for replica in arm.replicas],
        "pools": [_pool(pool, duration_us) for pool in arm.pools],
    }


def _sums(figures: list[dict[str, int]], names: tuple[str, ...]) -> dict[str, int]:
    return {name: sum(figure[name] for figure in figures) for name in names}


def _replica(replica: Replica, tiers: list[int], duration_us: int) -> dict[str, Any]:
    books = replica.ledger
    return {
        "hit": {LADDER[tier]: books.hit_tokens[tier] for tier in tiers},
        "prefill_tokens": books.prefill_tokens(),
        "engine_busy_ppm": engine_busy_ppm(books, duration_us),
    }


def _pool(pool: Pool, duration_us: int) -> dict[str, Any]:
    return {
        "tier": LADDER[pool.state.tier],
        "replicas": list(pool.hosts),
        "zero_copy": bool(pool.state.in_place),
        "held_bytes": over_time(pool.book.used_bytes, duration_us),
        "deduplicated_bytes": over_time(pool.book.spared_bytes, duration_us),
    }


def _imbalance_ppm(loads: list[int]) -> int:
    return max(loads) * len(loads) * PPM // sum(loads) if any(loads) else PPM
