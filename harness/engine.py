"""An engine: one machine's ladder and one model's figures, resolved to plain integers that a replay can run on."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from policy.cost import recompute_ns, roofline_prefill_ns
from policy.costs_by_tier import TierCosts
from policy.ladder import UNBOUNDED_BYTES
from policy.profiles import TierProfile
from policy.tiers import TIER_COUNT


@dataclass(frozen=True, slots=True)
class Prefill:
    """What computing tokens costs: a flat rate where `ns_per_token` is given, otherwise a roofline."""

    ns_per_token: int = 0
    linear_flop_per_token: int = 0
    attention_flop_per_pair: int = 0
    mflop_per_s: int = 0

    def ns(self, new_tokens: int, context_tokens: int) -> int:
        """Time to prefill `new_tokens` behind `context_tokens` that are cached."""
        if self.ns_per_token:
            return recompute_ns(new_tokens, self.ns_per_token)
        return roofline_prefill_ns(
            new_tokens, context_tokens, self.linear_flop_per_token, self.attention_flop_per_pair, self.mflop_per_s
        )


@dataclass(frozen=True, slots=True)
class LinkLimit:
    """What a link between two tiers carries each way, in MB/s: `down` to the colder one, `up` back, `both` together."""

    hotter: int
    colder: int
    down_mb_s: int
    up_mb_s: int
    both_mb_s: int


@dataclass(frozen=True, slots=True)
class Engine:
    """A ladder by tier code, hot to cold, with its links, and the model's cost figures."""

    machine_id: str
    machine_digest: str
    model_id: str
    model_digest: str
    kv_bytes_per_token: int
    prefill: Prefill
    profiles: dict[int, TierProfile]
    links: tuple[LinkLimit, ...] = ()
    # What the accelerators have, all together; 0 where the machine only lists tiers.
    accelerator_bytes: int = 0
    # How the figures came about, for a person: one line each.
    derivation: tuple[str, ...] = field(default=())

    def present(self) -> array[int]:
        """1 for each tier that the machine has."""
        return array("q", [1 if tier in self.profiles else 0 for tier in range(TIER_COUNT)])

    def attendable(self) -> array[int]:
        """1 for each tier that can be attended in place."""
        return array(
            "q",
            [
                1 if tier in self.profiles and self.profiles[tier].attendable_in_place() else 0
                for tier in range(TIER_COUNT)
            ],
        )

    def capacity_bytes(self) -> array[int]:
        """Capacity of each tier, `UNBOUNDED_BYTES` where there is no bound, 0 where there is no tier."""
        return array(
            "q",
            [
                (self.profiles[tier].capacity_bytes or UNBOUNDED_BYTES) if tier in self.profiles else 0
                for tier in range(TIER_COUNT)
            ],
        )

    def costs(self) -> TierCosts:
        """The cost tables of this ladder, narrowed by its links."""
        latency = array("q", [0]) * TIER_COUNT
        bandwidth = array("q", [0]) * TIER_COUNT
        for tier, profile in self.profiles.items():
            latency[tier] = profile.read_latency_ns
            bandwidth[tier] = profile.bandwidth_mb_s
        costs = TierCosts(latency, bandwidth)
        for link in self.links:
            costs.narrow(link.hotter, link.colder, link.down_mb_s)
            costs.narrow(link.colder, link.hotter, link.up_mb_s)
        return costs
