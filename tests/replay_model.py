"""The replay once more, naively: from the design's text alone, with plain dicts and lists, slow and obvious.

It shares no code with the replay: it reads a trace's columns and an engine's figures. Whatever it needs to know it
finds by searching everything, so there is no index, heap or running sum that could be out of step. Where the text
leaves a choice, a comment that starts with "Reading" says which was taken. Promotion and compression are not modelled.
"""

from __future__ import annotations

from typing import Any

from model_books import REFUSALS, Books
from model_costs import Costs
from model_ladder import Ladder
from spanning_model import naive_spans

from harness.engine import Engine
from harness.trace import Trace

# What distinguishes the arms, in the words of the design: `tiered`, and how the others differ from it.
TIERED = {
    "colder_tiers": 1,
    "hbm_unbounded": 0,
    "ttls": 1,
    "cascade": 1,
    "room_when_free": 0,
    "best_rung": 1,
    "use_remote": 1,
    "remote_last": 1,
    "ttl_on_spilled": 1,
    "restart_on_revival": 1,
}
AS_WRITTEN = {
    "cascade": 0,
    "room_when_free": 1,
    "best_rung": 0,
    "use_remote": 0,
    "remote_last": 0,
    "ttl_on_spilled": 0,
    "restart_on_revival": 0,
}
ARMS = {
    "blind-lru": TIERED | {"colder_tiers": 0, "ttls": 0},
    "tiered": TIERED,
    "tiered-reference": TIERED | AS_WRITTEN,
    "infinite": TIERED | {"colder_tiers": 0, "ttls": 0, "hbm_unbounded": 1},
}

# Whose KV a span is, in the order in which two are compared, and why the second is refused the first's.
AXES = dict(zip(("model", "tokenizer", "adapter", "salt", "tenant"), REFUSALS, strict=True)) | {"session": REFUSALS[-1]}
EVERY_STATED_AXIS = tuple(AXES)[:-1]


