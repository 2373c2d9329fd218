"""The life of a cached span, as integer columns: filling, resident, expiring, expired, spilled, evicted.

A span is fresh in its tier for the tier's TTL, counted from entering the tier; then it is expiring, still serveable,
for a grace period in which an access revives it; then it is expired and must be relocated or dropped. Time is whatever
integer the caller injects (the replay uses microseconds). Source: the original plane's lifecycle.

Left out of the original: its floating access rate is `access_rate`, used at the edge only. Two of its weaknesses are
parameters here, off by default so that the strict form is the plain call: `restart_on_revival` (a revived span
starts a new TTL instead of falling back at the next tick) and `ttl_on_spilled` (a TTL also binds in tiers that
cannot be attended in place).
"""

from array import array

from policy.decisions import OFFLOAD, RESTORE
from policy.tiers import RECOMPUTE, TIER_COUNT, UNKNOWN, rank

FILLING = 0
RESIDENT = 1
EXPIRING = 2
EXPIRED = 3
SPILLED = 4
EVICTED = 5

STATE_NAMES = ("filling", "resident", "expiring", "expired", "spilled", "evicted")


def serveable(state: int) -> bool:
    """A span may serve a request while resident, expiring or spilled."""
    return state == RESIDENT or state == EXPIRING or state == SPILLED


def access_rate(accesses: int, admitted_at_ms: int, now_ms: int) -> float:
    """Accesses per second since admission, a lifetime mean; 0 where no time has passed."""
    elapsed_ms = now_ms - admitted_at_ms
    if elapsed_ms <= 0:
        return 0.0
    return float(accesses) * 1000.0 / float(elapsed_ms)


class Ttls:
    """How long a span stays fresh in each tier, in the caller's time unit; 0 or less is no TTL."""

    def __init__(self, default_ttl: int, grace: int, demote_on_expiry: int, tiers: int = TIER_COUNT) -> None:
        self.default_ttl = default_ttl
        self.grace = grace
        self.demote_on_expiry = demote_on_expiry
        self.ttl = array("q", [default_ttl]) * tiers

    def set(self, tier: int, ttl: int) -> None:
        """A tier's own TTL, which holds even where it is 0: that disables a positive default."""
        self.ttl[tier] = ttl

    def ttl_for(self, tier: int) -> int:
        """The TTL that binds in `tier`."""
        return self.ttl[tier] if tier < len(self.ttl) else self.default_ttl


class Lifecycle:
    """Columns of span state: `state`, `tier`, `admitted`, `entered`, `since`, `last_access`, `accesses`, by span id.

    `attendable[tier]` is 1 where a tier of the machine can be attended in place; a tier that is absent or not
    attendable holds its spans `SPILLED`.
    """

    def __init__(self, spans: int, attendable: "array[int]", restart_on_revival: int, ttl_on_spilled: int) -> None:
        zeros = array("q", [0]) * spans
        self.state = array("q", [EVICTED]) * spans
        self.tier = array("q", zeros)
        self.admitted = array("q", zeros)
        self.entered = array("q", zeros)
        self.since = array("q", zeros)
        self.last_access = array("q", zeros)
        self.accesses = array("q", zeros)
        self.attendable = attendable
        self.restart_on_revival = restart_on_revival
        self.ttl_on_spilled = ttl_on_spilled

    def start(self, span: int, tier: int, now: int) -> None:
        """A new life: filling in `tier`, every clock at `now`, no accesses."""
        self.state[span] = FILLING
        self.tier[span] = tier
        self.admitted[span] = now
        self.entered[span] = now
        self.since[span] = now
        self.last_access[span] = now
        self.accesses[span] = 0

    def mark_resident(self, span: int, now: int) -> None:
        """Filling is done: resident, or spilled where the tier cannot be attended. No other state changes."""
        if self.state[span] == FILLING:
            self.state[span] = self.settled(self.tier[span])
            self.since[span] = now

    def touch(self, span: int, now: int) -> bool:
        """An access, counted in every state. An expiring span is revived; returns whether it was."""
        self.accesses[span] += 1
        self.last_access[span] = now
        if self.state[span] != EXPIRING:
            return False
        # A span that expired where it could not be attended goes back to being spilled.
        self.state[span] = self.settled(self.tier[span]) if self.ttl_on_spilled else RESIDENT
        self.since[span] = now
        if self.restart_on_revival:
            self.entered[span] = now
        return True

    def advance(self, span: int, ttls: Ttls, now: int) -> bool:
        """At most one step towards expiry, where due at `now` (bounds inclusive); returns whether one was taken."""
        state = self.state[span]
        if state == RESIDENT or (state == SPILLED and self.ttl_on_spilled):
            ttl = ttls.ttl_for(self.tier[span])
            if ttl > 0 and now - self.entered[span] >= ttl:
                self.state[span] = EXPIRING
                self.since[span] = now
                return True
        elif state == EXPIRING and now - self.since[span] >= ttls.grace:
            self.state[span] = EXPIRED
            self.since[span] = now
            return True
        return False

    def move_to(self, span: int, tier: int, now: int) -> int:
        """The span now lives in `tier`, from `now` on, resident or spilled as the tier allows. Returns the directive.

        Colder is an offload, anything else a restore; a move to `RECOMPUTE` or nowhere is an eviction.
        """
        if tier == RECOMPUTE or tier == UNKNOWN:
            return self.evict(span, now)
        directive = OFFLOAD if rank(tier) > rank(self.tier[span]) else RESTORE
        self.place(span, tier, now)
        return directive

    def place(self, span: int, tier: int, now: int) -> None:
        """The span is at rest in `tier` from `now` on: clocks restart."""
        self.tier[span] = tier
        self.entered[span] = now
        self.since[span] = now
        self.state[span] = RESIDENT if tier < len(self.attendable) and self.attendable[tier] else SPILLED

    def evict(self, span: int, now: int) -> int:
        """The bytes are gone. Tier and clocks stay as the record of where they were. Returns the directive."""
        self.state[span] = EVICTED
        self.since[span] = now
        return OFFLOAD

    def settled(self, tier: int) -> int:
        """The state of a span at rest in `tier`."""
        if tier < len(self.attendable) and self.attendable[tier]:
            return RESIDENT
        return SPILLED
