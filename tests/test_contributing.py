"""Each recipe of CONTRIBUTING.md is one file and one row: counted in the sources, and followed in a copy."""

from __future__ import annotations

import re
from pathlib import Path

import orjson
import pytest
from builders import BLOCK_BYTES, Ask, engine_of, report_of, trace_of
from conftest import ROOT
from recipes import RECIPES, ROW, copy_of_the_checkout, files_of, python

from policy.policies.registry import POLICIES
from policy.policies.spec import PolicySpec

# The tests that see the registries, the catalog, the reports and the documents.
LISTING = (
    *("contributing", "docs", "policy_contract", "harness_cli", "harness_goldens"),
    *("harness_catalog", "harness_catalog_command", "harness_catalog_lookup"),
    *("harness_readers", "harness_readers_manual", "harness_readers_fuzz", "harness_readers_recipe_format"),
)
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


def test_every_file_target_and_command_that_a_recipe_names_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    policies, formats = text.split("## A policy")[1].split("## A trace format")
    for part, example in ((policies, "tiered"), (formats, "mooncake"), (text.split("## A policy")[0], "")):
        files = re.findall(r"`((?:[a-z]+/)+[\w.-]*|[\w-]+\.(?:md|json))`", part.replace("NAME", example))
        assert files
        assert [name for name in files if not (ROOT / name).exists()] == []
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {*re.findall(r"`make ([a-z]+)`", text)} <= {*targets}
    commands = re.findall(r"^## `fakbench ([a-z ]+)`$", (ROOT / "docs" / "cli.md").read_text("utf-8"), re.MULTILINE)
    assert {*re.findall(r"`fakbench ([a-z ]+)`", text)} <= {*commands}


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


def test_the_recipes_hold_in_a_copy_of_the_checkout(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    copy = copy_of_the_checkout(tmp_path)
    before = files_of(copy)
    for follow in RECIPES:
        follow(copy)
    assert python(copy, "-m", "harness", "catalog", "format") == "rewritten in canonical form\n"
    assert "warning: machines.h100-recipe.tiers.disk." in python(copy, "-m", "harness", "catalog", "validate")
    python(copy, "docs/generate.py")
    updated = python(copy, "-m", "harness", "check", "--update")

    # What a recipe names is all that changes: no other list is kept by hand, and no other report says anything new.
    after = files_of(copy)
    assert {name for name in after if before.get(name) != after[name]} == {
        *("policy/policies/recipe_policy.py", "policy/policies/registry.py", "docs/policies.in.md", "docs/policies.md"),
        *("harness/readers/recipe_format.py", "harness/readers/registry.py"),
        *("tests/test_harness_readers_recipe_format.py", "tests/test_harness_readers_fuzz.py"),
        *("docs/trace-format.in.md", "docs/trace-format.md"),
        *("catalog.json", "docs/catalog.md"),
        *("reports/index.json", "reports/recipe.json"),
    }
    assert updated.splitlines()[:-1] == ["written: reports/recipe.json"]

    (copy / "mine.jsonl").write_text(f"{ROW}\n")
    options = ("--now", "0", "--policy", "recipe-policy", "--machine", "h100-recipe", "--format", "json")
    report = orjson.loads(python(copy, "-m", "harness", "replay", "mine.jsonl", *options))
    assert (report["trace"]["format"], report["machine"]["id"]) == ("recipe-format", "h100-recipe")
    assert "recipe-policy" in report["arms"]

    names = [f"tests/test_{name}.py" for name in LISTING]
    # Of what is slow, the part that is about the new rows; and not this test, which would follow the recipes again.
    slow = "readme or policy_contract or readers_fuzz or byte_for_byte or harness_cli or terminal"
    chosen = ["-k", f"recipe or no-such or not ({slow})", "--deselect", request.node.nodeid]
    apart = ["-p", "no:cacheprovider", f"--basetemp={copy.parent / 'inner'}"]
    assert "skipped" not in python(copy, "-m", "pytest", *apart, *chosen, *names)
