"""A prefix tree over token ids that shares what prompts have in common and drops the least recently used leaves.

Source: RadixAttention (Zheng et al., "SGLang: Efficient Execution of Structured Language Model Programs"), as the
original plane wrote it; each departure from that is a rule of `policy.radix_rules`. A lookup leases the node where the
match ends, an insert moves the lease to the new leaf, `done` ends it; what is leased, and so all that lies above it, is
never dropped to keep the budget. The tree is the index of one tier: an owner that is asked before a victim goes may
take its tokens to a colder one. Left out: tiers, costs, TTLs, locking. Ties: see `policy.radix_evict`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from policy.radix_evict import VictimQueue, Victims, VictimScan
from policy.radix_node import RadixNode, descend, walk
from policy.radix_rules import IMPROVED_RADIX, RadixRules

UNBOUNDED = 0


class RadixOwner(Protocol):
    """Who holds the KV that the tree names."""

    def on_victim(self, node: RadixNode) -> bool:
        """Asked before `node` is dropped to make room; the tokens that go are `node.key`, behind `node.parent`.

        True lets it go: whatever the owner wants to keep, it has moved by then. False keeps it, and the next victim is
        asked for; it is asked about again whenever room is made. The tree must not be changed from in here.
        """


@dataclass(frozen=True, slots=True)
class RadixStats:
    """The tree as a walk over it finds it. The root is no node of these; `max_tokens` 0 is no bound.

    `prefix_tokens` counts the whole path of every node that holds KV of its own: with paged KV, more than there is.
    """

    tokens: int
    prefix_tokens: int
    nodes: int
    leaves: int
    max_depth_tokens: int
    evictions: int
    policy_evictions: int
    splits: int
    max_tokens: int


class RadixTree:
    """Cached prefixes. `tokens` counts the tokens of all edges and is kept at or below `max_tokens` where leases allow.

    Methods that take a node raise `ValueError` on one that is in another tree (rule `safe_handles`).
    """

    def __init__(
        self, max_tokens: int = UNBOUNDED, rules: RadixRules = IMPROVED_RADIX, owner: RadixOwner | None = None
    ) -> None:
        self.max_tokens = max_tokens
        self.rules = rules
        self.owner = owner
        self.root = RadixNode((), None, 0, 0)
        self.victims: Victims = VictimQueue() if rules.queue_victims else VictimScan(self.root)
        self.tokens = 0
        self.evictions = 0
        self.policy_evictions = 0
        self.splits = 0
        self._clock = 0
        self._numbers = 0

    def match_len(self, tokens: Sequence[int]) -> int:
        """How many leading tokens are cached. Changes nothing."""
        _, matched, _, into = descend(self.root, tuple(tokens))
        return matched + into

    def lookup(self, tokens: Sequence[int]) -> tuple[RadixNode, int]:
        """The node where the longest cached prefix of `tokens` ends, leased, and how long that is.

        An edge in which it ends is split. The node and all above it count as used. Nothing cached: the root, and 0.
        """
        node, matched, child, into = descend(self.root, tuple(tokens))
        if child is not None:
            node = self._split(child, into)
            node.for_lookup = 1
            matched += into
        self._touch(node, None)
        node.refs += 1
        return node, matched

    def insert(self, boundary: RadixNode, suffix: Sequence[int], kv: object | None = None) -> RadixNode:
        """Cache `suffix` behind `boundary`, which a lookup returned, and move the lease to the node where it ends.

        An empty suffix keeps the lease where it is. Then room is made; the new node is leased, so the tree may stay
        over its budget. Behind a node that left the tree nothing is cached: the node returned is in no tree either.
        A node that has a `kv` keeps it: of two requests that computed the same, the first one's copy stays.
        """
        rest = tuple(suffix)
        live = self._live(boundary)
        boundary.for_lookup = 0
        if not rest:
            boundary.kv = kv if boundary.kv is None else boundary.kv
            return boundary
        node = boundary
        if self.rules.merge_inserts and live:
            node, matched, child, into = descend(boundary, rest)
            if child is not None:
                node = self._split(child, into)
            node.for_lookup = 0
            rest = rest[matched + into :]
        if rest:
            node = self._add(node, rest, live)
        node.kv = kv if node.kv is None else node.kv
        self._touch(node, boundary)
        node.refs += 1
        if boundary.refs > 0:
            boundary.refs -= 1
        self._fit()
        return node

    def done(self, node: RadixNode | None) -> None:
        """End one lease. Without one, or on None, nothing happens."""
        if node is None or node.refs == 0:
            return
        live = self._live(node)
        node.refs -= 1
        if node.refs > 0 or not live:
            return
        if self.rules.undo_splits and node.for_lookup and node.kv is None and len(node.children) == 1:
            self._join(node)
        else:
            self.victims.offer(node)
        if self.rules.reclaim_on_release:
            self._fit()

    def warm_insert(self, tokens: Sequence[int], kv: object | None = None) -> int:
        """Cache `tokens` ahead of any use, without a lease and first in line to go; how many of them were new.

        They are counted as new even where making room dropped them again.
        """
        whole = tuple(tokens)
        node, matched, child, into = descend(self.root, whole)
        matched += into
        if child is not None and (matched < len(whole) or not self.rules.undo_splits):
            node = self._split(child, into)
        if matched == len(whole):
            return 0
        node.for_lookup = 0
        leaf = self._add(node, whole[matched:], True)
        leaf.kv = kv
        self.victims.offer(leaf)
        self._fit()
        return len(whole) - matched

    def evict(self, wanted_tokens: int) -> int:
        """Drop victims until `wanted_tokens` are free or no victim is left; how many tokens were freed."""
        kept: dict[int, RadixNode] = {}
        freed = 0
        try:
            while freed < wanted_tokens:
                victim = self.victims.take(kept)
                if victim is None:
                    break
                kept[victim.number] = victim
                if self.owner is None or self.owner.on_victim(victim):
                    del kept[victim.number]
                    self.evictions += 1
                    freed += self._drop(victim)
        finally:
            for node in kept.values():
                self.victims.offer(node)
        return freed

    def evict_node(self, node: RadixNode | None) -> int:
        """Policy eviction: drop `node` and all below it, however recent; how many tokens were freed.

        What is leased, and what lies above that, stays (rule `spare_leased`): ask again once it is released. The
        owner is not asked. Nothing happens on None, the root, or a node that left the tree.
        """
        if node is None or node.parent is node or not self._live(node):
            return 0
        self.policy_evictions += 1
        below = list(walk(node))
        if self.rules.spare_leased:
            freed = sum(self._drop(leaf) for leaf in reversed(below) if leaf.may_go())
        else:
            freed = sum(len(gone.key) for gone in below)
            self.tokens -= freed
            self._unlink(node)
        if self.rules.reclaim_on_release:
            self._fit()
        return freed

    def evict_prefix(self, tokens: Sequence[int]) -> int:
        """Policy eviction of everything cached that begins with `tokens`; how many tokens were freed.

        Edges are dropped whole: where `tokens` end inside one, its first part goes too. Where they leave the tree
        nothing begins with them (rule `exact_prefix`; without it, the edge in which they leave it is dropped).
        """
        whole = tuple(tokens)
        node, matched, child, into = descend(self.root, whole)
        inexact = child is not None and not self.rules.exact_prefix
        if matched + into < len(whole) and not inexact:
            return 0
        return self.evict_node(node if child is None else child)

    def warm_tokens(self) -> int:
        """Tokens that were cached ahead of use and not used yet."""
        return sum(len(node.key) for node in walk(self.root) if node.last_used == 0)

    def stats(self) -> RadixStats:
        """The tree counted anew, and the counters."""
        nodes = list(walk(self.root))[1:]
        return RadixStats(
            tokens=sum(len(node.key) for node in nodes),
            prefix_tokens=sum(node.plen for node in nodes if node.kv is not None),
            nodes=len(nodes),
            leaves=sum(not node.children for node in nodes),
            max_depth_tokens=max((node.plen for node in nodes), default=0),
            evictions=self.evictions,
            policy_evictions=self.policy_evictions,
            splits=self.splits,
            max_tokens=self.max_tokens,
        )

    def _live(self, node: RadixNode) -> bool:
        """Whether the tree may be changed at `node`: always, where handles are not told apart."""
        if not self.rules.safe_handles:
            return True
        if node.root is not None and node.root is not self.root:
            raise ValueError("this node is in another tree: hand it to the tree whose lookup returned it")
        return node.root is not None

    def _touch(self, node: RadixNode, top: RadixNode | None) -> None:
        """`node` and all above it, as far as `top` and not that itself, are now the most recently used."""
        self._clock += 1
        at = node
        while at is not top:
            at.last_used = self._clock
            top = at if at.parent is at else top
            at = at.parent

    def _add(self, parent: RadixNode, key: tuple[int, ...], live: bool) -> RadixNode:
        """A new leaf, counted unless it grows where nothing is cached any more."""
        self._numbers += 1
        leaf = RadixNode(key, parent, self._numbers, 0)
        if live:
            overwritten = parent.children.get(key[0])
            if overwritten is not None:
                self._unlink(overwritten)
            parent.children[key[0]] = leaf
            self.tokens += len(key)
        return leaf

    def _split(self, child: RadixNode, into: int) -> RadixNode:
        """Cut the edge of `child` after `into` tokens: `child` keeps the end, a new node gets the beginning."""
        self.splits += 1
        self._numbers += 1
        above = child.parent
        middle = RadixNode(child.key[:into], above, self._numbers, child.last_used)
        above.children[child.key[0]] = middle
        child.key = child.key[into:]
        child.parent = middle
        middle.children[child.key[0]] = child
        return middle

    def _join(self, middle: RadixNode) -> None:
        """Undo a split: the only child takes the whole edge, and is as recent as its beginning was."""
        (child,) = middle.children.values()
        above = middle.parent
        child.key = middle.key + child.key
        child.parent = above
        child.last_used = max(child.last_used, middle.last_used)
        above.children[child.key[0]] = child
        middle.root = None

    def _drop(self, leaf: RadixNode) -> int:
        """Take a leaf away; its parent may be the next one. How many tokens that frees."""
        self.tokens -= len(leaf.key)
        self._unlink(leaf)
        return len(leaf.key)

    def _unlink(self, node: RadixNode) -> None:
        """Cut the branch that begins where `node` does. On a node that left before, that may be another branch."""
        parent = node.parent
        gone = parent.children.pop(node.key[0], None)
        if gone is not None:
            for below in walk(gone):
                below.root = None
        self.victims.offer(parent)

    def _fit(self) -> None:
        """Keep the budget, where there is one."""
        if self.max_tokens > 0:
            self.evict(self.tokens - self.max_tokens)
