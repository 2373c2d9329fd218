"""`fakbench replay --metrics` and `--metrics-port`: what is written, what is served, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import orjson
import pytest
from conftest import ROOT
from prometheus_client.parser import text_string_to_metric_families
from running import Ran, fakbench

from harness.commands.metrics import replay_metrics
from harness.errors import SetupError

FAULTS = ROOT / "traces" / "rag-with-faults.jsonl"
SMALL = ("--capacity", "hbm=2GB", "--capacity", "dram=3GB")


def replayed(*arguments: str | Path, **environment: Any) -> Ran:
    return fakbench("replay", FAULTS, "--now", "5", *SMALL, *arguments, **environment)


def python(code: str) -> subprocess.CompletedProcess[str]:
    """Code in a Python of its own."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_metrics_of_the_policys_arm_are_written_and_are_those_of_its_report(tmp_path: Path) -> None:
    ran = replayed("--metrics", tmp_path / "m.prom", "--format", "json")
    assert (ran.code, ran.err) == (0, "")
    moves = orjson.loads(ran.out)["arms"]["tiered"]["moves"]
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families((tmp_path / "m.prom").read_text(encoding="utf-8"))
        for sample in family.samples
    }
    for row in moves:
        if row["directive"]:
            keys = {
                key: value
                for key, value in samples.items()
                if key[0] == "fak_engine_cache_event_breakdown_total"
                and key[1:5] == (row["directive"], row["outcome"], row["from"], row["to"])
            }
            assert list(keys.values()) == [row["count"]]
    faults = sum(row["count"] for row in moves if row["outcome"] == "fault")
    assert samples["fak_engine_cache_restore_fault_total",] == faults > 0


def test_the_same_bytes_under_every_hash_seed_zone_and_width_and_nothing_else_changes(tmp_path: Path) -> None:
    plain = replayed("--format", "json")
    written = set()
    for number, environment in enumerate(
        ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "4242"}, {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "COLUMNS": "20"})
    ):
        path = tmp_path / f"{number}.prom"
        ran = replayed("--metrics", path, "--format", "json", **environment)
        assert (ran.code, ran.err, ran.out) == (0, "", plain.out)
        written.add(path.read_bytes())
    assert len(written) == 1


def test_metrics_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "m.prom"
    path.write_text("kept")
    ran = replayed("--metrics", path, "--directives", tmp_path / "no" / "where")
    assert ran.code == 2
    bad = tmp_path / "bad.jsonl"
    bad.write_text("not a trace\n")
    assert fakbench("replay", bad, "--now", "0", "--metrics", path).code == 2
    assert path.read_text() == "kept"
    with pytest.raises(RuntimeError), replay_metrics(path, None, None):
        raise RuntimeError
    assert path.read_text() == "kept"
    assert sorted(tmp_path.iterdir()) == [bad, path]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metrics", "no/such/x"], "no/such/x: cannot be written (No such file or directory); choose another place"),
        (["--metrics-port", "-1"], "--metrics-port -1: out of range; give 0 (any free port) to 65535"),
        (["--metrics-port", "65536"], "--metrics-port 65536: out of range; give 0 (any free port) to 65535"),
        (["--metrics-host", "::1"], "--metrics-host ::1: nothing is served; give --metrics-port as well"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_exit_code_2(arguments: list[str], message: str) -> None:
    ran = replayed(*arguments)
    assert (ran.code, ran.out, ran.err) == (2, b"", f"fakbench: {message}\n")


def test_a_port_that_is_asked_for_is_said_and_changes_no_output(tmp_path: Path) -> None:
    plain = replayed("--metrics", tmp_path / "plain.prom")
    served = replayed("--metrics", tmp_path / "served.prom", "--metrics-port", "0")
    assert (served.code, served.out) == (0, plain.out)
    assert (tmp_path / "served.prom").read_bytes() == (tmp_path / "plain.prom").read_bytes()
    start, end = "fakbench: metrics at http://127.0.0.1:", "/metrics while the replay runs\n"
    assert served.err.startswith(start)
    assert served.err.endswith(end)
    assert served.err.removeprefix(start).removesuffix(end).isdigit()


def test_what_is_served_is_what_was_followed(capsys: pytest.CaptureFixture[str]) -> None:
    with replay_metrics(None, 0, "localhost") as metrics:
        assert metrics is not None
        address = capsys.readouterr().err.split()[3]
        with urllib.request.urlopen(address, timeout=10) as answer:  # noqa: S310 - the address is this machine's
            assert b"fak_engine_cache_events_total 0.0\n" in answer.read()


def test_nobody_asked_nobody_follows() -> None:
    with replay_metrics(None, None, None) as metrics:
        assert metrics is None


def test_serving_without_the_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "prometheus_client"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "harness.metrics.serving", raising=False)
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(SetupError) as refused, replay_metrics(None, 0, None):
        pass
    assert str(refused.value) == (
        "--metrics-port: serving metrics takes the package prometheus_client; pip install 'fakbench[metrics]'"
    )


def test_writing_metrics_does_without_the_library_and_so_does_everything_else(tmp_path: Path) -> None:
    command = ["replay", str(FAULTS), "--now", "5", "--metrics", str(tmp_path / "m.prom")]
    for arguments, own in ((["--version"], []), (command[:4], []), (command, ["harness.metrics"])):
        ran = python(
            f"import sys; sys.argv[1:] = {arguments!r}\n"
            "from harness.cli import app\n"
            "try: app()\n"
            "except SystemExit as end: assert not end.code, end.code\n"
            "print([name for name in sys.modules if name in ('prometheus_client', 'harness.metrics')])"
        )
        assert (ran.stderr, ran.stdout.splitlines()[-1]) == ("", str(own))
    assert (tmp_path / "m.prom").stat().st_size > 0
