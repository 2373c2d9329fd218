"""Hits at every capacity at once: accesses in order of stack distance, with running sums, answered by bisection.

Made from what `policy.stack_distance` found. Where that was a sample, counts are scaled up, and what the sample then
has too much or too little of all accesses is taken from or given to the shortest distance (SHARDS-adj).
"""

from array import array
from bisect import bisect_left, bisect_right

from policy.cost import PPM
from policy.stack_distance import scale_up


class CapacityCurve:
    """Columns by rank of distance: `distance_bytes` ascends, `hits[i]` and `obligatory[i]` sum the accesses up to it.

    Tokens: `ceiling_tokens` are what a cache without bound serves, `all_obligatory` what even that computes again.
    """

    def __init__(
        self,
        distance_bytes: "array[int]",
        tokens: "array[int]",
        obligatory: "array[int]",
        seen_tokens: int,
        all_obligatory: int,
        rate_ppm: int,
    ) -> None:
        self.ceiling_tokens = seen_tokens - all_obligatory
        self.all_obligatory = all_obligatory
        self.distance_bytes = array("q")
        self.hits = array("q")
        self.obligatory = array("q")
        hits = last = 0
        previous = -1
        for at in sorted(range(len(distance_bytes)), key=distance_bytes.__getitem__):
            if distance_bytes[at] != previous:
                previous = distance_bytes[at]
                self.distance_bytes.append(previous)
                self.hits.append(0)
                self.obligatory.append(0)
            hits += tokens[at] - obligatory[at]
            last += obligatory[at]
            self.hits[-1] = hits
            self.obligatory[-1] = last
        if rate_ppm < PPM:
            _adjust(self.hits, self.ceiling_tokens, rate_ppm)
            _adjust(self.obligatory, all_obligatory, rate_ppm)

    def hit_tokens(self, capacity_bytes: int) -> int:
        """Tokens of prompts that an LRU of `capacity_bytes` serves."""
        at = bisect_right(self.distance_bytes, capacity_bytes)
        return self.hits[at - 1] if at else 0

    def reprefilled_tokens(self, capacity_bytes: int) -> int:
        """Tokens that it computes again although they were there before, obligatory last tokens apart."""
        at = bisect_right(self.distance_bytes, capacity_bytes)
        reached = self.hits[at - 1] + self.obligatory[at - 1] if at else 0
        return self.ceiling_tokens + self.all_obligatory - reached

    def knee_bytes(self, of_ceiling_ppm: int) -> int:
        """The smallest capacity whose hits reach that part of the ceiling; 0 where there is nothing to hit."""
        asked = -(-self.ceiling_tokens * of_ceiling_ppm // PPM)
        return self.distance_bytes[bisect_left(self.hits, asked)] if asked else 0


def _adjust(sums: "array[int]", everything: int, rate_ppm: int) -> None:
    """Scale running sums up, and add to all of them what the last lacks of everything; none falls below 0."""
    if sums:
        lacking = everything - scale_up(sums[-1], rate_ppm)
        for at in range(len(sums)):
            sums[at] = max(0, scale_up(sums[at], rate_ppm) + lacking)
