"""The demonstration: the original's figures in its first four parts, and a fifth that is replayed."""

from __future__ import annotations

import re
from pathlib import Path

from harness.demo import demo_text, replay_turns
from policy.decisions import PRESSURE, REPREFILL_CAUSES
from policy.profiles import default_profiles
from policy.tiers import DRAM, HBM

TEXT = demo_text()


def test_a_blind_lru_loses_the_prefix_on_every_turn_and_the_planner_on_none() -> None:
    comparison = replay_turns(default_profiles())
    lru, tiered = (comparison.arms[name].ledger for name in ("blind-lru", "tiered"))
    assert lru.computed_tokens[PRESSURE] == sum(lru.computed_tokens[1:]) == 28_000
    assert list(tiered.computed_tokens[1:]) == [0] * len(REPREFILL_CAUSES)
    # Seven turns are served from where the prefix was demoted to, less the last token that is always computed.
    assert (tiered.hit_tokens[HBM], tiered.hit_tokens[DRAM], tiered.obligatory_tokens) == (0, 27_993, 7)
    assert tiered.attend_ns == 7 * (223_786 - 33_754)


def test_every_figure_of_the_original_demo_is_in_the_text(shared: Path) -> None:
    original = (shared / "conformance" / "hwcachedemo.txt").read_text(encoding="utf-8")
    text = TEXT.replace(",", "").replace("GiB", "GB").replace("TiB", "TB")
    for name, latency, bandwidth, capacity in re.findall(r"^(\w+) +(\d+)ns +(\d+) MB/s +(\S+)", original, re.MULTILINE):
        row = next(line for line in text.splitlines() if line.strip().startswith(f"{name} "))
        assert latency in row.split()
        assert bandwidth in row.split()
        assert capacity.replace("GB", "").replace("TB", "") in row
    for action, source, to, reason, directive in re.findall(
        r"step \d: (\w+) +(\w+) -> (\w+) +\[(\w+)\]  directive=(\w+)", original
    ):
        assert re.search(rf"^ {source} +\| {to} +\| {action} +\| {directive} +\| {reason} ", TEXT, re.MULTILINE)
    for figure in ("223,786", "335,684", "1,048,876", "9,596,980", "8,000,000,000", "3,000", "253", "17,021", "28,000"):
        assert figure in TEXT


def test_the_assumptions_of_the_fifth_part_are_said() -> None:
    assert "100 MB of HBM" in TEXT
    assert "2 ms of prefill a token" in TEXT
