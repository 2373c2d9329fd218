"""A fleet once more, naively: hosts that are models of one engine each, and pools that are plain dicts, from the text.

From the design and the documentation of pools alone. A comment that starts with "Reading" says which of several
readings of the text was taken.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from model_books import Books
from model_costs import TIERS, Costs
from model_ladder import Copy
from replay_model import Model

from harness.engine import Engine
from harness.trace import Trace
from policy.profiles import TierProfile

ZERO_COPY = ("mmap", "dmabuf", "cxl_hdm")


class Clock:
    """Counts whatever happens in a fleet, so that of two things the later can be told."""

    def __init__(self) -> None:
        self.reading = 0

    def tick(self) -> int:
        self.reading += 1
        return self.reading


class Losses(dict[int, str]):
    """Why spans were lost, and when: `at`."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.at: dict[int, int] = {}

    def __setitem__(self, span: int, why: str) -> None:
        super().__setitem__(span, why)
        self.at[span] = self.clock.tick()


class PlacedCosts(Costs):
    """Costs of a host for whom some pooled tiers are only reachable: nothing is attended there."""

    def __init__(self, engine: Engine, staged: set[str]) -> None:
        super().__init__(engine)
        self.staged = staged

    def attendable(self, tier: str) -> bool:
        return tier not in self.staged and super().attendable(tier)


class Pool:
    """The spans that some hosts share in one tier, and which hosts have used each."""

    def __init__(self, tier: str, hosts: range, profile: TierProfile, clock: Clock, bytes_of: list[int]) -> None:
        self.tier = tier
        self.hosts = hosts
        self.capacity_bytes = profile.capacity_bytes * len(hosts)
        self.zero_copy = profile.coherent and profile.share in ZERO_COPY
        self.bytes_of = bytes_of
        self.users: dict[int, set[int]] = {}
        self.why = Losses(clock)
        self.age: dict[int, int] = {}
        # What it held and spared after every change, and when.
        self.timeline: list[tuple[int, int, int]] = []

    def held(self, spans: list[int] | None = None) -> int:
        return sum(self.bytes_of[span] for span in self.users if spans is None or span in spans)

    def spared(self) -> int:
        return sum(self.bytes_of[span] * (len(hosts) - 1) for span, hosts in self.users.items())

    def note(self, time: int) -> None:
        self.timeline.append((time, self.held(), self.spared()))

    def add(self, time: int, span: int, host: int) -> None:
        assert span not in self.users, "a pool holds a span once"
        self.users[span] = {host}
        self.note(time)

    def use(self, time: int, span: int, host: int) -> None:
        self.users[span].add(host)
        self.note(time)

    def remove(self, time: int, span: int, why: str) -> None:
        del self.users[span]
        self.why[span] = why
        self.note(time)

    def over_time(self, column: int, start: int, end: int) -> dict[str, int]:
        points = [(start, 0, 0), *self.timeline, (end, self.held(), self.spared())]
        area = sum(before[column] * (after[0] - before[0]) for before, after in pairwise(points))
        last = points[-1][column]
        return {
            "peak": max(point[column] for point in points),
            "mean": area // (end - start) if end > start else last,
            "end": last,
        }


