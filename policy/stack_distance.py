"""Stack distances of whole spans: what every LRU capacity would have held, from one pass over the requests.

Mattson, Gecsei, Slutz, Traiger (IBM Systems Journal 1970) for items of different sizes: the distance of an access is
the bytes of what was touched since the span's last touch, its own included. A path is touched from its deepest span to
its root, so an ancestor always lies above its descendants, and what a capacity holds is a prefix of the stack. A
Fenwick tree over slots in order of last touch sums bytes in a logarithm. Slots of spans touched since are empty, and
are squeezed out when none is left, so the tree is in proportion to spans, however long the trace.

Spatial sampling (SHARDS: Waldspurger, Park, Garthwaite, Ahmad, FAST 2015) follows a span or leaves it out by a hash of
its id, and scales distances back up. Left out of the paper: the bound on the number of spans followed.
"""

from array import array

from policy.cost import PPM

_HASH_MASK = 2**31 - 1
_NO_SLOT = 0


def scale_up(value: int, rate_ppm: int) -> int:
    """`value` of a sample as a value of everything, rounded down; no product passes 2**62 unless the result does."""
    return value // rate_ppm * PPM + value % rate_ppm * PPM // rate_ppm


def span_hash_ppm(span: int) -> int:
    """Parts per million that depend on the span's id alone, the same everywhere; no product passes 2**62."""
    mixed = (span + 1) & _HASH_MASK
    for _ in range(3):
        mixed = ((mixed ^ mixed >> 16) * 73244475) & _HASH_MASK
    return (mixed ^ mixed >> 15) % PPM


class StackDistances:
    """One pass. `distance_bytes[i]`, `tokens[i]` and `obligatory[i]` tell of the i-th access to a span seen before.

    Only spans that are followed count. `obligatory` is 1 where a hit has to leave its last token to be computed.
    `rate_ppm` is how many of a million spans are followed: `PPM` is all of them, which is exact.
    """

    def __init__(self, tokens: "array[int]", size_bytes: "array[int]", rate_ppm: int, near_bytes: int) -> None:
        count = len(tokens)
        self.span_tokens = tokens
        self.size_bytes = size_bytes
        self.rate_ppm = rate_ppm
        self.near_bytes = near_bytes
        self.distance_bytes = array("q")
        self.tokens = array("q")
        self.obligatory = array("q")
        # Of all accesses, followed or not.
        self.seen_tokens = 0
        self.cold_tokens = 0
        self.obligatory_tokens = 0
        self.followed_spans = 0
        # By span that is followed: the tokens of it that came back from beyond `near_bytes`.
        self.far_tokens = array("q", [0]) * count
        self._followed = bytearray(count)
        for span in range(count):
            if rate_ppm >= PPM or span_hash_ppm(span) < rate_ppm:
                self._followed[span] = 1
                self.followed_spans += 1
        self._ever = bytearray(count)
        # Slots count from 1, as a Fenwick tree does; twice as many as can be in use, so that squeezing is rare.
        slots = 2 * self.followed_spans + 2
        self._tree = array("q", [0]) * (slots + 1)
        self._owner = array("q", [-1]) * (slots + 1)
        self._slot = array("q", [_NO_SLOT]) * count
        self._last = 0
        self._held_bytes = 0

    def request(self, path: "array[int]", has_tail: int) -> None:
        """One request walks `path`, root first. `has_tail` is 1 where tokens that no block names follow."""
        depth = len(path)
        tokens = self.span_tokens
        for at in range(depth):
            span = path[at]
            if not self._ever[span]:
                # Nothing behind a span that is new was ever seen.
                for rest in range(at, depth):
                    self._ever[path[rest]] = 1
                    self.cold_tokens += tokens[path[rest]]
                break
            last = 1 if at == depth - 1 and not has_tail else 0
            self.seen_tokens += tokens[span]
            self.obligatory_tokens += last
            if self._followed[span]:
                distance_bytes = self._distance(span)
                if distance_bytes > self.near_bytes:
                    self.far_tokens[span] += tokens[span]
                self.distance_bytes.append(distance_bytes)
                self.tokens.append(tokens[span])
                self.obligatory.append(last)
        for at in range(depth - 1, -1, -1):
            if self._followed[path[at]]:
                self._touch(path[at])

    def _distance(self, span: int) -> int:
        below = 0
        at = self._slot[span] - 1
        tree = self._tree
        while at > 0:
            below += tree[at]
            at &= at - 1
        # The span's own bytes are not a sample: only what lies above it is scaled.
        size_bytes = self.size_bytes[span]
        above = self._held_bytes - below - size_bytes
        return size_bytes + scale_up(above, self.rate_ppm)

    def _touch(self, span: int) -> None:
        size_bytes = self.size_bytes[span]
        slot = self._slot[span]
        if slot != _NO_SLOT:
            self._owner[slot] = -1
            self._add(slot, -size_bytes)
        else:
            self._held_bytes += size_bytes
        if self._last == len(self._owner) - 1:
            self._squeeze()
        self._last += 1
        self._slot[span] = self._last
        self._owner[self._last] = span
        self._add(self._last, size_bytes)

    def _add(self, slot: int, size_bytes: int) -> None:
        tree = self._tree
        end = len(tree)
        while slot < end:
            tree[slot] += size_bytes
            slot += slot & -slot

    def _squeeze(self) -> None:
        """Close the gaps between the slots in use, in order."""
        tree = self._tree
        owner = self._owner
        used = 0
        for slot in range(1, len(owner)):
            span = owner[slot]
            tree[slot] = 0
            owner[slot] = -1
            if span >= 0:
                used += 1
                owner[used] = span
                self._slot[span] = used
                tree[used] = self.size_bytes[span]
        self._last = used
        for slot in range(1, len(tree)):
            parent = slot + (slot & -slot)
            if parent < len(tree):
                tree[parent] += tree[slot]
