"""From the catalog and the options to an engine: room for KV, bytes per token, cost of a token, and the tiers it gets.

An engine is `tensor_parallel` accelerators of the node. HBM room is what weights and overhead leave. The other tiers
are shared by the node's accelerators, so an engine gets its part of their capacity and bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.catalog.canonical import entry_digest
from harness.catalog.lookup import Catalog
from harness.catalog.machine import AcceleratorGroup, Machine
from harness.catalog.model import Model, kv_bytes_per_token, replicas_of_kv
from harness.engine import Engine, LinkLimit, Prefill
from harness.errors import SetupError
from policy.cost import PPM
from policy.profiles import TierProfile
from policy.tiers import HBM, LADDER, tier_code

DEFAULT_MACHINE = "h100-sxm"
DEFAULT_MODEL = "llama-3.1-8b"
MAX_KV_BYTES_PER_TOKEN = 2**30
MAX_PREFILL_NS_PER_TOKEN = 10**12


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What a person may override. `capacity_bytes` is by tier code, 0 is unbounded; 0 elsewhere is "not given"."""

    machine: str = DEFAULT_MACHINE
    model: str | None = None
    tensor_parallel: int = 1
    capacity_bytes: dict[int, int] = field(default_factory=dict)
    dropped: frozenset[int] = frozenset()
    kv_bytes_per_token: int = 0
    prefill_ns_per_token: int = 0


def resolve_engine(catalog: Catalog, options: EngineOptions) -> Engine:
    """The engine that options describe. Raises `CatalogError` for an unknown id, `SetupError` for what cannot be."""
    machine = catalog.machine(options.machine)
    _check_options(machine, options)
    model = _model(catalog, machine, options)
    derivation: list[str] = []
    count = machine.accelerator_count
    if count > 1:
        derivation.append(f"engine: {options.tensor_parallel} of {count} accelerators, and as much of every other tier")
    profiles = _profiles(machine, model, options, derivation)
    return Engine(
        machine_id=options.machine,
        machine_digest=entry_digest(machine),
        model_id=_model_id(options) if model is not None else "",
        model_digest=entry_digest(model) if model is not None else "",
        kv_bytes_per_token=_kv_bytes(model, options, derivation),
        prefill=_prefill(machine, model, options, derivation),
        profiles=profiles,
        links=_links(machine, options, profiles),
        accelerator_bytes=_accelerator_bytes(machine, options),
        derivation=tuple(derivation),
    )


def _check_options(machine: Machine, options: EngineOptions) -> None:
    count = machine.accelerator_count
    if not 1 <= options.tensor_parallel <= count:
        raise SetupError(
            f"--tensor-parallel {options.tensor_parallel}: {options.machine} has {count} accelerators;"
            f" give 1 to {count}"
        )
    for value, most, option in (
        (options.kv_bytes_per_token, MAX_KV_BYTES_PER_TOKEN, "--kv-bytes-per-token"),
        (options.prefill_ns_per_token, MAX_PREFILL_NS_PER_TOKEN, "--prefill-ns-per-token"),
    ):
        if not 0 <= value <= most:
            raise SetupError(f"{option} {value}: out of range; give 1 to {most}")
    present = {tier_code(name) for name, _ in machine.tiers.present()}
    for tier in sorted(options.capacity_bytes.keys() | options.dropped):
        if tier not in present:
            names = ", ".join(name for name, _ in machine.tiers.present())
            raise SetupError(f"{options.machine} has no tier {LADDER[tier]}; it has {names}")
        if tier in options.capacity_bytes and tier in options.dropped:
            raise SetupError(f"--capacity and --drop-tier both name {LADDER[tier]}; keep one")
    if HBM in options.dropped:
        raise SetupError("--drop-tier hbm: every engine computes in HBM; drop colder tiers only")


def _model_id(options: EngineOptions) -> str:
    return DEFAULT_MODEL if options.model is None else options.model


def _model(catalog: Catalog, machine: Machine, options: EngineOptions) -> Model | None:
    """The model, or None where nothing of it is needed and nobody named one."""
    room_known = machine.accelerators is None or HBM in options.capacity_bytes
    if options.model is None and room_known and options.kv_bytes_per_token and options.prefill_ns_per_token:
        return None
    return catalog.model(_model_id(options))


def _kv_bytes(model: Model | None, options: EngineOptions, derivation: list[str]) -> int:
    if options.kv_bytes_per_token or model is None:
        derivation.append(f"KV bytes per token: {options.kv_bytes_per_token} as given")
        return options.kv_bytes_per_token
    one = kv_bytes_per_token(model)
    copies = replicas_of_kv(model, options.tensor_parallel)
    derivation.append(f"KV bytes per token: {one} x {copies} copies over {options.tensor_parallel} ranks")
    return one * copies


