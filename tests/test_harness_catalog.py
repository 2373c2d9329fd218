"""The shipped catalog: what it holds, and that it holds together."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec
import pytest
from catalog_edits import SHIPPED

from harness.catalog import (
    KINDS,
    Catalog,
    Model,
    kv_bytes_per_token,
    kv_bytes_per_token_past_window,
    load_catalog,
    replicas_of_kv,
    validate,
)
from harness.catalog.document import SCHEMA
from harness.catalog.machine import Machine, TierName, TierPrices, Tiers
from harness.catalog.schema import schema_bytes
from harness.catalog.walk import figures_of
from policy.tiers import LADDER

CATALOG = load_catalog(SHIPPED)
ENTRIES = {**CATALOG.machines, **CATALOG.models}
DISK = "disk.bandwidth_mb_s.value: disk ({} MB/s) is slower than the colder remote ({} MB/s)"
GIB = 2**30
TIB = 2**40
# The machines that the catalog began with. Every warning of theirs is known; a later one answers its own in a note.
KNOWN_WARNINGS = {
    "a100-sxm": [DISK.format(26000, 87000)],
    "b200-sxm": [DISK.format(56000, 190000)],
    "gh200": [DISK.format(14000, 23750)],
    "h100-cxl-direct": [
        "cxl.bandwidth_mb_s.value: cxl (144000 MB/s) is slower than the colder remote (190000 MB/s)",
        DISK.format(56000, 190000),
    ],
    "h100-cxl-switch": [DISK.format(56000, 190000)],
    "h100-sxm": [DISK.format(56000, 190000)],
    "h200-sxm": [DISK.format(56000, 190000)],
    "l40s": [],
    "reference": [
        "hbm.read_latency_ns.value: hbm (200 ns) is slower than the colder dram (90 ns) and numa_far (140 ns)",
        DISK.format(7000, 12000),
    ],
}
KV_BYTES = {
    "llama-3.1-8b": 131_072,
    "llama-3.1-70b": 327_680,
    "qwen3-32b": 262_144,
    "qwen3-30b-a3b": 98_304,
    "deepseek-v3": 70_272,
    "gpt-oss-120b": 73_728,
}


@pytest.fixture(name="catalog")
def _catalog() -> Catalog:
    return CATALOG


def test_the_shipped_catalog_has_no_errors() -> None:
    """Nothing is refused, and the form is the canonical one."""
    assert validate(SHIPPED.read_bytes())[0] == []


@pytest.mark.parametrize("name", KNOWN_WARNINGS)
def test_a_machine_has_these_warnings(name: str) -> None:
    """Every warning is known: two of `reference`, and networks faster than the tiers above."""
    slip = "; correct a slip, or keep it: the ladder goes by rank, not by speed"

    assert [f"{warning}{slip}" for warning in KNOWN_WARNINGS[name]] == warnings_of(name)


def test_a_later_machine_that_is_warned_about_says_why() -> None:
    """The answer is in the note of the machine, or in that of the tier which the warning is about."""
    for name in CATALOG.machines.keys() - KNOWN_WARNINGS.keys():
        machine = CATALOG.machines[name]
        tiers = dict(machine.tiers.present())
        for warning in warnings_of(name):
            assert machine.note or tiers[warning.split(".")[0]].note, f"{name}: {warning}; say why in a note"


def warnings_of(name: str) -> list[str]:
    """What the shipped catalog is warned about at the tiers of one machine."""
    prefix = f"machines.{name}.tiers."
    said = [str(warning) for warning in validate(SHIPPED.read_bytes())[1]]
    return [warning.removeprefix(prefix) for warning in said if warning.startswith(prefix)]


def test_the_shipped_catalog_holds_its_machines_and_models_in_order_of_their_ids(catalog: Catalog) -> None:
    """Whatever the order of the file, and never without those that others name."""
    assert list(catalog.machines) == sorted(catalog.machines)
    assert list(catalog.models) == sorted(catalog.models)
    assert catalog.machines.keys() >= KNOWN_WARNINGS.keys()
    assert catalog.models.keys() >= KV_BYTES.keys()


@pytest.mark.parametrize("name", ENTRIES)
def test_every_number_has_a_kind_and_a_source(name: str) -> None:
    """No number of the catalog stands without saying where it is from."""
    entry = ENTRIES[name]
    figures = list(figures_of(entry))

    # A tier has three numbers; a model's shape and size are eight.
    assert len(figures) >= (3 * len(list(entry.tiers.present())) if isinstance(entry, Machine) else 8)
    for path, figure in figures:
        assert figure.kind in KINDS, path
        assert figure.source.strip(), path


@pytest.mark.parametrize("name", ENTRIES)
def test_no_number_of_the_catalog_is_outside_a_figure(name: str) -> None:
    """A number that is not a figure would have no source: none exists but the values of figures."""

    def numbers(value: object, inside: bool) -> int:
        if isinstance(value, dict):
            return sum(numbers(part, "source" in value) for part in value.values())
        if isinstance(value, list):
            return sum(numbers(part, False) for part in value)
        return int(isinstance(value, (int, float)) and not isinstance(value, bool) and not inside)

    assert numbers(msgspec.to_builtins(ENTRIES[name]), False) == 0


def test_what_is_recalled_or_chosen_is_never_called_measured() -> None:
    """A figure is cited where it claims to be measured or to come from a data sheet."""
    for name, entry in ENTRIES.items():
        for path, figure in figures_of(entry):
            if figure.kind in ("measured", "datasheet"):
                assert "http" in figure.source, f"{name}.{path}"


@pytest.mark.parametrize(
    ("tier", "expected"),
    [
        ("hbm", (200, 2_000_000, 80 * GIB, True, True, False, "dmabuf")),
        ("dram", (90, 300_000, 512 * GIB, True, True, False, "mmap")),
        ("numa_far", (140, 200_000, 512 * GIB, True, True, False, "mmap")),
        ("cxl", (300, 64_000, 2 * TIB, True, True, False, "cxl_hdm")),
        ("disk", (10_000, 7_000, 8 * TIB, False, False, True, "")),
        ("remote", (100_000, 12_000, 0, False, False, False, "rdma")),
    ],
)
def test_reference_is_the_original_digit_by_digit(catalog: Catalog, tier: str, expected: tuple[object, ...]) -> None:
    """The machine `reference` has the original plane's default profiles."""
    profile = dict(catalog.machine("reference").tiers.present())[tier]

    assert expected == (
        profile.read_latency_ns.value,
        profile.bandwidth_mb_s.value,
        profile.capacity_bytes.value,
        profile.byte_addressable,
        profile.coherent,
        profile.persistent,
        profile.share,
    )


