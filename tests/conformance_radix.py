"""Vectors about the prefix tree: sequences of operations on a strict one, with what each answers and leaves behind."""

from __future__ import annotations

from dataclasses import astuple

from conformance_codes import ProfileSets, Vector

from policy.gate_key import GateKey
from policy.radix import RadixTree
from policy.radix_bound import BoundRadixTree
from policy.radix_node import RadixNode
from policy.radix_rules import STRICT_RADIX

Answer = tuple[object, object]


class Caller:
    """One sequence: the tree, and by number the nodes that were handed out and the suffixes still to be inserted."""

    def __init__(self, max_tokens: int) -> None:
        self.tree = RadixTree(max_tokens, STRICT_RADIX)
        self.nodes: dict[int, RadixNode] = {}
        self.suffixes: dict[int, list[int]] = {}

    def answer(self, op: Vector) -> Vector:
        """What the operation gives, written as the vector writes it."""
        tree = self.tree
        name, tokens, h = op["op"], op.get("tokens", []), op.get("h", 0)
        got: Vector = {key: op[key] for key in ("op", "h", "tokens") if key in op}
        if name == "match_len":
            got["matched"] = tree.match_len(tokens)
        elif name == "lookup":
            node, matched = tree.lookup(tokens)
            self.nodes[h], self.suffixes[h] = node, tokens[matched:]
            got |= {"matched": matched, "is_root": node is tree.root, "plen": node.plen}
        elif name == "insert":
            self.nodes[h] = tree.insert(self.nodes[h], self.suffixes[h])
            got |= {"suffix": self.suffixes[h], "plen": self.nodes[h].plen}
        elif name == "done":
            tree.done(self.nodes[h])
        elif name == "evict_node":
            got["freed"] = tree.evict_node(self.nodes[h])
        elif name == "evict_prefix":
            got["freed"] = tree.evict_prefix(tokens)
        elif name == "warm_insert":
            got["warmed"] = tree.warm_insert(tokens)
            got["warm_tokens"] = tree.warm_tokens()
        if h:
            got["refs"] = self.nodes[h].refs
        return got | {"stats": [*astuple(tree.stats()), tree.tokens]}


def radix(vector: Vector, _: ProfileSets) -> Answer:
    caller = Caller(vector["budget"])
    return vector["ops"], [caller.answer(op) for op in vector["ops"]]


def bound_lookup(vector: Vector, _: ProfileSets) -> Answer:
    """A lookup behind a key, in a tree that holds one prefix; nothing but a lookup is guarded here."""
    given = vector["in"]
    key = GateKey(**given["tree_key"])
    tree = BoundRadixTree(key, rules=STRICT_RADIX)
    tree.warm_insert(key, given["cached"])
    found = tree.lookup(GateKey(**given["want"]), given["lookup"])
    return vector["out"], {
        "admitted": found.admitted(),
        "matched": found.matched,
        "node_nil": found.node is None,
        "reason": found.reason,
        "reusable": found.reusable(),
        "splits": tree.stats().splits,
    }
