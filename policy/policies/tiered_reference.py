"""The original planner as written, weaknesses and all: what the vectors of the original plane answer.

It sees the other tiers' live occupancy, makes no room in them, takes the first rung with room or none, never uses
remote, lets spans that are spilled live for ever, and lets a revived span expire again at once. Each is one rule.
"""

from policy.policies.spec import PolicySpec

TIERED_REFERENCE = PolicySpec(
    name="tiered-reference",
    summary="the original planner as written: the first colder tier with free room, or nothing",
    changes={
        "cascade": 0,
        "room_when_free": 1,
        "best_rung": 0,
        "use_remote": 0,
        "remote_last": 0,
        "ttl_on_spilled": 0,
        "restart_on_revival": 0,
    },
)
