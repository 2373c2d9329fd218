"""Random traces and machines for hypothesis: prefix forests with awkward corners, and tiers too small for them.

Each is grown from a seed by plain code, because drawing every figure through hypothesis gives few and poor traces. What
hypothesis can still shrink is a trace's length: a shorter one is the beginning of the longer one with the same seed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from builders import BLOCK_BYTES, BLOCK_TOKENS, Access, Ask, Clear, Fault, Pressure, Row, Tier, engine_of, trace_of
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from harness.engine import Engine, LinkLimit, Prefill
from harness.fleet import FleetOptions
from harness.routing import ROUTERS
from harness.trace import Trace
from policy.identity import AXIS_NAMES, Identity
from policy.tiers import TIER_NAMES, tier_code

COLDER = ("dram", "numa_far", "cxl", "disk", "remote")
SEEDS = st.integers(0, 2**32 - 1)


def moderate(examples: int) -> settings:
    """The same examples everywhere, however slow the machine."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow],
    )


@dataclass
class Forest:
    """Grows paths of blocks from a seed."""

    random: Random
    partial_tails: bool
    paths: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    sizes: dict[int, int] = field(default_factory=dict)

    def path(self) -> tuple[int, ...]:
        """Part of a known path, recent ones more often, with new blocks behind it; or a known path as it is."""
        recent = self.paths[-6:] if self.random.random() < 0.5 else self.paths
        path = self.random.choice(recent)
        if self.random.random() < 0.3:
            path = path[: self.random.randint(0, len(path))]
        new = self.random.choice([0, 0, 0, 1, 1, 2, 3, 6])
        if new and path and self.sizes[path[-1]] < BLOCK_TOKENS:
            # Nothing follows a block that is not whole.
            path = path[:-1]
        for at in range(new):
            block = len(self.sizes)
            partial = self.partial_tails and at == new - 1 and self.random.random() < 0.3
            self.sizes[block] = self.random.randint(1, BLOCK_TOKENS - 1) if partial else BLOCK_TOKENS
            path += (block,)
        self.paths.append(path)
        return path


class Identities:
    """Who asks: each axis not stated, or one of two names, some axes more mixed than others; or nobody at all."""

    def __init__(self, random: Random | None) -> None:
        self.random = random
        self.axes = [axis for axis in AXIS_NAMES if random and random.random() < 0.6]

    def draw(self) -> tuple[Identity, str]:
        random = self.random
        said = {axis: random.choice(["", "a", "a", "b"]) for axis in self.axes if random}
        session = said.pop("session", "")
        return Identity(**said), session


