"""docs/trace-format.md says what the readers do: its examples are read, and nothing that they know is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from reading import read, refusal

from harness.readers import problems
from harness.readers.native import EVENTS
from harness.readers.registry import FORMATS
from policy.tiers import LADDER


@pytest.fixture
def manual(root: Path) -> str:
    return (root / "docs" / "trace-format.md").read_text(encoding="utf-8")


def test_the_examples_of_the_manual_are_read_without_remark(manual: str) -> None:
    examples = [read(example) for example in re.findall(r"```json\n(.*?)```", manual, re.DOTALL)]
    assert [trace.notices for trace in examples] == [{}] * len(examples)
    native, mooncake = (next(trace for trace in examples if trace.format == name) for name in ("native", "mooncake"))
    assert (native.name, native.requests, len(native.controls)) == ("monday", 3, 3)
    assert {control.kind for control in native.controls} | {"request", "access"} == EVENTS.keys()
    assert mooncake.requests == 2


def test_the_message_that_the_manual_shows_is_the_message(manual: str) -> None:
    row = '{"timestamp":0,"input_length":512,"output_length":1,"hash_ids":[1]}\n'
    assert refusal(row + "\0" * 64 + "\n{\n" + row) in manual


def test_the_manual_has_every_format_event_field_and_tier(manual: str) -> None:
    for row in FORMATS:
        assert f"| `{row.name}` |" in manual
    sections = dict(re.findall(r"### `(\w+)`: [^\n]*\n(.*?)(?=\n##)", manual, re.DOTALL))
    for kind, (fields, _) in EVENTS.items():
        missing = [field for field in fields - {"kind"} if f"`{field}`" not in sections[kind]]
        assert not missing, f"{kind}: {missing}"
    for tier in LADDER:
        assert f"`{tier}`" in sections["clear"]


def test_the_manual_explains_every_count_of_left_out_lines(manual: str) -> None:
    kinds = {
        problems.NUL_BYTES,
        problems.NOT_UTF8,
        problems.NOT_JSON,
        problems.NOT_FINITE,
        problems.TRUNCATED_TAIL,
        problems.NOT_AN_OBJECT,
        problems.BAD_TIME,
        problems.BAD_FIELD,
        problems.UNKNOWN_FIELD,
        problems.UNKNOWN_KIND,
    }
    assert set(re.findall(r"^\| `([a-z0-9_]+)` \| (?:has|is) ", manual, re.MULTILINE)) == kinds


def test_the_manual_explains_every_count_that_a_reader_makes(manual: str, root: Path) -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (root / "harness" / "readers").glob("*.py"))
    counts = set(re.findall(r'notice\("([a-z_]+)"[,)]', sources)) | {problems.INCONSISTENT_IDS, "largest_step_back_us"}
    assert len(counts) >= 8
    assert [count for count in sorted(counts) if f"`{count}`" not in manual] == []
