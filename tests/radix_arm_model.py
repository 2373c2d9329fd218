"""The arm `radix` once more, naively: RadixAttention over blocks, in HBM alone, victims by looking at every leaf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Node:
    """A run of blocks below `parent`, last used by request number `used`."""

    blocks: list[int]
    parent: Node | None = None
    used: int = 0
    children: list[Node] = field(default_factory=list)


class RadixArm:
    """`serve` one path after another; `hits` has the hit blocks of each, `dropped` every block that was let go of."""

    def __init__(self, size_bytes: dict[int, int], capacity_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.capacity_bytes = capacity_bytes
        self.root = Node([])
        self.held: set[int] = set()
        self.hits: list[list[int]] = []
        self.dropped: list[int] = []

    def serve(self, request: int, path: Sequence[int]) -> None:
        self._use(request, path, grow=False)
        run = 0
        while run < len(path) and path[run] in self.held:
            run += 1
        self.hits.append(list(path[:run]))
        for block in path[run:]:
            if block in self.held:
                # Behind the gap: of no use, since the prompt is computed in one piece.
                self.held.remove(block)
                self.dropped.append(block)
            if self._make_room(self.size_bytes[block], path):
                self.held.add(block)
        self._use(request, path, grow=True)

    def _make_room(self, size_bytes: int, path: Sequence[int]) -> bool:
        own = sum(self.size_bytes[block] for block in path if block in self.held)
        if self.capacity_bytes - own < size_bytes:
            return False
        while sum(self.size_bytes[block] for block in self.held) + size_bytes > self.capacity_bytes:
            # A leaf on this path is in use; what hung on it beyond the path was cut off when the request began.
            leaves = [node for node in self._nodes(self.root) if not node.children and not set(node.blocks) & set(path)]
            victim = min(leaves, key=lambda node: node.used)
            assert victim.parent is not None
            victim.parent.children.remove(victim)
            for block in reversed(victim.blocks):
                if block in self.held:
                    self.held.remove(block)
                    self.dropped.append(block)
        return True

    def _use(self, request: int, path: Sequence[int], grow: bool) -> None:
        """What the tree has of the path is used now; an edge that it leaves half-way is cut there. Add the rest?"""
        node = self.root
        rest = list(path)
        while rest:
            child = next((child for child in node.children if child.blocks[0] == rest[0]), None)
            if child is None:
                if not grow:
                    return
                child = Node(rest, node)
                node.children.append(child)
            same = 0
            while same < min(len(rest), len(child.blocks)) and rest[same] == child.blocks[same]:
                same += 1
            if same < len(child.blocks):
                above = Node(child.blocks[:same], node, child.used, [child])
                node.children[node.children.index(child)] = above
                child.blocks = child.blocks[same:]
                child.parent = above
                child = above
            child.used = request
            rest = rest[same:]
            node = child

    def _nodes(self, top: Node) -> list[Node]:
        below = [node for child in top.children for node in self._nodes(child)]
        return below if top is self.root else [top, *below]
