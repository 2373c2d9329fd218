"""Takes the committed sample from the whole set of vectors: `python tests/sample_conformance.py SOURCE TARGET`.

From every class of every file a few vectors, evenly spaced in the file's order, and the profile sets that they name.
Lines are copied as they are, so that the sample stays what the original answered, to the byte.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PER_CLASS = {
    "tiers.jsonl": 100,
    "probed_profiles.jsonl": 2,
    "cost.jsonl": 6,
    "overflow.jsonl": 6,
    "digest.jsonl": 6,
    "kv_transfer.jsonl": 4,
    "cache_events.jsonl": 1,
    "materialization.jsonl": 2,
    "pool.jsonl": 2,
    "lifecycle.jsonl": 5,
    "plan_placement.jsonl": 4,
    "radix.jsonl": 2,
    "radix_warm.jsonl": 1,
    "radix_bound.jsonl": 1,
}
# Classes of small vectors that hold every answer of their function: enough of each that both answers are among them.
PER_MIXED_CLASS = {"quality": 12, "view": 4, "pool_profile": 12}
# Vectors with the whole exposition in them, up to 200 kB each: only short ones are committed.
LONGEST_LINE_BYTES = {"cache_events.jsonl": 6_000}
PROFILE_SETS = "profile_sets.jsonl"


def sample(source: Path) -> dict[str, bytes]:
    """The content of every file of the sample, by name."""
    files: dict[str, bytes] = {}
    named: dict[int, None] = {}
    for name, per_class in PER_CLASS.items():
        lines = (source / name).read_bytes().splitlines(keepends=True)
        classes: dict[tuple[str, str], list[int]] = {}
        for number, line in enumerate(lines):
            if len(line) > LONGEST_LINE_BYTES.get(name, len(line)):
                continue
            vector = json.loads(line)
            classes.setdefault((vector["fn"], vector["class"]), []).append(number)
        taken = sorted(
            number
            for (_, name_of_class), members in classes.items()
            for number in _spread(members, PER_MIXED_CLASS.get(name_of_class, per_class))
        )
        files[name] = b"".join(lines[number] for number in taken)
        for number in taken:
            named.update(dict.fromkeys(_profile_sets_of(json.loads(lines[number]))))
    rows = (source / PROFILE_SETS).read_bytes().splitlines(keepends=True)
    files[PROFILE_SETS] = b"".join(row for row in rows if json.loads(row)["profile_set"] in named)
    return files


def _profile_sets_of(vector: Mapping[str, Any]) -> list[int]:
    given = vector.get("in")
    places = (vector, given) if isinstance(given, dict) else (vector,)
    return [place["profile_set"] for place in places if "profile_set" in place]


def _spread(numbers: list[int], count: int) -> list[int]:
    """Up to `count` of `numbers`, evenly spaced."""
    count = min(count, len(numbers))
    return [numbers[place * len(numbers) // count] for place in range(count)]


if __name__ == "__main__":
    for file_name, content in sample(Path(sys.argv[1])).items():
        (Path(sys.argv[2]) / file_name).write_bytes(content)
