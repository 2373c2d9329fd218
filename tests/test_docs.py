"""The documentation says what the program does: its commands run, its figures come out, its lists are whole."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType

import orjson
import pytest
from conftest import ROOT
from running import Ran, fakbench

from harness.catalog.lookup import load_catalog
from harness.readers.registry import FORMATS
from harness.units import percent, seconds
from harness.verdict import ratio_ppm
from policy.policies.registry import POLICIES
from policy.rules import RULE_SPECS

README = (ROOT / "README.md").read_text(encoding="utf-8")
_CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


def commands(text: str) -> list[list[str]]:
    """The arguments of every `fakbench` command in the console blocks of a document."""
    found = []
    for block in _CONSOLE.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words and words[0].endswith("fakbench"):
                found.append(words[1:])
    return found


def real(arguments: list[str], shared: Path) -> Ran:
    """A README command on the real trace that it speaks of, as JSON."""
    trace = str(shared / "traces" / "mooncake" / "conversation_trace.jsonl")
    return fakbench(*(trace if word == "conversation_trace.jsonl" else word for word in arguments), "--format", "json")


def test_the_readme_commands_on_the_projects_own_traces_run() -> None:
    own = [arguments for arguments in commands(README) if "conversation_trace.jsonl" not in arguments]
    assert [arguments[0] for arguments in own] == ["replay", "machines", "models", "demo", "curve", "replay"]
    for arguments in own:
        ran = fakbench(*arguments)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out
    # What the last one prints in part is shown.
    shown = next(block for block in re.findall(r"```text\n(.*?)```", README, re.DOTALL) if "isolation" in block)
    assert shown.encode() in ran.out


def test_the_readme_result_comes_out(shared: Path) -> None:
    first, second = (arguments for arguments in commands(README) if "conversation_trace.jsonl" in arguments)
    report = orjson.loads(real(first, shared).out)
    table = {cells[0].split("`")[1]: cells[1:] for cells in _rows(README) if cells[0].startswith("`")}
    assert set(table) == set(report["arms"])
    for name, arm in report["arms"].items():
        hit, reprefilled, prefill, stage, saved = table[name]
        assert hit == percent(ratio_ppm(sum(arm["tokens"]["hit"].values()), arm["tokens"]["input"]))
        assert int(reprefilled.replace(",", "")) == sum(arm["tokens"]["reprefilled"].values())
        assert prefill.replace(",", "") == seconds(arm["time_ns"]["prefill"]).replace(",", "")
        assert stage.replace(",", "") in (seconds(arm["time_ns"]["stage"]), "0")
        if name != "blind-lru":
            assert saved == f"{report['comparison']['arms'][name]['saved_ppm'] / 1e4:.2f} %"
    tiered = report["comparison"]["arms"]["tiered"]
    assert tiered["verdict"] == "does_not_fit"
    assert f"{tiered['of_possible_ppm'] / 1e4:.2f} % of what any cache could save" in README
    assert f"{report['arms']['tiered']['utilisation_ppm']['disk'] / 1e4:.2f} % of the trace" in README

    report = orjson.loads(real(second, shared).out)
    tiered = report["comparison"]["arms"]["tiered"]
    assert tiered["verdict"] == "pays"
    sentence = (
        f"That one pays: {percent(tiered['saved_ppm'])} of the time, {percent(tiered['of_possible_ppm'])} of what is"
        f" possible, and CXL busy for {report['arms']['tiered']['utilisation_ppm']['cxl'] / 1e4:.2f} % of the trace."
    )
    assert sentence in " ".join(README.split())


def _rows(text: str) -> list[list[str]]:
    """The cells of every Markdown table row."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| `")
    ]


def test_the_two_commands_of_the_readme_are_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"^\$ make ([a-z]+)", README, re.MULTILINE)) == {"replay", "test"} <= targets


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_documents_say_what_the_program_says_now() -> None:
    generated = _generator().GENERATED
    for name, make in generated.items():
        made = make()
        assert (ROOT / name).read_text(encoding="utf-8") == made, f"{name}: run `make docs`"
        assert "{{" not in made, f"{name}: a part is not filled in"
    kept = {f"docs/{path.name.removesuffix('.in.md')}.md" for path in (ROOT / "docs").glob("*.in.md")}
    assert kept <= generated.keys()


def test_every_command_is_in_the_reference() -> None:
    from harness.commands.app import build_app

    def names(app: object, prefix: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
        found = []
        for command in app.registered_commands:  # type: ignore[attr-defined]
            name = command.name or command.callback.__name__.removesuffix("_command").replace("_", "-")
            found.append((*prefix, name))
            assert command.callback.__doc__, name
        for group in app.registered_groups:  # type: ignore[attr-defined]
            found += names(group.typer_instance, (*prefix, group.name))
        return found

    headings = re.findall(r"^## `fakbench ([a-z -]+)`$", (ROOT / "docs" / "cli.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(headings) == sorted(" ".join(name) for name in names(build_app()))


def test_every_option_has_help() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    options = re.findall(r"^  (--[^\n]*(?:\n {6,}[^\n]*)*)", text, re.MULTILINE)
    assert len(options) > 40
    for option in options:
        assert re.search(r"[a-z]{2,} [a-z]", option.split("  ", 1)[-1]), option


def test_every_policy_rule_machine_model_and_format_is_in_the_documentation() -> None:
    catalog = load_catalog(ROOT / "catalog.json")
    text = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}
    for name in [*POLICIES, *(spec.name for spec in RULE_SPECS)]:
        assert name in text["policies.md"], name
    for name in [*catalog.machines, *catalog.models]:
        assert name in text["catalog.md"], name
    for row in FORMATS:
        assert row.name in text["trace-format.md"], row.name


@pytest.mark.parametrize(
    "document",
    ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))],
)
def test_every_relative_link_leads_somewhere(document: str) -> None:
    path = ROOT / document
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_no_document_names_a_path_of_a_machine() -> None:
    folders = [path for folder in ("docs", "reports") for path in (ROOT / folder).iterdir()]
    for path in [ROOT / "README.md", *(path for path in folders if path.is_file())]:
        assert not re.search(r"/(?:home|root|work|tmp|Users)/", path.read_text(encoding="utf-8")), path.name
