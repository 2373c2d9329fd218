"""The replay of one arm: every event of a workload, in order, through a policy and into a ledger."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.contest import Contest
from harness.engine import Engine
from harness.fleet import ArmResult, FleetOptions, Replica, build_arm
from harness.refusals import Refusals
from harness.routing import ROUTERS
from harness.workload import Workload
from policy.decisions import COLD, LOAD_REFUSED, STRANDED
from policy.journal import Row
from policy.lifecycle import Ttls
from policy.policies.spec import PolicySpec
from policy.tiers import HBM, TIER_COUNT, tier_code


@dataclass(slots=True)
class RequestAccount:
    """One request's outcome: tokens by where they came from. `hit_tokens` is by tier code."""

    request: int
    replica: int
    time_us: int
    hit_tokens: array[int]
    cold_tokens: int
    reprefilled_tokens: int
    obligatory_tokens: int
    stage_ns: int
    attend_ns: int
    prefill_ns: int


RowSink = Callable[[list[Row]], object]
RequestSink = Callable[[RequestAccount], None]
# Called with the arm's name, the events that are done, and how many there are.
ProgressSink = Callable[[str, int, int], None]

_EVENTS_PER_PROGRESS = 1_000


@dataclass(frozen=True, slots=True)
class Routing:
    """Who serves what: the fleet, and the replica of each request."""

    fleet: FleetOptions
    routes: array[int]


def route(workload: Workload, fleet: FleetOptions) -> Routing:
    """Deal the requests of `workload` out to the replicas."""
    if fleet.replicas == 1:
        return Routing(fleet, array("q", [0]) * workload.trace.requests)
    return Routing(fleet, ROUTERS[fleet.router](workload, fleet.replicas))


def replay_arm(
    workload: Workload,
    engine: Engine,
    spec: PolicySpec,
    settings: dict[str, int],
    ttls: Ttls,
    routing: Routing,
    on_rows: Sequence[RowSink] = (),
    on_request: RequestSink | None = None,
    on_progress: ProgressSink | None = None,
    contest: Contest | None = None,
) -> ArmResult:
    """Replay `workload` under one policy. The sinks see every journal row and every finished request, in order.

    `on_rows` is empty, or has a sink for each replica. `contest` are the blocks that several classes of an isolation
    ask for, where there are any.
    """
    arm = build_arm(spec.name, spec.rules(settings), workload, engine, ttls, routing.fleet)
    runner = _Runner(workload, arm, routing.routes, on_rows, on_request, contest)
    total = len(workload.events)
    for done in range(0, total, _EVENTS_PER_PROGRESS):
        runner.run(done, min(done + _EVENTS_PER_PROGRESS, total))
        if on_progress is not None:
            on_progress(spec.name, min(done + _EVENTS_PER_PROGRESS, total), total)
    return arm