class Host(Model):
    """One engine of a fleet. A pool's victim that it moves is `lent` to it until it is elsewhere."""

    def __init__(self, *arguments: Any, like: Host | None = None, **options: Any) -> None:
        self.like = like
        super().__init__(*arguments, **options)

    def _cut_spans(self, span_tokens: int) -> None:
        """The spans of a trace are every host's: they are cut once."""
        if self.like is None:
            super()._cut_spans(span_tokens)
            return
        for name in ("paths", "tokens", "bytes", "context", "recompute_ns"):
            setattr(self, name, getattr(self.like, name))

    def join(self, index: int, pools: list[Pool], clock: Clock, computed: list[int]) -> None:
        self.index = index
        self.pools = {pool.tier: pool for pool in pools}
        staged = {pool.tier for pool in pools if not pool.zero_copy}
        self.costs = self.books.costs = PlacedCosts(self.engine, staged)
        self.clock = clock
        self.computed = computed
        self.why = Losses(clock)
        self.age_of: dict[int, int] = {}
        self.lent: dict[int, Pool] = {}

    # --- what a request finds ---

    def source(self, span: int) -> Pool | None:
        """The pool from which this host would read a span: none where it has its own copy."""
        if span in self.copies:
            return None
        return next((pool for pool in self.pools.values() if span in pool.users), None)

    def where(self, span: int) -> str:
        pool = self.source(span)
        return pool.tier if pool else super().where(span)

    def why_lost(self, span: int) -> str:
        """The latest loss of this host and its pools."""
        losses = [self.why, *(pool.why for pool in self.pools.values())]
        known = [each for each in losses if span in each]
        return max(known, key=lambda each: each.at[span])[span] if known else "elsewhere"

    def note_refusals(self, path: list[int]) -> None:
        """Nobody states an identity in the fleets of this model: nothing is refused."""

    def request(self, time: int, request: int) -> None:
        self.failed = -1
        super().request(time, request)
        for span in reversed(self.paths[request]):
            self.age_of[span] = self.clock.tick()
            for pool in self.pools.values():
                pool.age[span] = self.age_of[span]

    def revive(self, time: int, span: int) -> None:
        if span in self.copies:
            super().revive(time, span)

    def lose_read(self, time: int, span: int) -> None:
        self.failed = span
        pool = self.source(span)
        if pool is None:
            super().lose_read(time, span)
            return
        self.note(span, "drop", pool.tier, "recompute")
        pool.remove(time, span, "fault")

    def use(self, time: int, span: int) -> None:
        pool = self.source(span)
        if pool:
            pool.use(time, span, self.index)

    def fetch(self, time: int, span: int) -> None:
        if self.source(span) is None:
            super().fetch(time, span)
            return
        self.note(span, "copy", self.where(span), "hbm")
        self.use(time, span)
        self.put(time, span, "hbm")

    def compute(self, time: int, span: int, cause: str) -> int:
        # Reading: a span whose own copy failed is lost by the fault, though a pool may have another.
        if self.source(span) and span != self.failed:
            # Refused or behind a gap: the pool keeps its copy.
            self.why[span] = cause
        return super().compute(time, span, cause)

    # --- space ---

    def capacity(self, tier: str) -> int | None:
        pool = self.pools.get(tier)
        if pool is None or pool.capacity_bytes == 0:
            return super().capacity(tier)
        return pool.capacity_bytes - pool.capacity_bytes * self.fill_ppm.get(tier, 0) // 1_000_000

    def held(self, tier: str, spans: list[int] | None = None) -> int:
        pool = self.pools.get(tier)
        return pool.held(spans) if pool else super().held(tier, spans)

    def victim(self, tier: str) -> int:
        pool = self.pools.get(tier)
        ages = pool.age if pool else self.age_of
        spans = list(pool.users) if pool else [span for span, copy in self.copies.items() if copy.tier == tier]
        return min((ages.get(span, 0), span) for span in spans if span not in self.own)[1]

    def make_room(self, time: int, span: int, tier: str) -> bool:
        pool = self.pools.get(tier)
        if pool is None:
            return super().make_room(time, span, tier)
        capacity = self.capacity(tier)
        if capacity is not None and capacity - pool.held(self.own) < self.bytes[span]:
            return False
        while not self.fits_now(span, tier):
            self.push_out(time, pool)
        return True

    def push_out(self, time: int, pool: Pool) -> None:
        """The pool's victim makes room by this host's ladder."""
        span = self.victim(pool.tier)
        if span in self.copies:
            self.note(span, "dedupe", pool.tier, self.copies[span].tier)
            pool.remove(time, span, "pressure")
            return
        self.copies[span] = Copy(pool.tier, time)
        self.lent[span] = pool
        self.relocate(time, span, "pressure")

    def is_spare(self, time: int, span: int, chosen: str) -> bool:
        pool = self.pools.get(chosen)
        if pool is None or span not in pool.users:
            return False
        self.note(span, "dedupe", self.copies[span].tier, chosen)
        self.leave(time, span)
        del self.copies[span]
        pool.use(time, span, self.index)
        return True

    def put(self, time: int, span: int, tier: str) -> None:
        # A span keeps its age, which only hosts of the other holder may know.
        age = self.leave(time, span)
        pool = self.pools.get(tier)
        if pool:
            self.copies.pop(span, None)
            pool.age[span] = max(age, pool.age.get(span, 0))
            pool.add(time, span, self.index)
        else:
            self.age_of[span] = age
            super().put(time, span, tier)

    def leave(self, time: int, span: int) -> int:
        """What was lent leaves its pool: lost to the pool's hosts by pressure. Returns the span's age."""
        age = self.age_of.get(span, 0)
        pool = self.lent.pop(span, None)
        if pool:
            pool.remove(time, span, "pressure")
            age = max(age, pool.age.get(span, 0))
        return age

    def lose(self, span: int, action: str, why: str) -> None:
        super().lose(span, action, why)
        pool = self.lent.pop(span, None)
        if pool:
            pool.remove(self.now, span, why)

    def relocate(self, time: int, span: int, asked_by: str) -> None:
        self.now = time
        super().relocate(time, span, asked_by)

    def control(self, time: int, index: int) -> None:
        control = self.trace.controls[index]
        pools = [pool for tier, pool in self.pools.items() if control.tier in ("", tier)]
        if control.kind != "pressure" or not pools:
            super().control(time, index)
        for pool in pools:
            if control.kind == "clear":
                for span in sorted(pool.users):
                    self.note(span, "drop", pool.tier, "recompute")
                    pool.remove(time, span, "cleared")
            elif control.kind == "pressure":
                self.fill_ppm[pool.tier] = control.value
                while (capacity := self.capacity(pool.tier)) is not None and pool.held() > capacity:
                    self.push_out(time, pool)


