"""The edge between the strings of the conformance vectors and the integer codes of `policy`."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any, cast

from policy.lifecycle import STATE_NAMES, Lifecycle, Ttls
from policy.profiles import TierProfile
from policy.tiers import TIER_COUNT, TIER_NAMES, tier_code

Vector = dict[str, Any]
ProfileSets = Mapping[int, Mapping[str, Any]]

# A state that no span has: what an unknown state name becomes.
NO_STATE = -1

_SPECIAL_READINGS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class TierCodes:
    """Tier names of one vector as codes. Names that are no tier get codes above `UNKNOWN`, so that they survive."""

    def __init__(self) -> None:
        self._names = list(TIER_NAMES)

    def code(self, name: str) -> int:
        if name not in self._names:
            self._names.append(name)
        return self._names.index(name)

    def name(self, code: int) -> str:
        return self._names[code]

    def __len__(self) -> int:
        return len(self._names)


def state_code(name: str) -> int:
    return STATE_NAMES.index(name) if name in STATE_NAMES else NO_STATE


def reading(pressure: float | str | None) -> float:
    """A fullness as a float: absent reads 0, and the three specials are spelled out because JSON has none of them."""
    if pressure is None:
        return 0.0
    return _SPECIAL_READINGS[pressure] if isinstance(pressure, str) else pressure


def profile_from(fields: Mapping[str, Any]) -> TierProfile:
    return TierProfile(
        tier_code(fields["tier"]),
        fields["read_latency_nanos"],
        fields["bandwidth_mb_per_sec"],
        fields["capacity_bytes"],
        fields["byte_addressable"],
        fields["coherent"],
        fields["persistent"],
        fields["share"],
    )


def profile_fields(profile: TierProfile) -> dict[str, object]:
    return {
        "tier": TIER_NAMES[profile.tier],
        "read_latency_nanos": profile.read_latency_ns,
        "bandwidth_mb_per_sec": profile.bandwidth_mb_s,
        "capacity_bytes": profile.capacity_bytes,
        "byte_addressable": profile.byte_addressable,
        "coherent": profile.coherent,
        "persistent": profile.persistent,
        "share": profile.share,
    }


class Machine:
    """The tiers of one profile set as the columns that `policy` reads."""

    def __init__(self, number: int, profile_sets: ProfileSets, codes: TierCodes) -> None:
        if number not in profile_sets:
            raise LookupError(f"profile set {number} is not in profile_sets.jsonl")
        self.profiles = {codes.code(name): profile_from(row) for name, row in profile_sets[number].items()}
        self.present = array("q", [0]) * max(TIER_COUNT, len(codes))
        self.attendable = array("q", self.present)
        for tier, profile in self.profiles.items():
            self.present[tier] = 1
            self.attendable[tier] = int(profile.attendable_in_place())


def ttls_from(policy: Mapping[str, Any], codes: TierCodes) -> Ttls:
    """TTLs with room for every name that the vector gives one."""
    own = {codes.code(name): ttl for name, ttl in (policy["tier_ttl"] or {}).items()}
    ttls = Ttls(policy["default_ttl_millis"], policy["grace_millis"], int(policy["demote_on_expiry"]), len(codes))
    for tier, ttl in own.items():
        ttls.set(tier, ttl)
    return ttls


def strict_lifecycle(machine: Machine) -> Lifecycle:
    """A table of one span, as the original behaves."""
    return Lifecycle(1, machine.attendable, restart_on_revival=0, ttl_on_spilled=0)


def load_state(lifecycle: Lifecycle, fields: list[Any], codes: TierCodes) -> None:
    """Sets the one span to a vector's 7-list."""
    lifecycle.state[0] = state_code(fields[0])
    lifecycle.tier[0] = codes.code(fields[1])
    columns = (lifecycle.admitted, lifecycle.entered, lifecycle.since, lifecycle.last_access, lifecycle.accesses)
    for column, value in zip(columns, fields[2:], strict=True):
        column[0] = value


def state_fields(lifecycle: Lifecycle, codes: TierCodes) -> list[object]:
    """The one span as a vector's 7-list."""
    return [
        STATE_NAMES[lifecycle.state[0]],
        codes.name(lifecycle.tier[0]),
        lifecycle.admitted[0],
        lifecycle.entered[0],
        lifecycle.since[0],
        lifecycle.last_access[0],
        lifecycle.accesses[0],
    ]


def without_zeros(value: object) -> object:
    """A vector's dictionary without its zero values, which an absent key stands for."""
    if not isinstance(value, dict):
        return value
    kept = {key: without_zeros(item) for key, item in cast(dict[str, object], value).items()}
    return {key: item for key, item in kept.items() if item not in ("", 0, None, {})}
