"""The accountant: prices what a policy did and what each request needed. It decides nothing.

It reads the policy's journal row by row and keeps its own books of what every tier holds, so that an audit can hold the
two against each other. Prices come from the same integer cost functions as the policy's beliefs (`policy.cost`).
"""

from __future__ import annotations

from array import array

from policy.costs_by_tier import TierCosts
from policy.decisions import (
    ACTION_NAMES,
    ATTEND,
    COLD,
    COMPRESS_DEMOTE,
    COPY,
    DEDUPE,
    DIRECTIVE_NAMES,
    DROP,
    EVICT,
    FAULT,
    FILL,
    OUTCOME_NAMES,
    PROMOTE,
    REPREFILL_CAUSES,
    RESTORED,
)
from policy.identity import REFUSALS
from policy.journal import ROW_CELLS, Journal
from policy.spans import Spans
from policy.tiers import TIER_COUNT
from policy.wide import Wide, WideSums

_CAUSES = len(REPREFILL_CAUSES) + 1
_TIER_CODES = 9
_OUTCOMES = len(OUTCOME_NAMES)
_DIRECTIVES = len(DIRECTIVE_NAMES)
_SUMS = (
    "input_tokens",
    "obligatory_tokens",
    "unidentified_tokens",
    "prefill_ns",
    "stage_ns",
    "attend_ns",
    "offload_ns",
    "promote_ns",
)
_COLUMNS = ("hit_tokens", "computed_tokens", "refused_tokens")
_WIDE_COLUMNS = ("decode_reads", "decode_read_bytes")
_MOVE_KEYS = len(ACTION_NAMES) * _DIRECTIVES * _TIER_CODES * _TIER_CODES * _OUTCOMES


def move_key(action: int, directive: int, source: int, destination: int, outcome: int) -> int:
    """The five codes of a kind of move as one dense index."""
    return (
        ((action * _DIRECTIVES + directive) * _TIER_CODES + source) * _TIER_CODES + destination
    ) * _OUTCOMES + outcome


def split_move_key(key: int) -> tuple[int, int, int, int, int]:
    """The five codes of a key: action, directive, source, destination, outcome."""
    key, outcome = divmod(key, _OUTCOMES)
    key, destination = divmod(key, _TIER_CODES)
    key, source = divmod(key, _TIER_CODES)
    action, directive = divmod(key, _DIRECTIVES)
    return action, directive, source, destination, outcome


class Books:
    """What is counted over one arm: tokens of prompts, nanoseconds charged once per operation, and moves by kind."""

    def __init__(self) -> None:
        self.hit_tokens = array("q", [0]) * TIER_COUNT
        # Tokens computed, by cause; index 0 is cold.
        self.computed_tokens = array("q", [0]) * _CAUSES
        # Of the cold tokens: those that isolation kept from another class's copy, by reason.
        self.refused_tokens = array("q", [0]) * len(REFUSALS)
        self.input_tokens = 0
        self.obligatory_tokens = 0
        self.unidentified_tokens = 0
        self.prefill_ns: Wide = 0
        self.stage_ns: Wide = 0
        self.attend_ns: Wide = 0
        # Beside the requests: moves to a colder tier, and promotions to a warmer one.
        self.offload_ns: Wide = 0
        self.promote_ns: Wide = 0
        self.ttft_ns = array("q")
        # Reads in place beyond the first, one for each output token, by tier.
        self.decode_reads = WideSums(TIER_COUNT)
        self.decode_read_bytes = WideSums(TIER_COUNT)
        self.move_count = array("q", [0]) * _MOVE_KEYS
        self.move_bytes = WideSums(_MOVE_KEYS)
        self.move_tokens = array("q", [0]) * _MOVE_KEYS
        self.evictions_by_reason: dict[int, int] = {}

    def prefill_tokens(self) -> int:
        """Tokens computed, for whatever reason."""
        return sum(self.computed_tokens) + self.obligatory_tokens + self.unidentified_tokens

    def add(self, other: Books) -> None:
        """Take in what another replica counted."""
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in _COLUMNS:
            column = getattr(self, name)
            for at, figure in enumerate(getattr(other, name)):
                column[at] += figure
        for name in _WIDE_COLUMNS:
            wide, others = getattr(self, name), getattr(other, name)
            for at in range(len(wide)):
                wide.add_wide(at, others[at])
        # There are many kinds of moves, of which few occur.
        for key, count in enumerate(other.move_count):
            if count:
                self.move_count[key] += count
                self.move_bytes.add_wide(key, other.move_bytes[key])
                self.move_tokens[key] += other.move_tokens[key]
        self.ttft_ns.extend(other.ttft_ns)
        for reason, count in other.evictions_by_reason.items():
            self.evictions_by_reason[reason] = self.evictions_by_reason.get(reason, 0) + count


