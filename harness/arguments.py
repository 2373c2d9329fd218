"""A replay's options as people spell them, on the command line or in the index of golden reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated

import msgspec

from harness.comparison import ReplayOptions, check_options
from harness.errors import SetupError
from harness.fleet import DEFAULT_ROUTER, FleetOptions
from harness.isolation import ALL, parse_isolation
from harness.resolve import DEFAULT_MACHINE, EngineOptions
from harness.units import parse_count, parse_duration_us, parse_size, parse_tier, split_assignment


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of a replay, in the spelling of `fakbench replay`."""

    now: int = 0
    machine: str = DEFAULT_MACHINE
    model: str | None = None
    policy: str = "tiered"
    against: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)] = ("blind-lru",)
    capacity: tuple[str, ...] = ()
    drop_tier: tuple[str, ...] = ()
    tensor_parallel: int = 1
    kv_bytes_per_token: int = 0
    prefill_ns_per_token: int = 0
    ttl: tuple[str, ...] = ()
    grace: str = "0"
    demote_on_expiry: bool = True
    span_tokens: int = 4096
    isolation: str = ALL
    set: tuple[str, ...] = ()
    replicas: int = 1
    pool: tuple[str, ...] = ()
    router: str = DEFAULT_ROUTER

    def replay_options(self) -> ReplayOptions:
        """The options of the replay itself. Raises `SetupError` for what cannot be."""
        options = ReplayOptions(
            now_ms=self.now,
            policy=self.policy,
            against=self.against,
            settings=parse_settings(self.set),
            ttl_us=parse_ttls(self.ttl),
            grace_us=parse_duration_us(self.grace, "--grace"),
            demote_on_expiry=self.demote_on_expiry,
            span_tokens=self.span_tokens,
            fleet=FleetOptions(self.replicas, self.router, parse_pools(self.pool)),
            isolation=parse_isolation(self.isolation),
        )
        check_options(options)
        return options

    def engine_options(self) -> EngineOptions:
        """The options of the engine. Raises `SetupError` for what is not understood."""
        return EngineOptions(
            machine=self.machine,
            model=self.model,
            tensor_parallel=self.tensor_parallel,
            capacity_bytes=parse_capacities(self.capacity),
            dropped=frozenset(parse_tier(name, "--drop-tier") for name in self.drop_tier),
            kv_bytes_per_token=self.kv_bytes_per_token,
            prefill_ns_per_token=self.prefill_ns_per_token,
        )


def parse_capacities(texts: Iterable[str], option: str = "--capacity") -> dict[int, int]:
    """`--capacity TIER=SIZE` in bytes, by tier code. Raises `SetupError`, also where a tier is named twice."""
    return _by_tier(texts, option, "dram=512GiB", parse_size)


def parse_ttls(texts: Iterable[str]) -> dict[int, int]:
    """`--ttl TIER=DURATION` in microseconds, by tier code. Raises `SetupError`, also where a tier is named twice."""
    return _by_tier(texts, "--ttl", "dram=60s", parse_duration_us)


def parse_pools(texts: Iterable[str]) -> dict[int, int]:
    """`--pool TIER=HOSTS`, by tier code. Raises `SetupError`, also where a tier is named twice."""
    return _by_tier(texts, "--pool", "cxl=8", parse_count)


def _by_tier(texts: Iterable[str], option: str, example: str, parse: Callable[[str, str], int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for text in texts:
        name, value = split_assignment(text, option, example)
        tier = parse_tier(name, option)
        if tier in found:
            raise SetupError(f"{option} {text}: {name} is given twice; keep one")
        found[tier] = parse(value, option)
    return found


def parse_settings(texts: Iterable[str]) -> dict[str, int]:
    """`--set name=value`, values being integers. Raises `SetupError`, also where a name is given twice."""
    found: dict[str, int] = {}
    for text in texts:
        name, value = split_assignment(text, "--set", "cascade=0")
        if name in found:
            raise SetupError(f"--set {text}: {name} is given twice; keep one")
        if not (value.isascii() and value.isdigit() and len(value) < 20):
            raise SetupError(f"--set {text}: {value} is not a whole number; write it like --set cascade=0")
        found[name] = int(value)
    return found
