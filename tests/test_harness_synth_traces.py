"""The committed traces: each comes out of its recipe byte for byte, and its hash is pinned."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from harness.readers import read_trace
from harness.synth.load import load_recipe
from harness.synth.write import trace_lines
from harness.trace import Trace

SHA256 = {
    "shared-prefix-8-turns": "e45063eef2635219d0dd9687235270804e949f598976af722d57be2561042e0e",
    "multi-turn-chat": "2c68be95455324f7ffad6413293e40e0c8851235dfb9d7ffad748f6f2bab6895",
    "agent-loop": "763bf6b984cde706ffb2f085b7098fc81ef37b72a80251b42330105ca9435bf0",
    "few-shot": "05cdf8d5b13c43a0b027259e002cd75edc3e0786fef70aaaf01c6158027a2860",
    "rag": "cd19c52a49de1284d039f6611a9798b72ccc54c76dc2dff6a1b69f309c49d3c0",
    "rag-with-faults": "2b9547a20bc5e3fcee8ba82e56a7dafe5185f0e98a078dcb066d5cdf5157d617",
    "multi-tenant-rag": "890a720fe8cd12bbd513299c7f39a7e6d8da34102d99f8a8b1178fb6cabc4229",
    "batch": "66d352a16698bbcc5cdcc1b27c0fb3f87d3d35f8dcc29a65d0388793ef53fe52",
}


def by_name(root: Path, name: str) -> Trace:
    return read_trace(root / "traces" / f"{name}.jsonl", tail="ceil")


@pytest.mark.parametrize("name", SHA256)
def test_a_recipe_gives_the_committed_trace(name: str, root: Path) -> None:
    made = b"".join(trace_lines(load_recipe(root / "traces" / "recipes" / f"{name}.json")))
    assert hashlib.sha256(made).hexdigest() == SHA256[name]
    assert made == (root / "traces" / f"{name}.jsonl").read_bytes()


@pytest.mark.parametrize("name", SHA256)
def test_a_committed_trace_reads_without_a_remark(name: str, root: Path) -> None:
    trace = by_name(root, name)
    assert (trace.notices, trace.format, trace.name, trace.sha256) == ({}, "native", name, SHA256[name])


def test_every_trace_is_pinned_and_has_a_recipe(root: Path) -> None:
    traces = root / "traces"
    assert sorted(path.stem for path in traces.glob("*.jsonl")) == sorted(SHA256)
    assert sorted(path.stem for path in (traces / "recipes").glob("*.json")) == sorted([*SHA256, "big-chat"])


def test_traces_and_recipes_together_are_below_a_megabyte(root: Path) -> None:
    assert sum(path.stat().st_size for path in (root / "traces").rglob("*") if path.is_file()) < 1_000_000


@pytest.mark.parametrize("name", SHA256)
def test_the_readme_lists_every_trace_with_its_recipe_and_hash(name: str, root: Path) -> None:
    readme = (root / "traces" / "README.md").read_text()
    row = next(line for line in readme.splitlines() if line.startswith(f"| [`{name}.jsonl`]"))
    assert f"[recipe](recipes/{name}.json)" in row
    assert SHA256[name] in row


def test_eight_turns_share_one_prefix_among_seven_tenants(root: Path) -> None:
    trace = by_name(root, "shared-prefix-8-turns")
    assert list(trace.path) == [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0]
    assert trace.block_names == [("access", "system-prompt"), *(("access", f"tenant-{n}") for n in range(1, 8))]
    assert set(trace.block_size_tokens) == {4000}
    assert set(trace.block_size_bytes) == {67_108_864}
    assert list(trace.t_us) == [second * 1_000_000 for second in range(15)]


def test_the_trace_with_faults_has_every_kind_of_event_among_its_requests(root: Path) -> None:
    trace = by_name(root, "rag-with-faults")
    assert [(event.kind, event.tier, event.t_us, event.value) for event in trace.controls] == [
        ("pressure", "hbm", 20_000_000, 500_000),
        ("fault", "dram", 30_000_000, 40_000_000),
        ("clear", "hbm", 60_000_000, 0),
        ("pressure", "hbm", 70_000_000, 0),
        ("fault", "disk", 80_000_000, 90_000_000),
        ("pressure", "dram", 90_000_000, 1_000_000),
        ("pressure", "dram", 105_000_000, 0),
        ("clear", "", 130_000_000, 0),
    ]
    for event in trace.controls:
        assert 0 < event.before_request < trace.requests
        assert trace.t_us[event.before_request - 1] < event.t_us <= trace.t_us[event.before_request]


def test_the_trace_of_tenants_is_the_one_of_rag_but_for_who_asks(root: Path) -> None:
    tenants, rag = by_name(root, "multi-tenant-rag"), by_name(root, "rag")
    assert (tenants.path, tenants.t_us, tenants.output_tokens) == (rag.path, rag.t_us, rag.output_tokens)
    assert sorted((who.adapter, who.tenant) for who in tenants.identities) == [
        (f"adapter-{tenant % 2}", f"tenant-{tenant}") for tenant in (0, 2, 4, 1, 3, 5)
    ]


def test_the_agents_trace_has_subagents_and_the_batch_has_ties_but_no_reuse(root: Path) -> None:
    agents = by_name(root, "agent-loop")
    assert sum("/sub-" in session for session in agents.sessions) == 15
    batch = by_name(root, "batch")
    assert len(set(batch.t_us)) == batch.requests // 8
    assert list(batch.path) == list(range(len(batch.path)))
