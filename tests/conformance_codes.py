"""The edge between the strings of the conformance vectors and the integer codes of `policy`."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Any, cast

from policy.lifecycle import STATE_NAMES, Lifecycle, Ttls
from policy.profiles import TierProfile
from policy.tiers import TIER_COUNT, TIER_NAMES, tier_code

Vector = dict[str, Any]
ProfileSets = Mapping[int, Mapping[str, Any]]

_SPECIAL_READINGS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class Codes:
    """Names of one vector as codes. A name that is not known gets a code above the known ones, so that it survives."""

    def __init__(self, known: Iterable[str]) -> None:
        self._names = list(known)

    def code(self, name: str) -> int:
        if name not in self._names:
            self._names.append(name)
        return self._names.index(name)

    def name(self, code: int) -> str:
        return self._names[code]

    def __len__(self) -> int:
        return len(self._names)


class VectorCodes:
    """The tiers and states that one vector names."""

    def __init__(self) -> None:
        self.tiers = Codes(TIER_NAMES)
        self.states = Codes(STATE_NAMES)


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

    def __init__(self, number: int, profile_sets: ProfileSets, codes: VectorCodes) -> None:
        if number not in profile_sets:
            raise LookupError(f"profile set {number} is not in profile_sets.jsonl")
        self.profiles = {codes.tiers.code(name): profile_from(row) for name, row in profile_sets[number].items()}
        self.present = array("q", [0]) * max(TIER_COUNT, len(codes.tiers))
        self.attendable = array("q", self.present)
        for tier, profile in self.profiles.items():
            self.present[tier] = 1
            self.attendable[tier] = int(profile.attendable_in_place())


def ttls_from(policy: Mapping[str, Any], codes: VectorCodes) -> Ttls:
    """TTLs with room for every name that the vector gives one."""
    own = {codes.tiers.code(name): ttl for name, ttl in (policy["tier_ttl"] or {}).items()}
    ttls = Ttls(policy["default_ttl_millis"], policy["grace_millis"], int(policy["demote_on_expiry"]), len(codes.tiers))
    for tier, ttl in own.items():
        ttls.set(tier, ttl)
    return ttls


def strict_lifecycle(machine: Machine) -> Lifecycle:
    """A table of one span, as the original behaves."""
    return Lifecycle(1, machine.attendable, restart_on_revival=0, ttl_on_spilled=0)


def load_state(lifecycle: Lifecycle, fields: list[Any], codes: VectorCodes) -> None:
    """Sets the one span to a vector's 7-list."""
    lifecycle.state[0] = codes.states.code(fields[0])
    lifecycle.tier[0] = codes.tiers.code(fields[1])
    columns = (lifecycle.admitted, lifecycle.entered, lifecycle.since, lifecycle.last_access, lifecycle.accesses)
    for column, value in zip(columns, fields[2:], strict=True):
        column[0] = value


def state_fields(lifecycle: Lifecycle, codes: VectorCodes) -> list[object]:
    """The one span as a vector's 7-list."""
    return [
        codes.states.name(lifecycle.state[0]),
        codes.tiers.name(lifecycle.tier[0]),
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
    kept = {key: without_zeros(item) for key, item in cast("dict[str, object]", value).items()}
    return {key: item for key, item in kept.items() if item not in ("", 0, None, {})}
