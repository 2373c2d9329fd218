"""Vectors about the lifecycle and the planner, run through the tables that a replay uses, in their strict form."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from typing import Any

from conformance_codes import (
    Machine,
    ProfileSets,
    Vector,
    VectorCodes,
    load_state,
    reading,
    state_fields,
    strict_lifecycle,
    ttls_from,
)

from policy.apply import apply
from policy.cost import recompute_ns
from policy.costs_by_tier import TierCosts
from policy.decisions import ACTION_NAMES, DIRECTIVE_NAMES, REASON_NAMES
from policy.lifecycle import RESIDENT, Lifecycle, Ttls, access_rate, serveable
from policy.placement import Planner, acceptable, has_room
from policy.tiers import TIER_COUNT

Answer = tuple[object, object]
Op = dict[str, Any]


def lifecycle(vector: Vector, profile_sets: ProfileSets) -> Answer:
    """Every operation of a sequence, each answering with the state after it and what it returned."""
    codes = VectorCodes()
    machine = Machine(vector["profile_set"], profile_sets, codes)
    ttls = ttls_from(vector["policy"], codes)
    table = strict_lifecycle(machine)
    answers: list[Op] = []
    for op in vector["ops"]:
        answer: Op = {name: op[name] for name in ("op", "now", "tier") if name in op}
        answer.update(_OPS[op["op"]](table, ttls, codes, op))
        answer["state"] = state_fields(table, codes)
        if op["op"] != "new":
            answer["serveable"] = serveable(table.state[0])
        answers.append(answer)
    return vector["ops"], answers


def ttl_for(vector: Vector, _: ProfileSets) -> Answer:
    codes = VectorCodes()
    tier = codes.tiers.code(vector["in"]["tier"])
    return vector["out"], ttls_from(vector["policy"], codes).ttl_for(tier)


def rate(vector: Vector, _: ProfileSets) -> Answer:
    fields = vector["in"]["lc"]
    return vector["out"], access_rate(fields[6], fields[2], vector["in"]["now"])


def plan_placement(vector: Vector, profile_sets: ProfileSets) -> Answer:
    """The plan, without its zero values, and the lifecycle after it was applied."""
    given = vector["in"]
    codes = VectorCodes()
    machine = Machine(given["profile_set"], profile_sets, codes)
    table = strict_lifecycle(machine)
    load_state(table, given["lc"], codes)
    planner = _planned(given, machine, table, codes)
    plan = {
        "action": ACTION_NAMES[planner.action],
        "directive": DIRECTIVE_NAMES[planner.directive],
        "est_move_bytes": planner.moved_bytes,
        "from_tier": codes.tiers.name(table.tier[0]),
        "reason": REASON_NAMES[planner.reason],
        "to_tier": codes.tiers.name(planner.to_tier),
    }
    directive = apply(planner.action, planner.to_tier, table, 0, vector["apply"]["now"])
    applied = {
        "directive": DIRECTIVE_NAMES[directive],
        "lc": state_fields(table, codes),
        "now": vector["apply"]["now"],
    }
    written = {name: value for name, value in plan.items() if value not in ("", 0)}
    return {"out": vector["out"], "apply": vector["apply"]}, {"out": written, "apply": applied}


def _planned(given: Mapping[str, Any], machine: Machine, table: Lifecycle, codes: VectorCodes) -> Planner:
    """What is a float in the vector is judged here, at the edge; the planner reads integers."""
    size_bytes = given.get("size_bytes", 0)
    quality = given.get("quality", {})
    compressed_bytes = given.get("compressed_size_bytes", 0)
    if compressed_bytes <= 0 or not acceptable(
        quality.get("measured", False), quality.get("quality_delta", 0.0), quality.get("max_quality_delta", 0.0)
    ):
        compressed_bytes = 0
    latency_ns = array("q", [0]) * TIER_COUNT
    bandwidth_mb_s = array("q", [0]) * TIER_COUNT
    room_bytes = array("q", [-(2**63)]) * TIER_COUNT
    for tier, profile in machine.profiles.items():
        if tier < TIER_COUNT:
            latency_ns[tier] = profile.read_latency_ns
            bandwidth_mb_s[tier] = profile.bandwidth_mb_s
            # Room is a matter of pressure in the original, never of size.
            if _has_room(given, codes.tiers.name(tier)):
                room_bytes[tier] = 2**63 - 1
    costs = TierCosts(latency_ns, bandwidth_mb_s)
    planner = Planner(room_bytes, machine.attendable, costs, best_rung=0, use_remote=0)
    planner.plan(
        table.tier[0],
        table.state[0],
        _has_room(given, codes.tiers.name(table.tier[0])),
        _hot(given, table),
        int(given.get("demote_on_expiry", False)),
        size_bytes,
        recompute_ns(given.get("tokens", 0), given.get("per_token_prefill_nanos", 0)),
        compressed_bytes,
    )
    return planner


def _has_room(given: Mapping[str, Any], tier: str) -> int:
    return int(has_room(reading(given.get("pressure", {}).get(tier))))


def _hot(given: Mapping[str, Any], table: Lifecycle) -> int:
    threshold = given.get("promote_access_rate", 0.0)
    measured = access_rate(table.accesses[0], table.admitted[0], given.get("now_millis", 0))
    return int(
        threshold > 0
        and table.state[0] == RESIDENT
        and table.last_access[0] >= table.entered[0]
        and measured >= threshold
    )


def _new(table: Lifecycle, _: Ttls, codes: VectorCodes, op: Op) -> Op:
    table.start(0, codes.tiers.code(op["tier"]), op["now"])
    return {}


def _mark_resident(table: Lifecycle, _: Ttls, __: VectorCodes, op: Op) -> Op:
    table.mark_resident(0, op["now"])
    return {}


def _touch(table: Lifecycle, _: Ttls, __: VectorCodes, op: Op) -> Op:
    table.touch(0, op["now"])
    return {}


def _advance(table: Lifecycle, ttls: Ttls, _: VectorCodes, op: Op) -> Op:
    return {"changed": table.advance(0, ttls, op["now"])}


def _move_to(table: Lifecycle, _: Ttls, codes: VectorCodes, op: Op) -> Op:
    return {"directive": DIRECTIVE_NAMES[table.move_to(0, codes.tiers.code(op["tier"]), op["now"])]}


def _evict(table: Lifecycle, _: Ttls, __: VectorCodes, op: Op) -> Op:
    table.evict(0, op["now"])
    return {}


def _rate(table: Lifecycle, _: Ttls, __: VectorCodes, op: Op) -> Op:
    return {"rate": access_rate(table.accesses[0], table.admitted[0], op["now"])}


_OPS: dict[str, Callable[[Lifecycle, Ttls, VectorCodes, Op], Op]] = {
    "new": _new,
    "mark_resident": _mark_resident,
    "touch": _touch,
    "advance": _advance,
    "move_to": _move_to,
    "evict": _evict,
    "rate": _rate,
}
