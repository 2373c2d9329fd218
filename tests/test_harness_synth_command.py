"""`fakbench trace synth`: to a file whole or not at all, or printed; the same bytes in every environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.commands.synth import synth
from harness.synth.describe import recipe_bytes, workload_tables
from harness.synth.load import default_recipe, load_recipe
from harness.synth.recipe import RecipeError
from harness.synth.registry import WORKLOADS
from harness.synth.write import trace_lines

HEADER = (
    b'{"kind":"trace","schema":"fakbench.trace/1","block_tokens":512,"name":"shared-prefix-5","notes":"synthetic:'
    b" shared-prefix seed=5 turns=8 gap_ms=1000 prefix_tokens=4000 prefix_bytes=67108864 tenant_tokens=4000"
    b' tenant_bytes=67108864"}'
)


def test_a_trace_is_printed_where_no_file_is_named(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    synth(workload="shared-prefix", seed=5)
    lines = capsysbinary.readouterr().out.splitlines()
    assert lines[:2] == [
        HEADER,
        b'{"kind":"access","t_ms":0,"span":"system-prompt","tokens":4000,"bytes":67108864}',
    ]
    assert len(lines) == 16


def test_a_recipe_becomes_a_file_and_nothing_is_printed(
    root: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    out = tmp_path / "trace.jsonl"
    synth(root / "traces/recipes/rag.json", out=out)
    assert out.read_bytes() == (root / "traces/rag.jsonl").read_bytes()
    assert capsysbinary.readouterr().out == b""
    assert os.listdir(tmp_path) == ["trace.jsonl"]


def test_a_trace_that_cannot_be_finished_leaves_the_old_file_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "trace.jsonl"
    out.write_bytes(b"old")
    recipe = tmp_path / "far.json"
    recipe.write_bytes(
        b'{"schema":"fakbench.recipe/1","workload":"few-shot","seed":1,"block_tokens":4096,"requests":20000,'
        b'"question_tokens":1048576}'
    )
    with pytest.raises(RecipeError) as caught:
        synth(recipe, out=out)
    assert str(caught.value) == "few-shot-1: a prompt or answer passes 16777216 tokens; lower the mean lengths"
    assert out.read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["far.json", "trace.jsonl"]


def test_the_list_has_every_workload_with_its_knobs(capsys: pytest.CaptureFixture[str]) -> None:
    synth(list_workloads=True)
    printed = capsys.readouterr().out
    assert printed == workload_tables()
    assert [line.split(":")[0] for line in printed.splitlines() if ": " in line and "|" not in line] == list(WORKLOADS)
    assert (
        " think_ms        | mean time from a turn to the next               |   214708 |     1 |         86400000"
        in printed
    )


def test_a_shown_recipe_is_one_that_can_be_followed(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    synth(workload="agent-loop", seed=9, show_recipe=True)
    shown = capsysbinary.readouterr().out
    assert shown == recipe_bytes(default_recipe("agent-loop", 9))
    (tmp_path / "r.json").write_bytes(shown)
    assert load_recipe(tmp_path / "r.json") == default_recipe("agent-loop", 9)


@pytest.mark.parametrize("both", [{}, {"recipe": Path("r.json"), "workload": "rag"}], ids=["neither", "both"])
def test_a_recipe_or_a_workload_is_wanted(both: dict[str, object]) -> None:
    with pytest.raises(RecipeError) as caught:
        synth(**both)  # type: ignore[arg-type]
    assert (
        str(caught.value) == "synth takes a recipe file or --workload NAME, one of the two; --list names the workloads"
    )


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_name_that_promises_compression_is_refused(suffix: str, tmp_path: Path) -> None:
    out = tmp_path / f"trace.jsonl{suffix}"
    with pytest.raises(RecipeError) as caught:
        synth(workload="rag", out=out)
    assert str(caught.value) == (f"{out}: would not be compressed; name it without {suffix} and compress it afterwards")
    assert not out.exists()


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "COLUMNS": "40"},
        {"PYTHONHASHSEED": "2", "TZ": "America/New_York", "FORCE_COLOR": "1", "LC_ALL": "C"},
    ],
    ids=["one", "another"],
)
def test_the_bytes_do_not_depend_on_the_environment(environment: dict[str, str], root: Path) -> None:
    made = subprocess.run(
        [sys.executable, "-m", "harness", "trace", "synth", "--workload", "rag", "--seed", "4"],
        cwd=root,
        env={**os.environ, **environment},
        capture_output=True,
        check=True,
    )
    assert made.stdout == b"".join(trace_lines(default_recipe("rag", 4)))
    assert made.stderr == b""


def test_bad_input_is_one_sentence_and_exit_code_2(root: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "r.json"
    recipe.write_bytes(b'{"schema":"fakbench.recipe/1","workload":"rag","seed":1,"documents":0}')
    made = subprocess.run(
        [sys.executable, "-m", "harness", "trace", "synth", str(recipe)], cwd=root, capture_output=True, check=False
    )
    assert (made.returncode, made.stdout) == (2, b"")
    assert made.stderr.decode() == (
        f"fakbench: {recipe}: `documents`: expected `int` >= 1; `fakbench trace synth --list` names the workloads and"
        " their knobs\n"
    )
