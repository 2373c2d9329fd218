"""Runs every conformance vector in a directory against this project: `python tests/conformance.py DIR`.

A vector file is JSONL, one vector a line, as `tests/conformance_sample/README.md` describes. A file none of whose
kinds has an adapter is named as not known yet: that is neither a pass nor a failure. `profile_sets.jsonl` is a lookup
table. Exit codes: 0 every known vector passed, 1 some failed, 2 the directory cannot be read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from conformance_adapters import ADAPTERS
from conformance_codes import ProfileSets, Vector

LOOKUP_TABLE = "profile_sets.jsonl"
DIFFERENCES_SHOWN = 3

EXIT_PASSED = 0
EXIT_FAILED = 1
EXIT_UNREADABLE = 2


@dataclass
class FileResult:
    """What one vector file gave. `differences` are sentences, the first few; `known` is false without any adapter."""

    name: str
    known: bool = True
    passed: int = 0
    failed: int = 0
    differences: list[str] = field(default_factory=list)

    def fail(self, difference: str) -> None:
        self.failed += 1
        if len(self.differences) < DIFFERENCES_SHOWN:
            self.differences.append(difference)


def run_directory(path: Path) -> list[FileResult]:
    """The result of every vector file in `path`, by name.

    Raises:
        OSError: The directory or a file in it cannot be read.
        ValueError: The lookup table is not what it should be.
    """
    names = sorted(entry.name for entry in path.iterdir() if entry.name.endswith(".jsonl"))
    if not names:
        raise FileNotFoundError("no *.jsonl file in it")
    profile_sets = _profile_sets(path / LOOKUP_TABLE) if LOOKUP_TABLE in names else {}
    return [run_file(path / name, profile_sets) for name in names if name != LOOKUP_TABLE]


def run_file(path: Path, profile_sets: ProfileSets) -> FileResult:
    """The result of one vector file. A line that is not a vector is a failure."""
    result = FileResult(path.name)
    vectors: list[Vector] = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            vectors.append(_vector(line))
        except ValueError as error:
            result.fail(f"{path.name}:{number}: {error}")
    if vectors and not any(vector["fn"] in ADAPTERS for vector in vectors):
        return FileResult(path.name, known=False)
    for vector in vectors:
        difference = check(vector, profile_sets)
        if difference:
            result.fail(difference)
        else:
            result.passed += 1
    return result


def check(vector: Vector, profile_sets: ProfileSets) -> str:
    """How the answer to `vector` differs from what it expects; empty where it does not."""
    adapter = ADAPTERS.get(vector["fn"])
    if adapter is None:
        return f"{vector['id']}: no adapter for {vector['fn']!r}"
    try:
        expected, got = adapter(vector, profile_sets)
    except Exception as error:  # Whatever an answer raises is a wrong answer, and the other vectors still count.
        return f"{vector['id']}: raised {type(error).__name__}: {error}"
    difference = first_difference(expected, got)
    return f"{vector['id']}: {difference}" if difference else ""


def first_difference(expected: object, got: object, at: str = "out") -> str:
    """Where two values first differ, in type or value, and how; empty where they are the same."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted({*expected, *got}):
            if key not in expected or key not in got:
                return _difference(f"{at}.{key}", expected.get(key, "nothing"), got.get(key, "nothing"))
            found = first_difference(expected[key], got[key], f"{at}.{key}")
            if found:
                return found
        return ""
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for index, (a, b) in enumerate(zip(expected, got, strict=True)):
            found = first_difference(a, b, f"{at}[{index}]")
            if found:
                return found
        return ""
    return "" if type(expected) is type(got) and expected == got else _difference(at, expected, got)


def _difference(at: str, expected: object, got: object) -> str:
    return f"{at}: expected {expected!r}, got {got!r}"


def _vector(line: bytes) -> Vector:
    row = json.loads(line)
    if not isinstance(row, dict) or not {"id", "fn"} <= row.keys():
        raise ValueError("not a vector: an object with id and fn is expected")
    return cast("Vector", row)


def _profile_sets(path: Path) -> ProfileSets:
    sets: dict[int, Mapping[str, Any]] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        row = json.loads(line)
        if not isinstance(row, dict) or not {"profile_set", "profiles"} <= row.keys():
            raise ValueError(f"{path.name}:{number}: an object with profile_set and profiles is expected")
        sets[row["profile_set"]] = row["profiles"]
    return sets


def main(arguments: list[str]) -> int:
    """Prints a line for each file, and the totals; returns the exit code."""
    if len(arguments) != 1:
        print("usage: python tests/conformance.py DIR", file=sys.stderr)
        return EXIT_UNREADABLE
    try:
        results = run_directory(Path(arguments[0]))
    except (OSError, ValueError) as error:
        print(f"cannot read vectors in {arguments[0]}: {error}", file=sys.stderr)
        return EXIT_UNREADABLE
    for result in results:
        if not result.known:
            print(f"{result.name}: not known yet")
            continue
        print(f"{result.name}: {result.passed} passed, {result.failed} failed")
        for difference in result.differences:
            print(f"  {difference}")
    passed = sum(result.passed for result in results)
    failed = sum(result.failed for result in results)
    unknown = sum(not result.known for result in results)
    print(f"total: {passed} passed, {failed} failed, {unknown} files not known yet")
    return EXIT_FAILED if failed else EXIT_PASSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
