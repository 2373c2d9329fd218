"""Who leaves the prefix tree: what its owner says to that, and how much work a victim is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from radix_use import cached, use, used

from policy.radix import RadixTree
from policy.radix_evict import VictimQueue
from policy.radix_node import RadixNode
from policy.radix_rules import IMPROVED_RADIX, STRICT_RADIX, RadixRules


class Owner:
    """Takes what it is asked about to a colder tier, unless it is in `refused`."""

    def __init__(self, *refused: tuple[int, ...]) -> None:
        self.refused = refused
        self.asked: list[tuple[int, ...]] = []
        self.demoted: list[tuple[int, ...]] = []

    def on_victim(self, node: RadixNode) -> bool:
        self.asked.append(node.path())
        if node.path() in self.refused:
            return False
        self.demoted.append(node.key)
        return True


@pytest.mark.parametrize("rules", [STRICT_RADIX, IMPROVED_RADIX], ids=["strict", "improved"])
def test_an_owner_is_asked_before_each_victim_goes_and_may_keep_it(rules: RadixRules) -> None:
    owner = Owner((1, 1))
    tree = RadixTree(4, rules, owner)
    for prompt in ([1, 1], [2, 2], [3, 3]):
        used(tree, *prompt)
    assert (owner.asked, owner.demoted) == ([(1, 1), (2, 2)], [(2, 2)])
    assert cached(tree, [1, 1], [2, 2], [3, 3]) == [True, False, True]
    assert tree.evict(3) == 2
    assert owner.asked[2:] == [(1, 1), (3, 3)]
    assert (tree.tokens, tree.evictions) == (2, 2)
    owner.refused = ()
    assert (tree.evict(1), tree.tokens) == (2, 0)


def test_an_owner_hears_nothing_of_policy_evictions() -> None:
    owner = Owner()
    tree = RadixTree(0, owner=owner)
    used(tree, 1, 2)
    tree.evict_prefix([1])
    assert owner.asked == []


def test_a_victim_whose_owner_fails_stays_and_is_asked_about_again() -> None:
    class Broken(Owner):
        def on_victim(self, node: RadixNode) -> bool:
            raise RuntimeError("the link is down")

    tree = RadixTree(0, owner=Broken())
    used(tree, 1, 2)
    with pytest.raises(RuntimeError, match="the link is down"):
        tree.evict(1)
    assert (tree.tokens, tree.evictions) == (2, 0)
    tree.owner = None
    assert tree.evict(1) == 2


def test_room_is_made_up_to_what_is_wanted_and_not_beyond() -> None:
    tree = RadixTree()
    for prompt in ([1, 1], [2, 2], [3, 3]):
        used(tree, *prompt)
    assert [tree.evict(wanted) for wanted in (-1, 0, 1, 2, 9, 9)] == [0, 0, 2, 2, 2, 0]


# --- work, in nodes or tickets looked at ---


def test_a_queue_looks_at_one_ticket_for_a_victim_and_a_scan_at_the_whole_tree() -> None:
    for leaves in (100, 400):
        queue, scan = (RadixTree(0, replace(IMPROVED_RADIX, queue_victims=kind)) for kind in (1, 0))
        for tree in (queue, scan):
            for leaf in range(leaves):
                used(tree, leaf, leaf)
            tree.victims.examined = 0
            assert tree.evict(20) == 20
        assert queue.victims.examined == 10
        # The root is looked at too, and each victim leaves one node less.
        assert scan.victims.examined == sum(leaves + 1 - gone for gone in range(10))


def test_a_queue_looks_once_more_at_what_was_used_or_leased_since() -> None:
    tree = RadixTree()
    for leaf in range(100):
        used(tree, leaf)
    for leaf in range(40):
        used(tree, leaf)
    for leaf in range(40, 70):
        use(tree, leaf)
    tree.victims.examined = 0
    assert (tree.evict(1), cached(tree, [69], [70])) == (1, [True, False])
    # 40 tickets to refresh, 30 to throw away, and the victim.
    assert tree.victims.examined == 71
    assert tree.evict(1) == 1
    assert tree.victims.examined == 72


def test_a_node_has_one_ticket_however_often_it_is_released() -> None:
    tree = RadixTree()
    assert isinstance(tree.victims, VictimQueue)
    for _ in range(50):
        used(tree, 1, 2)
    assert len(tree.victims) == 1


def test_throwing_stale_tickets_away_costs_no_more_than_making_them() -> None:
    tree = RadixTree()
    for leaf in range(500):
        tree.warm_insert([leaf])
    # At 65 tickets, and each time they are twice as many and 64 more.
    assert tree.victims.examined == 65 + 195 + 455


def test_throwing_stale_tickets_away_keeps_the_order_and_lets_the_leased_come_back() -> None:
    owner = Owner()
    tree = RadixTree(0, owner=owner)
    assert isinstance(tree.victims, VictimQueue)
    for leaf in range(64):
        used(tree, leaf)
    for leaf in reversed(range(1, 64)):
        used(tree, leaf)
    leased = use(tree, 0)
    used(tree, 64)
    assert (len(tree.victims), leased.queued) == (64, 0)
    tree.done(leased)
    assert tree.evict(99) == 65
    assert owner.asked == [*((leaf,) for leaf in reversed(range(1, 64))), (0,), (64,)]


def test_tickets_of_nodes_that_left_do_not_pile_up() -> None:
    tree = RadixTree()
    assert isinstance(tree.victims, VictimQueue)
    for leaf in range(2000):
        tree.warm_insert([leaf])
        tree.evict_prefix([leaf])
        assert len(tree.victims) <= 66
    for leaf in range(500):
        tree.warm_insert([leaf])
    assert 500 <= len(tree.victims) <= 566
    assert tree.evict(10**6) == 500
