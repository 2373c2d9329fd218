"""Each recipe of CONTRIBUTING.md is one file and one row: counted in the sources, and tried."""

from __future__ import annotations

import re
from pathlib import Path

import orjson
import pytest
from builders import BLOCK_BYTES, Ask, engine_of, report_of, trace_of
from conftest import ROOT

from policy.policies.registry import POLICIES
from policy.policies.spec import PolicySpec

SOURCES = sorted(path for folder in ("policy", "harness") for path in (ROOT / folder).rglob("*.py"))


def mentioning(pattern: str) -> set[str]:
    """The source files in which a pattern occurs."""
    return {
        path.relative_to(ROOT).as_posix() for path in SOURCES if re.search(pattern, path.read_text(encoding="utf-8"))
    }


def test_every_recipe_has_at_most_five_steps() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert [section.split("\n", 1)[0] for section in sections] == [
        "A policy",
        "A trace format",
        "A machine",
        "A report",
    ]
    for section in sections:
        assert 1 <= len(re.findall(r"^\d\. ", section, re.MULTILINE)) <= 5


def test_a_policy_is_one_file_and_one_row() -> None:
    assert mentioning(r"(?i)tiered[-_]reference") == {
        "policy/policies/tiered_reference.py",
        "policy/policies/registry.py",
    }


def test_a_trace_format_is_one_file_and_one_row() -> None:
    assert (ROOT / "harness" / "readers" / "mooncake.py").is_file()
    assert mentioning(r"\bmooncake\b") - {"harness/readers/mooncake.py"} == {"harness/readers/registry.py"}


def test_a_machine_is_one_entry_of_the_catalog_and_nowhere_in_the_sources() -> None:
    assert mentioning(r"gh200|a100|l40s") == set()


def test_a_report_is_one_row_of_the_index() -> None:
    index = (ROOT / "reports" / "index.json").read_bytes()
    names = [row["report"] for row in orjson.loads(index)["goldens"]]
    assert len(names) == len(set(names)) > 0
    assert mentioning("|".join(re.escape(Path(name).name) for name in names)) == set()


def test_a_new_row_is_a_policy_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(POLICIES, "nearest", PolicySpec("nearest", "the first rung that has room", {"best_rung": 0}))
    trace = trace_of(Ask([1]), Ask([2]), Ask([1]))
    report = report_of(trace, engine_of({"hbm": BLOCK_BYTES, "dram": BLOCK_BYTES}), "nearest")
    assert report["arms"]["nearest"]["rules"]["best_rung"] == 0
    assert report["comparison"]["arms"]["nearest"]["verdict"] == "pays"
