"""Vectors about tiers, sharing, probes and costs: each function gives what a vector expects and what `policy` says."""

from __future__ import annotations

from conformance_codes import ProfileSets, Vector, VectorCodes, profile_fields, reading, without_zeros

from policy.cost import recompute_ns, retain_pays, stage_ns
from policy.entry import Entry, EntryOption, with_options, with_residency, with_share
from policy.lifecycle import serveable
from policy.placement import has_room
from policy.probe import CapacityProbe, probed_profiles
from policy.profiles import TierProfile
from policy.residency import Residency
from policy.share import COPY, ShareDescriptor, zero_copy
from policy.tiers import (
    DRAM,
    TIER_NAMES,
    is_local,
    memory_class,
    next_colder,
    next_warmer,
    rank,
)

Answer = tuple[object, object]


def tier(vector: Vector, _: ProfileSets) -> Answer:
    code = VectorCodes().tiers.code(vector["in"]["tier"])
    return vector["out"], {
        "is_local": is_local(code),
        "memory_class": memory_class(code),
        "next_colder": TIER_NAMES[next_colder(code)],
        "next_warmer": TIER_NAMES[next_warmer(code)],
        "rank": rank(code),
    }


def attendable_in_place(vector: Vector, _: ProfileSets) -> Answer:
    flags = vector["in"]
    profile = TierProfile(
        DRAM, 1, 1, 0, flags["byte_addressable"], flags["coherent"], flags["persistent"], flags.get("share", COPY)
    )
    return vector["out"], profile.attendable_in_place()


def share_kind(vector: Vector, _: ProfileSets) -> Answer:
    return vector["out"], {"zero_copy": zero_copy(vector["in"]["kind"])}


def share_descriptor(vector: Vector, _: ProfileSets) -> Answer:
    share = ShareDescriptor(**vector["in"])
    return vector["out"], {
        "residency_zero_copy": Residency().with_share(share).zero_copy(),
        "zero_copy": share.zero_copy(),
    }


def share_option_order(vector: Vector, _: ProfileSets) -> Answer:
    """The order's name says which option comes first; the values are the same in every vector."""
    options: dict[str, EntryOption] = {
        "residency": with_residency("cxl", "o", "l"),
        "share": with_share(ShareDescriptor("cxl_hdm", "h", True)),
    }
    order = vector["in"]["order"].split("_then_")
    residency = with_options(Entry(), [options[name] for name in order]).residency
    share = residency.share
    answer = {
        "lease": residency.lease,
        "owner": residency.owner,
        "share": {"coherent": share.coherent, "handle": share.handle, "kind": share.kind},
        "tier": residency.tier,
    }
    return without_zeros(vector["out"]), without_zeros(answer)


def state_serveable(vector: Vector, _: ProfileSets) -> Answer:
    return vector["out"], serveable(VectorCodes().states.code(vector["in"]["state"]))


def room(vector: Vector, _: ProfileSets) -> Answer:
    return vector["out"], has_room(reading(vector["in"]["pressure"]))


def probed(vector: Vector, _: ProfileSets) -> Answer:
    profiles = probed_profiles(CapacityProbe(**vector["in"]))
    return vector["out"], {TIER_NAMES[code]: profile_fields(profile) for code, profile in profiles.items()}


def stage(vector: Vector, _: ProfileSets) -> Answer:
    return _expected(vector), _written(vector, _stage_ns(vector))


def recompute(vector: Vector, _: ProfileSets) -> Answer:
    return _expected(vector), _written(vector, _recompute_ns(vector))


def retain(vector: Vector, _: ProfileSets) -> Answer:
    stage_cost_ns, recompute_cost_ns = _stage_ns(vector), _recompute_ns(vector)
    pays = retain_pays(stage_cost_ns, recompute_cost_ns)
    if "exact" not in vector:
        return vector["out"], pays
    expected = {name: vector[name] for name in ("exact", "exact_stage", "exact_recompute")}
    return expected, {"exact": pays, "exact_stage": str(stage_cost_ns), "exact_recompute": str(recompute_cost_ns)}


def _stage_ns(vector: Vector) -> int:
    given = vector["in"]
    return stage_ns(given["size_bytes"], given["read_latency_nanos"], given["bandwidth_mb_per_sec"])


def _recompute_ns(vector: Vector) -> int:
    return recompute_ns(vector["in"]["tokens"], vector["in"]["per_token_prefill_nanos"])


def _expected(vector: Vector) -> object:
    """The true answer where the vector has one: there `out` is what wrapping 64-bit integers gave."""
    return vector.get("exact", vector["out"])


def _written(vector: Vector, cost_ns: int) -> object:
    return str(cost_ns) if "exact" in vector else cost_ns