class _Runner:
    """Walks the events of one arm."""

    def __init__(
        self,
        workload: Workload,
        arm: ArmResult,
        routes: array[int],
        on_rows: Sequence[RowSink],
        on_request: RequestSink | None,
        contest: Contest | None,
    ) -> None:
        self.workload = workload
        self.arm = arm
        self.replicas = arm.replicas
        self.routes = routes
        self.on_rows = on_rows
        self.on_request = on_request
        # Deadlines of several replicas fall in one order.
        self.timed = len(self.replicas) > 1 and self.replicas[0].ladder.timed
        self.refusals = [Refusals(contest, one.serving, one.ledger) for one in self.replicas] if contest else []

    def run(self, first: int, end: int) -> None:
        """Replay the events from `first` up to, not including, `end`."""
        replicas = self.replicas
        alone = len(replicas) == 1
        # The ceiling is deaf to what the world does to its tiers.
        deaf = self.arm.rules.hbm_unbounded
        now = self.workload.start_us
        for at in range(first, end):
            event = self.workload.events[at]
            now = self.workload.event_us[at]
            if self.timed:
                self._age(now)
            if event < 0:
                for replica in range(len(replicas)):
                    replicas[replica].ladder.age(now)
                    if not deaf:
                        self._control(-1 - event, replica, now)
                    self._settle(replica, 0)
            else:
                self._request(event, 0 if alone else self.routes[event], now)
        for one in replicas:
            one.ledger.advance(now)
        for pool in self.arm.pools:
            pool.book.advance(now)

    def _age(self, now: int) -> None:
        """Deadlines up to `now`, whichever replica's falls next; at one time, the replica's with the lower number."""
        while True:
            falls, index = min((one.ladder.deadlines.next(), index) for index, one in enumerate(self.replicas))
            if falls > now:
                return
            self.replicas[index].ladder.age(falls)
            self._settle(index, 0)

    def _request(self, request: int, index: int, now: int) -> None:
        workload = self.workload
        trace = workload.trace
        tree = workload.tree
        replica = self.replicas[index]
        ladder = replica.ladder
        ledger = replica.ledger
        serving = replica.serving
        spans = workload.spans
        output_tokens = trace.output_tokens[request]
        path = tree.path[tree.path_start[request] : tree.path_start[request + 1]]

        ladder.age(now)
        # What fell before this request is not this request's to wait for.
        self._settle(index, 0)
        serving.begin(path)
        run = serving.match(path)
        refusals = self.refusals[index] if self.refusals else None
        if refusals is not None:
            refusals.ask(path)
        kept = serving.cut(path, run, output_tokens)
        before = array("q", ledger.hit_tokens) if self.on_request else None
        served, last_tier = self._serve(replica, path[:kept], output_tokens, now)
        gap = run if served == kept else served + 1

        prefill_ns = workload.tail_ns[request]
        cold_tokens = computed_tokens = 0
        for at in range(served, len(path)):
            span = path[at]
            computed_tokens += spans.tokens[span]
            prefill_ns += spans.recompute_ns[span]
            if self._compute(replica, span, LOAD_REFUSED if at < gap else STRANDED, now) == COLD:
                cold_tokens += spans.tokens[span]
        if refusals is not None:
            refusals.held(path)
        unidentified_tokens = trace.unidentified_tokens[request]
        obligatory = 0
        if served and served == len(path) and not unidentified_tokens:
            ledger.obligatory(last_tier)
            prefill_ns += spans.last_token_ns[path[-1]]
            obligatory = 1
        serving.end(path, now)
        stage_ns, attend_ns = self._settle(index, output_tokens)
        ledger.request(trace.input_tokens[request], unidentified_tokens, prefill_ns, stage_ns + attend_ns)
        if self.on_request is not None and before is not None:
            hits = array("q", [now_hit - was for now_hit, was in zip(ledger.hit_tokens, before, strict=True)])
            self.on_request(
                RequestAccount(
                    request,
                    index,
                    now,
                    hits,
                    cold_tokens,
                    computed_tokens - cold_tokens,
                    obligatory,
                    stage_ns,
                    attend_ns,
                    prefill_ns,
                )
            )

    def _serve(self, replica: Replica, run: array[int], output_tokens: int, now: int) -> tuple[int, int]:
        """Serve a run of spans. Returns how many were, before a fault if there is one, and the last one's tier."""
        tier = replica.ladder.life.tier
        last_tier = HBM
        for at in range(len(run)):
            last_tier = tier[run[at]]
            if not replica.serving.serve(run[at], output_tokens, now):
                return at, last_tier
            replica.ledger.hit(run[at], last_tier)
        return len(run), last_tier

    def _compute(self, replica: Replica, span: int, cause: int, now: int) -> int:
        """Compute a span of a path whose copy, if there is one, is of no use because of `cause`; why it had to be."""
        ladder = replica.ladder
        if ladder.held_bytes[span]:
            replica.serving.discard(span, cause, now)
        booked = replica.ledger.computed(span, ladder.why_lost(span))
        replica.serving.fill(span, now)
        return booked

    def _control(self, index: int, replica: int, now: int) -> None:
        control = self.workload.trace.controls[index]
        ladder = self.replicas[replica].ladder
        tiers = [tier_code(control.tier)] if control.tier else list(range(TIER_COUNT))
        for tier in tiers:
            if not ladder.present[tier]:
                continue
            if control.kind == "clear":
                ladder.clear(tier, now)
            elif control.kind == "fault":
                ladder.fail(tier, now + control.value - control.t_us)
            else:
                ladder.press(tier, control.value, now)

    def _settle(self, index: int, output_tokens: int) -> tuple[int, int]:
        replica = self.replicas[index]
        journal = replica.ladder.journal
        if not journal.rows:
            return 0, 0
        rows = journal.rows
        journal.rows = []
        if self.on_rows:
            self.on_rows[index](rows)
        return replica.ledger.settle(rows, output_tokens)
