"""Several engines of one kind behind a router: hot tiers of their own, colder ones of their own or in pools.

Replicas are dealt to a pool in order, as many as reach one; a pool has the capacity that its hosts would have had each.
A pool that one replica alone reaches is that replica's own tier, so a fleet of one is the plain replay.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from harness.engine import Engine
from harness.errors import SetupError
from harness.ledger import Books, Ledger
from harness.pool_book import PoolBook, PooledLedger
from harness.routing import ROUTERS
from harness.workload import Workload
from policy.ladder import UNBOUNDED_BYTES, Ladder
from policy.lifecycle import Ttls
from policy.pool import PoolProfile
from policy.pooled_ladder import PooledLadder
from policy.pooled_serving import PooledServing
from policy.rules import Rules
from policy.serving import Serving
from policy.shared_pool import FleetClock, SharedPool
from policy.tiers import HBM, LADDER, TIER_COUNT

MAX_REPLICAS = 256
DEFAULT_ROUTER = "round-robin"


@dataclass(frozen=True, slots=True)
class FleetOptions:
    """How many replicas, who reaches a pooled tier (hosts by tier code), and the router's name."""

    replicas: int = 1
    router: str = DEFAULT_ROUTER
    hosts: dict[int, int] = field(default_factory=dict)

    def groups(self, tier: int) -> list[range]:
        """The replicas of each pool of a tier; a pool of one is none."""
        hosts = self.hosts.get(tier, 1)
        starts = range(0, self.replicas, hosts)
        groups = [range(start, min(start + hosts, self.replicas)) for start in starts]
        return [group for group in groups if len(group) > 1]


def check_fleet(fleet: FleetOptions, ttl_us: dict[int, int]) -> None:
    """Raise `SetupError` for a fleet that cannot be."""
    if not 1 <= fleet.replicas <= MAX_REPLICAS:
        raise SetupError(f"--replicas {fleet.replicas}: out of range; give 1 to {MAX_REPLICAS}")
    if fleet.router not in ROUTERS:
        raise SetupError(f"--router {fleet.router}: no such router; choose one of {', '.join(ROUTERS)}")
    for tier, hosts in fleet.hosts.items():
        if tier == HBM:
            raise SetupError("--pool hbm: an engine's HBM is its own; pool colder tiers only")
        if not 1 <= hosts <= MAX_REPLICAS:
            raise SetupError(f"--pool {LADDER[tier]}={hosts}: out of range; give 1 to {MAX_REPLICAS} hosts")
        if ttl_us.get(tier) and fleet.groups(tier):
            raise SetupError(f"--ttl {LADDER[tier]}: a pool has no TTL, since no host owns what is in it; leave it out")


def check_pools(fleet: FleetOptions, engine: Engine) -> None:
    """Raise `SetupError` for a pool of a tier that the engine does not have."""
    for tier in fleet.hosts:
        if tier not in engine.profiles:
            names = ", ".join(LADDER[code] for code in sorted(engine.profiles))
            raise SetupError(f"--pool {LADDER[tier]}: this engine has no such tier; it has {names}")


@dataclass(slots=True)
class Replica:
    """One engine of an arm: the policy's state and the accountant's books."""

    ladder: Ladder
    serving: Serving
    ledger: Ledger


@dataclass(slots=True)
class Pool:
    """One pool of an arm: which replicas reach it, the policy's state, and the accountant's book."""

    hosts: range
    state: SharedPool
    book: PoolBook


@dataclass(slots=True)
class ArmResult:
    """What one arm leaves behind. The ceiling is one engine, however many replicas the others have."""

    policy: str
    rules: Rules
    replicas: list[Replica]
    pools: list[Pool]

    @property
    def ladder(self) -> Ladder:
        """The ladder of an arm that is one engine."""
        (replica,) = self.replicas
        return replica.ladder

    @property
    def ledger(self) -> Ledger:
        """The ledger of an arm that is one engine."""
        (replica,) = self.replicas
        return replica.ledger

    def books(self) -> Books:
        """What all replicas counted, summed."""
        if len(self.replicas) == 1:
            return self.ledger
        total = Books()
        for replica in self.replicas:
            total.add(replica.ledger)
        return total


def build_arm(
    policy: str, rules: Rules, workload: Workload, engine: Engine, ttls: Ttls, fleet: FleetOptions
) -> ArmResult:
    """The replicas and pools of one arm, empty."""
    present = engine.present()
    capacity_bytes = engine.capacity_bytes()
    if not rules.colder_tiers:
        for tier in range(HBM + 1, TIER_COUNT):
            present[tier] = 0
    if rules.hbm_unbounded:
        capacity_bytes[HBM] = UNBOUNDED_BYTES
        fleet = FleetOptions()
    arm_ttls = ttls if rules.ttls else Ttls(0, 0, 1)
    pools = _pools(workload, engine, present, capacity_bytes, fleet)
    clock = FleetClock()
    arm = ArmResult(policy, rules, [], pools)
    for replica in range(fleet.replicas):
        mine = [pool for pool in pools if replica in pool.hosts]
        arm.replicas.append(_replica(replica, workload, engine, present, capacity_bytes, arm_ttls, rules, mine, clock))
        # What any replica computed is not cold to the others.
        arm.replicas[-1].ledger.ever_computed = arm.replicas[0].ledger.ever_computed
    return arm


def _pools(
    workload: Workload, engine: Engine, present: array[int], capacity_bytes: array[int], fleet: FleetOptions
) -> list[Pool]:
    pools = []
    spans = len(workload.spans)
    for tier in sorted(fleet.hosts):
        if not present[tier]:
            continue
        profile = engine.profiles[tier]
        for group in fleet.groups(tier):
            shareable = PoolProfile(tier, len(group), profile.coherent, profile.share).fabric_shareable()
            capacity = min(capacity_bytes[tier] * len(group), UNBOUNDED_BYTES)
            state = SharedPool(tier, capacity, int(shareable), spans)
            book = PoolBook(tier, len(group), capacity, spans, workload.start_us)
            pools.append(Pool(group, state, book))
    return pools


def _replica(
    index: int,
    workload: Workload,
    engine: Engine,
    present: array[int],
    capacity_bytes: array[int],
    ttls: Ttls,
    rules: Rules,
    pools: list[Pool],
    clock: FleetClock,
) -> Replica:
    spans = workload.spans
    costs = engine.costs()
    start_us = workload.start_us
    attendable = engine.attendable()
    if not pools:
        ladder = Ladder(spans, present, attendable, capacity_bytes, costs, ttls, rules)
        return Replica(ladder, Serving(ladder), Ledger(spans, costs, capacity_bytes, start_us))
    states = [pool.state for pool in pools]
    pooled = PooledLadder(spans, present, attendable, capacity_bytes, costs, ttls, rules, states, clock)
    books = [pool.book for pool in pools]
    return Replica(pooled, PooledServing(pooled), PooledLedger(spans, costs, capacity_bytes, start_us, index, books))
