"""The prefix tree behind a key, and what a node of it stands for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from radix_use import KEY, OTHER, used

from policy.digest import digest_token_ids
from policy.radix import RadixTree
from policy.radix_bound import BoundLookup, BoundRadixTree
from policy.radix_node import node_entry


def test_a_bound_tree_answers_its_own_key_as_the_tree_does() -> None:
    tree = BoundRadixTree(KEY, 4)
    found = tree.lookup(KEY, [1, 2])
    assert (found.admitted(), found.reusable(), found.matched, found.reason) == (True, False, 0, "")
    assert found.node is not None
    leaf = tree.insert(KEY, found.node, [1, 2], "kv")
    assert leaf is not None
    tree.done(leaf)
    assert (tree.match_len(KEY, [1]), tree.lookup(KEY, [1, 2]).reusable(), leaf.kv) == (1, True, "kv")
    assert tree.entry(leaf) == node_entry(leaf, "m", "t")
    tree.done(leaf)
    assert (tree.warm_insert(KEY, [3]), tree.evict(1), tree.evict_prefix(KEY, [1]), tree.evict_node(KEY, leaf)) == (
        1,
        1,
        2,
        0,
    )
    assert (tree.stats().tokens, tree.stats().max_tokens) == (0, 4)


def test_a_refused_lookup_has_a_reason_and_leaves_no_trace() -> None:
    tree = BoundRadixTree(KEY)
    tree.warm_insert(KEY, [1, 2])
    before = tree.stats()
    found = tree.lookup(OTHER, [1])
    assert found == BoundLookup(None, 0, "tokenizer_mismatch")
    assert not found.admitted()
    assert not found.reusable()
    tree.done(found.node)
    assert (tree.stats(), tree.refusal(KEY), tree.refusal(OTHER)) == (before, "", "tokenizer_mismatch")


def test_a_bound_tree_without_a_whole_key_admits_nobody() -> None:
    key = replace(KEY, policy_version="")
    tree = BoundRadixTree(key)
    assert (tree.refusal(key), tree.warm_insert(key, [1])) == ("incomplete_key", 0)


# --- nodes ---


def test_the_entry_of_a_node_is_the_prefix_that_ends_there() -> None:
    tree = RadixTree()
    leaf = used(tree, 1, 2, 3)
    entry = node_entry(leaf, "m", "t")
    assert (entry.plane, entry.id.length, entry.id.digest) == ("kv_prefix", 3, digest_token_ids([1, 2, 3]))
    assert (entry.derivation.producer, entry.derivation.model_id, entry.derivation.tokenizer_id) == (
        "radixkv",
        "m",
        "t",
    )
    assert (entry.security.admitted_by, entry.residency.tier) == ("radixkv", "dram")
    tree.evict_node(leaf)
    with pytest.raises(ValueError, match=r"^this prefix left the tree: there is no entry of what is not cached$"):
        node_entry(leaf, "m", "t")


def test_nodes_with_kv_of_their_own_count_their_whole_path() -> None:
    tree = RadixTree()
    leaf = tree.insert(tree.lookup([1, 2, 3])[0], [1, 2, 3], kv="first")
    assert tree.insert(tree.lookup([1, 2, 3])[0], [], kv="second") is leaf
    assert (leaf.kv, tree.stats().prefix_tokens) == ("first", 3)
    middle = tree.insert(tree.lookup([1, 2])[0], [], kv="middle")
    assert (middle.kv, tree.stats().prefix_tokens, tree.stats().tokens) == ("middle", 5, 3)
    assert (tree.warm_insert([4], kv="warm"), tree.stats().prefix_tokens) == (1, 6)


def test_an_edge_split_for_a_lookup_stays_where_kv_was_hung_on_it() -> None:
    tree = RadixTree()
    used(tree, 1, 2)
    middle = tree.lookup([1])[0]
    middle.kv = "copy"
    tree.done(middle)
    assert tree.stats().nodes == 2
