"""Pools: who reaches them and what a fleet saves, with each departure from the original on and off."""

from __future__ import annotations

import re
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest
from conformance_codes import profile_from
from conformance_gate import pool_from
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_cases import only, pool_vectors, without

from policy.cost import NEVER_NS
from policy.pool import FleetReuse, PoolProfile, default_pool_profiles, plan_fleet_reuse
from policy.pool_rules import POOL_RULE_SPECS, SAFE_POOL, STRICT_POOL, PoolRules
from policy.profiles import default_profiles
from policy.tiers import CXL, DISK, DRAM, HBM, NUMA_FAR, REMOTE

RULES = tuple(spec.name for spec in POOL_RULE_SPECS)
PROFILES = default_profiles()
FABRIC = PoolProfile(CXL, 8, True, "cxl_hdm")
LENDING = PoolProfile(REMOTE, 8, False, "rdma")
PRIVATE = PoolProfile(DRAM, 1, True, "mmap")
MIB = 2**20


def plan(pool: PoolProfile, tenants: int, rules: PoolRules = SAFE_POOL, size_bytes: int = MIB) -> FleetReuse:
    """A span of 100 tokens, each 1,000 ns to compute, with the default figures of the pool's tier."""
    return plan_fleet_reuse(pool, PROFILES[pool.tier], tenants, 100, size_bytes, 1_000, rules)


def test_the_rules_are_attributes_all_on_by_default_and_all_off_in_the_strict_form() -> None:
    assert [field.name for field in fields(PoolRules)] == list(RULES)
    assert asdict(SAFE_POOL) == {spec.name: spec.default for spec in POOL_RULE_SPECS} == dict.fromkeys(RULES, 1)
    assert asdict(STRICT_POOL) == dict.fromkeys(RULES, 0)
    assert {spec.maximum for spec in POOL_RULE_SPECS} == {1}


def test_the_default_pools_are_the_original_s() -> None:
    assert [
        (pool.tier, pool.hosts, pool.coherent, pool.share, pool.reachable(), pool.fabric_shareable())
        for pool in default_pool_profiles().values()
    ] == [
        (HBM, 1, True, "dmabuf", False, False),
        (DRAM, 1, True, "mmap", False, False),
        (NUMA_FAR, 1, True, "mmap", False, False),
        (CXL, 8, True, "cxl_hdm", True, True),
        (DISK, 1, False, "", False, False),
        (REMOTE, 8, False, "rdma", True, False),
    ]
    assert list(default_pool_profiles()) == list(default_profiles())


def test_each_table_of_default_pools_is_fresh() -> None:
    default_pool_profiles().clear()
    assert len(default_pool_profiles()) == 6


@pytest.mark.parametrize("rules", [SAFE_POOL, STRICT_POOL])
def test_a_pool_is_shared_in_place_where_it_is_reached_coherent_and_zero_copy(rules: PoolRules) -> None:
    assert [replace(FABRIC, hosts=hosts).reachable() for hosts in (-1, 0, 1, 2, 8)] == [False, False, False, True, True]
    assert FABRIC.fabric_shareable(rules)
    for pool in (replace(FABRIC, hosts=1), replace(FABRIC, coherent=False), replace(FABRIC, share="")):
        assert not pool.fabric_shareable(rules)


@pytest.mark.parametrize("rules", [SAFE_POOL, STRICT_POOL])
def test_one_copy_in_a_fabric_is_computed_and_held_once_for_all(rules: PoolRules) -> None:
    assert plan(FABRIC, 8, rules) == FleetReuse(
        tenants=8,
        tenants_on_pool=8,
        reachable=True,
        shareable=True,
        pooled_prefill_tokens=100,
        private_prefill_tokens=800,
        pooled_resident_bytes=MIB,
        private_resident_bytes=8 * MIB,
        per_tenant_obtain_ns=300,
        per_tenant_recompute_ns=100_000,
    )
    assert (plan(FABRIC, 8, rules).prefill_tokens_saved(), plan(FABRIC, 8, rules).bytes_deduplicated()) == (
        700,
        7 * MIB,
    )


