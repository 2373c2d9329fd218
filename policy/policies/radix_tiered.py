"""Radix, tiered: what a prefix tree's eviction lets go of is demoted wherever `tiered` would demote it.

Source: the bridge that the original plane names, from its radix cache to its planner. The planner is asked for each
span of a leaf, the deepest first, so a leaf may end up in two tiers, or in part nowhere.
"""

from policy.policies.spec import PolicySpec

RADIX_TIERED = PolicySpec(
    name="radix-tiered",
    summary="as radix, but every span of the leaf is demoted wherever tiered would demote it",
    changes={"radix": 1},
)
