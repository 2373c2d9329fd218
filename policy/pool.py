"""What a fleet of tenants saves by keeping one span in a pool instead of one each.

Source: the original plane's pool economics. A pool that several hosts reach coherently holds one copy for all; one
that they only reach lends its copy, and each tenant holds its own; a private tier saves nothing. Left out: capacity,
contention for the pool's link, the slowdown of attending there, and the loss of the pool.
"""

from dataclasses import dataclass

from policy.cost import recompute_ns, stage_ns
from policy.pool_rules import SAFE_POOL, PoolRules
from policy.profiles import TierProfile
from policy.share import COPY, CXL_HDM, DMABUF, MMAP, RDMA, known_share_kind, zero_copy
from policy.tiers import CXL, DISK, DRAM, HBM, NUMA_FAR, REMOTE


@dataclass(frozen=True, slots=True)
class PoolProfile:
    """One tier as a pool: how many hosts reach it, whether they see each other's writes, and its share kind."""

    tier: int
    hosts: int
    coherent: bool
    share: str

    def reachable(self) -> bool:
        """Whether more hosts than its own reach it."""
        return self.hosts > 1

    def fabric_shareable(self, rules: PoolRules = SAFE_POOL) -> bool:
        """Whether hosts can use one copy where it lies: reachable, coherent, and shared without copying."""
        if rules.share_kind_known and not known_share_kind(self.share):
            return False
        return self.reachable() and self.coherent and zero_copy(self.share)


def default_pool_profiles() -> dict[int, PoolProfile]:
    """A fresh table of the original's default pools, by tier code, hot to cold."""
    rows = (
        PoolProfile(HBM, 1, True, DMABUF),
        PoolProfile(DRAM, 1, True, MMAP),
        PoolProfile(NUMA_FAR, 1, True, MMAP),
        PoolProfile(CXL, 8, True, CXL_HDM),
        PoolProfile(DISK, 1, False, COPY),
        PoolProfile(REMOTE, 8, False, RDMA),
    )
    return {row.tier: row for row in rows}


@dataclass(frozen=True, slots=True)
class FleetReuse:
    """What one span costs a fleet with the pool (`pooled_*`) and without (`private_*`), in tokens and bytes.

    `tenants_on_pool` get it for `per_tenant_obtain_ns` each. The others compute it for `per_tenant_recompute_ns`; so
    does everyone where the pool is private, and there the two are equal.
    """

    tenants: int
    tenants_on_pool: int
    reachable: bool
    shareable: bool
    pooled_prefill_tokens: int
    private_prefill_tokens: int
    pooled_resident_bytes: int
    private_resident_bytes: int
    per_tenant_obtain_ns: int
    per_tenant_recompute_ns: int

    def prefill_tokens_saved(self) -> int:
        """Tokens that the pool spares the fleet computing."""
        return self.private_prefill_tokens - self.pooled_prefill_tokens

    def bytes_deduplicated(self) -> int:
        """Bytes that the pool spares the fleet holding."""
        return self.private_resident_bytes - self.pooled_resident_bytes


def plan_fleet_reuse(
    pool: PoolProfile,
    profile: TierProfile,
    tenants: int,
    tokens: int,
    size_bytes: int,
    prefill_ns_per_token: int,
    rules: PoolRules = SAFE_POOL,
) -> FleetReuse:
    """What `tenants` who all use one span of `tokens` and `size_bytes` pay, with it in `pool` and without.

    Fewer than one tenant is one. A host is taken to run one tenant. `profile` has the tier's figures.
    """
    count = max(tenants, 1)
    reachable = pool.reachable()
    shareable = pool.fabric_shareable(rules)
    recompute = recompute_ns(tokens, prefill_ns_per_token)
    on_pool = 0
    copies_computed = count
    copies_held = count
    obtain_ns = recompute
    if reachable:
        on_pool = min(count, pool.hosts) if rules.reach_limited else count
        copies_computed = 1 + count - on_pool
        if shareable:
            copies_held = copies_computed
            obtain_ns = profile.read_latency_ns
        else:
            obtain_ns = stage_ns(size_bytes, profile.read_latency_ns, profile.bandwidth_mb_s)
    return FleetReuse(
        tenants=count,
        tenants_on_pool=on_pool,
        reachable=reachable,
        shareable=shareable,
        pooled_prefill_tokens=copies_computed * tokens,
        private_prefill_tokens=count * tokens,
        pooled_resident_bytes=copies_held * size_bytes,
        private_resident_bytes=count * size_bytes,
        per_tenant_obtain_ns=obtain_ns,
        per_tenant_recompute_ns=recompute,
    )
