"""Order of use in which HBM gives up whole leaves of a prefix tree, as RadixAttention does; colder tiers, single spans.

The tree's tokens are span ids: spans are cut wherever prompts of the trace part or end, so a tree over them branches
where a tree over blocks would. It is the index of what this host has used and may hold in HBM. A span that leaves HBM
on another way (expired, cleared, dropped) stays behind as a name without bytes, and goes when its leaf does. Source:
SGLang's RadixCache, whose eviction takes a whole leaf even where less would do.
"""

from array import array

from policy.radix import RadixTree
from policy.radix_node import RadixNode
from policy.recency import Recency
from policy.tiers import HBM


class RadixOrder(Recency):
    """`Recency`, but for what goes from HBM."""

    def __init__(self, spans: int) -> None:
        super().__init__(spans)
        self._tree = RadixTree(owner=self)
        self._leased: RadixNode = self._tree.root
        self._matched = 0
        self._leaving: list[int] = []

    def begin(self, path: "array[int]") -> None:
        """A request begins: what the tree knows of its path is leased."""
        super().begin(path)
        self._leased, self._matched = self._tree.lookup(path)

    def end(self, path: "array[int]") -> None:
        """The request is over: the rest of its path joins the tree, and the lease ends."""
        super().end(path)
        self._tree.done(self._tree.insert(self._leased, path[self._matched :]))

    def victims(self, tier: int) -> "list[int]":
        """From HBM, what it holds of the least recently used leaf, deepest first; empty where every leaf is in use."""
        if tier != HBM:
            return super().victims(tier)
        while True:
            self._leaving = []
            if not self._tree.evict(1) or self._leaving:
                return self._leaving

    def on_victim(self, node: RadixNode) -> bool:
        """The tree lets go of a leaf: what HBM holds of it leaves too."""
        self._leaving = [span for span in reversed(node.key) if self.where[span] == HBM]
        return True
