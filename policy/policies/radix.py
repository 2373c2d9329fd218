"""Radix: HBM alone, no TTL; whole leaves of a prefix tree are dropped, the least recently used first.

Source: RadixAttention (SGLang) without a hierarchy below it. Beside `blind-lru` it shows what the coarser unit of
eviction costs: the order is the same, a leaf's beginning goes with its end.
"""

from policy.policies.spec import PolicySpec

RADIX = PolicySpec(
    name="radix",
    summary="HBM alone; under pressure the least recently used leaf of a prefix tree is dropped whole",
    changes={"colder_tiers": 0, "ttls": 0, "radix": 1},
)
