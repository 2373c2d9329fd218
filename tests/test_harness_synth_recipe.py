"""A recipe that cannot be followed is one sentence: the file, the field, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import msgspec
import orjson
import pytest

from harness.synth.describe import recipe_bytes, workload_tables
from harness.synth.load import default_recipe, load_recipe
from harness.synth.recipe import RecipeError, Tier
from harness.synth.registry import WORKLOADS, AnyRecipe
from policy.tiers import LADDER

GOOD: dict[str, Any] = {"schema": "fakbench.recipe/1", "workload": "batch", "seed": 1}
LIST = "`fakbench trace synth --list` names the workloads and their knobs"


def refusal(path: Path, data: bytes) -> str:
    """What is said about a recipe file with these bytes, its folder cut off."""
    path.write_bytes(data)
    with pytest.raises(RecipeError) as caught:
        load_recipe(path)
    return str(caught.value).replace(str(path), "RECIPE")


FIELD_CASES = [
    (
        {"schema": "fakbench.recipe/2"},
        "`schema`: invalid enum value 'fakbench.recipe/2' where this version needs 'fakbench.recipe/1'",
    ),
    ({"workload": "chat"}, "`workload`: invalid value 'chat'"),
    ({"workload": 3}, "`workload`: expected `str`"),
    ({"seed": -1}, "`seed`: expected `int` >= 0"),
    ({"seed": 2**53}, "`seed`: expected `int` <= 9007199254740991"),
    ({"seed": 1.5}, "`seed`: expected `int`, got `float`"),
    ({"seed": True}, "`seed`: expected `int`, got `bool`"),
    ({"seed": "1"}, "`seed`: expected `int`, got `str`"),
    ({"seed": None}, "`seed`: expected `int`, got `null`"),
    ({"name": "x" * 201}, "`name`: expected `str` of length <= 200"),
    ({"block_tokens": 0}, "`block_tokens`: expected `int` >= 1"),
    ({"block_tokens": 4097}, "`block_tokens`: expected `int` <= 4096"),
    ({"requests": 0}, "`requests`: expected `int` >= 1"),
    ({"requests": 10_000_001}, "`requests`: expected `int` <= 10000000"),
    ({"mean_gap_ms": 86_400_001}, "`mean_gap_ms`: expected `int` <= 86400000"),
    ({"burst": 0}, "`burst`: expected `int` >= 1"),
    ({"sessions": 5}, "object contains unknown field `sessions`"),
    ({"events": [{"kind": "melt", "t_ms": 1}]}, "`events[0].kind`: invalid value 'melt'"),
    ({"events": [{"kind": "clear"}]}, "`events[0]`: object missing required field `t_ms`"),
    ({"events": [{"kind": "clear", "t_ms": 1, "tier": "ram"}]}, "`events[0].tier`: invalid enum value 'ram'"),
    ({"events": [{"kind": "clear", "t_ms": -1}]}, "`events[0].t_ms`: expected `int` >= 0"),
    (
        {"events": [{"kind": "clear", "t_ms": 1, "until_ms": 2}]},
        "`events[0]`: object contains unknown field `until_ms`",
    ),
    (
        {"events": [{"kind": "pressure", "t_ms": 1, "tier": "hbm", "fill_ppm": 1_000_001}]},
        "`events[0].fill_ppm`: expected `int` <= 1000000",
    ),
    ({"events": [{"kind": "clear", "t_ms": 1}] * 10_001}, "`events`: expected `array` of length <= 10000"),
    ({"workload": "rag", "documents": 3, "top_k": 4}, "`top_k` must not be above `documents`"),
    (
        {"workload": "multi-turn-chat", "system_tokens": 9, "limit_tokens": 9},
        "`system_tokens` must be below `limit_tokens`",
    ),
    ({"workload": "agent-loop", "limit_tokens": 14_532}, "`prefix_tokens` must be below `limit_tokens`"),
]


@pytest.mark.parametrize(("fields", "sentence"), FIELD_CASES, ids=[sentence for _, sentence in FIELD_CASES])
def test_a_wrong_field_is_named(fields: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    assert refusal(tmp_path / "r.json", orjson.dumps({**GOOD, **fields})) == f"RECIPE: {sentence}; {LIST}"


@pytest.mark.parametrize("field", GOOD)
def test_a_missing_field_is_named(field: str, tmp_path: Path) -> None:
    data = orjson.dumps({name: value for name, value in GOOD.items() if name != field})
    assert refusal(tmp_path / "r.json", data) == f"RECIPE: object missing required field `{field}`; {LIST}"


def test_a_fault_that_ends_before_it_begins_is_named(tmp_path: Path) -> None:
    events = [{"kind": "clear", "t_ms": 1}, {"kind": "fault", "t_ms": 5, "tier": "disk", "until_ms": 5}]
    assert refusal(tmp_path / "r.json", orjson.dumps({**GOOD, "events": events})) == (
        "RECIPE: `events[1].until_ms` 5 is not after `t_ms` 5; make it later"
    )


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "RECIPE: is not JSON (Input data was truncated); correct it"),
        (b'{"schema":', "RECIPE: is not JSON (Input data was truncated); correct it"),
        (b'{\r\n"seed":\r\nNaN}', "RECIPE:3: is not JSON (JSON is malformed: invalid character (byte 12)); correct it"),
        (
            orjson.dumps(GOOD) + b" x",
            "RECIPE:1: is not JSON (JSON is malformed: trailing characters (byte 60)); correct it",
        ),
        (b"[]", f"RECIPE: expected `object`, got `array`; {LIST}"),
    ],
    ids=["empty", "cut short", "NaN", "more behind it", "not an object"],
)
def test_what_is_not_json_is_said_with_its_line(data: bytes, sentence: str, tmp_path: Path) -> None:
    assert refusal(tmp_path / "r.json", data) == sentence


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    data = orjson.dumps({**GOOD, "name": "#"}).replace(b"#", b"\xff")
    assert refusal(tmp_path / "r.json", data).startswith("RECIPE: is not JSON (")


def test_windows_line_ends_are_as_good_as_others(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(recipe_bytes(default_recipe("rag", 3)).replace(b"\n", b"\r\n"))
    assert load_recipe(path) == default_recipe("rag", 3)


def test_a_file_that_is_far_too_long_is_not_read(tmp_path: Path) -> None:
    assert refusal(tmp_path / "r.json", b" " * ((1 << 20) + 1)) == (
        "RECIPE: is longer than 1048576 bytes; a recipe is a few lines of JSON"
    )


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecipeError) as caught:
        load_recipe(tmp_path / "none.json")
    assert (
        str(caught.value) == f"{tmp_path / 'none.json'}: cannot be read (No such file or directory); name a recipe file"
    )


def test_an_unknown_workload_is_answered_with_the_known_ones() -> None:
    with pytest.raises(RecipeError) as caught:
        default_recipe("chat", 1)
    assert str(caught.value) == (
        "--workload chat: is not one of multi-turn-chat, agent-loop, few-shot, rag, multi-tenant-rag, batch,"
        " shared-prefix; " + LIST
    )


def test_a_seed_below_zero_is_refused() -> None:
    with pytest.raises(RecipeError) as caught:
        default_recipe("batch", -1)
    assert str(caught.value) == "--seed -1: `seed`: expected `int` >= 0; choose another"


@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_recipe_written_out_is_the_same_recipe(workload: str, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(recipe_bytes(default_recipe(workload, 3)))
    assert load_recipe(path) == default_recipe(workload, 3)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_field_of_a_recipe_says_what_it_is(workload: str) -> None:
    listed = workload_tables().split(f"{workload}: ")[1].split("\n\n")[0]
    unlisted = {"schema", "name", "events"}
    for field in msgspec.structs.fields(WORKLOADS[workload].recipe):
        assert (f"\n {field.name} " in listed) == (field.name not in unlisted)


def test_a_workloads_name_is_its_recipes_tag() -> None:
    assert [row.recipe.__struct_config__.tag for row in WORKLOADS.values()] == list(WORKLOADS)
    assert get_args(AnyRecipe) == tuple(row.recipe for row in WORKLOADS.values())


def test_events_name_the_tiers_of_the_ladder() -> None:
    assert get_args(Tier) == LADDER
