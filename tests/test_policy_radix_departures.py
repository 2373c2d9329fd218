"""Each departure of the prefix tree from the original, with its rule and without; and handles that went stale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from radix_use import KEY, OTHER, cached, use, used

from policy.radix import RadixTree
from policy.radix_bound import BoundRadixTree
from policy.radix_rules import IMPROVED_RADIX, RADIX_RULE_SPECS, STRICT_RADIX, RadixRules


def two_inserts_at_one_boundary(rules: RadixRules) -> object:
    tree = RadixTree(4, rules)
    first, second = tree.lookup([1, 2])[0], tree.lookup([1, 3])[0]
    for leaf in (tree.insert(first, [1, 2]), tree.insert(second, [1, 3])):
        tree.done(leaf)
    walked_and_counted = (tree.stats().tokens, tree.tokens)
    used(tree, 5)
    return walked_and_counted, cached(tree, [1, 2], [1, 3], [5])


def insert_under_a_node_that_is_gone(rules: RadixRules) -> object:
    tree = RadixTree(0, rules)
    gone = used(tree, 1, 2)
    tree.evict_node(gone)
    leaf = tree.insert(gone, [3])
    return tree.stats().tokens, tree.tokens, leaf.plen, leaf.refs


def the_last_lease_ends_over_budget(rules: RadixRules) -> object:
    tree = RadixTree(3, rules)
    leaf = use(tree, 1, 2, 3, 4)
    held = tree.tokens
    tree.done(leaf)
    return held, tree.tokens


def three_warm_leaves_of_one_age(rules: RadixRules) -> object:
    tree = RadixTree(4, rules)
    prefixes = [[1, 1], [2, 2], [3, 3]]
    return [tree.warm_insert(prefix) for prefix in prefixes], cached(tree, *prefixes)


def policy_eviction_under_a_lease(rules: RadixRules) -> object:
    tree = RadixTree(0, rules)
    use(tree, 1, 2)
    used(tree, 1, 3)
    return tree.evict_prefix([1]), cached(tree, [1, 2], [1, 3])


def eviction_of_a_prefix_that_is_not_cached(rules: RadixRules) -> object:
    tree = RadixTree(0, rules)
    used(tree, 1, 2, 3)
    return tree.evict_prefix([1, 9]), cached(tree, [1, 2, 3])


def a_lookup_that_came_to_nothing(rules: RadixRules) -> object:
    tree = RadixTree(0, rules)
    used(tree, 1, 2, 3, 4)
    tree.done(tree.lookup([1, 2, 9])[0])
    return tree.stats().nodes, tree.stats().splits, cached(tree, [1, 2, 3, 4])


def everything_but_lookup_with_a_foreign_key(rules: RadixRules) -> object:
    tree = BoundRadixTree(KEY, rules=rules)
    tree.warm_insert(KEY, [1, 2])
    tree.warm_insert(KEY, [7])
    boundary, free = tree.lookup(KEY, [1, 2]).node, tree.lookup(KEY, [7]).node
    assert boundary is not None
    tree.done(free)
    seen = [
        tree.match_len(OTHER, [1, 2]),
        tree.insert(OTHER, boundary, [3]) is not None,
        tree.warm_insert(OTHER, [4]),
        tree.evict_prefix(OTHER, [4]),
        tree.evict_node(OTHER, free),
    ]
    return seen, tree.stats().tokens


def a_key_without_an_axis(rules: RadixRules) -> object:
    return [BoundRadixTree(KEY, rules=rules).lookup(replace(KEY, serializer_id=""), [1]).reason]


SHOWS: dict[str, tuple[Callable[[RadixRules], object], Any, Any]] = {
    "merge_inserts": (
        two_inserts_at_one_boundary,
        ((3, 3), [True, True, True]),
        ((2, 4), [False, False, True]),
    ),
    "safe_handles": (insert_under_a_node_that_is_gone, (0, 0, 3, 1), (0, 1, 3, 1)),
    "reclaim_on_release": (the_last_lease_ends_over_budget, (4, 0), (4, 4)),
    "queue_victims": (
        three_warm_leaves_of_one_age,
        ([2, 2, 2], [False, True, True]),
        ([2, 2, 2], [True, True, False]),
    ),
    "spare_leased": (policy_eviction_under_a_lease, (1, [True, False]), (3, [False, False])),
    "exact_prefix": (eviction_of_a_prefix_that_is_not_cached, (0, [True]), (3, [False])),
    "undo_splits": (a_lookup_that_came_to_nothing, (1, 1, [True]), (2, 1, [True])),
    "guard_all": (everything_but_lookup_with_a_foreign_key, ([0, False, 0, 0, 0], 3), ([2, True, 1, 1, 1], 3)),
    "key_gap_named": (a_key_without_an_axis, ["incomplete_key"], ["model_mismatch"]),
}


def test_every_rule_is_shown_and_is_an_attribute_that_is_0_in_the_original_and_1_here() -> None:
    names = [spec.name for spec in RADIX_RULE_SPECS]
    assert list(SHOWS) == names
    assert asdict(STRICT_RADIX) == dict.fromkeys(names, 0)
    assert asdict(IMPROVED_RADIX) == dict.fromkeys(names, 1) == {spec.name: spec.default for spec in RADIX_RULE_SPECS}


def test_every_rule_is_in_the_documentation_with_its_meaning(root: Path) -> None:
    page = (root / "docs" / "radix.md").read_text(encoding="utf-8")
    for spec in RADIX_RULE_SPECS:
        assert f"| `{spec.name}` |" in page


@pytest.mark.parametrize("rule", list(SHOWS))
@pytest.mark.parametrize("others", [STRICT_RADIX, IMPROVED_RADIX], ids=["strict", "improved"])
def test_a_rule_makes_the_difference_that_its_row_states(rule: str, others: RadixRules) -> None:
    see, with_rule, without = SHOWS[rule]
    assert see(replace(others, **{rule: 1})) == with_rule
    assert see(replace(others, **{rule: 0})) == without


# --- stale handles ---


def test_in_the_original_a_stale_handle_takes_another_branch_with_it() -> None:
    seen = []
    for rules in (STRICT_RADIX, IMPROVED_RADIX):
        tree = RadixTree(0, rules)
        gone = used(tree, 1, 2)
        tree.evict_node(gone)
        used(tree, 1, 3)
        seen.append((tree.evict_node(gone), cached(tree, [1, 3]), tree.tokens))
    assert seen == [(2, [False], 0), (0, [True], 2)]


def test_in_the_original_the_counter_falls_below_zero() -> None:
    seen = []
    for rules in (STRICT_RADIX, IMPROVED_RADIX):
        tree = RadixTree(0, rules)
        gone = used(tree, 1, 2)
        for _ in range(2):
            tree.evict_node(gone)
        seen.append(tree.tokens)
    assert seen == [-2, 0]


def test_without_merging_the_leaf_that_was_overwritten_is_out_of_the_tree_with_all_below_it() -> None:
    tree = RadixTree(0, replace(IMPROVED_RADIX, merge_inserts=0))
    late = tree.lookup([1, 4])[0]
    used(tree, 1, 2)
    below = used(tree, 1, 2, 3)
    tree.done(tree.insert(late, [1, 4]))
    assert (below.root, below.parent.root, tree.evict_node(below)) == (None, None, 0)
    assert (tree.evict(1), cached(tree, [1, 4])) == (2, [False])


def test_a_request_behind_a_node_that_left_runs_to_its_end_without_a_trace() -> None:
    tree = RadixTree(0, replace(IMPROVED_RADIX, spare_leased=0))
    boundary = use(tree, 1, 2)
    tree.evict_node(boundary)
    leaf = tree.insert(boundary, [3])
    assert (leaf.root, leaf.path(), boundary.refs, leaf.refs) == (None, (1, 2, 3), 0, 1)
    further = tree.insert(leaf, [4])
    assert (further.path(), tree.insert(further, []) is further, tree.evict_node(further)) == ((1, 2, 3, 4), True, 0)
    tree.done(further)
    assert (further.refs, tree.tokens, tree.stats().nodes) == (0, 0, 0)


def test_a_split_that_was_undone_leaves_a_handle_that_does_nothing() -> None:
    tree = RadixTree()
    used(tree, 1, 2, 3)
    middle = tree.lookup([1, 2])[0]
    tree.done(middle)
    tree.insert(middle, [7])
    assert (middle.root, tree.evict_node(middle), tree.tokens, cached(tree, [1, 2, 3])) == (None, 0, 3, [True])


def test_a_node_of_another_tree_is_refused_by_name() -> None:
    tree, other = RadixTree(), RadixTree()
    node = use(other, 1)
    for ask in (lambda: tree.insert(node, [2]), lambda: tree.done(node), lambda: tree.evict_node(node)):
        with pytest.raises(ValueError, match=r"^this node is in another tree: hand it to the tree whose lookup"):
            ask()
    assert (node.refs, other.tokens, tree.tokens) == (1, 1, 0)
