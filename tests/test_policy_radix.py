"""The prefix tree: sharing, leases, recency, warm prefixes, policy eviction."""

from __future__ import annotations

from radix_use import cached, use, used

from policy.radix import RadixStats, RadixTree
from policy.radix_rules import IMPROVED_RADIX, STRICT_RADIX


def test_prompts_share_what_they_have_in_common() -> None:
    tree = RadixTree()
    used(tree, 1, 2, 3, 4)
    boundary, matched = tree.lookup([1, 2, 5])
    assert (matched, boundary.key, boundary.plen, boundary.refs) == (2, (1, 2), 2, 1)
    leaf = tree.insert(boundary, [5])
    assert (leaf.key, leaf.plen, leaf.path(), leaf.refs, boundary.refs) == ((5,), 3, (1, 2, 5), 1, 0)
    assert tree.stats() == RadixStats(
        tokens=5,
        prefix_tokens=0,
        nodes=3,
        leaves=2,
        max_depth_tokens=4,
        evictions=0,
        policy_evictions=0,
        splits=1,
        max_tokens=0,
    )
    assert [tree.match_len(tokens) for tokens in ([], [9], [1], [1, 2, 3], [1, 2, 3, 4, 5], [1, 2, 5, 6])] == [
        0,
        0,
        1,
        3,
        4,
        3,
    ]


def test_asking_how_much_matches_changes_nothing() -> None:
    tree = RadixTree(4)
    for prefix in ([1, 1], [2, 2]):
        used(tree, *prefix)
    before = tree.stats()
    assert tree.match_len([1]) == 1
    assert tree.stats() == before
    used(tree, 3, 3)
    assert cached(tree, [1, 1], [2, 2], [3, 3]) == [False, True, True]


def test_an_edge_that_is_split_keeps_the_leases_of_its_end() -> None:
    tree = RadixTree(3)
    leaf = use(tree, 1, 2, 3)
    middle, matched = tree.lookup([1, 2])
    assert (matched, middle.key, leaf.key, leaf.parent is middle, leaf.refs, leaf.plen) == (2, (1, 2), (3,), True, 1, 3)
    tree.insert(middle, [4])
    assert tree.tokens == 4
    tree.done(leaf)
    assert cached(tree, [1, 2, 3], [1, 2, 4]) == [False, True]


def test_the_least_recently_used_leaf_goes_first_and_its_parent_after_it() -> None:
    tree = RadixTree(4)
    for prompt in ([1, 2], [1, 3], [4]):
        used(tree, *prompt)
    tree.done(tree.lookup([1, 2])[0])
    used(tree, 5, 6)
    assert cached(tree, [1, 3], [4], [1, 2], [5, 6]) == [False, False, True, True]
    used(tree, 7, 8, 9)
    assert cached(tree, [1], [5, 6], [7, 8, 9]) == [False, False, True]
    assert tree.evictions == 5


def test_what_was_warmed_goes_before_what_was_used_until_it_is_used_itself() -> None:
    tree = RadixTree(4)
    used(tree, 1, 1)
    assert (tree.warm_insert([2, 2]), tree.warm_tokens()) == (2, 2)
    assert (tree.warm_insert([2, 2]), tree.warm_insert([])) == (0, 0)
    used(tree, 3)
    assert cached(tree, [1, 1], [2, 2], [3]) == [True, False, True]
    tree.warm_insert([4])
    used(tree, 4)
    assert tree.warm_tokens() == 0
    used(tree, 5)
    assert cached(tree, [1, 1], [3], [4], [5]) == [False, True, True, True]


def test_a_warm_insert_that_brings_nothing_new_leaves_no_split() -> None:
    for rules, nodes in ((IMPROVED_RADIX, 1), (STRICT_RADIX, 2)):
        tree = RadixTree(0, rules)
        tree.warm_insert([1, 2, 3])
        assert tree.warm_insert([1, 2]) == 0
        assert (tree.stats().nodes, tree.stats().splits) == (nodes, nodes - 1)


def test_one_oversized_request_stays_while_it_runs_and_takes_everything_else_with_it() -> None:
    tree = RadixTree(3)
    used(tree, 1, 2)
    leaf = use(tree, 5, 6, 7, 8)
    assert (tree.tokens, cached(tree, [1, 2])) == (4, [False])
    tree.done(leaf)
    assert (tree.tokens, tree.evictions) == (0, 2)


def test_a_lease_ends_once_and_none_is_no_lease() -> None:
    tree = RadixTree()
    leaf = use(tree, 1)
    for _ in range(3):
        tree.done(leaf)
    tree.done(None)
    assert (leaf.refs, tree.root.refs) == (0, 0)


