"""A node of the prefix tree: an edge of tokens below its parent, and how far a token sequence agrees with the tree.

Source: the radix tree of SGLang's RadixAttention. A node is also the caller's handle: it stays the same object when
its edge is split above it, and `root` says whether it is still in a tree.
"""

from collections.abc import Iterator

from policy.entry import Entry
from policy.kv_prefix import kv_prefix_entry

OWNER = "radixkv"


class RadixNode:
    """One edge. `plen` is the length of the whole path in tokens, `refs` the leases, `last_used` a logical clock.

    `number` counts nodes in order of creation, `kv` is the caller's own (what holds this path's KV, or None). A node
    whose `root` is None is in no tree any more.
    """

    __slots__ = (
        "children",
        "for_lookup",
        "key",
        "kv",
        "last_used",
        "number",
        "parent",
        "plen",
        "queued",
        "refs",
        "root",
    )

    def __init__(self, key: tuple[int, ...], parent: "RadixNode | None", number: int, last_used: int) -> None:
        self.key = key
        # A root is its own parent.
        self.parent: RadixNode = self if parent is None else parent
        self.root: RadixNode | None = self if parent is None else parent.root
        self.plen: int = len(key) if parent is None else parent.plen + len(key)
        # By the first token of the child's edge.
        self.children: dict[int, RadixNode] = {}
        self.refs = 0
        self.last_used = last_used
        self.number = number
        self.kv: object | None = None
        # Whether an edge was split here for a lookup after which nothing was inserted here.
        self.for_lookup = 0
        # Whether a ticket of this node stands in the queue of victims.
        self.queued = 0

    def path(self) -> tuple[int, ...]:
        """The tokens from the root to the end of this node."""
        edges = []
        node = self
        while node.parent is not node:
            edges.append(node.key)
            node = node.parent
        return tuple(token for edge in reversed(edges) for token in edge)

    def may_go(self) -> bool:
        """Whether this is a victim: in a tree, not its root, without children and without a lease."""
        return self.root is not None and self.parent is not self and not self.children and self.refs == 0


def walk(top: RadixNode) -> Iterator[RadixNode]:
    """`top` and every node below it, parents before children."""
    waiting = [top]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.children.values())


def descend(node: RadixNode, tokens: tuple[int, ...]) -> tuple[RadixNode, int, RadixNode | None, int]:
    """Follow `tokens` from the end of `node`.

    Returns the deepest node reached in full, how many tokens led there, and where they go on into an edge and end
    inside it, the child of that edge and how many of its tokens agree (None and 0 otherwise).
    """
    at = 0
    while at < len(tokens):
        child = node.children.get(tokens[at])
        if child is None:
            break
        key = child.key
        if tokens[at : at + len(key)] != key:
            return node, at, child, _agreeing(key, tokens, at)
        node = child
        at += len(key)
    return node, at, None, 0


def _agreeing(key: tuple[int, ...], tokens: tuple[int, ...], at: int) -> int:
    """How many leading tokens of `key` are those of `tokens` from `at`, the two differing somewhere."""
    most = min(len(key), len(tokens) - at)
    for place in range(most):
        if key[place] != tokens[at + place]:
            return place
    return most


def node_entry(node: RadixNode, model_id: str, tokenizer_id: str) -> Entry:
    """The cache entry of the prefix that ends at `node`.

    Raises:
        ValueError: The node is in no tree any more, or a token id does not fit 64 bits.
    """
    if node.root is None:
        raise ValueError("this prefix left the tree: there is no entry of what is not cached")
    return kv_prefix_entry(node.path(), model_id, tokenizer_id, OWNER)
