"""The replay once more, naively: from the design's text alone, with plain dicts and lists, slow and obvious.

It shares no code with the replay: it reads a trace's columns and an engine's figures. Whatever it needs to know it finds
by searching everything, so there is no index, heap or running sum that could be out of step. Where the text leaves a
choice, a comment that starts with "Reading" says which one was taken. Promotion and compression are not modelled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model_books import Books
from model_costs import TIERS, Costs
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
    "ttl_on_spilled": 1,
    "restart_on_revival": 1,
}
AS_WRITTEN = {
    "cascade": 0,
    "room_when_free": 1,
    "best_rung": 0,
    "use_remote": 0,
    "ttl_on_spilled": 0,
    "restart_on_revival": 0,
}
ARMS = {
    "blind-lru": TIERED | {"colder_tiers": 0, "ttls": 0},
    "tiered": TIERED,
    "tiered-reference": TIERED | AS_WRITTEN,
    "infinite": TIERED | {"colder_tiers": 0, "ttls": 0, "hbm_unbounded": 1},
}


@dataclass
class Copy:
    """Where a span lives, since when, and since when it is expiring (None: it is not)."""

    tier: str
    entered_us: int
    expiring_since_us: int | None = None
    revived_us: int | None = None


class Model:
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
    ) -> None:
        self.trace = trace
        self.engine = engine
        self.costs = Costs(engine)
        self.books = Books(self.costs)
        self.rules = rules
        self.ttl_us = ttl_us if rules["ttls"] else {}
        self.grace_us = grace_us
        self.demote_on_expiry = demote_on_expiry
        self.tiers = [tier for tier in TIERS if tier in self.costs.profiles]
        if not rules["colder_tiers"]:
            self.tiers = ["hbm"]
        self.events = self._events(now_ms)
        self._cut_spans(span_tokens)
        self.copies: dict[int, Copy] = {}
        self.computed: list[int] = []
        self.why: dict[int, str] = {}
        # Spans by last touch, the most recent at the end.
        self.recency: list[int] = []
        self.own: list[int] = []
        self.windows: list[tuple[str, int, int]] = []
        self.fill_ppm: dict[str, int] = {}
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
        size = dict(enumerate(trace.block_size_tokens))
        paths = {request: list(trace.blocks_of(request)) for request in order}
        spans = naive_spans([paths[request] for request in order], size, span_tokens)
        # A request touches whole spans: those whose first block it names.
        self.paths = {
            request: [spans.index(span) for block in path for span in spans if span[0] == block]
            for request, path in paths.items()
        }
        self.tokens = [sum(size[block] for block in span) for span in spans]
        self.bytes = [
            sum(trace.block_size_bytes[block] or size[block] * self.engine.kv_bytes_per_token for block in span)
            for span in spans
        ]
        self.context: dict[int, int] = {}
        for path in self.paths.values():
            for position, span in enumerate(path):
                self.context[span] = sum(self.tokens[before] for before in path[:position])

    def run(self) -> dict[str, Any]:
        for time, kind, index in self.events:
            self.age(time)
            if kind == "request":
                self.request(time, index)
            elif not self.rules["hbm_unbounded"]:
                self.control(time, index)
        end_bytes = {tier: self.held(tier) for tier in self.tiers}
        return self.books.document(self.tiers, end_bytes, self.events[-1][0] - self.events[0][0])

    def recompute_ns(self, span: int) -> int:
        return self.engine.prefill.ns(self.tokens[span], self.context[span])

    def load(self, span: int, output_tokens: int) -> tuple[int, str]:
        return self.costs.load(self.bytes[span], self.copies[span].tier, output_tokens)

    # --- space ---

    def capacity(self, tier: str) -> int | None:
        """What is left of a tier beside what others hold; None is no bound."""
        capacity = self.costs.profiles[tier].capacity_bytes
        fill_ppm = self.fill_ppm.get(tier, 0)
        if capacity == 0 or (tier == "hbm" and self.rules["hbm_unbounded"]):
            # Reading: part of what has no bound is no bound, but a full tier is full.
            return 0 if fill_ppm >= 1_000_000 else None
        return capacity - capacity * fill_ppm // 1_000_000

    def held(self, tier: str, spans: list[int] | None = None) -> int:
        """Bytes held in a tier, by these spans or by all."""
        return sum(
            self.bytes[span]
            for span, copy in self.copies.items()
            if copy.tier == tier and (spans is None or span in spans)
        )

    def fits_now(self, span: int, tier: str) -> bool:
        capacity = self.capacity(tier)
        return capacity is None or capacity - self.held(tier) >= self.bytes[span]

    def victim(self, tier: str) -> int:
        """The least recently used span of a tier that is not part of the current request."""
        return next(
            span
            for span in self.recency
            if span in self.copies and self.copies[span].tier == tier and span not in self.own
        )

    def make_room(self, time: int, span: int, tier: str) -> bool:
        """Room for `span` in `tier` by relocating others; False, and nothing moved, where there can be none."""
        capacity = self.capacity(tier)
        if capacity is not None and capacity - self.held(tier, self.own) < self.bytes[span]:
            return False
        while not self.fits_now(span, tier):
            self.relocate(time, self.victim(tier), "pressure")
        return True

    def put(self, time: int, span: int, tier: str) -> None:
        self.copies[span] = Copy(tier, time)
        self.books.peak_bytes[tier] = max(self.books.peak_bytes[tier], self.held(tier))

    def lose(self, span: int, action: str, why: str) -> None:
        self.note(span, action, self.copies[span].tier, "recompute")
        del self.copies[span]
        self.why[span] = why

    def note(self, span: int, action: str, source: str, to: str) -> None:
        self.books.note(action, source, to, self.bytes[span], self.tokens[span])

    # --- relocation ---

    def relocate(self, time: int, span: int, asked_by: str) -> None:
        """Move a span to a colder tier or drop it. What asks is `pressure` or `expired`; its own tier is full."""
        source = self.copies[span].tier
        if asked_by == "expired" and not self.demote_on_expiry:
            self.books.evictions["expired_no_demote"] += 1
            self.lose(span, "evict", "expired")
            return
        full: list[str] = []
        while True:
            chosen, reason = self.plan(span, source, full)
            if chosen is None:
                self.books.evictions[reason] += 1
                self.lose(span, "evict", "cost" if reason == "recompute_cheaper_than_retain" else asked_by)
                return
            if self.make_room(time, span, chosen) if self.rules["cascade"] else self.fits_now(span, chosen):
                self.note(span, "demote" if self.costs.attendable(chosen) else "spill", source, chosen)
                self.books.read(source, chosen, self.bytes[span])
                self.books.time_ns["offload"] += self.costs.transfer_ns(self.bytes[span], source, chosen)
                self.put(time, span, chosen)
                return
            full.append(chosen)

    def plan(self, span: int, source: str, full: list[str]) -> tuple[str | None, str]:
        """The planner: the colder tier to move to; None with the reason where there is none."""
        colder = [tier for tier in self.tiers if TIERS.index(tier) > TIERS.index(source) and tier not in full]
        if not self.rules["use_remote"]:
            colder = [tier for tier in colder if tier != "remote"]
        if self.rules["room_when_free"]:
            rungs = [tier for tier in colder if self.fits_now(span, tier)]
        else:
            # Reading: "could ever hold it" means beside what others hold of that tier now.
            rungs = [tier for tier in colder if (room := self.capacity(tier)) is None or self.bytes[span] <= room]
        if not rungs:
            return None, "no_colder_tier_with_room"
        if not self.rules["best_rung"]:
            rungs = rungs[:1]
        cost_ns = {tier: self.costs.transfer_ns(self.bytes[span], source, tier) for tier in rungs}
        pays = [tier for tier in rungs if cost_ns[tier] < self.recompute_ns(span)]
        if not pays:
            return None, "recompute_cheaper_than_retain"
        # Reading: of equally cheap rungs the hotter, which `min` meets first.
        return min(pays, key=cost_ns.__getitem__), ""

    # --- time ---

    def deadline_us(self, span: int) -> int | None:
        copy = self.copies[span]
        if copy.expiring_since_us is not None:
            return copy.expiring_since_us + self.grace_us
        ttl = self.ttl_us.get(copy.tier, 0)
        if ttl <= 0 or not (self.costs.attendable(copy.tier) or self.rules["ttl_on_spilled"]):
            return None
        if copy.revived_us is None:
            return copy.entered_us + ttl
        # Reading: "an overdue deadline falls at once" means at the time of the revival, before the next event.
        return max(copy.entered_us + ttl, copy.revived_us)

    def age(self, time: int) -> None:
        """Process every deadline up to `time`: the earliest first, ties by span, each at its own time."""
        while True:
            deadlines = [(self.deadline_us(span), span) for span in self.copies]
            due = [(deadline, span) for deadline, span in deadlines if deadline is not None and deadline <= time]
            if not due:
                return
            deadline, span = min(due)
            if self.copies[span].expiring_since_us is None:
                self.copies[span].expiring_since_us = deadline
                self.books.lifecycle["expiring"] += 1
            else:
                self.books.lifecycle["expired"] += 1
                self.relocate(deadline, span, "expired")

    def revive(self, time: int, span: int) -> None:
        copy = self.copies[span]
        if copy.expiring_since_us is not None:
            self.books.lifecycle["revived"] += 1
            copy.expiring_since_us = None
            copy.revived_us = time
            if self.rules["restart_on_revival"]:
                copy.entered_us = time

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
        while run < len(path) and path[run] in self.copies:
            run += 1
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
            sum(self.recompute_ns(span) - self.load(span, output_tokens)[0] for span in run[:length])
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
            tier = self.last_tier = self.copies[span].tier
            # Reading: an HBM read may meet a fault too; a read that faults moves no bytes, and is called a restore.
            if any(name == tier and start <= time < end for name, start, end in self.windows):
                latency_ns = self.costs.profiles[tier].read_latency_ns
                books.time_ns["stage"] += latency_ns
                books.operations.append((tier, 0))
                books.note("restore", tier, "hbm", 0, self.tokens[span], "fault")
                self.lose(span, "drop", "fault")
                return served, waited_ns + latency_ns
            books.hits[tier] += self.tokens[span]
            if way == "attend":
                books.time_ns["attend"] += load_ns
                # Reading: the first token waits for one slower read of the prefill, not for those of the decode.
                waited_ns += self.costs.attend_ns(self.bytes[span], tier, 0)
                books.read_in_place(tier, self.bytes[span], 1 + output_tokens)
                self.note(span, "attend", tier, tier)
            elif way == "restore":
                books.time_ns["stage"] += load_ns
                waited_ns += load_ns
                books.read(tier, "hbm", self.bytes[span])
                if self.make_room(time, span, "hbm"):
                    self.note(span, "restore", tier, "hbm")
                    self.put(time, span, "hbm")
                else:
                    self.note(span, "stream", tier, "hbm")
        return len(kept), waited_ns

    def compute(self, time: int, span: int, cause: str) -> int:
        """Compute a span and fill it into HBM. Reading: a copy of no use is dropped just before, one by one."""
        if span in self.copies:
            self.lose(span, "drop", cause)
        if span in self.computed:
            self.books.reprefilled[self.why[span]] += self.tokens[span]
        else:
            self.computed.append(span)
            self.books.tokens["cold"] += self.tokens[span]
        if self.make_room(time, span, "hbm"):
            self.note(span, "fill", "", "hbm")
            self.put(time, span, "hbm")
        else:
            self.why[span] = "bypassed"
        return self.recompute_ns(span)