def grow_rows(
    seed: int,
    length: int,
    *,
    controls: bool = True,
    accesses: bool = True,
    partial_tails: bool = True,
    in_order: bool = False,
    identities: bool = False,
) -> tuple[list[Row], dict[Any, int]]:
    """Rows of a trace in file order, and the sizes of its blocks. Times stand still and, unless in order, step back."""
    random = Random(seed)
    forest = Forest(random, partial_tails)
    # A trace is rich in controls, or has few, or none.
    weights = [20, 2 * accesses, *([random.choice([0, 0.5, 2]) * controls] * 3)]
    steps = random.choice([[0, 1, 2], [0, 0, 0, 1, 5, 20, -3], [10, 30]])
    made: list[Row] = []
    # Identities have a source of their own, so that a trace without them is the same trace.
    who = Identities(Random(seed + 1) if identities else None)
    time = random.randint(0, 50)
    for _ in range(length):
        step = random.choice(steps)
        time += abs(step) if in_order else step
        kind = random.choices(["ask", "access", "clear", "fault", "pressure"], weights)[0]
        tier = random.choice(["hbm", "hbm", *COLDER])
        output = random.choice([0, 0, 1, 3, 1000])
        if kind == "ask" or not made:
            made.append(Ask(forest.path(), time, output, random.choice([0, 0, 0, 1, 3]), *who.draw()))
        elif kind == "access":
            span = random.randint(0, 3)
            made.append(Access(span, 1 + 3 * span, span * 3 * BLOCK_BYTES // 2, time, output, *who.draw()))
        elif kind == "clear":
            made.append(Clear(random.choice([tier, ""]), time))
        elif kind == "fault":
            made.append(Fault(tier, time, time + random.choice([-1, 0, 1, 10, 40])))
        else:
            made.append(Pressure(tier, random.choice([0, 1, 250_000, 500_000, 999_999, 1_000_000]), time))
    return made, dict(forest.sizes)


def grow_trace(seed: int, length: int, **options: bool) -> Trace:
    """The trace of `grow_rows`."""
    made, sizes = grow_rows(seed, length, **options)
    return trace_of(*made, sizes=sizes)


def traces(most: int = 40, **options: bool) -> st.SearchStrategy[Trace]:
    """Traces of 1 to `most` rows."""
    return st.builds(lambda seed, length: grow_trace(seed, length, **options), SEEDS, st.integers(1, most))


def grow_tiers(random: Random) -> dict[str, Tier]:
    """HBM and some colder tiers, each of a few blocks, some of an odd size and a few without bound (0)."""
    tiers = {}
    for name in ("hbm", *sorted(random.sample(COLDER, random.randint(1, 4)), key=tier_code)):
        blocks = random.randint(1, 8 if name == "hbm" else 16)
        capacity_bytes = blocks * BLOCK_BYTES + random.choice([0, 0, 1, -1, BLOCK_BYTES // 2])
        tiers[name] = Tier(
            0 if random.random() < 0.06 else capacity_bytes,
            random.choice([0, 90, 500, 3000]),
            # A block takes 4 us, or 1 us, or next to nothing; no bandwidth is never cheap.
            random.choice([1000, 4000, 4000, 300_000] + [0] * (name != "hbm")),
        )
    return tiers


def grow_engine(seed: int, links: bool = True) -> Engine:
    """A machine with tiers of `grow_tiers`, links between some, and a prefill that is flat or grows with context."""
    random = Random(seed)
    tiers = grow_tiers(random)
    codes = [tier_code(name) for name in tiers]
    joined = [
        # The way up may be the slow one: then a span was worth keeping and is not worth loading.
        LinkLimit(
            hotter,
            colder,
            random.choice([500, 2000, 10**6]),
            random.choice([300, 1000, 10**6]),
            random.choice([0, 900]),
        )
        for hotter in codes
        for colder in codes
        if links and hotter < colder and random.random() < 0.3
    ]
    # A block computes in 4 us, so that some tiers pay and some do not; in far more, so that all do; or in less.
    prefill = random.choice(
        [
            Prefill(ns_per_token=1000),
            Prefill(ns_per_token=2500),
            Prefill(ns_per_token=100_000),
            Prefill(ns_per_token=100_000),
            Prefill(ns_per_token=100),
            Prefill(linear_flop_per_token=500, attention_flop_per_pair=130, mflop_per_s=1000),
        ]
    )
    return engine_of(tiers, prefill=prefill, links=joined)


def grow_options(seed: int) -> dict[str, Any]:
    """How a run may be set: TTLs (often none), grace, what happens on expiry, the length of spans, and `now`."""
    random = Random(seed)
    names = random.sample(["hbm", *COLDER], random.choice([0, 0, 3, 6]))
    return {
        "ttl_us": {name: random.choice([0, 1, 3, 10, 50]) for name in names},
        "grace_us": random.choice([0, 0, 1, 4, 20]),
        "demote_on_expiry": random.random() < 0.8,
        "span_tokens": random.choice([0, 0, 1, 5, 8, 4096]),
        "now_ms": random.choice([0, 7, 10**12]),
    }


def grow_fleet(seed: int, engine: Engine) -> dict[str, Any]:
    """2 to 5 replicas, any router, and some of the engine's colder tiers in pools whose hosts need not divide them."""
    random = Random(seed)
    colder = [TIER_NAMES[code] for code in engine.profiles if code]
    pooled = random.sample(colder, random.randint(min(1, len(colder)), len(colder)))
    return {
        "replicas": random.randint(2, 5),
        "router": random.choice(sorted(ROUTERS)),
        "pool_hosts": {name: random.randint(2, 5) for name in pooled},
    }


def without_pooled_ttls(options: dict[str, Any], fleet: dict[str, Any]) -> dict[str, Any]:
    """Options whose TTLs are of private tiers alone."""
    kept = {tier: ttl for tier, ttl in options["ttl_us"].items() if tier not in fleet["pool_hosts"]}
    return options | {"ttl_us": kept}


def fleet_options(fleet: dict[str, Any]) -> FleetOptions:
    """A fleet of `grow_fleet` as the replay takes it."""
    hosts = {tier_code(name): count for name, count in fleet["pool_hosts"].items()}
    return FleetOptions(fleet["replicas"], fleet["router"], hosts)


engines = st.builds(grow_engine, SEEDS)
run_options = st.builds(grow_options, SEEDS)
