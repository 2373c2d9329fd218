"""Several arms over one workload: the policy in question, what it is held against, and the ceiling."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.audit import Check, audit
from harness.contest import contest_of
from harness.directives import DirectiveText, preamble
from harness.documents import WholeFile
from harness.engine import Engine
from harness.errors import SetupError
from harness.fleet import ArmResult, FleetOptions, check_fleet, check_pools
from harness.isolation import Isolated, check_axes, isolate
from harness.ledger import Books
from harness.levels import Level, replay_levels
from harness.replay import ProgressSink, RequestSink, Routing, RowSink, replay_arm, route
from harness.trace import IDENTITY_AXES, MAX_TOKENS, Trace
from harness.workload import Workload, prepare
from policy.journal import Row
from policy.lifecycle import Ttls
from policy.policies.registry import CEILING, POLICIES
from policy.rules import RULE_SPECS
from policy.tiers import LADDER, TIER_COUNT

# A clock of milliseconds since 1970 fits a thousand times over; times stay within 64-bit microseconds.
MAX_NOW_MS = 2**50

# From what is replayed, and on what, to what is told of every row of the policy's arm.
Follower = Callable[[Workload, Engine], RowSink]


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """What a person may choose for a replay, beside the machine and the model.

    `settings` are rules (`policy.rules`) that hold for the arm `policy`; `ttl_us` is by tier code. Requests share
    nothing unless they agree in the axes of `isolation`: by default in everything that the trace states.
    """

    now_ms: int = 0
    policy: str = "tiered"
    against: tuple[str, ...] = ("blind-lru",)
    settings: dict[str, int] = field(default_factory=dict)
    ttl_us: dict[int, int] = field(default_factory=dict)
    grace_us: int = 0
    demote_on_expiry: bool = True
    span_tokens: int = 4096
    fleet: FleetOptions = field(default_factory=FleetOptions)
    isolation: tuple[str, ...] = IDENTITY_AXES

    def arms(self) -> list[str]:
        """Policy names in the order of the report, each once: the policy, its rivals, the ceiling."""
        return list(dict.fromkeys((self.policy, *self.against, CEILING)))

    def ttls(self) -> Ttls:
        """The TTLs of this run, in microseconds."""
        ttls = Ttls(0, self.grace_us, int(self.demote_on_expiry), TIER_COUNT)
        for tier, ttl in self.ttl_us.items():
            ttls.set(tier, ttl)
        return ttls


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every arm of a run, the ceiling among them, and the audit over all; `levels` are what its isolation costs."""

    options: ReplayOptions
    engine: Engine
    isolated: Isolated
    workload: Workload
    routing: Routing
    arms: dict[str, ArmResult]
    directives_sha256: dict[str, str]
    checks: list[Check]
    levels: list[Level]


def check_options(options: ReplayOptions) -> None:
    """Raise `SetupError` for a policy or a parameter that does not exist, or a value out of its range."""
    for name in (options.policy, *options.against):
        if name not in POLICIES:
            raise SetupError(f"--policy/--against {name}: no such policy; choose one of {', '.join(POLICIES)}")
    specs = {spec.name: spec for spec in RULE_SPECS}
    for name, value in options.settings.items():
        if name not in specs:
            raise SetupError(f"--set {name}: no such parameter; choose one of {', '.join(specs)}")
        if not 0 <= value <= specs[name].maximum:
            raise SetupError(f"--set {name}={value}: out of range; give 0 to {specs[name].maximum}")
    if not 0 <= options.span_tokens <= MAX_TOKENS:
        raise SetupError(f"--span-tokens {options.span_tokens}: out of range; give 0 (one block) to {MAX_TOKENS}")
    if abs(options.now_ms) > MAX_NOW_MS:
        raise SetupError(f"--now {options.now_ms}: out of range; give milliseconds within {MAX_NOW_MS} of 0")
    if options.grace_us and not any(options.ttl_us.values()):
        raise SetupError("--grace without a --ttl: nothing ever expires; give a --ttl too")
    check_axes(options.isolation)
    if options.settings.get("compress_ppm") and not options.settings.get("compress_measured"):
        raise SetupError(
            "--set compress_ppm: nothing is compressed whose quality loss was not measured; set compress_measured=1 too"
        )
    if options.settings and options.policy == CEILING:
        raise SetupError(f"--set with --policy {CEILING}: the ceiling has no settings; choose another --policy")
    if options.settings and options.policy in options.against:
        raise SetupError(f"--against {options.policy}: the same policy as --policy, whose --set it would not share")
    check_fleet(options.fleet, options.ttl_us)