class Model(Ladder):
    """One arm over one trace. `run()` replays it and returns the parts of a report's arm that the model knows."""

    def __init__(
        self,
        trace: Trace,
        engine: Engine,
        rules: dict[str, int],
        ttl_us: dict[str, int],
        grace_us: int,
        demote_on_expiry: bool,
        span_tokens: int,
        now_ms: int,
        isolation: tuple[str, ...] = EVERY_STATED_AXIS,
    ) -> None:
        costs = Costs(engine)
        super().__init__(costs, Books(costs), rules, ttl_us, grace_us, demote_on_expiry)
        self.trace = trace
        self.engine = engine
        self.isolation = isolation
        self.events = self._events(now_ms)
        self._cut_spans(span_tokens)
        self.computed: list[int] = []
        self.windows: list[tuple[str, int, int]] = []
        self.last_tier = ""

    def _events(self, now_ms: int) -> list[tuple[int, str, int]]:
        """Requests and controls as (time, kind, index), by time; the order of the file breaks ties."""
        events = []
        for request in range(self.trace.requests + 1):
            for index, control in enumerate(self.trace.controls):
                if control.before_request == request:
                    events.append((control.t_us, "control", index))
            if request < self.trace.requests:
                events.append((self.trace.t_us[request], "request", request))
        events.sort(key=lambda event: event[0])
        return [(now_ms * 1000 + time - events[0][0], kind, index) for time, kind, index in events]

    def _cut_spans(self, span_tokens: int) -> None:
        trace = self.trace
        order = [index for _, kind, index in self.events if kind == "request"]
        # A block is named by what it is and whose it is.
        paths = {request: [(block, self.owner(request)) for block in trace.blocks_of(request)] for request in order}
        size = {name: trace.block_size_tokens[name[0]] for path in paths.values() for name in path}
        self.size = size
        self.spans = spans = naive_spans([paths[request] for request in order], size, span_tokens)
        # A request touches whole spans: those whose first block it names.
        self.paths = {
            request: [spans.index(span) for block in path for span in spans if span[0] == block]
            for request, path in paths.items()
        }
        self.tokens = [sum(size[block] for block in span) for span in spans]
        self.bytes = [
            sum(trace.block_size_bytes[name[0]] or size[name] * self.engine.kv_bytes_per_token for name in span)
            for span in spans
        ]
        self.context: dict[int, int] = {}
        for path in self.paths.values():
            for position, span in enumerate(path):
                self.context[span] = sum(self.tokens[before] for before in path[:position])
        # A span that no request asks for is not there, so every span has its context.
        self.recompute_ns = [
            self.engine.prefill.ns(tokens, self.context[span]) for span, tokens in enumerate(self.tokens)
        ]

    def owner(self, request: int) -> tuple[str, ...]:
        """The class of a request: what it says in every axis, as far as that is kept apart."""
        identity, session = self.trace.identities[self.trace.identity[request]], self.trace.session[request]
        said = {axis: getattr(identity, axis) for axis in EVERY_STATED_AXIS}
        said["session"] = self.trace.sessions[session] if session >= 0 else ""
        return tuple(said[axis] if axis in self.isolation else "" for axis in AXES)

    def note_refusals(self, path: list[int]) -> None:
        """Reading: a block is refused where, at the match, anybody else holds it; the narrowest refusal counts."""
        for span in path:
            if span in self.computed:
                continue
            for name in self.spans[span]:
                others = [other for held in self.copies for other in self.spans[held] if other[0] == name[0]]
                reasons = [
                    next(
                        reason
                        for reason, mine, theirs in zip(AXES.values(), name[1], other[1], strict=True)
                        if mine != theirs
                    )
                    for other in others
                ]
                if reasons:
                    self.books.refused[max(reasons, key=REFUSALS.index)] += self.size[name]

    def run(self) -> dict[str, Any]:
        for time, kind, index in self.events:
            self.age(time)
            if kind == "request":
                self.request(time, index)
            elif not self.rules["hbm_unbounded"]:
                self.control(time, index)
        end_bytes = {tier: self.held(tier) for tier in self.tiers}
        return self.books.document(self.tiers, end_bytes, self.events[-1][0] - self.events[0][0])

    def load(self, span: int, output_tokens: int) -> tuple[int, str]:
        return self.costs.load(self.bytes[span], self.where(span), output_tokens)

    # --- events ---

    def control(self, time: int, index: int) -> None:
        control = self.trace.controls[index]
        if control.kind == "clear":
            for span in sorted(self.copies):
                if control.tier in ("", self.copies[span].tier):
                    self.lose(span, "drop", "cleared")
        elif control.kind == "fault":
            self.windows.append((control.tier, time, time + control.value - control.t_us))
        elif control.tier in self.tiers:
            self.fill_ppm[control.tier] = control.value
            while (capacity := self.capacity(control.tier)) is not None and self.held(control.tier) > capacity:
                self.relocate(time, self.victim(control.tier), "pressure")

    def request(self, time: int, request: int) -> None:
        path = self.paths[request]
        output_tokens = self.trace.output_tokens[request]
        unidentified = self.trace.unidentified_tokens[request]
        input_tokens = self.trace.input_tokens[request]
        books = self.books
        self.own = path
        run = 0
        while run < len(path) and self.where(path[run]):
            run += 1
        self.note_refusals(path)
        kept = self.cut(path[:run], output_tokens)
        served, waited_ns = self.serve(time, path[:kept], output_tokens)
        prefill_ns = 0
        for position in range(served, len(path)):
            # Reading: after a fault all the rest of the run is behind a gap, what was beyond the cut too.
            refused = served == kept and position < run
            prefill_ns += self.compute(time, path[position], "load_refused" if refused else "stranded")
        if unidentified:
            prefill_ns += self.engine.prefill.ns(unidentified, input_tokens - unidentified)
        if path and served == len(path) and not unidentified:
            books.hits[self.last_tier] -= 1
            books.tokens["obligatory"] += 1
            prefill_ns = self.engine.prefill.ns(1, self.context[path[-1]] + self.tokens[path[-1]] - 1)
        for span in reversed(path):
            if span in self.recency:
                self.recency.remove(span)
            self.recency.append(span)
        self.own = []
        books.tokens["input"] += input_tokens
        books.tokens["unidentified"] += unidentified
        books.time_ns["prefill"] += prefill_ns
        books.ttft_ns.append(prefill_ns + waited_ns)

    def cut(self, run: list[int], output_tokens: int) -> int:
        """How many spans of the run to keep: the cut that saves most, the longest on a tie."""
        saved = [
            sum(self.recompute_ns[span] - self.load(span, output_tokens)[0] for span in run[:length])
            for length in range(len(run) + 1)
        ]
        return max(length for length in range(len(run) + 1) if saved[length] == max(saved))

    def serve(self, time: int, kept: list[int], output_tokens: int) -> tuple[int, int]:
        """Serve in path order. Returns how many were served before a fault, if any, and the time waited for them."""
        books = self.books
        waited_ns = 0
        for served, span in enumerate(kept):
            self.revive(time, span)
            load_ns, way = self.load(span, output_tokens)
            tier = self.last_tier = self.where(span)
            # Reading: an HBM read may meet a fault too; a read that faults moves no bytes, and is called a restore.
            if any(name == tier and start <= time < end for name, start, end in self.windows):
                latency_ns = self.costs.profiles[tier].read_latency_ns
                books.time_ns["stage"] += latency_ns
                books.operations.append((tier, 0))
                books.note("restore", tier, "hbm", 0, self.tokens[span], "fault")
                self.lose_read(time, span)
                return served, waited_ns + latency_ns
            books.hits[tier] += self.tokens[span]
            if way == "attend":
                books.time_ns["attend"] += load_ns
                # Reading: the first token waits for one slower read of the prefill, not for those of the decode.
                waited_ns += self.costs.attend_ns(self.bytes[span], tier, 0)
                books.read_in_place(tier, self.bytes[span], 1 + output_tokens)
                self.note(span, "attend", tier, tier)
                self.use(time, span)
            elif way == "restore":
                books.time_ns["stage"] += load_ns
                waited_ns += load_ns
                books.read(tier, "hbm", self.bytes[span])
                if self.make_room(time, span, "hbm"):
                    self.fetch(time, span)
                else:
                    self.note(span, "stream", tier, "hbm")
                    self.use(time, span)
        return len(kept), waited_ns

    def lose_read(self, time: int, span: int) -> None:
        """The copy whose reading failed is gone."""
        self.lose(span, "drop", "fault")

    def use(self, time: int, span: int) -> None:
        """A span serves from a colder tier and stays there."""

    def fetch(self, time: int, span: int) -> None:
        """A span comes to HBM, where there is room for it."""
        self.note(span, "restore", self.where(span), "hbm")
        self.put(time, span, "hbm")

    def compute(self, time: int, span: int, cause: str) -> int:
        """Compute a span and fill it into HBM. Reading: a copy of no use is dropped just before, one by one."""
        if span in self.copies:
            self.lose(span, "drop", cause)
        if span in self.computed:
            self.books.reprefilled[self.why_lost(span)] += self.tokens[span]
        else:
            self.computed.append(span)
            self.books.tokens["cold"] += self.tokens[span]
        if self.make_room(time, span, "hbm"):
            self.note(span, "fill", "", "hbm")
            self.put(time, span, "hbm")
        else:
            self.why[span] = "bypassed"
        return self.recompute_ns[span]
