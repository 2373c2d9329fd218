"""Small traces and machines in memory, for tests: what a reader and a catalog would have returned."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.comparison import Comparison, ReplayOptions, compare
from harness.engine import Engine, LinkLimit, Prefill
from harness.fleet import FleetOptions
from harness.report import build_report
from harness.trace import IDENTITY_AXES, NO_BLOCK, Control, Trace
from policy.identity import NOT_STATED, Identity
from policy.profiles import TierProfile, default_profiles
from policy.tiers import tier_code

BLOCK_TOKENS = 4
KV_BYTES = 1000
# Every whole block of the traces built here, in bytes: capacities read best as multiples of it.
BLOCK_BYTES = BLOCK_TOKENS * KV_BYTES
# Dear enough that every default tier pays, so that only room decides.
DEAR_PREFILL_NS = 1_000_000


@dataclass(frozen=True)
class Ask:
    """A request for the blocks of `path`, root first. `tail` tokens are named by no block; "" is no session."""

    path: Sequence[Hashable]
    t_us: int = 0
    output: int = 0
    tail: int = 0
    who: Identity = NOT_STATED
    session: str = ""


@dataclass(frozen=True)
class Access:
    """A request whose path is one span of a given size; `size_bytes` 0 is not stated."""

    span: Hashable
    tokens: int
    size_bytes: int = 0
    t_us: int = 0
    output: int = 0
    who: Identity = NOT_STATED
    session: str = ""


@dataclass(frozen=True)
class Clear:
    """A tier loses all it holds; "" is every tier."""

    tier: str = ""
    t_us: int = 0


@dataclass(frozen=True)
class Fault:
    """Reads of a tier fail from `t_us` up to `until_us`."""

    tier: str
    t_us: int
    until_us: int


@dataclass(frozen=True)
class Pressure:
    """Others hold `fill_ppm` of a tier from `t_us` on."""

    tier: str
    fill_ppm: int
    t_us: int = 0


Row = Ask | Access | Clear | Fault | Pressure


def trace_of(*rows: Row, sizes: Mapping[Hashable, int] | None = None, name: str = "test") -> Trace:
    """A trace with these rows in file order. Blocks hold `BLOCK_TOKENS` tokens, or what `sizes` says of them."""
    trace = Trace(name=name, format="test", sha256="0" * 64, block_tokens=BLOCK_TOKENS, namespaces=[""])
    known: dict[Hashable, int] = {}

    def intern(block: Hashable, parent: int, tokens: int, size_bytes: int) -> int:
        if block not in known:
            known[block] = len(known)
            trace.block_parent.append(parent)
            trace.block_size_tokens.append(tokens)
            trace.block_size_bytes.append(size_bytes)
            trace.block_names.append(block if isinstance(block, int | str) else repr(block))
        assert trace.block_parent[known[block]] == parent, f"{block} has two parents"
        return known[block]

    for row in rows:
        if isinstance(row, Ask):
            parent = NO_BLOCK
            path = []
            for block in row.path:
                parent = intern(block, parent, (sizes or {}).get(block, BLOCK_TOKENS), 0)
                path.append(parent)
            _append(trace, row, row.tail, path)
        elif isinstance(row, Access):
            block = intern(("access", row.span), NO_BLOCK, row.tokens, row.size_bytes)
            _append(trace, row, 0, [block])
        elif isinstance(row, Clear):
            trace.controls.append(Control("clear", row.t_us, trace.requests, row.tier, 0))
        elif isinstance(row, Fault):
            trace.controls.append(Control("fault", row.t_us, trace.requests, row.tier, row.until_us))
        else:
            trace.controls.append(Control("pressure", row.t_us, trace.requests, row.tier, row.fill_ppm))
    return trace


def _append(trace: Trace, row: Ask | Access, tail: int, path: list[int]) -> None:
    trace.t_us.append(row.t_us)
    trace.input_tokens.append(tail + sum(trace.block_size_tokens[block] for block in path))
    trace.output_tokens.append(row.output)
    trace.unidentified_tokens.append(tail)
    trace.namespace.append(0)
    trace.session.append(_index(trace.sessions, row.session) if row.session else -1)
    trace.identity.append(_index(trace.identities, row.who))
    trace.path.extend(path)
    trace.path_start.append(len(trace.path))


def _index(names: list[Any], name: object) -> int:
    if name not in names:
        names.append(name)
    return names.index(name)


@dataclass(frozen=True)
class Tier:
    """A tier's figures where they differ from the default profile's. Capacity 0 is unbounded."""

    capacity_bytes: int
    latency_ns: int | None = None
    bandwidth_mb_s: int | None = None


def engine_of(
    tiers: Mapping[str, int | Tier],
    prefill_ns_per_token: int = DEAR_PREFILL_NS,
    kv_bytes_per_token: int = KV_BYTES,
    links: Sequence[LinkLimit] = (),
    prefill: Prefill | None = None,
) -> Engine:
    """A machine with these tiers, by name; what is not said is as in the default profiles."""
    defaults = default_profiles()
    profiles: dict[int, TierProfile] = {}
    for name, given in tiers.items():
        code = tier_code(name)
        base = defaults[code]
        tier = given if isinstance(given, Tier) else Tier(given)
        profiles[code] = TierProfile(
            code,
            base.read_latency_ns if tier.latency_ns is None else tier.latency_ns,
            base.bandwidth_mb_s if tier.bandwidth_mb_s is None else tier.bandwidth_mb_s,
            tier.capacity_bytes,
            base.byte_addressable,
            base.coherent,
            base.persistent,
            base.share,
        )
    return Engine(
        machine_id="test",
        machine_digest="0" * 64,
        model_id="test",
        model_digest="0" * 64,
        kv_bytes_per_token=kv_bytes_per_token,
        prefill=prefill or Prefill(ns_per_token=prefill_ns_per_token),
        profiles=dict(sorted(profiles.items())),
        links=tuple(links),
    )


def options_of(
    policy: str = "tiered",
    against: tuple[str, ...] = ("blind-lru",),
    *,
    settings: Mapping[str, int] | None = None,
    ttl_us: Mapping[str, int] | None = None,
    grace_us: int = 0,
    demote_on_expiry: bool = True,
    span_tokens: int = 0,
    now_ms: int = 0,
    isolation: tuple[str, ...] = IDENTITY_AXES,
    fleet: FleetOptions | None = None,
) -> ReplayOptions:
    """Options with tiers by name; one block per span unless said otherwise."""
    return ReplayOptions(
        now_ms=now_ms,
        isolation=isolation,
        fleet=fleet or FleetOptions(),
        policy=policy,
        against=against,
        settings=dict(settings or {}),
        ttl_us={tier_code(name): ttl for name, ttl in (ttl_us or {}).items()},
        grace_us=grace_us,
        demote_on_expiry=demote_on_expiry,
        span_tokens=span_tokens,
    )


def comparison_of(trace: Trace, engine: Engine, policy: str = "tiered", **options: Any) -> Comparison:
    """Every arm of `options_of(policy, **options)` over a trace."""
    return compare(trace, engine, options_of(policy, **options))


def report_of(trace: Trace, engine: Engine, policy: str = "tiered", **options: Any) -> dict[str, Any]:
    """The report of `comparison_of`, whose audit balances."""
    report = build_report(comparison_of(trace, engine, policy, **options))
    assert [check for check in report["audit"]["checks"] if not check["ok"]] == []
    return report


def arm_of(trace: Trace, engine: Engine, policy: str = "tiered", **options: Any) -> dict[str, Any]:
    """The arm `policy` of `report_of`."""
    options.setdefault("against", ("blind-lru",) if policy != "blind-lru" else ("infinite",))
    arm: dict[str, Any] = report_of(trace, engine, policy, **options)["arms"][policy]
    return arm


def reprefilled(arm: dict[str, Any]) -> dict[str, int]:
    """The causes of re-prefill that are not zero."""
    return {cause: tokens for cause, tokens in arm["tokens"]["reprefilled"].items() if tokens}


def moves(arm: dict[str, Any]) -> list[tuple[str, str, str, int]]:
    """The kinds of moves of an arm as (action, from, to, count); a faulted one is called "fault"."""
    return [
        ("fault" if row["outcome"] == "fault" else row["action"], row["from"], row["to"], row["count"])
        for row in arm["moves"]
    ]


def outcome(arm: dict[str, Any]) -> dict[str, Any]:
    """What an arm did, without the names of its rules and of tiers that it never used."""
    return {
        part: {name: figure for name, figure in arm[part].items() if figure}
        if isinstance(arm[part], dict)
        else arm[part]
        for part in ("time_ns", "ttft_ns", "moves", "evictions", "lifecycle")
    } | {
        "tokens": arm["tokens"] | {"hit": {tier: tokens for tier, tokens in arm["tokens"]["hit"].items() if tokens}},
        "occupancy_bytes": {tier: held for tier, held in arm["occupancy_bytes"].items() if held["peak"]},
    }


def integers(values: Sequence[int]) -> array[int]:
    """A column."""
    return array("q", values)