class Ledger(Books):
    """The books of one replica, and its own reading of what every tier holds."""

    def __init__(self, spans: Spans, costs: TierCosts, capacity_bytes: array[int], start_us: int) -> None:
        super().__init__()
        self.spans = spans
        self.costs = costs
        self.capacity_bytes = capacity_bytes
        self.held_bytes = array("q", [0]) * len(spans)
        self.used_bytes = array("q", [0]) * TIER_COUNT
        self.peak_bytes = array("q", [0]) * TIER_COUNT
        self.in_bytes = WideSums(TIER_COUNT)
        self.out_bytes = WideSums(TIER_COUNT)
        self.byte_us = WideSums(TIER_COUNT)
        self.clock_us = start_us
        self.over_capacity = 0
        self.wrong_source = 0
        # What the rows settled last cost the request that they were for.
        self.waited_stage_ns = 0
        self.waited_attend_ns = 0
        self.where = array("q", [-1]) * len(spans)
        # Shared by the replicas of a fleet: what any of them computed is cold no more.
        self.ever_computed = bytearray(len(spans))

    def advance(self, now_us: int) -> None:
        """Time passes with every tier as full as it is."""
        elapsed_us: Wide = now_us - self.clock_us
        if elapsed_us:
            for tier in range(TIER_COUNT):
                self.byte_us.add_wide(tier, self.used_bytes[tier] * elapsed_us)
            self.clock_us = now_us

    def settle(self, journal: Journal, output_tokens: int) -> None:
        """Price the journal's rows, leaving in `waited_stage_ns` and `waited_attend_ns` what the request waits for.

        That is staging, and its prefill's slower reads.
        """
        cells = journal.cells
        offload_ns = promote_ns = 0
        self.waited_stage_ns = 0
        self.waited_attend_ns = 0
        for row in range(journal.count):
            at = row * ROW_CELLS
            if cells[at] != self.clock_us:
                self.advance(cells[at])
            action = cells[at + 1]
            span = cells[at + 3]
            source = cells[at + 4]
            destination = cells[at + 5]
            size_bytes = cells[at + 8]
            key = move_key(action, cells[at + 2], source, destination, cells[at + 6])
            self.move_count[key] += 1
            self.move_bytes.add(key, size_bytes)
            self.move_tokens[key] += self.spans.tokens[span]
            if action == FILL:
                self._enter(span, destination, size_bytes)
            elif action <= COMPRESS_DEMOTE:
                move_ns = self.costs.move_ns(source, destination, size_bytes)
                if action == PROMOTE:
                    promote_ns += move_ns
                else:
                    offload_ns += move_ns
                self._leave(span, source)
                self._enter(span, destination, size_bytes)
            elif action == EVICT:
                reason = cells[at + 7]
                self.evictions_by_reason[reason] = self.evictions_by_reason.get(reason, 0) + 1
                self._leave(span, source)
            elif action == DROP:
                self._leave(span, source)
            elif action == DEDUPE:
                self._reach(span, destination)
                self._leave(span, source)
            elif action == ATTEND:
                self._attend(span, source, size_bytes, output_tokens)
            elif cells[at + 6] == FAULT:
                self.waited_stage_ns += self.costs.latency_ns[source]
            else:
                self._read(action, span, source, destination, size_bytes)
        self.stage_ns += self.waited_stage_ns
        if offload_ns or promote_ns:
            self.offload_ns += offload_ns
            self.promote_ns += promote_ns

    def hit(self, span: int, tier: int) -> None:
        """A span served a request from `tier`."""
        self.hit_tokens[tier] += self.spans.tokens[span]

    def computed(self, span: int, cause: int) -> int:
        """A span was computed. Returns the cause it is booked under: `COLD` where it never was before."""
        if not self.ever_computed[span]:
            self.ever_computed[span] = 1
            cause = COLD
        self.computed_tokens[cause] += self.spans.tokens[span]
        return cause

    def refused(self, reason: int, tokens: int) -> None:
        """Tokens that are about to be computed cold are held by another class: `reason` indexes `REFUSALS`."""
        self.refused_tokens[reason] += tokens

    def obligatory(self, tier: int) -> None:
        """A request whose every token was a hit computes its last one again, which was a hit in `tier`."""
        self.hit_tokens[tier] -= 1
        self.obligatory_tokens += 1

    def request(self, input_tokens: int, unidentified_tokens: int, prefill_ns: int, waited_ns: int) -> None:
        """A request is over: its tokens, the prefill it needed and what else it waited for before its first token."""
        self.input_tokens += input_tokens
        self.unidentified_tokens += unidentified_tokens
        self.prefill_ns += prefill_ns
        self.ttft_ns.append(prefill_ns + waited_ns)

    def _attend(self, span: int, tier: int, size_bytes: int, output_tokens: int) -> None:
        """A span was used where it is, once for the prefill and once for each output token."""
        costs = self.costs
        self._reach(span, tier)
        self.decode_reads.add(tier, output_tokens)
        self.decode_read_bytes.add(tier, output_tokens * size_bytes)
        self.attend_ns += costs.attend_ns(tier, size_bytes, output_tokens)
        self.waited_attend_ns += costs.attend_ns(tier, size_bytes, 0)

    def _read(self, action: int, span: int, source: int, destination: int, size_bytes: int) -> None:
        """A span was read from a colder tier: it moved, was copied, or was streamed and stays there."""
        self.waited_stage_ns += self.costs.read_ns(source, size_bytes)
        if action == RESTORED:
            self._leave(span, source)
            self._enter(span, destination, self.spans.size_bytes[span])
            return
        self._reach(span, source)
        if action == COPY:
            self._enter(span, destination, self.spans.size_bytes[span])

    def _reach(self, span: int, tier: int) -> None:
        """A span was used in `tier` and stays there, or is let go elsewhere because it is there."""

    def _enter(self, span: int, tier: int, size_bytes: int) -> None:
        """A span that was nowhere is in `tier`."""
        if self.where[span] != -1:
            self.wrong_source += 1
        self.where[span] = tier
        self.held_bytes[span] = size_bytes
        self.in_bytes.add(tier, size_bytes)
        used_bytes = self.used_bytes[tier] + size_bytes
        self.used_bytes[tier] = used_bytes
        if used_bytes > self.peak_bytes[tier]:
            self.peak_bytes[tier] = used_bytes
            if used_bytes > self.capacity_bytes[tier]:
                self.over_capacity += 1

    def _leave(self, span: int, tier: int) -> None:
        """A span that was in `tier` is nowhere."""
        if self.where[span] != tier:
            self.wrong_source += 1
        self.where[span] = -1
        size_bytes = self.held_bytes[span]
        self.used_bytes[tier] -= size_bytes
        self.out_bytes.add(tier, size_bytes)