@pytest.mark.parametrize("rules", [SAFE_POOL, STRICT_POOL])
def test_a_pool_that_only_lends_is_computed_once_and_held_by_each(rules: PoolRules) -> None:
    lent = plan(LENDING, 8, rules)
    assert (lent.reachable, lent.shareable, lent.tenants_on_pool) == (True, False, 8)
    assert (lent.prefill_tokens_saved(), lent.bytes_deduplicated()) == (700, 0)
    # 100,000 ns of latency and 2**20 * 1000 // 12,000 ns of transfer.
    assert lent.per_tenant_obtain_ns == 187_381


@pytest.mark.parametrize("rules", [SAFE_POOL, STRICT_POOL])
def test_a_private_tier_saves_nothing(rules: PoolRules) -> None:
    alone = plan(PRIVATE, 8, rules)
    assert (alone.reachable, alone.shareable, alone.tenants_on_pool) == (False, False, 0)
    assert (alone.prefill_tokens_saved(), alone.bytes_deduplicated()) == (0, 0)
    assert alone.per_tenant_obtain_ns == alone.per_tenant_recompute_ns == 100_000


@pytest.mark.parametrize("rules", [SAFE_POOL, STRICT_POOL])
@pytest.mark.parametrize("pool", [FABRIC, LENDING, PRIVATE])
def test_fewer_than_one_tenant_is_one_and_one_saves_nothing(pool: PoolProfile, rules: PoolRules) -> None:
    for tenants in (-3, 0, 1):
        one = plan(pool, tenants, rules)
        assert one == plan(pool, 1, rules)
        assert (one.tenants, one.prefill_tokens_saved(), one.bytes_deduplicated()) == (1, 0, 0)


def test_a_link_without_bandwidth_is_never_cheap() -> None:
    dead = profile_from(
        {
            "tier": "remote",
            "read_latency_nanos": 1,
            "bandwidth_mb_per_sec": 0,
            "capacity_bytes": 0,
            "byte_addressable": False,
            "coherent": False,
            "persistent": False,
            "share": "rdma",
        }
    )
    assert plan_fleet_reuse(LENDING, dead, 2, 1, 1, 1).per_tenant_obtain_ns == NEVER_NS


# pool-000100 (fleet_tenants_exceed_pool_hosts_still_one_copy): tenants, tokens, bytes, ns per token.
CROWD = (16, 13_399, 476, 6)
CROWDED = PoolProfile(DRAM, 8, True, "rdma")


def test_tenants_beyond_the_hosts_of_a_pool_compute_and_keep_a_copy_each() -> None:
    strict = plan_fleet_reuse(CROWDED, PROFILES[DRAM], *CROWD, without("reach_limited"))
    assert strict == plan_fleet_reuse(CROWDED, PROFILES[DRAM], *CROWD, STRICT_POOL)
    assert (strict.tenants_on_pool, strict.pooled_prefill_tokens, strict.pooled_resident_bytes) == (16, 13_399, 476)
    assert (strict.prefill_tokens_saved(), strict.bytes_deduplicated()) == (200_985, 7_140)
    safe = plan_fleet_reuse(CROWDED, PROFILES[DRAM], *CROWD, only("reach_limited"))
    assert safe == plan_fleet_reuse(CROWDED, PROFILES[DRAM], *CROWD)
    # One copy for the 8 that reach it, one for each of the 8 that do not.
    assert (safe.tenants_on_pool, safe.pooled_prefill_tokens, safe.pooled_resident_bytes) == (8, 9 * 13_399, 9 * 476)
    assert (safe.prefill_tokens_saved(), safe.bytes_deduplicated()) == (7 * 13_399, 7 * 476)
    assert safe.per_tenant_obtain_ns == strict.per_tenant_obtain_ns == 90