def test_reference_has_tiers_and_nothing_else(catalog: Catalog) -> None:
    """No accelerator and no link narrows the original profiles."""
    machine = catalog.machine("reference")

    assert (machine.accelerators, machine.links, machine.price, machine.accelerator_count) == (None, (), None, 1)
    assert [name for name, _ in machine.tiers.present()] == ["hbm", "dram", "numa_far", "cxl", "disk", "remote"]


@pytest.mark.parametrize("name", CATALOG.machines)
def test_what_can_be_attended_in_place(name: str) -> None:
    """Disk and remote cannot be attended in place; memory can on every machine that the catalog began with."""
    for tier_name, tier in CATALOG.machines[name].tiers.present():
        if tier_name in ("disk", "remote"):
            assert not tier.attendable
        elif name in KNOWN_WARNINGS:
            assert tier.attendable


@pytest.mark.parametrize(("name", "value"), KV_BYTES.items())
def test_kv_bytes_per_token_are_the_published_ones(catalog: Catalog, name: str, value: int) -> None:
    """Computed from the shape, equal to what engines reserve."""
    assert value == kv_bytes_per_token(catalog.model(name))


def test_past_the_window_only_full_attention_layers_grow(catalog: Catalog) -> None:
    """gpt-oss-120b has 18 of 36 layers with a window; a model without a window grows as before."""
    assert kv_bytes_per_token_past_window(catalog.model("gpt-oss-120b")) == 36_864
    assert kv_bytes_per_token_past_window(catalog.model("llama-3.1-8b")) == 131_072


