"""How a request uses a prefix tree, for every test of it."""

from __future__ import annotations

from policy.gate_key import GateKey
from policy.radix import RadixTree
from policy.radix_node import RadixNode

KEY = GateKey("m", "t", "s", "p", "v", "a")
OTHER = GateKey("m", "x", "s", "p", "v", "a")


def use(tree: RadixTree, *tokens: int) -> RadixNode:
    """One request that computes what is not cached; its lease is still held."""
    boundary, matched = tree.lookup(tokens)
    return tree.insert(boundary, tokens[matched:])


def used(tree: RadixTree, *tokens: int) -> RadixNode:
    """One request from beginning to end."""
    node = use(tree, *tokens)
    tree.done(node)
    return node


def cached(tree: RadixTree, *prefixes: list[int]) -> list[bool]:
    return [tree.match_len(prefix) == len(prefix) for prefix in prefixes]