def _prefill(machine: Machine, model: Model | None, options: EngineOptions, derivation: list[str]) -> Prefill:
    if options.prefill_ns_per_token or model is None:
        derivation.append(f"prefill: {options.prefill_ns_per_token} ns per token as given")
        return Prefill(ns_per_token=options.prefill_ns_per_token)
    group = machine.accelerators
    if group is None:
        raise SetupError(
            f"{options.machine} has no accelerator figures to derive a prefill rate from;"
            " give --prefill-ns-per-token or choose another --machine"
        )
    peak_mflop_s = group.bf16_dense_gflops.value * 1000 * options.tensor_parallel
    mflop_s = peak_mflop_s * group.mfu_ppm.value // PPM
    layers = model.full_attention_layers or model.layers
    heads = model.query_heads.value * model.head_dim.value
    linear = 2 * model.active_params.value
    if model.window_tokens is not None:
        # A window layer attends to a window, however long the context: a cost per token, not per pair.
        windowed = model.layers.value - layers.value
        linear += 4 * windowed * heads * model.window_tokens.value
    derivation.append(
        f"prefill: roofline at {group.mfu_ppm.value} ppm of {options.tensor_parallel} x"
        f" {group.bf16_dense_gflops.value} dense bf16 GFLOP/s"
    )
    return Prefill(
        linear_flop_per_token=linear,
        attention_flop_per_pair=4 * layers.value * heads,
        mflop_per_s=mflop_s,
    )


def _profiles(
    machine: Machine, model: Model | None, options: EngineOptions, derivation: list[str]
) -> dict[int, TierProfile]:
    profiles = {}
    group = machine.accelerators
    for name, tier in machine.tiers.present():
        code = tier_code(name)
        if code in options.dropped:
            continue
        capacity_bytes = _part(tier.capacity_bytes.value, code, machine, options)
        if code in options.capacity_bytes:
            capacity_bytes = options.capacity_bytes[code]
        elif code == HBM and group is not None and model is not None:
            capacity_bytes = _hbm_room(group, model, options, derivation)
        profiles[code] = TierProfile(
            code,
            tier.read_latency_ns.value,
            max(1, _part(tier.bandwidth_mb_s.value, code, machine, options)),
            capacity_bytes,
            tier.byte_addressable,
            tier.coherent,
            tier.persistent,
            tier.share,
        )
    return profiles


def _accelerator_bytes(machine: Machine, options: EngineOptions) -> int:
    group = machine.accelerators
    return group.memory_bytes.value * options.tensor_parallel if group is not None else 0


def _part(figure: int, tier: int, machine: Machine, options: EngineOptions) -> int:
    """An engine's part of a figure: HBM is per accelerator, everything else is the node's and shared."""
    if tier == HBM:
        return figure * options.tensor_parallel
    return figure * options.tensor_parallel // machine.accelerator_count


def _hbm_room(group: AcceleratorGroup, model: Model, options: EngineOptions, derivation: list[str]) -> int:
    """What weights and overhead leave for KV over the engine's accelerators."""
    ranks = options.tensor_parallel
    usable = group.memory_bytes.value * group.kv_memory_utilisation_ppm.value // PPM
    overhead = group.overhead_bytes.value
    room = ranks * usable - model.weights_bytes.value - ranks * overhead
    arithmetic = (
        f"{ranks} x {group.memory_bytes.value} bytes of HBM x {group.kv_memory_utilisation_ppm.value} ppm"
        f" - {model.weights_bytes.value} of weights - {ranks} x {overhead} of overhead = {room}"
    )
    if room <= 0:
        raise SetupError(
            f"{_model_id(options)} leaves no HBM for KV on {options.machine}: {arithmetic} bytes;"
            " raise --tensor-parallel, or give --capacity hbm=SIZE"
        )
    derivation.append(f"HBM room for KV: {arithmetic} bytes")
    return room


def _links(machine: Machine, options: EngineOptions, profiles: dict[int, TierProfile]) -> tuple[LinkLimit, ...]:
    links = []
    for link in machine.links:
        hotter, colder = tier_code(link.a), tier_code(link.b)
        if hotter not in profiles or colder not in profiles:
            continue
        shared_by = 1 if link.per_accelerator else machine.accelerator_count
        down, up, both = (
            figure.value * options.tensor_parallel // shared_by if figure is not None else 0
            for figure in (link.a_to_b_mb_s, link.b_to_a_mb_s, link.both_mb_s)
        )
        links.append(LinkLimit(hotter, colder, max(1, down), max(1, up), both))
    return tuple(links)
