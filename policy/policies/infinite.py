"""Infinite: HBM without bound, deaf to clear, fault and pressure. The ceiling that no policy can beat."""

from policy.policies.spec import PolicySpec

INFINITE = PolicySpec(
    name="infinite",
    summary="HBM without bound: the ceiling that no policy can beat",
    changes={"colder_tiers": 0, "ttls": 0, "hbm_unbounded": 1},
)
