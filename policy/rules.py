"""The named parameters of a policy: what differs between the arms is data, and each may be set by name.

A rule is 0 or 1 unless its row says otherwise. The defaults are `tiered`; the other policies are rows of differences.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RuleSpec:
    """One named parameter: its default and largest value, and what it means."""

    name: str
    default: int
    maximum: int
    meaning: str


RULE_SPECS = (
    RuleSpec("colder_tiers", 1, 1, "use the machine's colder tiers; 0 is HBM alone"),
    RuleSpec("hbm_unbounded", 0, 1, "HBM without bound, and blind to clear, fault and pressure: the ceiling"),
    RuleSpec("ttls", 1, 1, "obey the TTLs of the run; 0 never expires"),
    RuleSpec("cascade", 1, 1, "make room in a colder tier before moving a span there; 0 takes only what is free"),
    RuleSpec("room_when_free", 0, 1, "the planner sees room only where the span fits the free bytes now"),
    RuleSpec("best_rung", 1, 1, "the cheapest colder rung that pays; 0 is the first with room, or none"),
    RuleSpec("use_remote", 1, 1, "remote is the last rung; 0 never moves a span there"),
    RuleSpec("remote_last", 1, 1, "remote only where no rung of the machine itself pays; 0 lets it compete by cost"),
    RuleSpec("ttl_on_spilled", 1, 1, "TTLs bind in tiers that cannot be attended in place too"),
    RuleSpec("restart_on_revival", 1, 1, "a revived span starts a new TTL; 0 lets an overdue one fall at once"),
    RuleSpec("radix", 0, 1, "HBM gives up whole leaves of a prefix tree (RadixAttention); 0 gives up single spans"),
    RuleSpec("promote_accesses_per_1000_s", 0, 10**9, "promote a span one rung at this lifetime access rate; 0 is off"),
    RuleSpec("compress_ppm", 0, 1_000_000, "size of a compressed span in parts per million of the exact one; 0 is off"),
    RuleSpec("compress_measured", 0, 1, "the quality loss of compression was measured; if not, nothing is compressed"),
    RuleSpec("compress_delta_ppm", 0, 1_000_000, "the measured quality loss"),
    RuleSpec("compress_bound_ppm", 0, 1_000_000, "the largest quality loss allowed"),
    RuleSpec("exact_view", 0, 1, "requests want exact KV; 0 accepts compressed KV whose loss keeps to the bound"),
)


class Rules:
    """The parameters of one arm as integer attributes, named as in `RULE_SPECS`."""

    def __init__(self, changes: dict[str, int]) -> None:
        values = {spec.name: spec.default for spec in RULE_SPECS}
        values.update(changes)
        self.colder_tiers = values["colder_tiers"]
        self.hbm_unbounded = values["hbm_unbounded"]
        self.ttls = values["ttls"]
        self.cascade = values["cascade"]
        self.room_when_free = values["room_when_free"]
        self.best_rung = values["best_rung"]
        self.use_remote = values["use_remote"]
        self.remote_last = values["remote_last"]
        self.ttl_on_spilled = values["ttl_on_spilled"]
        self.restart_on_revival = values["restart_on_revival"]
        self.radix = values["radix"]
        self.promote_accesses_per_1000_s = values["promote_accesses_per_1000_s"]
        self.compress_ppm = values["compress_ppm"]
        self.compress_measured = values["compress_measured"]
        self.compress_delta_ppm = values["compress_delta_ppm"]
        self.compress_bound_ppm = values["compress_bound_ppm"]
        self.exact_view = values["exact_view"]
