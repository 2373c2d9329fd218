"""Which catalog is used, how it is loaded, and what an unknown id is answered."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from catalog_edits import SHIPPED, edited, shipped_part

import harness.packaged
from harness.catalog import Catalog, canonical_bytes, entry_digest, find_catalog, load_catalog
from harness.errors import CatalogError

NAMED = Path("named.json")
FROM_ENVIRONMENT = {"FAKBENCH_CATALOG": "environment.json"}


@pytest.fixture(name="installation")
def _installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a package in it, both without a catalog."""
    (tmp_path / "harness" / "data").mkdir(parents=True)
    monkeypatch.setattr(harness.packaged, "_PACKAGE", tmp_path / "harness")
    return tmp_path


def test_the_option_wins_over_everything() -> None:
    """`--catalog` is what somebody typed last."""
    assert find_catalog(NAMED, FROM_ENVIRONMENT) == NAMED


def test_the_environment_wins_over_what_is_installed() -> None:
    """FAKBENCH_CATALOG names a catalog for every command."""
    assert find_catalog(None, FROM_ENVIRONMENT) == Path("environment.json")


def test_the_packaged_copy_wins_over_the_checkout(installation: Path) -> None:
    """A wheel brings its own catalog; a checkout's is used where there is none."""
    (installation / "catalog.json").write_bytes(b"")
    assert find_catalog(None, {}) == installation / "catalog.json"

    (installation / "harness" / "data" / "catalog.json").write_bytes(b"")
    assert find_catalog(None, {}) == installation / "harness" / "data" / "catalog.json"


def test_an_empty_environment_variable_names_nothing(installation: Path) -> None:
    """As if it were not set."""
    (installation / "catalog.json").write_bytes(b"")

    assert find_catalog(None, {"FAKBENCH_CATALOG": ""}) == installation / "catalog.json"


@pytest.mark.usefixtures("installation")
def test_no_catalog_at_all_is_an_error() -> None:
    """The message says how to name one."""
    with pytest.raises(CatalogError) as caught:
        find_catalog(None, {})

    assert (
        str(caught.value) == "no catalog.json comes with this installation; name one with --catalog or FAKBENCH_CATALOG"
    )


def test_this_checkout_finds_its_own() -> None:
    """Without option and environment the tests see the catalog they sit beside, or the installed copy of it."""
    assert find_catalog(None, {}).read_bytes() == SHIPPED.read_bytes()


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: None, "No such file or directory"),
        (lambda path: path.mkdir(), "Is a directory"),
    ],
)
def test_a_named_catalog_that_cannot_be_read_is_never_replaced(tmp_path: Path, make: object, reason: str) -> None:
    """A misspelt path is an error, not another catalog."""
    path = tmp_path / "typo.json"
    make(path)  # type: ignore[operator]

    with pytest.raises(CatalogError) as caught:
        load_catalog(find_catalog(path, {}))

    assert f"{path}: cannot be read ({reason}); name a catalog file" == str(caught.value)


def test_a_path_with_a_zero_byte_is_an_error() -> None:
    """Not a traceback."""
    with pytest.raises(CatalogError, match=r"cannot be read \(embedded null byte\); name a catalog file"):
        load_catalog(Path("a\0b"))


def test_loading_names_the_file_and_the_first_errors(tmp_path: Path) -> None:
    """Three are enough to start with; the command tells them all."""
    path = tmp_path / "bad.json"
    names = ("a100-sxm", "b200-sxm", "gh200", "h100-sxm", "l40s")
    path.write_bytes(edited(*((f"machines/{name}/title", 5) for name in names)))

    with pytest.raises(CatalogError) as caught:
        load_catalog(path)

    assert [
        f"{path}: machines.a100-sxm.title: 5 does not fit; write a text in quotes",
        f"{path}: machines.b200-sxm.title: 5 does not fit; write a text in quotes",
        f"{path}: machines.gh200.title: 5 does not fit; write a text in quotes",
        f"{path}: and 2 more; run `fakbench catalog validate` to see them all",
    ] == str(caught.value).splitlines()


