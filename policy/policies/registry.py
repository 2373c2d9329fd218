"""Every policy, in display order. A new one is one file beside this and one row here."""

from policy.policies.blind_lru import BLIND_LRU
from policy.policies.infinite import INFINITE
from policy.policies.radix import RADIX
from policy.policies.radix_tiered import RADIX_TIERED
from policy.policies.spec import PolicySpec
from policy.policies.tiered import TIERED
from policy.policies.tiered_reference import TIERED_REFERENCE

POLICIES: dict[str, PolicySpec] = {
    spec.name: spec
    for spec in (
        BLIND_LRU,
        TIERED,
        TIERED_REFERENCE,
        RADIX,
        RADIX_TIERED,
        INFINITE,
    )
}

# The ceiling runs beside every comparison.
CEILING = INFINITE.name
