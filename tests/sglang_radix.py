"""SGLang's radix cache, as its recording drove it, over `RadixTree`: pages are block ids, one request at a time."""

from __future__ import annotations

from collections.abc import Sequence

from policy.radix import RadixTree

PAGE_TOKENS = 512


class SglangRadix:
    """A pool of pages and the tree that indexes it.

    SGLang differs from the tree in one point: a node that a prompt matches in part is marked as used *before* it is
    split, so the part that did not match becomes as recent as the one that did.
    """

    def __init__(self, pages: int) -> None:
        self.pages = pages
        self.tree = RadixTree()

    def serve(self, ids: Sequence[int], input_tokens: int) -> int:
        """Serve one prompt; returns its hit tokens."""
        tree = self.tree
        whole = input_tokens // PAGE_TOKENS
        needed = -(-input_tokens // PAGE_TOKENS)
        # The last token is always computed, so a prompt of whole pages never matches all of them.
        splits = tree.splits
        node, matched = tree.lookup(ids[: (input_tokens - 1) // PAGE_TOKENS])
        if tree.splits > splits:
            (tail,) = node.children.values()
            tail.last_used = node.last_used
        free = self.pages - tree.tokens
        if needed - matched > free:
            tree.evict(needed - matched - free)
        # What a partial last page held is free again when the request is over.
        tree.done(tree.insert(node, ids[matched:whole]))
        return matched * PAGE_TOKENS
