"""The policy plane answers every vector of the original as the original did, and a wrong answer is noticed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conformance import FileResult, first_difference, run_directory
from sample_conformance import sample

# Vectors by file: in the whole set, and in the committed sample.
VECTORS = {
    "tiers.jsonl": (61, 61),
    "probed_profiles.jsonl": (259, 16),
    "cost.jsonl": (3084, 48),
    "overflow.jsonl": (281, 18),
    "lifecycle.jsonl": (1793, 35),
    "plan_placement.jsonl": (6022, 32),
    "kv_transfer.jsonl": (710, 32),
    "cache_events.jsonl": (85, 2),
    "materialization.jsonl": (1043, 50),
    "pool.jsonl": (924, 38),
    "digest.jsonl": (243, 14),
    "radix.jsonl": (339, 8),
    "radix_warm.jsonl": (120, 4),
    "radix_bound.jsonl": (154, 7),
}
SAMPLED = sum(taken for _, taken in VECTORS.values())


@pytest.fixture
def sample_directory(root: Path) -> Path:
    return root / "tests" / "conformance_sample"


@pytest.fixture
def copied_sample(sample_directory: Path, tmp_path: Path) -> Path:
    """A copy of the sample that a test may spoil."""
    return Path(shutil.copytree(sample_directory, tmp_path / "vectors"))


def run_script(root: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    script = root / "tests" / "conformance.py"
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=cwd)


def rewrite_line(path: Path, number: int, change: dict[str, Any]) -> None:
    """Replaces keys of one vector (counted from 0)."""
    lines = path.read_text().splitlines()
    lines[number] = json.dumps(json.loads(lines[number]) | change)
    path.write_text("\n".join(lines) + "\n")


def in_known_files(results: list[FileResult]) -> dict[str, FileResult]:
    return {result.name: result for result in results if result.name in VECTORS}


def test_every_vector_of_the_original_passes(shared: Path) -> None:
    results = in_known_files(run_directory(shared / "conformance"))
    assert {name: result.differences for name, result in results.items()} == {name: [] for name in VECTORS}
    assert {name: (result.passed, result.failed) for name, result in results.items()} == {
        name: (whole, 0) for name, (whole, _) in VECTORS.items()
    }


def test_every_vector_of_the_committed_sample_passes(sample_directory: Path) -> None:
    results = {result.name: result for result in run_directory(sample_directory)}
    assert {name: result.differences for name, result in results.items()} == {name: [] for name in VECTORS}
    assert {name: (result.passed, result.failed) for name, result in results.items()} == {
        name: (taken, 0) for name, (_, taken) in VECTORS.items()
    }


def test_the_sample_has_every_class_of_every_function(sample_directory: Path) -> None:
    classes: dict[str, dict[tuple[str, str], int]] = {}
    for name in VECTORS:
        found = classes.setdefault(name, {})
        for line in (sample_directory / name).read_text().splitlines():
            vector = json.loads(line)
            key = (vector["fn"], vector["class"])
            found[key] = found.get(key, 0) + 1
    assert {name: len(found) for name, found in classes.items()} == {
        "tiers.jsonl": 9,
        "probed_profiles.jsonl": 8,
        "cost.jsonl": 8,
        "overflow.jsonl": 3,
        "lifecycle.jsonl": 7,
        "plan_placement.jsonl": 8,
        "kv_transfer.jsonl": 8,
        # The other three are of 256 labels and more; test_harness_metrics.py has those.
        "cache_events.jsonl": 2,
        "materialization.jsonl": 19,
        "pool.jsonl": 14,
        "digest.jsonl": 3,
        "radix.jsonl": 4,
        "radix_warm.jsonl": 4,
        "radix_bound.jsonl": 7,
    }
    assert set(classes["plan_placement.jsonl"].values()) == {4}
    assert set(classes["lifecycle.jsonl"].values()) == {5}


def test_the_sample_is_what_the_sampler_takes_from_the_whole_set(shared: Path, sample_directory: Path) -> None:
    for name, content in sample(shared / "conformance").items():
        assert (sample_directory / name).read_bytes() == content, name


def test_the_runner_works_from_any_directory_and_counts_by_file(
    root: Path, sample_directory: Path, tmp_path: Path
) -> None:
    ran = run_script(root, str(sample_directory), cwd=tmp_path)
    expected = [f"{name}: {taken} passed, 0 failed" for name, (_, taken) in sorted(VECTORS.items())]
    assert ran.stdout.splitlines() == [*expected, f"total: {SAMPLED} passed, 0 failed, 0 files not known yet"]
    assert (ran.returncode, ran.stderr) == (0, "")


def test_one_wrong_expectation_fails_the_run_and_is_named(root: Path, copied_sample: Path) -> None:
    rewrite_line(copied_sample / "cost.jsonl", 0, {"out": 1})
    vector = json.loads((copied_sample / "cost.jsonl").read_text().splitlines()[0])
    ran = run_script(root, str(copied_sample), cwd=copied_sample)
    assert "cost.jsonl: 47 passed, 1 failed" in ran.stdout
    assert f"  {vector['id']}: out: expected 1, got 4611686018427387904" in ran.stdout.splitlines()
    assert ran.returncode == 1


@pytest.mark.parametrize("name", sorted(VECTORS))
def test_an_expectation_is_looked_at_in_every_vector(copied_sample: Path, name: str) -> None:
    """Spoiling what each vector expects fails each of them: no adapter compares an answer with itself."""
    path = copied_sample / name
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines):
        vector = json.loads(line)
        spoiled = [*vector["ops"][:-1], vector["ops"][-1] | {"state": []}] if "ops" in vector else "spoiled"
        key = next(key for key in ("exact", "ops", "out", "prometheus") if key in vector)
        lines[number] = json.dumps(vector | {key: spoiled})
    path.write_text("\n".join(lines) + "\n")
    result = in_known_files(run_directory(copied_sample))[name]
    assert (result.passed, result.failed) == (0, VECTORS[name][1])


def test_a_wrong_lifecycle_after_a_right_plan_is_noticed(copied_sample: Path) -> None:
    rewrite_line(copied_sample / "plan_placement.jsonl", 0, {"apply": {"directive": "", "lc": [], "now": 0}})
    result = in_known_files(run_directory(copied_sample))["plan_placement.jsonl"]
    assert (result.passed, result.failed) == (31, 1)


def test_a_wrong_count_or_verdict_of_an_event_beside_a_right_exposition_is_noticed(copied_sample: Path) -> None:
    path = copied_sample / "cache_events.jsonl"
    counts, verdicts = (json.loads(line) for line in path.read_text().splitlines())
    counts["snapshot"]["overflow_tokens_moved"] += 1
    verdicts["events"][-1]["result"]["silent_recompute"] ^= True
    path.write_text(f"{json.dumps(counts)}\n{json.dumps(verdicts)}\n")
    result = in_known_files(run_directory(copied_sample))["cache_events.jsonl"]
    assert result.differences == [
        f"{counts['id']}: out.snapshot.overflow_tokens_moved: expected 1, got 0",
        f"{verdicts['id']}: out.results[0].silent_recompute: expected False, got True",
    ]


def test_a_file_of_unknown_kinds_is_named_and_neither_passes_nor_fails(root: Path, copied_sample: Path) -> None:
    (copied_sample / "zeppelin.jsonl").write_text('{"id": "zeppelin-0", "fn": "inflate", "in": 1, "out": 2}\n')
    ran = run_script(root, str(copied_sample), cwd=copied_sample)
    assert "zeppelin.jsonl: not known yet" in ran.stdout.splitlines()
    assert f"total: {SAMPLED} passed, 0 failed, 1 files not known yet" in ran.stdout.splitlines()
    assert ran.returncode == 0


def test_an_unknown_kind_among_known_ones_fails(copied_sample: Path) -> None:
    rewrite_line(copied_sample / "digest.jsonl", 0, {"id": "d", "fn": "crc"})
    result = in_known_files(run_directory(copied_sample))["digest.jsonl"]
    assert (result.passed, result.failed, result.differences) == (13, 1, ["d: no adapter for 'crc'"])


def test_a_line_that_is_no_vector_and_a_missing_profile_set_are_failures(copied_sample: Path) -> None:
    (copied_sample / "profile_sets.jsonl").unlink()
    with (copied_sample / "tiers.jsonl").open("a") as tiers:
        tiers.write('{"id": "cut"\n[1]\n')
    results = in_known_files(run_directory(copied_sample))
    assert (results["tiers.jsonl"].passed, results["tiers.jsonl"].failed) == (61, 2)
    assert results["tiers.jsonl"].differences == [
        "tiers.jsonl:62: Expecting ',' delimiter: line 1 column 13 (char 12)",
        "tiers.jsonl:63: not a vector: an object with id and fn is expected",
    ]
    plans = results["plan_placement.jsonl"]
    assert (plans.passed, plans.failed) == (0, 32)
    assert "is not in profile_sets.jsonl" in plans.differences[0]
    assert len(plans.differences) == 3


def test_a_directory_that_cannot_be_read_or_has_no_vectors_exits_2(root: Path, tmp_path: Path) -> None:
    absent = run_script(root, "absent", cwd=tmp_path)
    assert (absent.returncode, absent.stdout) == (2, "")
    assert absent.stderr.startswith("cannot read vectors in absent: ")
    empty = run_script(root, ".", cwd=tmp_path)
    assert (empty.returncode, empty.stderr) == (2, "cannot read vectors in .: no *.jsonl file in it\n")
    unnamed = run_script(root, cwd=tmp_path)
    assert (unnamed.returncode, unnamed.stderr) == (2, "usage: python tests/conformance.py DIR\n")


def test_a_broken_lookup_table_exits_2_and_names_the_line(root: Path, copied_sample: Path) -> None:
    with (copied_sample / "profile_sets.jsonl").open("a") as table:
        table.write("{}\n")
    ran = run_script(root, ".", cwd=copied_sample)
    count = len((copied_sample / "profile_sets.jsonl").read_text().splitlines())
    assert ran.stderr == (
        f"cannot read vectors in .: profile_sets.jsonl:{count}: an object with profile_set and profiles is expected\n"
    )
    assert ran.returncode == 2


@pytest.mark.parametrize(
    ("expected", "got", "difference"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}, ""),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "out.a[1].b: expected 2, got 3"),
        ({"a": 1}, {"a": 1, "b": 0}, "out.b: expected 'nothing', got 0"),
        ({"a": 1, "b": ""}, {"a": 1}, "out.b: expected '', got 'nothing'"),
        ([1, 2], [1], "out: expected [1, 2], got [1]"),
        (True, 1, "out: expected True, got 1"),
        (1, 1.0, "out: expected 1, got 1.0"),
    ],
)
def test_the_first_difference_is_found_by_place_value_and_type(expected: object, got: object, difference: str) -> None:
    assert first_difference(expected, got) == difference