def test_an_empty_suffix_keeps_the_lease_and_the_end_of_the_prompt() -> None:
    tree = RadixTree()
    used(tree, 1, 2, 3)
    boundary, matched = tree.lookup([1, 2])
    assert tree.insert(boundary, []) is boundary
    assert (matched, boundary.refs) == (2, 1)
    tree.done(boundary)
    assert tree.stats().nodes == 2


def test_a_lookup_that_came_to_nothing_still_counts_as_use() -> None:
    tree = RadixTree(6)
    used(tree, 1, 2, 3)
    used(tree, 4, 5, 6)
    tree.done(tree.lookup([1, 9])[0])
    used(tree, 7)
    assert cached(tree, [1, 2, 3], [4, 5, 6]) == [True, False]


def test_a_split_stays_where_another_lookup_or_an_insert_needs_it() -> None:
    tree = RadixTree()
    used(tree, 1, 2, 3, 4)
    first, second = tree.lookup([1, 2])[0], tree.lookup([1, 2])[0]
    assert first is second
    tree.done(first)
    assert tree.stats().nodes == 2
    tree.done(second)
    assert tree.stats().nodes == 1
    above, below = tree.lookup([1, 2])[0], tree.lookup([1, 2, 3])[0]
    tree.done(above)
    assert (below.key, below.path(), tree.stats().nodes) == ((1, 2, 3), (1, 2, 3), 2)
    used(tree, 1, 2, 3, 9)
    tree.done(below)
    assert tree.stats().nodes == 3


def test_a_second_insert_goes_on_along_the_first() -> None:
    tree = RadixTree()
    boundaries = [tree.lookup([1, 2, 3, 4])[0] for _ in range(4)]
    suffixes = ([1, 2, 3], [1, 2, 3], [1, 2], [1, 2, 3, 4])
    leaves = [tree.insert(node, suffix) for node, suffix in zip(boundaries, suffixes, strict=True)]
    assert leaves[0] is leaves[1]
    assert [(leaf.path(), leaf.refs) for leaf in leaves[1:]] == [((1, 2, 3), 2), ((1, 2), 1), ((1, 2, 3, 4), 1)]
    assert (tree.tokens, tree.stats().tokens, tree.stats().nodes, tree.root.refs) == (4, 4, 3, 0)


def test_a_split_stays_where_a_second_insert_ended() -> None:
    tree = RadixTree()
    early = tree.lookup([1, 2])[0]
    used(tree, 1, 2, 3)
    looking = tree.lookup([1, 2])[0]
    assert tree.insert(early, [1, 2]) is looking
    tree.done(looking)
    tree.done(looking)
    assert (looking.refs, tree.stats().nodes) == (0, 2)


def test_an_empty_prompt_leases_the_root_and_caches_nothing() -> None:
    tree = RadixTree()
    node, matched = tree.lookup([])
    assert (node is tree.root, matched, node.refs, node.path()) == (True, 0, 1, ())
    tree.done(tree.insert(node, []))
    assert (tree.stats().nodes, tree.root.refs) == (0, 0)


def test_tokens_are_any_integers_in_any_sequence() -> None:
    tree = RadixTree()
    used(tree, -1, 2**70, 0)
    assert tree.match_len((-1, 2**70, 0)) == 3
    assert tree.match_len(range(-1, 0)) == 1


# --- policy eviction ---


def test_policy_eviction_takes_a_whole_branch_however_recent() -> None:
    tree = RadixTree()
    for prompt in ([1, 2, 3], [1, 2, 4], [5]):
        used(tree, *prompt)
    assert tree.evict_prefix([1]) == 4
    assert (tree.tokens, tree.stats().nodes, tree.policy_evictions, tree.evictions) == (1, 1, 1, 0)


def test_policy_eviction_of_nothing_is_nothing() -> None:
    tree = RadixTree()
    gone = used(tree, 1, 2)
    assert [tree.evict_prefix(tokens) for tokens in ([], [9], [1, 2, 3])] == [0, 0, 0]
    assert (tree.evict_node(None), tree.evict_node(tree.root), tree.policy_evictions) == (0, 0, 0)
    assert (tree.evict_node(gone), tree.evict_node(gone), tree.policy_evictions) == (2, 0, 1)


def test_what_policy_eviction_spared_goes_when_it_is_asked_again_after_the_release() -> None:
    tree = RadixTree()
    leaf = use(tree, 1, 2)
    assert tree.evict_node(leaf) == 0
    tree.done(leaf)
    assert (tree.evict_node(leaf), tree.tokens) == (2, 0)


def test_policy_eviction_that_bares_a_leaf_over_budget_reclaims_it() -> None:
    tree = RadixTree(1)
    parent = use(tree, 1, 2)
    child = use(tree, 1, 2, 3)
    tree.done(parent)
    assert (tree.tokens, parent.refs) == (3, 0)
    assert RadixTree.evict_node(tree, child) == 0
    tree.done(child)
    assert tree.tokens == 0