def test_only_the_attention_layers_of_a_hybrid_model_count(catalog: Catalog) -> None:
    """12 of 48 layers with 2 KV heads of 256: 24,576 bytes a token, the fixed state of the others left out."""
    shape = {"layers": 48, "kv_heads": 2, "head_dim": 256, "full_attention_layers": 12}
    document = msgspec.to_builtins(catalog.model("llama-3.1-8b")) | {"attention": "hybrid"}
    document |= {name: {"value": value, "kind": "assumed", "source": "a test"} for name, value in shape.items()}
    model = msgspec.convert(document, Model)

    assert (kv_bytes_per_token(model), kv_bytes_per_token_past_window(model)) == (24_576, 24_576)


@pytest.mark.parametrize(
    ("name", "copies"),
    [
        ("deepseek-v3", {1: 1, 2: 2, 8: 8, 16: 16}),
        ("llama-3.1-8b", {1: 1, 2: 1, 8: 1, 9: 2, 16: 2, 17: 3}),
        ("qwen3-30b-a3b", {1: 1, 4: 1, 5: 2, 8: 2, 16: 4}),
    ],
)
def test_copies_of_kv_over_tensor_parallel_ranks(catalog: Catalog, name: str, copies: dict[int, int]) -> None:
    """An MLA latent is on every rank; grouped heads are divided until there are more ranks than heads."""
    assert copies == {ranks: replicas_of_kv(catalog.model(name), ranks) for ranks in copies}


LARGE = [
    name
    for name, machine in CATALOG.machines.items()
    if machine.accelerators is not None and machine.accelerators.memory_bytes.value >= 40 * 10**9
]


@pytest.mark.parametrize("name", LARGE)
def test_a_small_model_leaves_room_for_kv_on_every_large_accelerator(catalog: Catalog, name: str) -> None:
    """Llama 3.1 8B fits one accelerator of 40 GB or more, with room for more than 100,000 tokens."""
    group = catalog.machine(name).accelerators
    model = catalog.model("llama-3.1-8b")
    assert group is not None
    usable = group.memory_bytes.value * group.kv_memory_utilisation_ppm.value // 10**6
    room = usable - model.weights_bytes.value - group.overhead_bytes.value

    assert room // kv_bytes_per_token(model) > 100_000


def test_links_of_the_switched_pool_bind(catalog: Catalog) -> None:
    """One GPU reads 26 GB/s from the switched pool, whatever the pool can do."""
    machine = catalog.machine("h100-cxl-switch")
    link = next(link for link in machine.links if (link.a, link.b) == ("hbm", "cxl"))
    cxl = dict(machine.tiers.present())["cxl"]

    assert (link.per_accelerator, link.b_to_a_mb_s.value) == (True, 26_000)
    assert link.b_to_a_mb_s.value * machine.accelerator_count < cxl.bandwidth_mb_s.value


def test_the_published_schema_is_the_generated_one(root: Path) -> None:
    """`fakbench catalog schema --out docs/catalog.schema.json` changes nothing."""
    assert schema_bytes() == (root / "docs" / "catalog.schema.json").read_bytes()


def test_what_is_written_twice_agrees() -> None:
    """A type cannot be made from a constant: tier names and the schema's name stand in both forms."""
    schema = msgspec.json.decode(schema_bytes())

    assert get_args(TierName) == LADDER
    assert Tiers.__struct_fields__ == TierPrices.__struct_fields__ == LADDER
    assert schema["$defs"]["Catalog"]["properties"]["schema"] == {"enum": [SCHEMA]}


def test_the_schema_has_every_field_of_every_record() -> None:
    """The schema refuses unknown fields just as the reader does."""
    schema = msgspec.json.decode(schema_bytes())

    assert set(Machine.__struct_fields__) == set(schema["$defs"]["Machine"]["properties"])
    assert set(Model.__struct_fields__) == set(schema["$defs"]["Model"]["properties"])
    assert all(part["additionalProperties"] is False for part in schema["$defs"].values() if "default" not in part)


@pytest.mark.parametrize("name", ENTRIES)
def test_every_machine_and_model_is_in_the_documentation(root: Path, name: str) -> None:
    """docs/catalog.md names each entry."""
    assert f"| `{name}` |" in (root / "docs" / "catalog.md").read_text("utf-8")


@pytest.mark.parametrize("name", CATALOG.models)
def test_the_documentation_gives_the_computed_kv_bytes(root: Path, name: str) -> None:
    """The table of models agrees with the formulas."""
    line = f"| `{name}` | {kv_bytes_per_token(CATALOG.models[name]):,}"
    assert line in (root / "docs" / "catalog.md").read_text("utf-8")
