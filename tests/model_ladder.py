"""The ladder of the naive model: who lives where, who moves when room is needed, and what time does to copies."""

from __future__ import annotations

from dataclasses import dataclass

from model_books import Books
from model_costs import TIERS, Costs


@dataclass
class Copy:
    """Where a span lives, since when, and since when it is expiring (None: it is not)."""

    tier: str
    entered_us: int
    expiring_since_us: int | None = None
    revived_us: int | None = None


class Ladder:
    """Copies of spans in tiers under one arm's rules. Spans are numbers; their sizes and costs are listed by number."""

    def __init__(
        self,
        costs: Costs,
        books: Books,
        rules: dict[str, int],
        ttl_us: dict[str, int],
        grace_us: int,
        demote_on_expiry: bool,
    ) -> None:
        self.costs = costs
        self.books = books
        self.rules = rules
        self.ttl_us = ttl_us if rules["ttls"] else {}
        self.grace_us = grace_us
        self.demote_on_expiry = demote_on_expiry
        self.tiers = [tier for tier in TIERS if tier in costs.profiles]
        if not rules["colder_tiers"]:
            self.tiers = ["hbm"]
        self.tokens: list[int] = []
        self.bytes: list[int] = []
        self.recompute_ns: list[int] = []
        self.copies: dict[int, Copy] = {}
        self.why: dict[int, str] = {}
        # Spans by last touch, the most recent at the end.
        self.recency: list[int] = []
        # The spans of the current request.
        self.own: list[int] = []
        self.fill_ppm: dict[str, int] = {}

    def where(self, span: int) -> str:
        """The tier of the copy that a request finds; none is ""."""
        return self.copies[span].tier if span in self.copies else ""

    def why_lost(self, span: int) -> str:
        return self.why[span]

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
            if self.is_spare(time, span, chosen):
                return
            if self.make_room(time, span, chosen) if self.rules["cascade"] else self.fits_now(span, chosen):
                self.note(span, "demote" if self.costs.attendable(chosen) else "spill", source, chosen)
                self.books.read(source, chosen, self.bytes[span])
                self.books.time_ns["offload"] += self.costs.transfer_ns(self.bytes[span], source, chosen)
                self.put(time, span, chosen)
                return
            full.append(chosen)

    def is_spare(self, time: int, span: int, chosen: str) -> bool:
        """Whether a copy is let go of because one is in `chosen` already: for one engine there never is."""
        return False

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
        pays = [tier for tier in rungs if cost_ns[tier] < self.recompute_ns[span]]
        if self.rules["remote_last"]:
            # Reading: "remote is the last rung" is the last resort, however fast it is.
            pays = [tier for tier in pays if tier != "remote"] or pays
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
