"""Golden reports come out byte for byte, and a drift is named by its field."""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson
import pytest
from conftest import ROOT
from pytest_regressions.file_regression import FileRegressionFixture

from harness.catalog.lookup import load_catalog
from harness.commands.check import check
from harness.errors import FakbenchError
from harness.goldens import Golden, check_golden, derive, differing, load_index

GOLDENS = load_index(ROOT)


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: Path(golden.report).stem)
def test_a_golden_report_comes_out_byte_for_byte(golden: Golden, file_regression: FileRegressionFixture) -> None:
    made = derive(golden, ROOT, load_catalog(ROOT / "catalog.json"))
    # Bytes first: a comparison line by line would miss a lost final newline.
    file_regression.check(made, binary=True, fullpath=ROOT / golden.report)


def test_every_trace_has_a_golden_report_on_two_machines_or_more() -> None:
    machines: dict[str, set[str]] = {}
    for golden in GOLDENS:
        machines.setdefault(golden.trace, set()).add(golden.machine)
    traces = {path.relative_to(ROOT).as_posix() for path in (ROOT / "traces").glob("*.jsonl")}
    assert set(machines) == traces
    assert min(len(names) for names in machines.values()) >= 2


def test_every_kept_report_is_in_the_index() -> None:
    kept = {path.relative_to(ROOT).as_posix() for path in (ROOT / "reports").glob("*.json")}
    assert kept == {golden.report for golden in GOLDENS} | {"reports/index.json"}


def test_every_account_of_every_golden_report_balances() -> None:
    for golden in GOLDENS:
        audit = orjson.loads((ROOT / golden.report).read_bytes())["audit"]
        assert audit["balanced"], golden.report


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with one golden report, to be tampered with."""
    (tmp_path / "reports").mkdir()
    (tmp_path / "traces").mkdir()
    shutil.copy(ROOT / "catalog.json", tmp_path)
    shutil.copy(ROOT / "traces" / "batch.jsonl", tmp_path / "traces")
    row = next(golden for golden in GOLDENS if golden.report == "reports/batch.h100-sxm.json")
    shutil.copy(ROOT / row.report, tmp_path / "reports")
    index = {
        "schema": "fakbench.goldens/1",
        "goldens": [{"report": row.report, "trace": row.trace, "machine": row.machine, "model": row.model}],
    }
    (tmp_path / "reports" / "index.json").write_bytes(orjson.dumps(index))
    return tmp_path


def test_check_is_silent_about_reports_that_come_out(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(checkout, False, None) == 0
    assert capsys.readouterr().out == "1 golden reports, 0 differ\n"


def test_check_names_the_field_that_drifted(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = checkout / "reports" / "batch.h100-sxm.json"
    document = orjson.loads(report.read_bytes())
    cold = document["arms"]["tiered"]["tokens"]["cold"]
    document["arms"]["tiered"]["tokens"]["cold"] = 1
    report.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    assert check(checkout, False, None) == 1
    assert capsys.readouterr().out == (
        f"differs: reports/batch.h100-sxm.json\n  arms.tiered.tokens.cold: 1 -> {cold}\n1 golden reports, 1 differ\n"
    )


def test_a_lost_final_newline_is_a_difference(checkout: Path) -> None:
    report = checkout / "reports" / "batch.h100-sxm.json"
    report.write_bytes(report.read_bytes().rstrip(b"\n"))
    golden = load_index(checkout)[0]
    drift = check_golden(golden, checkout, load_catalog(checkout / "catalog.json"))
    assert drift is not None
    assert drift.differences == ["the fields are equal, their bytes are not (order or white space)"]


def test_a_missing_report_is_a_difference(checkout: Path) -> None:
    (checkout / "reports" / "batch.h100-sxm.json").unlink()
    drift = check_golden(load_index(checkout)[0], checkout, load_catalog(checkout / "catalog.json"))
    assert drift is not None
    assert drift.differences == ["is missing; run `make golden` and read the difference"]


def test_update_writes_what_differs_and_only_that(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = checkout / "reports" / "batch.h100-sxm.json"
    kept = report.read_bytes()
    report.write_bytes(b"{}\n")
    assert check(checkout, True, None) == 0
    assert check(checkout, True, None) == 0
    assert capsys.readouterr().out == (
        "written: reports/batch.h100-sxm.json\n1 golden reports, 1 changed\n1 golden reports, 0 changed\n"
    )
    assert report.read_bytes() == kept


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{", "reports/index.json: Input data was truncated; correct that row"),
        (b'{"schema":"x","goldens":[]}', "reports/index.json: schema 'x' is not 'fakbench.goldens/1'; correct it"),
        (
            b'{"schema":"fakbench.goldens/1","goldens":[{"report":"r","trace":"t","machin":"m"}]}',
            "reports/index.json: Object contains unknown field `machin` - at `$.goldens[0]`; correct that row",
        ),
        (
            b'{"schema":"fakbench.goldens/1","goldens":[{"report":"r","trace":"t","machine":"m","replicas":"4"}]}',
            "reports/index.json: Expected `int`, got `str` - at `$.goldens[0].replicas`; correct that row",
        ),
        (
            b'{"schema":"fakbench.goldens/1","goldens":[{"report":"r","trace":"t","machine":"m","pool":"cxl=2"}]}',
            "reports/index.json: Expected `array`, got `str` - at `$.goldens[0].pool`; correct that row",
        ),
    ],
)
def test_an_index_that_is_not_one_is_refused(tmp_path: Path, text: bytes, message: str) -> None:
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "index.json").write_bytes(text)
    with pytest.raises(FakbenchError) as caught:
        load_index(tmp_path)
    assert str(caught.value) == message


def test_differing_says_gone_new_and_changed() -> None:
    kept = {"a": 1, "b": [1, 2], "c": {"d": True}}
    made = {"a": 2, "b": [1, 3], "c": {"e": True}}
    assert differing(kept, made, "") == ["a: 1 -> 2", "b[1]: 2 -> 3", "c.d: gone", "c.e: new"]


def test_differing_tells_true_from_one() -> None:
    assert differing({"a": True}, {"a": 1}, "") == ["a: true -> 1"]
