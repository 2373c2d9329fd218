"""Sharing: which kinds avoid a copy, which kinds are known, and that residency replaces the share set before it."""

from __future__ import annotations

import pytest

from policy.entry import Entry, with_label, with_options, with_residency, with_share
from policy.residency import Residency
from policy.share import COPY, CXL_HDM, DMABUF, MMAP, RDMA, SHARE_KINDS, ShareDescriptor, known_share_kind, zero_copy

FABRIC = ShareDescriptor(CXL_HDM, "handle", True)


def test_the_known_kinds_are_these_five() -> None:
    assert SHARE_KINDS == ("", "mmap", "cxl_hdm", "rdma", "dmabuf")
    assert [known_share_kind(kind) for kind in SHARE_KINDS] == [True] * 5


def test_every_known_kind_but_copy_is_zero_copy() -> None:
    assert [zero_copy(kind) for kind in (COPY, MMAP, CXL_HDM, RDMA, DMABUF)] == [False, True, True, True, True]


@pytest.mark.parametrize("kind", ["copy", "MMAP", "weird", " "])
def test_an_unrecognised_kind_counts_as_zero_copy_so_readers_must_refuse_it(kind: str) -> None:
    assert zero_copy(kind)
    assert not known_share_kind(kind)


def test_a_share_is_a_copy_until_it_says_otherwise() -> None:
    assert ShareDescriptor() == ShareDescriptor(COPY, "", False)
    assert not ShareDescriptor().zero_copy()
    assert not ShareDescriptor(COPY, "handle", True).zero_copy()


def test_a_zero_copy_kind_needs_neither_handle_nor_coherence() -> None:
    assert ShareDescriptor(RDMA).zero_copy()
    assert ShareDescriptor(RDMA, "rkey:17", True).zero_copy()


def test_a_residency_is_as_zero_copy_as_its_share() -> None:
    assert not Residency("cxl", "o", "l").zero_copy()
    assert Residency("cxl", "o", "l").with_share(FABRIC) == Residency("cxl", "o", "l", FABRIC)
    assert Residency("cxl", "o", "l", FABRIC).zero_copy()


def test_a_share_set_after_the_residency_stays() -> None:
    entry = with_options(Entry(), [with_residency("cxl", "o", "l"), with_share(FABRIC)])
    assert entry.residency == Residency("cxl", "o", "l", FABRIC)


def test_a_residency_set_after_the_share_wipes_it() -> None:
    entry = with_options(Entry(), [with_share(FABRIC), with_residency("cxl", "o", "l")])
    assert entry.residency == Residency("cxl", "o", "l", ShareDescriptor())


def test_options_leave_the_entry_they_were_given_as_it_was() -> None:
    before = Entry(labels={"a": "1"})
    after = with_options(before, [with_label("a", "2"), with_label("b", "3"), with_residency("dram", "o", "")])
    assert (before.labels, before.residency) == ({"a": "1"}, Residency())
    assert (after.labels, after.residency) == ({"a": "2", "b": "3"}, Residency("dram", "o", ""))