def check_tiers(options: ReplayOptions, engine: Engine) -> None:
    """Raise `SetupError` for a TTL or a pool of a tier that the engine does not have."""
    check_pools(options.fleet, engine)
    for tier in options.ttl_us:
        if tier not in engine.profiles:
            names = ", ".join(LADDER[code] for code in sorted(engine.profiles))
            raise SetupError(f"--ttl {LADDER[tier]}: this engine has no such tier; it has {names}")


def compare(
    trace: Trace,
    engine: Engine,
    options: ReplayOptions,
    directive_file: WholeFile | None = None,
    on_request: RequestSink | None = None,
    on_progress: ProgressSink | None = None,
    follow: Follower | None = None,
) -> Comparison:
    """Replay `trace` under every arm. `directive_file`, `on_request` and `follow` follow the arm `options.policy`.

    The options are good (`check_options`). Raises `SetupError` for figures that cannot be counted.
    """
    isolated = isolate(trace, options.isolation)
    workload = prepare(isolated.trace, engine, options.span_tokens, options.now_ms)
    contest = contest_of(isolated, workload.tree)
    routing = route(workload, options.fleet)
    ttls = options.ttls()
    start = preamble(workload, isolated)
    texts = _texts(options.fleet)
    if directive_file is not None:
        directive_file.write(start)
    arms: dict[str, ArmResult] = {}
    digests: dict[str, str] = {}
    for name in options.arms():
        mine = name == options.policy
        digest = hashlib.sha256(start)
        # The ceiling is one engine, whose rows name no replica.
        arm_texts = texts if not POLICIES[name].rules({}).hbm_unbounded else _texts(FleetOptions())
        followed = follow(workload, engine) if follow is not None and mine else None
        stream = directive_file if mine else None
        arms[name] = replay_arm(
            workload,
            engine,
            POLICIES[name],
            options.settings if mine else {},
            ttls,
            routing,
            [_sink(text, digest, stream, followed) for text in arm_texts],
            on_request if mine else None,
            on_progress,
            contest,
        )
        digests[name] = digest.hexdigest()

    def replay(level: Trace, called: str) -> dict[str, Books]:
        return _books(prepare(level, engine, options.span_tokens, options.now_ms), engine, options, called, on_progress)

    levels = replay_levels(isolated, {name: arm.books() for name, arm in arms.items()}, replay)
    checks = audit(list(arms.values()), arms[CEILING])
    return Comparison(options, engine, isolated, workload, routing, arms, digests, checks, levels)


def _books(
    workload: Workload, engine: Engine, options: ReplayOptions, called: str, on_progress: ProgressSink | None
) -> dict[str, Books]:
    """The books of every arm over a workload, and nothing else of it."""

    def progress(arm: str, done: int, total: int) -> None:
        if on_progress is not None:
            on_progress(f"{arm}, {called}", done, total)

    routing = route(workload, options.fleet)
    return {
        name: replay_arm(
            workload,
            engine,
            POLICIES[name],
            options.settings if name == options.policy else {},
            options.ttls(),
            routing,
            on_progress=progress,
        ).books()
        for name in options.arms()
    }


def _texts(fleet: FleetOptions) -> list[DirectiveText]:
    """A renderer of rows for each replica."""
    if fleet.replicas == 1:
        return [DirectiveText()]
    return [DirectiveText(replica) for replica in range(fleet.replicas)]


def _sink(text: DirectiveText, digest: hashlib._Hash, stream: WholeFile | None, followed: RowSink | None) -> RowSink:
    """A sink that digests the lines of rows, writes them to `stream`, and passes the rows on."""

    def sink(rows: list[Row]) -> None:
        lines = text.lines(rows)
        digest.update(lines)
        if stream is not None:
            stream.write(lines)
        if followed is not None:
            followed(rows)

    return sink