def test_tenants_beyond_the_hosts_of_a_lending_pool_compute_it_too() -> None:
    assert plan(LENDING, 10, STRICT_POOL).prefill_tokens_saved() == 900
    safe = plan(LENDING, 10, only("reach_limited"))
    assert (safe.tenants_on_pool, safe.prefill_tokens_saved(), safe.bytes_deduplicated()) == (8, 700, 0)


def test_an_unknown_share_kind_is_a_copy() -> None:
    for kind in ("weird", "copy", "CXL_HDM"):
        pool = replace(FABRIC, share=kind)
        assert pool.fabric_shareable(STRICT_POOL)
        assert pool.fabric_shareable(without("share_kind_known"))
        assert not pool.fabric_shareable(only("share_kind_known"))
        assert not pool.fabric_shareable()
    assert plan(replace(FABRIC, share="weird"), 8, STRICT_POOL).bytes_deduplicated() == 7 * MIB
    assert plan(replace(FABRIC, share="weird"), 8).bytes_deduplicated() == 0


def test_the_crowded_pools_of_the_original_save_less_once_reach_counts(shared: Path) -> None:
    ids = ("pool-000100", "pool-000114", "pool-000116")
    vectors = pool_vectors(shared, "fleet_tenants_exceed_pool_hosts_still_one_copy", ids)
    for name in ids:
        given_in = vectors[name]
        pool = pool_from(given_in["pool"])
        figures = (profile_from(given_in["profile"]), given_in["tenants"], given_in["tokens"], given_in["size_bytes"])
        strict = plan_fleet_reuse(pool, *figures, given_in["per_token_prefill_nanos"], STRICT_POOL)
        safe = plan_fleet_reuse(pool, *figures, given_in["per_token_prefill_nanos"])
        assert strict.tenants > pool.hosts == safe.tenants_on_pool, name
        beyond = strict.tenants - pool.hosts
        assert strict.prefill_tokens_saved() - safe.prefill_tokens_saved() == beyond * given_in["tokens"], name
        assert strict.bytes_deduplicated() - safe.bytes_deduplicated() == beyond * given_in["size_bytes"], name


def test_the_documentation_has_a_row_for_every_rule(root: Path) -> None:
    text = (root / "docs" / "pools.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([a-z_]+)` \| ", text, re.MULTILINE) == list(RULES)


pools = st.builds(
    PoolProfile,
    st.sampled_from(list(PROFILES)),
    st.integers(-1, 9),
    st.booleans(),
    st.sampled_from(["", "mmap", "cxl_hdm", "rdma", "weird"]),
)
steady = settings(deadline=None, derandomize=True, max_examples=300)


@steady
@given(pool=pools, tenants=st.integers(-1, 20), size_bytes=st.integers(0, 2**40))
def test_no_rule_promises_more_than_the_original_and_no_pool_costs_more_than_none(
    pool: PoolProfile, tenants: int, size_bytes: int
) -> None:
    strict, safe = (plan(pool, tenants, rules, size_bytes) for rules in (STRICT_POOL, SAFE_POOL))
    assert 0 <= safe.prefill_tokens_saved() <= strict.prefill_tokens_saved()
    assert 0 <= safe.bytes_deduplicated() <= strict.bytes_deduplicated()
    assert 0 <= safe.tenants_on_pool <= strict.tenants_on_pool <= strict.tenants == safe.tenants
    if pool.hosts >= safe.tenants and pool.share != "weird":
        assert safe == strict


@steady
@given(pool=pools, tenants=st.integers(1, 20))
def test_one_more_tenant_never_saves_less(pool: PoolProfile, tenants: int) -> None:
    for rules in (STRICT_POOL, SAFE_POOL):
        few, more = plan(pool, tenants, rules), plan(pool, tenants + 1, rules)
        assert few.prefill_tokens_saved() <= more.prefill_tokens_saved()
        assert few.bytes_deduplicated() <= more.bytes_deduplicated()
        assert few.pooled_resident_bytes <= more.pooled_resident_bytes