class FleetModel:
    """Hosts and pools over one trace. `run()` gives what a report says of the arm and of its fleet."""

    def __init__(
        self,
        trace: Trace,
        engine: Engine,
        rules: dict[str, int],
        options: dict[str, Any],
        replicas: int,
        router: str,
        pool_hosts: dict[str, int],
    ) -> None:
        clock = Clock()
        computed: list[int] = []
        self.trace = trace
        first = Host(trace, engine, rules, **options)
        self.hosts = [first, *(Host(trace, engine, rules, like=first, **options) for _ in range(1, replicas))]
        self.events = self.hosts[0].events
        self.tiers = self.hosts[0].tiers
        profiles = self.hosts[0].costs.profiles
        self.pools = [
            Pool(tier, range(first, min(first + width, replicas)), profiles[tier], clock, self.hosts[0].bytes)
            for tier in TIERS
            if tier in self.tiers and (width := pool_hosts.get(tier, 1)) > 1
            for first in range(0, replicas, width)
            if min(first + width, replicas) - first > 1
        ]
        for index, host in enumerate(self.hosts):
            host.join(index, [pool for pool in self.pools if index in pool.hosts], clock, computed)
        self.routes = self.route(router)

    def route(self, router: str) -> dict[int, int]:
        """The replica of each request."""
        routes: dict[int, int] = {}
        input_tokens = self.trace.input_tokens
        paths = self.hosts[0].paths
        for turn, request in enumerate(index for _, kind, index in self.events if kind == "request"):
            loads = [sum(input_tokens[sent] for sent, to in routes.items() if to == one) for one in self.indices]
            candidates = list(self.indices)
            if router == "round-robin":
                candidates = [turn % len(self.hosts)]
            elif router == "prefix":
                longest = [
                    max(
                        (self.common_tokens(paths[request], paths[sent]) for sent, to in routes.items() if to == one),
                        default=0,
                    )
                    for one in self.indices
                ]
                if 2 * max(longest) >= input_tokens[request]:
                    candidates = [one for one in self.indices if longest[one] == max(longest)]
            routes[request] = min(candidates, key=lambda one: (loads[one], one))
        return routes

    @property
    def indices(self) -> range:
        return range(len(self.hosts))

    def common_tokens(self, one: list[int], other: list[int]) -> int:
        common = 0
        while common < min(len(one), len(other)) and one[common] == other[common]:
            common += 1
        return sum(self.hosts[0].tokens[span] for span in one[:common])

    def run(self) -> tuple[dict[str, Any], dict[str, Any]]:
        for time, kind, index in self.events:
            self.age(time)
            if kind == "request":
                self.hosts[self.routes[index]].request(time, index)
            else:
                for host in self.hosts:
                    host.control(time, index)
        return self.arm(), self.fleet()

    def age(self, time: int) -> None:
        """Deadlines of all hosts in one order: by time, then by host, then by span."""
        while True:
            falls = [
                (deadline, host.index, span)
                for host in self.hosts
                for span in host.copies
                if (deadline := host.deadline_us(span)) is not None and deadline <= time
            ]
            if not falls:
                return
            deadline, index, _ = min(falls)
            self.hosts[index].age(deadline)

    def arm(self) -> dict[str, Any]:
        start, end = self.events[0][0], self.events[-1][0]
        each = [host.books for host in self.hosts]
        total = Books(each[0].costs)
        for books in each:
            for name in ("tokens", "hits", "reprefilled", "time_ns", "lifecycle", "evictions", "peak_bytes"):
                getattr(total, name).update(getattr(books, name))
            total.moves += books.moves
            total.ttft_ns += books.ttft_ns
        peaks = {tier: total.peak_bytes[tier] for tier in self.tiers}
        ends = {tier: sum(Model.held(host, tier) for host in self.hosts) for tier in self.tiers}
        for pool in self.pools:
            figures = pool.over_time(1, start, end)
            peaks[pool.tier] += figures["peak"]
            ends[pool.tier] += figures["end"]
        document = total.document(self.tiers, ends, end - start)
        document["tokens"]["reprefilled"]["elsewhere"] = total.reprefilled["elsewhere"]
        if end > start:
            shares = [books.document(self.tiers, ends, end - start) for books in each if books.ttft_ns]
            for part in ("utilisation_ppm", "link_utilisation_ppm"):
                document[part] = {place: max(share[part][place] for share in shares) for place in shares[0][part]}
        document["occupancy_bytes"] = {tier: {"peak": peaks[tier], "end": ends[tier]} for tier in self.tiers}
        return document

    def fleet(self) -> dict[str, Any]:
        start, end = self.events[0][0], self.events[-1][0]
        prefill = [host.books.time_ns["prefill"] for host in self.hosts]
        return {
            "prefill_imbalance_ppm": imbalance_ppm(prefill),
            "replicas": [
                {"hit": {tier: host.books.hits[tier] for tier in self.tiers}, "prefill_tokens": computed_tokens(host)}
                for host in self.hosts
            ],
            "pools": [
                {
                    "tier": pool.tier,
                    "replicas": list(pool.hosts),
                    "zero_copy": pool.zero_copy,
                    "held_bytes": pool.over_time(1, start, end),
                    "deduplicated_bytes": pool.over_time(2, start, end),
                }
                for pool in self.pools
            ],
        }


def computed_tokens(host: Host) -> int:
    tokens = host.books.tokens
    return sum(host.books.reprefilled.values()) + tokens["cold"] + tokens["obligatory"] + tokens["unidentified"]


def imbalance_ppm(loads: list[int]) -> int:
    return max(loads) * len(loads) * 1_000_000 // sum(loads) if sum(loads) else 1_000_000
