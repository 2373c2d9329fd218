"""Who leaves the prefix tree next: the leaf without a lease that was used longest ago.

Two forms of one question. The scan looks at every node for each victim, as the original does. The queue keeps tickets
(last use, number of the node) of leaves that could go; as in `policy.recency` a ticket that is out of date is refreshed
or thrown away only when it reaches the top, so a touch costs nothing and a victim a logarithm. A node has one ticket at
most. Ties: leaves that were warmed and never used share last use 0; the queue takes the one created first, the scan the
one that it meets first.
"""

from heapq import heapify, heappop, heappush, heapreplace
from typing import Protocol

from policy.radix_node import RadixNode, walk

_SLACK = 64


class Victims(Protocol):
    """What the tree asks. `examined` counts the nodes or tickets looked at so far, the measure of the work done."""

    examined: int

    def offer(self, node: RadixNode) -> None:
        """This node may have become a victim."""

    def take(self, kept: dict[int, RadixNode]) -> RadixNode | None:
        """The next victim that is not in `kept` (by number); None where there is none."""


class VictimScan:
    """A walk over the whole tree for each victim."""

    def __init__(self, root: RadixNode) -> None:
        self.examined = 0
        self._root = root

    def offer(self, node: RadixNode) -> None:
        """Nothing to remember: the next scan will see it."""

    def take(self, kept: dict[int, RadixNode]) -> RadixNode | None:
        """The least recently used leaf without a lease, the first one met on a tie."""
        oldest: RadixNode | None = None
        for node in walk(self._root):
            self.examined += 1
            if node.may_go() and node.number not in kept and (oldest is None or node.last_used < oldest.last_used):
                oldest = node
        return oldest


class VictimQueue:
    """A heap of tickets, refreshed lazily."""

    def __init__(self) -> None:
        self.examined = 0
        self._tickets: list[tuple[int, int, RadixNode]] = []
        self._compact_at = _SLACK

    def __len__(self) -> int:
        return len(self._tickets)

    def offer(self, node: RadixNode) -> None:
        """Give the node a ticket if it could go and has none."""
        if node.queued or not node.may_go():
            return
        node.queued = 1
        heappush(self._tickets, (node.last_used, node.number, node))
        if len(self._tickets) > self._compact_at:
            self._compact()

    def take(self, kept: dict[int, RadixNode]) -> RadixNode | None:
        """The least recently used leaf without a lease, the one created first on a tie; its ticket is gone.

        What is in `kept` was taken before and not offered again, so it cannot be met here.
        """
        tickets = self._tickets
        while tickets:
            self.examined += 1
            stamp, number, node = tickets[0]
            if not node.may_go():
                node.queued = 0
                heappop(tickets)
            elif stamp != node.last_used:
                heapreplace(tickets, (node.last_used, number, node))
            else:
                node.queued = 0
                heappop(tickets)
                return node
        return None

    def _compact(self) -> None:
        """Throw away the tickets of nodes that cannot go, so that the heap stays in proportion to those that can."""
        self.examined += len(self._tickets)
        kept = []
        for _, number, node in self._tickets:
            if node.may_go():
                kept.append((node.last_used, number, node))
            else:
                node.queued = 0
        heapify(kept)
        self._tickets = kept
        self._compact_at = 2 * len(kept) + _SLACK
