"""Recency against a list that is sorted each time somebody asks."""

from __future__ import annotations

from array import array
from random import Random

import pytest

from policy.recency import NO_SPAN, Recency
from policy.tiers import CXL, DRAM, HBM, NO_TIER, TIER_COUNT


class SortedRecency:
    """Spans with the time of their last touch; a victim is the first of all that are eligible, sorted."""

    def __init__(self) -> None:
        self.clock = 0
        self.touched: dict[int, int] = {}
        self.tier: dict[int, int] = {}
        self.pinned: list[int] = []

    def touch(self, span: int) -> None:
        self.clock += 1
        self.touched[span] = self.clock

    def victim(self, tier: int) -> int:
        eligible = [span for span, where in self.tier.items() if where == tier and span not in self.pinned]
        return min(eligible, key=lambda span: (self.touched.get(span, 0), span), default=NO_SPAN)


def test_a_span_never_touched_is_oldest_and_the_lowest_of_those_goes_first() -> None:
    order = Recency(4)
    order.touch(1)
    for span in (3, 2, 1):
        order.enter(span, HBM)
    assert order.victim(HBM) == 2


def test_a_touch_makes_a_span_the_most_recent() -> None:
    order = Recency(3)
    for span in range(3):
        order.touch(span)
        order.enter(span, HBM)
    order.touch(0)
    assert order.victim(HBM) == 1


def test_a_move_does_not_change_a_place_in_the_order() -> None:
    order = Recency(3)
    for span in range(3):
        order.touch(span)
    order.enter(1, DRAM)
    order.enter(2, DRAM)
    order.enter(0, HBM)
    order.enter(0, DRAM)
    assert order.victim(DRAM) == 0
    assert order.victim(HBM) == NO_SPAN


def test_asking_for_a_victim_changes_nothing() -> None:
    order = Recency(2)
    order.enter(0, HBM)
    order.enter(1, HBM)
    assert [order.victim(HBM), order.victim(HBM)] == [0, 0]


def test_a_span_that_left_is_nobodys_victim() -> None:
    order = Recency(2)
    order.enter(0, HBM)
    order.leave(0)
    assert order.victim(HBM) == NO_SPAN
    assert order.where[0] == NO_TIER


def test_a_span_that_came_back_is_a_victim_once_more() -> None:
    order = Recency(2)
    order.enter(0, HBM)
    order.enter(0, CXL)
    order.enter(0, HBM)
    assert (order.victim(HBM), order.victim(CXL)) == (0, NO_SPAN)


def test_a_pinned_span_is_passed_over_until_its_request_is_over() -> None:
    order = Recency(2)
    order.enter(0, HBM)
    order.enter(1, HBM)
    order.begin(array("q", [0]))
    assert order.victim(HBM) == 1
    order.begin(array("q", [1]))
    assert order.victim(HBM) == NO_SPAN
    order.end(array("q", [0]))
    order.end(array("q", [1]))
    assert order.victim(HBM) == 0


def test_what_arrives_out_of_order_takes_its_place_by_age() -> None:
    order = Recency(4)
    for span in range(4):
        order.touch(span)
    for span in (2, 0, 3, 1):
        order.enter(span, DRAM)
    out = []
    while (victim := order.victim(DRAM)) != NO_SPAN:
        out.append(victim)
        order.leave(victim)
    assert out == [0, 1, 2, 3]


def request(order: Recency, model: SortedRecency, path: list[int], random: Random) -> None:
    """As a request does: pin a path, move and drop spans, look for victims, touch the path, unpin."""
    order.begin(array("q", path))
    model.pinned = path
    for _ in range(random.randint(0, 6)):
        span, tier = random.choice(path + list(model.tier)), random.randrange(TIER_COUNT)
        if span in model.tier and random.random() < 0.3:
            order.leave(span)
            del model.tier[span]
        else:
            order.enter(span, tier)
            model.tier[span] = tier
        probe = random.randrange(TIER_COUNT)
        assert order.victim(probe) == model.victim(probe)
    order.end(array("q", path))
    for span in reversed(path):
        model.touch(span)
    model.pinned = []


@pytest.mark.parametrize("seed", range(8))
def test_random_walks_agree_with_the_sorted_list(seed: int) -> None:
    """Long enough that tickets of spans that moved on pile up and are thrown away."""
    random = Random(seed)
    spans = random.choice([3, 12, 40])
    order, model = Recency(spans), SortedRecency()
    for _ in range(600):
        path = random.sample(range(spans), random.randint(1, min(spans, 6)))
        request(order, model, path, random)
        for tier in range(TIER_COUNT):
            assert order.victim(tier) == model.victim(tier)
            held = sorted(span for span, where in model.tier.items() if where == tier)
            assert order.spans_in(tier) == held
            assert order.members[tier] == len(held)