def test_a_private_catalog_need_not_be_canonical_to_be_used(tmp_path: Path) -> None:
    """Form is for pull requests; content is what a replay needs."""
    path = tmp_path / "loose.json"
    path.write_bytes(SHIPPED.read_bytes().replace(b"\n", b"\n\n"))

    loaded, shipped = load_catalog(path), load_catalog(SHIPPED)

    assert (shipped.machines, shipped.models) == (loaded.machines, loaded.models)


@pytest.fixture(name="few")
def _few(tmp_path: Path) -> Catalog:
    """A part of the shipped catalog, so that a new entry of that changes no near miss here."""
    machines = ("b200-sxm", "h100-cxl-direct", "h100-cxl-switch", "h100-sxm", "h200-sxm", "reference")
    models = ("llama-3.1-70b", "llama-3.1-8b", "qwen3-32b")
    path = tmp_path / "few.json"
    path.write_bytes(
        edited(
            ("machines", {name: shipped_part(f"machines/{name}") for name in machines}),
            ("models", {name: shipped_part(f"models/{name}") for name in models}),
        )
    )
    return load_catalog(path)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("h100", " did you mean h100-cxl-direct or h100-cxl-switch or h100-sxm?"),
        ("h200_sxm", " did you mean h200-sxm or h100-sxm or b200-sxm?"),
        ("", ""),
        ("zzz", ""),
    ],
)
def test_an_unknown_machine_gets_near_misses_and_the_list(few: Catalog, name: str, hint: str) -> None:
    """What there is, and what was perhaps meant."""
    with pytest.raises(CatalogError) as caught:
        few.machine(name)

    assert str(caught.value) == (
        f"'{name}' is not a machine of this catalog;{hint} it has b200-sxm, h100-cxl-direct, h100-cxl-switch, "
        "h100-sxm, h200-sxm, reference"
    )


def test_an_unknown_model_gets_near_misses_and_the_list(few: Catalog) -> None:
    """Models are looked up among models, so a machine's id is unknown there."""
    with pytest.raises(CatalogError) as caught:
        few.model("llama-3-8b\x1b")

    assert str(caught.value) == (
        "'llama-3-8b\\x1b' is not a model of this catalog; did you mean llama-3.1-8b or llama-3.1-70b? "
        "it has llama-3.1-70b, llama-3.1-8b, qwen3-32b"
    )


@pytest.mark.parametrize("path", ["machines/reference", "machines/h100-cxl-switch", "models/deepseek-v3"])
def test_the_digest_is_that_of_the_canonical_entry(path: str) -> None:
    """sha256 of the entry as it stands in a canonical file, alone."""
    section, name = path.split("/")
    entry = getattr(load_catalog(SHIPPED), section)[name]

    assert hashlib.sha256(canonical_bytes(shipped_part(path))).hexdigest() == entry_digest(entry)


def test_a_digest_depends_on_content_and_not_on_spelling(tmp_path: Path) -> None:
    """Fields at their defaults may be written or not; a changed source is a change."""
    before = entry_digest(load_catalog(SHIPPED).machine("reference"))
    same, other = tmp_path / "same.json", tmp_path / "other.json"
    same.write_bytes(edited(("machines/reference/links", []), ("machines/reference/accelerators", None)))
    other.write_bytes(edited(("machines/reference/tiers/hbm/capacity_bytes/source", "elsewhere")))

    assert entry_digest(load_catalog(same).machine("reference")) == before
    assert entry_digest(load_catalog(other).machine("reference")) != before


def test_loading_a_catalog_loads_neither_rich_nor_typer() -> None:
    """A library user, and every quick command, should not wait for tables and option parsing."""
    code = (
        "import sys; from pathlib import Path; from harness.catalog import load_catalog; "
        f"load_catalog(Path({str(SHIPPED)!r})); "
        "print(sorted({'rich', 'typer', 'pydantic', 'jsonschema', 'click'} & set(sys.modules)))"
    )
    environ = {**os.environ, "PYTHONPATH": str(SHIPPED.parent)}

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ)

    assert done.stdout == "[]\n"
