"""Blind LRU: HBM alone, no TTL; the least recently used span that is not in use is dropped.

Source: what vLLM and SGLang do without offloading, at span grain. Left out: engine pools reserve a block or two for
themselves. Ties cannot happen: the path of a request is touched from its deepest span to its root.
"""

from policy.policies.spec import PolicySpec

BLIND_LRU = PolicySpec(
    name="blind-lru",
    summary="HBM alone; under pressure the least recently used span is dropped",
    changes={"colder_tiers": 0, "ttls": 0},
)
