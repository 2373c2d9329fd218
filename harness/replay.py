"""The replay of one arm: every event of a workload, in order, through a policy and into a ledger."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.contest import Contest
from harness.engine import Engine
from harness.fleet import ArmResult, FleetOptions, Replica, build_arm
from harness.ledger import Ledger
from harness.refusals import Refusals
from harness.routing import ROUTERS
from harness.workload import Workload
from policy.decisions import COLD, LOAD_REFUSED, STRANDED
from policy.journal import Row
from policy.ladder import Ladder
from policy.lifecycle import Ttls
from policy.policies.spec import PolicySpec
from policy.serving import Serving
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


class _Desk:
    """Where the requests of one replica are dealt with: the policy's state and the accountant's books."""

    def __init__(self, replica: Replica) -> None:
        self.ladder: Ladder = replica.ladder
        self.serving: Serving = replica.serving
        self.ledger: Ledger = replica.ledger


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
        self.arm = arm
        self.controls = workload.trace.controls
        self.events = workload.events
        self.event_us = workload.event_us
        self.start_us = workload.start_us
        self.input_tokens = workload.trace.input_tokens
        self.output_tokens = workload.trace.output_tokens
        self.unidentified_tokens = workload.trace.unidentified_tokens
        self.tail_ns = workload.tail_ns
        self.path_start = workload.tree.path_start
        self.path = workload.tree.path
        self.spans = workload.spans
        self.replicas = [_Desk(replica) for replica in arm.replicas]
        self.routes = routes
        self.on_rows = on_rows
        self.on_request = on_request
        # Deadlines of several replicas fall in one order.
        self.timed = int(len(arm.replicas) > 1 and arm.replicas[0].ladder.timed)
        self.refusals = [Refusals(contest, one.serving, one.ledger) for one in arm.replicas] if contest else []

    def run(self, first: int, end: int) -> None:
        """Replay the events from `first` up to, not including, `end`."""
        # The ceiling is deaf to what the world does to its tiers.
        deaf = self.arm.rules.hbm_unbounded
        alone = self.replicas[0] if len(self.replicas) == 1 else None
        now = self.start_us
        for at in range(first, end):
            event = self.events[at]
            now = self.event_us[at]
            if self.timed:
                self._age(now)
            if event >= 0:
                if alone is not None:
                    self._request(alone, event, 0, now)
                else:
                    self._request(self.replicas[self.routes[event]], event, self.routes[event], now)
                continue
            for replica in range(len(self.replicas)):
                self.replicas[replica].ladder.age(now)
                if not deaf:
                    self._control(-1 - event, replica, now)
                self._settle(self.replicas[replica], replica, 0)
        for desk in self.replicas:
            desk.ledger.advance(now)
        for pool in self.arm.pools:
            pool.book.advance(now)

    def _age(self, now: int) -> None:
        """Deadlines up to `now`, whichever replica's falls next; at one time, the replica's with the lower number."""
        while True:
            falls, index = min((one.ladder.deadlines.next(), index) for index, one in enumerate(self.replicas))
            if falls > now:
                return
            self.replicas[index].ladder.age(falls)
            self._settle(self.replicas[index], index, 0)

    def _request(self, desk: _Desk, request: int, index: int, now: int) -> None:
        ladder = desk.ladder
        ledger = desk.ledger
        serving = desk.serving
        spans = self.spans
        output_tokens = self.output_tokens[request]
        path = self.path[self.path_start[request] : self.path_start[request + 1]]
        length = len(path)

        ladder.age(now)
        # What fell before this request is not this request's to wait for.
        if ladder.journal.count:
            self._settle(desk, index, 0)
        serving.begin(path)
        run = serving.match(path)
        if self.refusals:
            self.refusals[index].ask(path)
        kept = serving.cut(path, run, output_tokens)
        before = array("q", ledger.hit_tokens) if self.on_request else None
        last_tier = HBM
        served = 0
        while served < kept:
            span = path[served]
            last_tier = ladder.life.tier[span]
            if not serving.serve(span, output_tokens, now):
                break
            ledger.hit(span, last_tier)
            served += 1
        gap = run if served == kept else served + 1

        prefill_ns = self.tail_ns[request]
        cold_tokens = computed_tokens = 0
        for at in range(served, length):
            span = path[at]
            computed_tokens += spans.tokens[span]
            prefill_ns += spans.recompute_ns[span]
            if self._compute(desk, span, LOAD_REFUSED if at < gap else STRANDED, now) == COLD:
                cold_tokens += spans.tokens[span]
        if self.refusals:
            self.refusals[index].held(path)
        unidentified_tokens = self.unidentified_tokens[request]
        obligatory = 0
        if served and served == length and not unidentified_tokens:
            ledger.obligatory(last_tier)
            prefill_ns += spans.last_token_ns[path[length - 1]]
            obligatory = 1
        serving.end(path, now)
        self._settle(desk, index, output_tokens)
        stage_ns = ledger.waited_stage_ns
        attend_ns = ledger.waited_attend_ns
        ledger.request(self.input_tokens[request], unidentified_tokens, prefill_ns, stage_ns + attend_ns)
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

    def _compute(self, desk: _Desk, span: int, cause: int, now: int) -> int:
        """Compute a span of a path whose copy, if there is one, is of no use because of `cause`; why it had to be."""
        if desk.ladder.held_bytes[span]:
            desk.serving.discard(span, cause, now)
        booked = desk.ledger.computed(span, desk.ladder.why_lost(span))
        desk.serving.fill(span, now)
        return booked

    def _control(self, index: int, replica: int, now: int) -> None:
        control = self.controls[index]
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

    def _settle(self, desk: _Desk, index: int, output_tokens: int) -> None:
        """Show the rows of a replica's journal to who follows them, and have them priced."""
        journal = desk.ladder.journal
        if self.on_rows and journal.count:
            self.on_rows[index](journal.rows())
        desk.ledger.settle(journal, output_tokens)
        journal.clear()
