"""The accountant: prices what a policy did and what each request needed. It decides nothing.

It reads the policy's journal row by row and keeps its own books of what every tier holds, so that an audit can hold the
two against each other. Prices come from the same integer cost functions as the policy's beliefs (`policy.cost`).
"""

from __future__ import annotations

from array import array

from policy.cost import stage_ns
from policy.costs_by_tier import TierCosts
from policy.decisions import (
    ACTION_NAMES,
    ATTEND,
    COLD,
    DIRECTIVE_NAMES,
    DROP,
    EVICT,
    FAULT,
    FILL,
    OUTCOME_NAMES,
    REPREFILL_CAUSES,
    RESTORED,
    STREAM,
)
from policy.journal import Row
from policy.spans import Spans
from policy.tiers import HBM, TIER_COUNT

_CAUSES = len(REPREFILL_CAUSES) + 1
_TIER_CODES = 9
_MOVE_KEYS = len(ACTION_NAMES) * len(DIRECTIVE_NAMES) * _TIER_CODES * _TIER_CODES * len(OUTCOME_NAMES)


def move_key(action: int, directive: int, source: int, destination: int, outcome: int) -> int:
    """The five codes of a kind of move as one dense index."""
    key = action * len(DIRECTIVE_NAMES) + directive
    key = (key * _TIER_CODES + source) * _TIER_CODES + destination
    return key * len(OUTCOME_NAMES) + outcome


def split_move_key(key: int) -> tuple[int, int, int, int, int]:
    """The five codes of a key: action, directive, source, destination, outcome."""
    key, outcome = divmod(key, len(OUTCOME_NAMES))
    key, destination = divmod(key, _TIER_CODES)
    key, source = divmod(key, _TIER_CODES)
    action, directive = divmod(key, len(DIRECTIVE_NAMES))
    return action, directive, source, destination, outcome


class Ledger:
    """The books of one arm. Token counts are of prompt tokens; times are nanoseconds, charged once per operation."""

    def __init__(self, spans: Spans, costs: TierCosts, capacity_bytes: array[int], start_us: int) -> None:
        self.spans = spans
        self.costs = costs
        self.capacity_bytes = capacity_bytes
        self.hit_tokens = array("q", [0]) * TIER_COUNT
        # Tokens computed, by cause; index 0 is cold.
        self.computed_tokens = array("q", [0]) * _CAUSES
        self.input_tokens = 0
        self.obligatory_tokens = 0
        self.unidentified_tokens = 0
        self.prefill_ns = 0
        self.stage_ns = 0
        self.attend_ns = 0
        self.offload_ns = 0
        self.ttft_ns = array("q")
        # Sums that attending can make larger than 64 bits hold are plain integers.
        self.busy_ns = [0] * TIER_COUNT
        # Bytes that crossed from one tier towards another, by `source * TIER_COUNT + destination`.
        self.flow_bytes = [0] * (TIER_COUNT * TIER_COUNT)
        self.move_count = array("q", [0]) * _MOVE_KEYS
        self.move_bytes = array("q", [0]) * _MOVE_KEYS
        self.move_tokens = array("q", [0]) * _MOVE_KEYS
        self.evictions_by_reason: dict[int, int] = {}
        # What each tier holds, by this ledger's own reading of the journal.
        self.held_bytes = array("q", [0]) * len(spans)
        self.used_bytes = array("q", [0]) * TIER_COUNT
        self.peak_bytes = array("q", [0]) * TIER_COUNT
        self.in_bytes = array("q", [0]) * TIER_COUNT
        self.out_bytes = array("q", [0]) * TIER_COUNT
        self.byte_us = [0] * TIER_COUNT
        self.clock_us = start_us
        self.over_capacity = 0
        self.wrong_source = 0
        self.where = array("q", [-1]) * len(spans)
        self.ever_computed = bytearray(len(spans))

    def advance(self, now_us: int) -> None:
        """Time passes with every tier as full as it is."""
        elapsed_us = now_us - self.clock_us
        if elapsed_us:
            for tier in range(TIER_COUNT):
                self.byte_us[tier] += self.used_bytes[tier] * elapsed_us
            self.clock_us = now_us

    def settle(self, rows: list[Row], output_tokens: int) -> tuple[int, int]:
        """Price the journal's rows. Returns what the request waits for: staging, and the slower reads of its prefill."""
        costs = self.costs
        latency = costs.latency_ns
        bandwidth = costs.own_bandwidth_mb_s
        busy = self.busy_ns
        tokens = self.spans.tokens
        clock_us = self.clock_us
        waited_stage_ns = 0
        waited_attend_ns = 0
        for now, action, directive, span, source, destination, outcome, reason, size_bytes in rows:
            if now != clock_us:
                self.advance(now)
                clock_us = now
            key = move_key(action, directive, source, destination, outcome)
            self.move_count[key] += 1
            self.move_bytes[key] += size_bytes
            self.move_tokens[key] += tokens[span]
            if action == FILL:
                self._enter(span, destination, size_bytes)
            elif action == EVICT or action == DROP:
                if action == EVICT:
                    self.evictions_by_reason[reason] = self.evictions_by_reason.get(reason, 0) + 1
                self._leave(span, source)
            elif action == ATTEND:
                reads = 1 + output_tokens
                busy[source] += reads * stage_ns(size_bytes, latency[source], bandwidth[source])
                self.flow_bytes[source * TIER_COUNT + HBM] += reads * size_bytes
                self.attend_ns += costs.attend_ns(source, size_bytes, output_tokens)
                waited_attend_ns += costs.attend_ns(source, size_bytes, 0)
            elif outcome == FAULT:
                waited_stage_ns += latency[source]
                busy[source] += latency[source]
            else:
                busy[source] += stage_ns(size_bytes, latency[source], bandwidth[source])
                busy[destination] += stage_ns(size_bytes, latency[destination], bandwidth[destination])
                self.flow_bytes[source * TIER_COUNT + destination] += size_bytes
                if action == RESTORED:
                    waited_stage_ns += costs.read_ns(source, size_bytes)
                    self._leave(span, source)
                    self._enter(span, destination, self.spans.size_bytes[span])
                elif action == STREAM:
                    waited_stage_ns += costs.read_ns(source, size_bytes)
                else:
                    self.offload_ns += costs.move_ns(source, destination, size_bytes)
                    self._leave(span, source)
                    self._enter(span, destination, size_bytes)
        self.stage_ns += waited_stage_ns
        return waited_stage_ns, waited_attend_ns

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

    def crossed_bytes(self, source: int, destination: int) -> int:
        """Bytes that crossed from one tier towards the other."""
        return self.flow_bytes[source * TIER_COUNT + destination]

    def _enter(self, span: int, tier: int, size_bytes: int) -> None:
        if self.where[span] != -1:
            self.wrong_source += 1
        self.where[span] = tier
        self.held_bytes[span] = size_bytes
        self.in_bytes[tier] += size_bytes
        used_bytes = self.used_bytes[tier] + size_bytes
        self.used_bytes[tier] = used_bytes
        if used_bytes > self.peak_bytes[tier]:
            self.peak_bytes[tier] = used_bytes
            if used_bytes > self.capacity_bytes[tier]:
                self.over_capacity += 1

    def _leave(self, span: int, tier: int) -> None:
        if self.where[span] != tier:
            self.wrong_source += 1
        self.where[span] = -1
        self.used_bytes[tier] -= self.held_bytes[span]
        self.out_bytes[tier] += self.held_bytes[span]
