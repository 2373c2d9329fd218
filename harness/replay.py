"""The replay of one arm: every event of a workload, in order, through a policy and into a ledger."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass

from harness.engine import Engine
from harness.ledger import Ledger
from harness.workload import Workload
from policy.decisions import LOAD_REFUSED, STRANDED
from policy.journal import Row
from policy.ladder import UNBOUNDED_BYTES, Ladder
from policy.lifecycle import Ttls
from policy.policies.spec import PolicySpec
from policy.rules import Rules
from policy.serving import Serving
from policy.tiers import HBM, TIER_COUNT, tier_code


@dataclass(slots=True)
class ArmResult:
    """What one arm leaves behind: the policy's last state and the ledger's books."""

    policy: str
    rules: Rules
    ladder: Ladder
    ledger: Ledger


@dataclass(slots=True)
class RequestAccount:
    """One request's outcome: tokens by where they came from. `hit_tokens` is by tier code."""

    request: int
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


def replay_arm(
    workload: Workload,
    engine: Engine,
    spec: PolicySpec,
    settings: dict[str, int],
    ttls: Ttls,
    on_rows: RowSink | None = None,
    on_request: RequestSink | None = None,
    on_progress: ProgressSink | None = None,
) -> ArmResult:
    """Replay `workload` under one policy. The sinks see every journal row and every finished request, in order."""
    rules = spec.rules(settings)
    present = engine.present()
    capacity = engine.capacity_bytes()
    if not rules.colder_tiers:
        for tier in range(HBM + 1, TIER_COUNT):
            present[tier] = 0
    if rules.hbm_unbounded:
        capacity[HBM] = UNBOUNDED_BYTES
    costs = engine.costs()
    ladder = Ladder(
        workload.spans,
        present,
        engine.attendable(),
        capacity,
        costs,
        ttls if rules.ttls else Ttls(0, 0, 1),
        rules,
    )
    ledger = Ledger(workload.spans, costs, capacity, workload.start_us)
    runner = _Runner(workload, ladder, ledger, on_rows, on_request)
    total = len(workload.events)
    for done in range(0, total, _EVENTS_PER_PROGRESS):
        runner.run(done, min(done + _EVENTS_PER_PROGRESS, total))
        if on_progress is not None:
            on_progress(spec.name, min(done + _EVENTS_PER_PROGRESS, total), total)
    return ArmResult(spec.name, rules, ladder, ledger)


class _Runner:
    """Walks the events of one arm."""

    def __init__(
        self,
        workload: Workload,
        ladder: Ladder,
        ledger: Ledger,
        on_rows: RowSink | None,
        on_request: RequestSink | None,
    ) -> None:
        self.workload = workload
        self.ladder = ladder
        self.serving = Serving(ladder)
        self.ledger = ledger
        self.on_rows = on_rows
        self.on_request = on_request

    def run(self, first: int, end: int) -> None:
        """Replay the events from `first` up to, not including, `end`."""
        ladder = self.ladder
        ledger = self.ledger
        # The ceiling is deaf to what the world does to its tiers.
        deaf = ladder.rules.hbm_unbounded
        for at in range(first, end):
            event = self.workload.events[at]
            now = self.workload.event_us[at]
            ladder.age(now)
            if event >= 0:
                self._request(event, now)
            else:
                if not deaf:
                    self._control(-1 - event, now)
                self._settle(0)
            ledger.advance(now)

    def _request(self, request: int, now: int) -> None:
        workload = self.workload
        trace = workload.trace
        tree = workload.tree
        ladder = self.ladder
        ledger = self.ledger
        serving = self.serving
        life_tier = ladder.life.tier
        spans = workload.spans
        output_tokens = trace.output_tokens[request]
        path = tree.path[tree.path_start[request] : tree.path_start[request + 1]]

        # What fell before this request is not this request's to wait for.
        self._settle(0)
        serving.begin(path)
        run = serving.match(path)
        kept = serving.cut(path, run, output_tokens)
        before = array("q", ledger.hit_tokens) if self.on_request else None
        served = 0
        last_tier = HBM
        while served < kept:
            span = path[served]
            last_tier = life_tier[span]
            if not serving.serve(span, output_tokens, now):
                break
            ledger.hit(span, last_tier)
            served += 1
        gap = run if served == kept else served + 1

        prefill_ns = workload.tail_ns[request]
        cold_tokens = 0
        computed_tokens = 0
        for at in range(served, len(path)):
            span = path[at]
            if ladder.held_bytes[span]:
                ladder.drop(span, LOAD_REFUSED if at < gap else STRANDED, now)
            computed_tokens += spans.tokens[span]
            prefill_ns += spans.recompute_ns[span]
            if not ledger.computed(span, ladder.lost_by[span]):
                cold_tokens += spans.tokens[span]
            serving.fill(span, now)
        unidentified_tokens = trace.unidentified_tokens[request]
        obligatory = 0
        if served and served == len(path) and not unidentified_tokens:
            ledger.obligatory(last_tier)
            prefill_ns += spans.last_token_ns[path[-1]]
            obligatory = 1
        serving.end(path, now)
        stage_ns, attend_ns = self._settle(output_tokens)
        ledger.request(trace.input_tokens[request], unidentified_tokens, prefill_ns, stage_ns + attend_ns)
        if self.on_request is not None and before is not None:
            hits = array("q", [now_hit - was for now_hit, was in zip(ledger.hit_tokens, before, strict=True)])
            self.on_request(
                RequestAccount(
                    request,
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

    def _control(self, index: int, now: int) -> None:
        control = self.workload.trace.controls[index]
        ladder = self.ladder
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

    def _settle(self, output_tokens: int) -> tuple[int, int]:
        journal = self.ladder.journal
        if not journal.rows:
            return 0, 0
        rows = journal.rows
        journal.rows = []
        if self.on_rows is not None:
            self.on_rows(rows)
        return self.ledger.settle(rows, output_tokens)
