"""A prefix tree of one key: model, tokenizer and the rest of what its KV was computed under are fixed.

Source: the original plane's bound tree. Token ids mean nothing without their tokenizer, and KV nothing without its
model, so every method that reads or changes what is cached names the key that it acts for and is refused under another
one (rule `guard_all`). A refusal changes nothing: no node, no lease, no split.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from policy.entry import Entry
from policy.gate import INCOMPLETE_KEY
from policy.gate_key import MODEL_MISMATCH, GateKey
from policy.radix import UNBOUNDED, RadixOwner, RadixStats, RadixTree
from policy.radix_node import RadixNode, node_entry
from policy.radix_rules import IMPROVED_RADIX, RadixRules
from policy.verdict import NO_REASON


@dataclass(frozen=True, slots=True)
class BoundLookup:
    """What a lookup found. A refused one has a reason, and no node to give back."""

    node: RadixNode | None
    matched: int
    reason: str

    def admitted(self) -> bool:
        """Whether the key was the tree's."""
        return self.node is not None

    def reusable(self) -> bool:
        """Whether there is anything to reuse."""
        return self.admitted() and self.matched > 0


class BoundRadixTree:
    """A `RadixTree` behind its key."""

    def __init__(
        self,
        key: GateKey,
        max_tokens: int = UNBOUNDED,
        rules: RadixRules = IMPROVED_RADIX,
        owner: RadixOwner | None = None,
    ) -> None:
        self.key = key
        self._guard_all = rules.guard_all
        self._key_gap_named = rules.key_gap_named
        self._tree = RadixTree(max_tokens, rules, owner)

    def refusal(self, want: GateKey) -> str:
        """Why `want` is refused; empty where it is admitted. Keys that lack an axis are admitted nowhere."""
        if not self.key.complete() or not want.complete():
            return INCOMPLETE_KEY if self._key_gap_named else MODEL_MISMATCH
        return self.key.mismatch(want)

    def match_len(self, want: GateKey, tokens: Sequence[int]) -> int:
        """`RadixTree.match_len`; refused: 0."""
        return self._tree.match_len(tokens) if self._passes(want) else 0

    def lookup(self, want: GateKey, tokens: Sequence[int]) -> BoundLookup:
        """`RadixTree.lookup`, or the reason why not."""
        reason = self.refusal(want)
        if reason != NO_REASON:
            return BoundLookup(None, 0, reason)
        node, matched = self._tree.lookup(tokens)
        return BoundLookup(node, matched, NO_REASON)

    def insert(
        self, want: GateKey, boundary: RadixNode, suffix: Sequence[int], kv: object | None = None
    ) -> RadixNode | None:
        """`RadixTree.insert`; refused: None, and the lease stays at `boundary`."""
        return self._tree.insert(boundary, suffix, kv) if self._passes(want) else None

    def warm_insert(self, want: GateKey, tokens: Sequence[int], kv: object | None = None) -> int:
        """`RadixTree.warm_insert`; refused: 0."""
        return self._tree.warm_insert(tokens, kv) if self._passes(want) else 0

    def evict_node(self, want: GateKey, node: RadixNode | None) -> int:
        """`RadixTree.evict_node`; refused: 0."""
        return self._tree.evict_node(node) if self._passes(want) else 0

    def evict_prefix(self, want: GateKey, tokens: Sequence[int]) -> int:
        """`RadixTree.evict_prefix`; refused: 0."""
        return self._tree.evict_prefix(tokens) if self._passes(want) else 0

    def entry(self, node: RadixNode) -> Entry:
        """The cache entry of the prefix that ends at `node`, under the tree's key.

        Raises:
            ValueError: The node is in no tree any more, or a token id does not fit 64 bits.
        """
        return node_entry(node, self.key.model_id, self.key.tokenizer_id)

    def done(self, node: RadixNode | None) -> None:
        """`RadixTree.done`. It needs no key: a lease, however it was got, must be able to end."""
        self._tree.done(node)

    def evict(self, wanted_tokens: int) -> int:
        """`RadixTree.evict`. It needs no key: room is made whoever asks."""
        return self._tree.evict(wanted_tokens)

    def stats(self) -> RadixStats:
        """`RadixTree.stats`. Figures, not content."""
        return self._tree.stats()

    def _passes(self, want: GateKey) -> bool:
        """Whether a method other than lookup may go on."""
        return not self._guard_all or self.refusal(want) == NO_REASON
