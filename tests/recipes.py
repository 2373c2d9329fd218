"""The recipes of CONTRIBUTING.md as a contributor follows them, each in a copy of the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import orjson
from conftest import ROOT

COPIED = (
    *("policy", "harness", "catalog.json", "traces", "reports", "docs", "tests", "benchmarks", "pyproject.toml"),
    *("Makefile", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"),
)

POLICY = '''"""The first rung that has room, however slow it is."""

from policy.policies.spec import PolicySpec

RECIPE_POLICY = PolicySpec("recipe-policy", "the first rung that has room", {"best_rung": 0})
'''
READER = '''"""Chunk JSONL: one request a line, `at_ms`, `tokens` and `chunks`, each of which names a whole prefix."""

from typing import Any

from harness.readers.builder import TraceBuilder
from harness.readers.fields import integer, items, time_us
from harness.readers.source import Source
from harness.trace import MAX_TOKENS


def sniff(record: dict[str, Any]) -> bool:
    return "chunks" in record


def read(source: Source, builder: TraceBuilder) -> None:
    builder.trace.block_tokens = source.options.block_tokens or 64

    def row(line: int, record: dict[str, Any]) -> None:
        tokens = integer(record, "tokens", 0, MAX_TOKENS)
        builder.request(line, time_us(record, "at_ms"), tokens, 0, items(record, "chunks"))

    source.each(row)
'''
READER_TEST = """from reading import joined, refusal


def test_a_row_without_tokens_is_refused() -> None:
    assert "tokens" in refusal(joined([\'{"at_ms":0,"chunks":[1]}\']))
"""
ROW = '{"at_ms":0,"tokens":100,"chunks":[1,2]}'


def copy_of_the_checkout(folder: Path) -> Path:
    """A copy in `folder`, so that the checkout itself is never written to."""
    copy = folder / "checkout"
    copy.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy / name)
    return copy


def insert(path: Path, before: str, text: str) -> None:
    """Put `text` before the only place where `before` stands."""
    content = path.read_text(encoding="utf-8")
    assert content.count(before) == 1, f"{path.name}: {before!r}"
    path.write_text(content.replace(before, text + before), encoding="utf-8")


def add_a_policy(copy: Path) -> None:
    registry = copy / "policy" / "policies" / "registry.py"
    (registry.parent / "recipe_policy.py").write_text(POLICY)
    insert(registry, "from policy.policies.spec", "from policy.policies.recipe_policy import RECIPE_POLICY\n")
    insert(registry, "        INFINITE,\n", "        RECIPE_POLICY,\n")
    insert(copy / "docs" / "policies.in.md", "## One request", "`recipe-policy` asks what a slow rung costs.\n\n")


def add_a_format(copy: Path) -> None:
    registry = copy / "harness" / "readers" / "registry.py"
    (registry.parent / "recipe_format.py").write_text(READER)
    insert(registry, "from harness.readers.builder", "from harness.readers import recipe_format\n")
    row = 'Format("recipe-format", "JSON lines with chunks", recipe_format.sniff, recipe_format.read)'
    insert(registry, ")\n\n\ndef known_formats", f"    {row},\n")
    (copy / "tests" / "test_harness_readers_recipe_format.py").write_text(READER_TEST)
    fuzz = copy / "tests" / "test_harness_readers_fuzz.py"
    insert(fuzz, "}\nNAMES = ", f"    'recipe-format': b'{ROW}\\n',\n")
    insert(fuzz, "}\nKINDS = ", '    "recipe-format": ["at_ms", "tokens", "chunks"],\n')
    section = f"## Recipe format\n\n```json\n{ROW}\n```\n\n64 tokens a chunk, or `--block-tokens`.\n\n"
    insert(copy / "docs" / "trace-format.in.md", "## Time\n", section)


def add_a_machine(copy: Path) -> None:
    """A node whose network is faster than its drives, and whose id is a near miss of others."""
    path = copy / "catalog.json"
    document = orjson.loads(path.read_bytes())
    entry = orjson.loads(orjson.dumps(document["machines"]["h100-sxm"]))
    entry |= {"title": "A node that somebody has", "note": "Its network is faster than its drives."}
    document["machines"]["h100-recipe"] = entry
    path.write_bytes(orjson.dumps(document))


def add_a_report(copy: Path) -> None:
    path = copy / "reports" / "index.json"
    document = orjson.loads(path.read_bytes())
    row = {"report": "reports/recipe.json", "trace": "traces/batch.jsonl", "machine": "l40s", "against": ["blind-lru"]}
    document["goldens"].append(row)
    path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def python(copy: Path, *arguments: str) -> str:
    """What Python prints when it is run with `arguments` in the copy, which must go well."""
    apart = {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    environment = {name: value for name, value in os.environ.items() if name != "FAKBENCH_CATALOG"} | apart
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files_of(folder: Path) -> dict[str, bytes]:
    """The content of every file that is copied, by its path."""
    found = [path for name in COPIED for path in (folder / name, *(folder / name).rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found if path.suffix != ".pyc"}


RECIPES = (add_a_policy, add_a_format, add_a_machine, add_a_report)
