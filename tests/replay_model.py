"""The replay once more, naively: from the design's text alone, with plain dicts and lists, slow and obvious.

It shares no code with the replay: it reads a trace's columns and an engine's figures. Whatever it needs to know it finds
by searching everything, so there is no index, heap or running sum that could be out of step. Where the text leaves a
choice, a comment that starts with "Reading" says which one was taken. Promotion and compression are not modelled.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from spanning_model import naive_spans

from harness.engine import Engine
from harness.trace import Trace

TIERS = ("hbm", "dram", "numa_far", "cxl", "disk", "remote")
CAUSES = ("pressure", "cost", "expired", "cleared", "fault", "load_refused", "stranded", "bypassed")
NEVER_CHEAP_NS = 2**62

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
DIRECTIVES = {
    "fill": "",
    "drop": "",
    "restore": "restore",
    "stream": "restore",
    "attend": "route",
    "demote": "offload",
    "spill": "offload",
    "evict": "offload",
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
        self.rules = rules
        self.ttl_us = ttl_us if rules["ttls"] else {}
        self.grace_us = grace_us
        self.demote_on_expiry = demote_on_expiry
        self.profiles = {TIERS[code]: profile for code, profile in engine.profiles.items()}
        if not rules["colder_tiers"]:
            self.profiles = {"hbm": self.profiles["hbm"]}
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
        self.tokens: Counter[str] = Counter()
        self.hits: Counter[str] = Counter()
        self.reprefilled: Counter[str] = Counter()
        self.time_ns: Counter[str] = Counter()
        self.lifecycle: Counter[str] = Counter()
        self.evictions: Counter[str] = Counter()
        self.moves: list[tuple[str, str, str, str, int, int]] = []
        self.peak_bytes: Counter[str] = Counter()
        self.ttft_ns: list[int] = []

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
            request: [spans.index(s) for block in path for s in spans if s[0] == block]
            for request, path in paths.items()
        }
        self.span_tokens = [sum(size[block] for block in span) for span in spans]
        self.span_bytes = [
            sum(trace.block_size_bytes[block] or size[block] * self.engine.kv_bytes_per_token for block in span)
            for span in spans
        ]
        self.context: dict[int, int] = {}
        for spans_of_path in self.paths.values():
            for position, span in enumerate(spans_of_path):
                self.context[span] = sum(self.span_tokens[before] for before in spans_of_path[:position])

    def run(self) -> dict[str, Any]:
        for time, kind, index in self.events:
            self.age(time)
            if kind == "request":
                self.request(time, index)
            elif not self.rules["hbm_unbounded"]:
                self.control(time, index)
        return self.document()

    # --- costs ---

    def bandwidth(self, source: str, to: str) -> int:
        """What a transfer gets: the colder tier's figure, or where there is a link the narrowest of it and both."""
        for link in self.engine.links:
            ends = self.profiles[source].bandwidth_mb_s, self.profiles[to].bandwidth_mb_s
            if (source, to) == (TIERS[link.hotter], TIERS[link.colder]):
                return min(link.down_mb_s, *ends)
            if (to, source) == (TIERS[link.hotter], TIERS[link.colder]):
                return min(link.up_mb_s, *ends)
        return self.profiles[max(source, to, key=TIERS.index)].bandwidth_mb_s

    def transfer_ns(self, span: int, source: str, to: str) -> int:
        colder = max(source, to, key=TIERS.index)
        bandwidth = self.bandwidth(source, to)
        if bandwidth <= 0:
            return NEVER_CHEAP_NS
        return self.profiles[colder].read_latency_ns + self.span_bytes[span] * 1000 // bandwidth

    def restore_ns(self, span: int, tier: str) -> int:
        return self.transfer_ns(span, tier, "hbm")

    def attend_ns(self, span: int, tier: str, output_tokens: int) -> int:
        return (1 + output_tokens) * max(0, self.restore_ns(span, tier) - self.restore_ns(span, "hbm"))

    def recompute_ns(self, span: int) -> int:
        return self.engine.prefill.ns(self.span_tokens[span], self.context[span])

    def attendable(self, tier: str) -> bool:
        return self.profiles[tier].byte_addressable and self.profiles[tier].coherent

    def load(self, span: int, output_tokens: int) -> tuple[int, str]:
        """What using a span costs beyond HBM, and the way: hbm, attend or restore."""
        tier = self.copies[span].tier
        if tier == "hbm":
            return 0, "hbm"
        restore = self.restore_ns(span, tier)
        attend = self.attend_ns(span, tier, output_tokens)
        if self.attendable(tier) and attend <= restore:
            return attend, "attend"
        return restore, "restore"

    # --- space ---

    def capacity(self, tier: str) -> int | None:
        """What is left of a tier beside what others hold; None is no bound."""
        capacity = self.profiles[tier].capacity_bytes
        fill_ppm = self.fill_ppm.get(tier, 0)
        if capacity == 0 or (tier == "hbm" and self.rules["hbm_unbounded"]):
            # Reading: part of what has no bound is no bound, but a full tier is full.
            return 0 if fill_ppm >= 1_000_000 else None
        return capacity - capacity * fill_ppm // 1_000_000

    def held(self, tier: str, spans: list[int] | None = None) -> int:
        """Bytes held in a tier, by these spans or by all."""
        return sum(
            self.span_bytes[span]
            for span, copy in self.copies.items()
            if copy.tier == tier and (spans is None or span in spans)
        )

    def fits_now(self, span: int, tier: str) -> bool:
        capacity = self.capacity(tier)
        return capacity is None or capacity - self.held(tier) >= self.span_bytes[span]

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
        if capacity is not None and capacity - self.held(tier, self.own) < self.span_bytes[span]:
            return False
        while not self.fits_now(span, tier):
            self.relocate(time, self.victim(tier), "pressure")
        return True

    def put(self, time: int, span: int, tier: str) -> None:
        self.copies[span] = Copy(tier, time)
        self.peak_bytes[tier] = max(self.peak_bytes[tier], self.held(tier))

    def lose(self, span: int, action: str, why: str) -> None:
        self.note(span, action, self.copies[span].tier, "recompute")
        del self.copies[span]
        self.why[span] = why

    def note(self, span: int, action: str, source: str, to: str) -> None:
        self.moves.append((action, source, to, "ok", self.span_bytes[span], self.span_tokens[span]))

    # --- relocation ---

    def relocate(self, time: int, span: int, asked_by: str) -> None:
        """Move a span to a colder tier or drop it. What asks is `pressure` or `expired`; its own tier is full."""
        source = self.copies[span].tier
        if asked_by == "expired" and not self.demote_on_expiry:
            self.evictions["expired_no_demote"] += 1
            self.lose(span, "evict", "expired")
            return
        full: list[str] = []
        while True:
            chosen, reason = self.plan(span, source, full)
            if chosen is None:
                self.evictions[reason] += 1
                self.lose(span, "evict", "cost" if reason == "recompute_cheaper_than_retain" else asked_by)
                return
            if self.make_room(time, span, chosen) if self.rules["cascade"] else self.fits_now(span, chosen):
                self.note(span, "demote" if self.attendable(chosen) else "spill", source, chosen)
                self.time_ns["offload"] += self.transfer_ns(span, source, chosen)
                self.put(time, span, chosen)
                return
            full.append(chosen)

    def plan(self, span: int, source: str, full: list[str]) -> tuple[str | None, str]:
        """The planner: the colder tier to move to; None with the reason where there is none."""
        colder = [tier for tier in TIERS[TIERS.index(source) + 1 :] if tier in self.profiles and tier not in full]
        if not self.rules["use_remote"]:
            colder = [tier for tier in colder if tier != "remote"]
        if self.rules["room_when_free"]:
            rungs = [tier for tier in colder if self.fits_now(span, tier)]
        else:
            # Reading: "could ever hold it" means beside what others hold of that tier now.
            rungs = [t for t in colder if (room := self.capacity(t)) is None or self.span_bytes[span] <= room]
        if not rungs:
            return None, "no_colder_tier_with_room"
        if not self.rules["best_rung"]:
            rungs = rungs[:1]
        pays = [tier for tier in rungs if self.transfer_ns(span, source, tier) < self.recompute_ns(span)]
        if not pays:
            return None, "recompute_cheaper_than_retain"
        # Reading: of equally cheap rungs the hotter, which `min` meets first.
        return min(pays, key=lambda tier: self.transfer_ns(span, source, tier)), ""

    # --- time ---

    def deadline_us(self, span: int) -> int | None:
        copy = self.copies[span]
        if copy.expiring_since_us is not None:
            return copy.expiring_since_us + self.grace_us
        ttl = self.ttl_us.get(copy.tier, 0)
        if ttl <= 0 or not (self.attendable(copy.tier) or self.rules["ttl_on_spilled"]):
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
                self.lifecycle["expiring"] += 1
            else:
                self.lifecycle["expired"] += 1
                self.relocate(deadline, span, "expired")

    def revive(self, time: int, span: int) -> None:
        copy = self.copies[span]
        if copy.expiring_since_us is not None:
            self.lifecycle["revived"] += 1
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
        elif control.tier in self.profiles:
            self.fill_ppm[control.tier] = control.value
            while (capacity := self.capacity(control.tier)) is not None and self.held(control.tier) > capacity:
                self.relocate(time, self.victim(control.tier), "pressure")

    def request(self, time: int, request: int) -> None:
        path = self.paths[request]
        output_tokens = self.trace.output_tokens[request]
        unidentified = self.trace.unidentified_tokens[request]
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
            prefill_ns += self.engine.prefill.ns(unidentified, self.trace.input_tokens[request] - unidentified)
        if path and served == len(path) and not unidentified:
            self.hits[self.last_tier] -= 1
            self.tokens["obligatory"] += 1
            prefill_ns = self.engine.prefill.ns(1, self.context[path[-1]] + self.span_tokens[path[-1]] - 1)
        for span in reversed(path):
            if span in self.recency:
                self.recency.remove(span)
            self.recency.append(span)
        self.own = []
        self.tokens["input"] += self.trace.input_tokens[request]
        self.tokens["unidentified"] += unidentified
        self.time_ns["prefill"] += prefill_ns
        self.ttft_ns.append(prefill_ns + waited_ns)

    def cut(self, run: list[int], output_tokens: int) -> int:
        """How many spans of the run to keep: the cut that saves most, the longest on a tie."""
        saved = [
            sum(self.recompute_ns(span) - self.load(span, output_tokens)[0] for span in run[:length])
            for length in range(len(run) + 1)
        ]
        return max(length for length in range(len(run) + 1) if saved[length] == max(saved))

    def serve(self, time: int, kept: list[int], output_tokens: int) -> tuple[int, int]:
        """Serve in path order. Returns how many were served before a fault, if any, and the time waited for them."""
        waited_ns = 0
        for served, span in enumerate(kept):
            self.revive(time, span)
            load_ns, way = self.load(span, output_tokens)
            tier = self.last_tier = self.copies[span].tier
            # Reading: an HBM read may meet a fault too; a read that faults moves no bytes, and is called a restore.
            if any(name == tier and start <= time < end for name, start, end in self.windows):
                latency_ns = self.profiles[tier].read_latency_ns
                self.time_ns["stage"] += latency_ns
                self.moves.append(("restore", tier, "hbm", "fault", 0, self.span_tokens[span]))
                self.lose(span, "drop", "fault")
                return served, waited_ns + latency_ns
            self.hits[tier] += self.span_tokens[span]
            if way == "attend":
                self.time_ns["attend"] += load_ns
                # Reading: the first token waits for one slower read of the prefill, not for those of the decode.
                waited_ns += self.attend_ns(span, tier, 0)
                self.note(span, "attend", tier, tier)
            elif way == "restore":
                self.time_ns["stage"] += load_ns
                waited_ns += load_ns
                if self.make_room(time, span, "hbm"):
                    self.note(span, "restore", tier, "hbm")
                    self.put(time, span, "hbm")
                else:
                    self.note(span, "stream", tier, "hbm")
        return len(kept), waited_ns

    def compute(self, time: int, span: int, cause: str) -> int:
        """Compute a span and fill it into HBM. Reading: a copy that is of no use is dropped just before, one by one."""
        if span in self.copies:
            self.lose(span, "drop", cause)
        if span in self.computed:
            self.reprefilled[self.why[span]] += self.span_tokens[span]
        else:
            self.computed.append(span)
            self.tokens["cold"] += self.span_tokens[span]
        if self.make_room(time, span, "hbm"):
            self.note(span, "fill", "", "hbm")
            self.put(time, span, "hbm")
        else:
            self.why[span] = "bypassed"
        return self.recompute_ns(span)

    def document(self) -> dict[str, Any]:
        tiers = [tier for tier in TIERS if tier in self.profiles]
        kinds = sorted({move[:4] for move in self.moves})
        return {
            "tokens": {
                "input": self.tokens["input"],
                "hit": {tier: self.hits[tier] for tier in tiers},
                "cold": self.tokens["cold"],
                "obligatory": self.tokens["obligatory"],
                "unidentified": self.tokens["unidentified"],
                "reprefilled": {cause: self.reprefilled[cause] for cause in CAUSES},
            },
            "time_ns": {name: self.time_ns[name] for name in ("prefill", "stage", "attend", "offload")},
            "ttft_ns": {f"p{percent}": nearest_rank(self.ttft_ns, percent) for percent in (50, 90, 99)},
            "moves": [
                {
                    "action": action,
                    "directive": DIRECTIVES[action],
                    "from": source,
                    "to": to,
                    "outcome": outcome,
                    "count": sum(move[:4] == (action, source, to, outcome) for move in self.moves),
                    "bytes": sum(move[4] for move in self.moves if move[:4] == (action, source, to, outcome)),
                    "tokens": sum(move[5] for move in self.moves if move[:4] == (action, source, to, outcome)),
                }
                for action, source, to, outcome in kinds
            ],
            "evictions": dict(self.evictions),
            "lifecycle": {name: self.lifecycle[name] for name in ("expiring", "expired", "revived")},
            "occupancy_bytes": {tier: {"peak": self.peak_bytes[tier], "end": self.held(tier)} for tier in tiers},
        }


def nearest_rank(values: list[int], percent: int) -> int:
    """The smallest value with at least `percent` percent of all at or below it."""
    return min(value for value in values if 100 * sum(other <= value for other in values) >= percent * len(values))
