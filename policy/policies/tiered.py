"""Tiered: demote one tier colder instead of evicting, wherever that is cheaper than computing the span again.

Source: the original plane's planner with its known weaknesses mended, each a rule (`policy.rules`): room is made in
the colder tier, so a full ladder cascades instead of freezing; the cheapest rung that pays is taken; remote is the
last rung; TTLs bind everywhere and restart on revival. Left out: promotion and compression, which are off by default.
Ties between rungs of equal cost go to the hotter.
"""

from policy.policies.spec import PolicySpec

TIERED = PolicySpec(
    name="tiered",
    summary="demote to the cheapest colder tier that pays, making room there; drop only what recompute gets cheaper",
    changes={},
)
