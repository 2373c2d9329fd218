"""The catalog on the command line: what is printed, what is written, and the exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from catalog_edits import SHIPPED, edited, shipped_part

from harness.catalog import canonical_bytes, load_catalog, validate
from harness.catalog.schema import schema_bytes
from harness.commands.catalog import (
    Form,
    format_command,
    machines,
    models,
    schema_command,
    show_command,
    validate_command,
)
from harness.errors import CatalogError

Capture = pytest.CaptureFixture[str]
CATALOG = load_catalog(SHIPPED)
LOOSE = orjson.dumps(orjson.loads(SHIPPED.read_bytes()))


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FAKBENCH_CATALOG", raising=False)


def test_a_good_catalog_prints_its_warnings_and_exits_0(capsys: Capture) -> None:
    """Warnings are worth reading and stop nobody."""
    assert validate_command(SHIPPED) == 0

    _, warnings = validate(SHIPPED.read_bytes())
    assert warnings
    assert capsys.readouterr().out.splitlines() == [
        *(f"warning: {warning}" for warning in warnings),
        f"ok: {len(CATALOG.machines)} machines, {len(CATALOG.models)} models, {len(warnings)} warnings",
    ]


def test_a_bad_catalog_names_every_error(tmp_path: Path) -> None:
    """All of them, one a line, each with the file it is in."""
    path = tmp_path / "bad.json"
    path.write_bytes(edited(*((f"machines/{name}/title", 5) for name in ("a100-sxm", "b200-sxm", "gh200", "l40s"))))

    with pytest.raises(CatalogError) as caught:
        validate_command(path)

    assert [
        f"{path}: machines.{name}.title: 5 does not fit; write a text in quotes"
        for name in ("a100-sxm", "b200-sxm", "gh200", "l40s")
    ] == str(caught.value).splitlines()


def test_a_catalog_that_is_not_canonical_is_bad(tmp_path: Path) -> None:
    """It is used by a replay, and refused by a review."""
    path = tmp_path / "loose.json"
    path.write_bytes(LOOSE)

    with pytest.raises(CatalogError) as caught:
        validate_command(path)

    assert str(caught.value) == (
        f"{path}: is not in canonical form (sorted keys, two-space indent, final newline); "
        "run `fakbench catalog format`"
    )


def test_two_names_for_one_catalog_are_refused() -> None:
    """Which one was meant is not guessed."""
    with pytest.raises(CatalogError) as caught:
        validate_command(Path("a.json"), Path("b.json"))

    assert str(caught.value) == "a.json and --catalog b.json are both named; name one of them"


def test_format_makes_a_catalog_canonical(tmp_path: Path, capsys: Capture) -> None:
    """In place, and a second time changes nothing."""
    path = tmp_path / "loose.json"
    path.write_bytes(LOOSE)

    assert format_command(path) == 0
    assert path.read_bytes() == SHIPPED.read_bytes()
    assert format_command(path) == 0
    assert capsys.readouterr().out == "rewritten in canonical form\nalready canonical\n"
    assert [path] == list(tmp_path.iterdir())


def test_format_check_changes_nothing(tmp_path: Path, capsys: Capture) -> None:
    """Exit code 1 where a rewrite would change the file."""
    path = tmp_path / "loose.json"
    path.write_bytes(LOOSE)

    assert format_command(path, check=True) == 1
    assert path.read_bytes() == LOOSE
    assert format_command(SHIPPED, check=True) == 0
    assert capsys.readouterr().out == "not canonical\nalready canonical\n"


def test_format_rewrites_through_a_link(tmp_path: Path) -> None:
    """The link stays a link."""
    path, link = tmp_path / "real.json", tmp_path / "link.json"
    path.write_bytes(LOOSE)
    link.symlink_to(path)

    assert format_command(link) == 0
    assert link.is_symlink()
    assert path.read_bytes() == SHIPPED.read_bytes()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (LOOSE.replace(b'"schema":', b'"schema":"x","schema":'), "schema: is given twice; keep one of them"),
        (LOOSE.replace(b'"value":8}', b'"value":8.5}', 1), "count.value: 8.5 does not fit; write a whole number"),
        (LOOSE[:-1], "is not JSON at line 1"),
    ],
)
def test_format_leaves_a_catalog_with_errors_alone(tmp_path: Path, data: bytes, message: str) -> None:
    """A rewrite would hide a duplicate or round a number."""
    path = tmp_path / "bad.json"
    path.write_bytes(data)

    with pytest.raises(CatalogError, match=message):
        format_command(path)

    assert path.read_bytes() == data


def test_show_has_every_number_with_kind_and_source(capsys: Capture) -> None:
    """And what is computed from them."""
    assert show_command("gpt-oss-120b") == 0

    out = capsys.readouterr().out
    assert out.startswith("gpt-oss-120b: gpt-oss-120b, mxfp4 weights\n")
    lines = [[cell.strip() for cell in line.split("|")] for line in out.splitlines() if line.count("|") == 3]
    values = {cells[0]: cells[1:3] for cells in lines if cells[0]}
    assert values == {
        "figure": ["kind", "value"],
        "layers": ["datasheet", "36"],
        "kv_heads": ["datasheet", "8"],
        "query_heads": ["datasheet", "64"],
        "head_dim": ["datasheet", "64"],
        "kv_dtype_bytes": ["assumed", "2"],
        "full_attention_layers": ["derived", "18"],
        "window_tokens": ["datasheet", "128"],
        "active_params": ["datasheet", "5,100,000,000"],
        "total_params": ["datasheet", "116,800,000,000"],
        "weights_bytes": ["measured", "65,200,000,000"],
        "KV bytes per token": ["computed", "73,728"],
        "KV bytes per token past the window": ["computed", "36,864"],
    }


def test_show_says_what_may_be_done_with_each_tier(capsys: Capture) -> None:
    """Flags are not numbers, and matter as much."""
    assert show_command("reference") == 0

    assert (
        "hbm: attended in place, share dmabuf\n"
        "dram: attended in place, share mmap\n"
        "numa_far: attended in place, share mmap\n"
        "cxl: attended in place, share cxl_hdm\n"
        "disk: staged, persistent, share copy\n"
        "remote: staged, share rdma\n"
    ) in capsys.readouterr().out


def test_show_names_each_source_once_on_a_line_that_can_be_copied(tmp_path: Path, capsys: Capture) -> None:
    """A figure has the number of its source; notes are wrapped between words, and an address in them is whole."""
    source, address = "https://example.org/" + "a-b/" * 90, "https://example.org/" + "c-d/" * 60
    hbm, dram = "machines/reference/tiers/hbm/", "machines/reference/tiers/dram/"
    note = f"{'many words ' * 11}see {address}"
    path = tmp_path / "long.json"
    path.write_bytes(
        edited(
            *(
                (f"{tier}{name}/source", source)
                for tier in (hbm, dram)
                for name in ("bandwidth_mb_s", "capacity_bytes")
            ),
            (dram + "capacity_bytes/note", note),
        )
    )

    assert show_command("reference", catalog=path) == 0

    table, listed = capsys.readouterr().out.split("\n\nSources and notes\n")
    number = {cells[0]: cells[3] for line in table.splitlines() if (cells := _cells(line))}
    assert number["tiers.hbm.bandwidth_mb_s"] == number["tiers.hbm.capacity_bytes"]
    assert number["tiers.hbm.bandwidth_mb_s"] == number["tiers.dram.bandwidth_mb_s"]
    assert number["tiers.hbm.bandwidth_mb_s"] != number["tiers.dram.capacity_bytes"]
    lines = listed.splitlines()
    assert lines.count(f"{number['tiers.hbm.bandwidth_mb_s']:>3}. {source}") == 1
    at = lines.index(f"{number['tiers.dram.capacity_bytes']:>3}. {source}")
    assert lines[at + 1 : at + 4] == ["     " + "many words " * 10 + "many", "     words see", f"     {address}"]


def test_show_json_is_the_entry_itself(capsys: Capture) -> None:
    """Canonical, so that it can be the start of a new entry."""
    assert show_command("h100-sxm", form=Form.json) == 0

    assert capsys.readouterr().out.encode() == canonical_bytes(shipped_part("machines/h100-sxm"))


def test_show_refuses_an_unknown_id() -> None:
    """Machines and models are looked up together."""
    with pytest.raises(
        CatalogError, match="'gpt-oss' is not a machine or model of this catalog; did you mean gpt-oss-120b"
    ):
        show_command("gpt-oss")


def test_words_of_a_catalog_cannot_steer_a_terminal(tmp_path: Path, capsys: Capture) -> None:
    """Control characters, markup and emoji codes come out as plain text."""
    path = tmp_path / "evil.json"
    evil = "\x1b[31mred\x9b[bold]x[/bold]:smile:"
    path.write_bytes(
        edited(
            ("machines/reference/title", evil),
            ("machines/reference/note", evil),
            ("machines/reference/tiers/hbm/note", evil),
            ("machines/reference/tiers/hbm/capacity_bytes/source", evil),
            ("models/qwen3-32b/title", evil),
        )
    )

    assert show_command("reference", catalog=path) == 0
    assert machines(catalog=path) == 0
    assert models(catalog=path) == 0

    out = capsys.readouterr().out
    assert all(character.isprintable() or character == "\n" for character in out)
    assert out.count("[bold]x[/bold]:smile:") == 6


def test_machines_lists_them_with_their_capacities(capsys: Capture) -> None:
    """One line each, `-` for a tier that is not there."""
    assert machines() == 0

    lines = {cells[0]: cells[2:] for line in capsys.readouterr().out.splitlines() if (cells := _cells(line))}
    assert list(lines) == ["machine", *CATALOG.machines]
    assert lines["machine"] == ["hbm", "dram", "numa_far", "cxl", "disk", "remote"]
    assert lines["l40s"] == ["48.31 GB", "824.63 GB", "-", "-", "25.60 TB", "unbounded"]
    assert lines["reference"] == ["85.90 GB", "549.76 GB", "549.76 GB", "2.20 TB", "8.80 TB", "unbounded"]


def test_models_lists_them_with_their_kv_bytes(capsys: Capture) -> None:
    """One line each; what the models of today say."""
    assert models() == 0

    lines = {cells[0]: cells[2:] for line in capsys.readouterr().out.splitlines() if (cells := _cells(line))}
    assert list(lines) == ["model", *CATALOG.models]
    today = {
        "model": ["attention", "KV bytes/token", "weights"],
        "deepseek-v3": ["mla", "70,272", "671.00 GB"],
        "gpt-oss-120b": ["sliding", "73,728", "65.20 GB"],
        "llama-3.1-70b": ["gqa", "327,680", "141.00 GB"],
        "llama-3.1-8b": ["gqa", "131,072", "16.10 GB"],
        "qwen3-30b-a3b": ["gqa", "98,304", "61.00 GB"],
        "qwen3-32b": ["gqa", "262,144", "65.50 GB"],
    }
    assert {name: lines[name] for name in today} == today


def test_lists_can_be_json(capsys: Capture) -> None:
    """For a program: ids, digests, and the figures a list shows."""
    assert machines(form=Form.json) == 0
    rows = {row["id"]: row for row in orjson.loads(capsys.readouterr().out)["machines"]}
    assert list(rows) == list(CATALOG.machines)
    assert rows["reference"]["accelerators"] is None
    assert rows["reference"]["tiers"]["disk"] == {
        "bandwidth_mb_s": 7000,
        "capacity_bytes": 8796093022208,
        "read_latency_ns": 10000,
    }
    assert rows["gh200"]["accelerators"] == {"count": 1, "name": "NVIDIA GH200 96 GB"}

    assert models(form=Form.json) == 0
    rows = {row["id"]: row for row in orjson.loads(capsys.readouterr().out)["models"]}
    assert list(rows) == list(CATALOG.models)
    assert {"attention": "mla", "kv_bytes_per_token": 70272}.items() <= rows["deepseek-v3"].items()


def test_schema_is_printed_or_written(tmp_path: Path, capsys: Capture) -> None:
    """The same bytes either way."""
    path = tmp_path / "schema.json"

    assert schema_command() == 0
    assert schema_bytes() == capsys.readouterr().out.encode()
    assert schema_command(path) == 0
    assert schema_bytes() == path.read_bytes()


@pytest.mark.parametrize("command", [["machines"], ["models"], ["catalog", "show", "h100-cxl-switch"]])
def test_tables_do_not_depend_on_the_terminal(command: list[str]) -> None:
    """Width, colour, time zone and hash seed of the caller change no byte."""
    settings = (
        {"COLUMNS": "40", "PYTHONHASHSEED": "1", "TZ": "UTC"},
        {"COLUMNS": "200", "FORCE_COLOR": "1", "PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "TERM": "xterm-256color"},
    )
    runs = [
        subprocess.run(
            [sys.executable, "-m", "harness", *command],
            capture_output=True,
            check=True,
            cwd=SHIPPED.parent,
            env={**os.environ, **chosen},
        ).stdout
        for chosen in settings
    ]

    assert runs[0] == runs[1]
    assert b"\x1b" not in runs[0]
    assert not [line for line in runs[0].splitlines() if line != line.rstrip()]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")] if "|" in line else []
