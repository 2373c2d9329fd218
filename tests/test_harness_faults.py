"""What the world does to a run: full disks, closed descriptors, signals, names that are not text, tampered files."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest
from conftest import ROOT
from running import fakbench

CHAT = ROOT / "traces" / "multi-turn-chat.jsonl"
_START = "import sys; sys.argv[0] = 'fakbench'; from harness.cli import app; app()"


def shell(command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[bytes]:
    """A command line in which `fakbench` is this checkout's, for what only a shell can set up."""
    wrapped = f'fakbench() {{ \'{sys.executable}\' -c "{_START}" "$@"; }}; {command}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["/bin/bash", "-c", wrapped], cwd=cwd, env=environment, capture_output=True, check=False, timeout=120
    )


@pytest.mark.parametrize("command", ["machines", "demo", "policies", f"replay {CHAT} --now 0"])
def test_a_full_standard_output_is_one_sentence(command: str) -> None:
    done = shell(f"fakbench {command} > /dev/full")
    assert done.returncode == 2
    assert done.stderr == b"fakbench: standard output: cannot be written (No space left on device); send it elsewhere\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_closed_descriptors_change_no_exit_code(closed: str, tmp_path: Path) -> None:
    good = shell(f"fakbench replay {CHAT} --now 0 --out {tmp_path}/r.json {closed}")
    assert good.returncode == 0
    assert (tmp_path / "r.json").stat().st_size > 1000
    bad = shell(f"fakbench replay no-such-file --now 0 {closed}")
    assert bad.returncode == 2
    assert b"no-such-file" not in bad.stdout


def test_a_closed_pipe_does_not_turn_a_failure_into_success(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text("{}")
    done = shell(f"fakbench catalog validate {tmp_path}/c.json | true; exit ${{PIPESTATUS[0]}}")
    assert done.returncode == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_no_half_written_file(number: int, tmp_path: Path) -> None:
    big = {"schema": "fakbench.recipe/1", "workload": "batch", "seed": 1, "requests": 2_000_000}
    (tmp_path / "recipe.json").write_bytes(orjson.dumps(big))
    process = subprocess.Popen(
        [sys.executable, "-c", _START, "trace", "synth", "recipe.json", "--out", "t.jsonl"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    for _ in range(600):
        if len(list(tmp_path.iterdir())) > 1:
            break
        time.sleep(0.05)
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    assert [path.name for path in tmp_path.iterdir()] == ["recipe.json"]


def test_a_trace_that_cannot_be_made_leaves_nothing_on_standard_output(tmp_path: Path) -> None:
    impossible = {"schema": "fakbench.recipe/1", "workload": "batch", "seed": 1, "requests": 200_000}
    (tmp_path / "r.json").write_bytes(orjson.dumps(impossible | {"mean_gap_ms": 86_400_000}))
    ran = fakbench("trace", "synth", tmp_path / "r.json")
    assert ran.code == 2
    assert ran.out == b""
    assert ran.err.count("\n") == 1


def test_a_file_name_is_text_in_every_locale(tmp_path: Path) -> None:
    odd = os.path.join(os.fsencode(tmp_path), b"b\xff\xc3\xa9.jsonl")
    shutil.copy(CHAT, odd)
    with open(odd, "rb") as file:
        data = file.read()
    header, rest = data.split(b"\n", 1)
    unnamed = {key: value for key, value in orjson.loads(header).items() if key != "name"}
    with open(odd, "wb") as file:
        file.write(orjson.dumps(unnamed) + b"\n" + rest)
    made = set()
    for environment in ({"LC_ALL": "C.UTF-8"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
        ran = fakbench("replay", os.fsdecode(odd), "--now", "0", "--format", "json", **environment)
        assert (ran.code, ran.err) == (0, "")
        made.add(ran.out)
    assert len(made) == 1
    assert orjson.loads(made.pop())["trace"]["name"] == "b\ufffd\u00e9.jsonl"


def test_a_report_beyond_64_bits_is_refused(tmp_path: Path) -> None:
    lines = [{"kind": "trace", "schema": "fakbench.trace/1", "block_tokens": 16}]
    lines += [
        {"kind": "access", "t_ms": 0 if at < 399 else 0.001, "span": f"s{at % 2}", "tokens": 4096, "bytes": 2**50}
        for at in range(400)
    ]
    (tmp_path / "t.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    options = ["--now", "0", "--machine", "reference", "--kv-bytes-per-token", "1"]
    options += ["--prefill-ns-per-token", "100000000000"]
    options += ["--capacity", f"hbm={2**50}", "--capacity", "disk=0"]
    options += [part for tier in ("dram", "numa_far", "cxl", "remote") for part in ("--drop-tier", tier)]
    for form in ("json", "table"):
        ran = fakbench("replay", tmp_path / "t.jsonl", *options, "--format", form)
        assert (ran.code, ran.out) == (2, b"")
        assert ran.err.startswith("fakbench: the report has a figure that no reader would agree on (Integer exceeds 64")


def test_an_existing_report_keeps_its_rights(tmp_path: Path) -> None:
    report = tmp_path / ("r" * 250)
    report.write_text("old")
    report.chmod(0o600)
    assert fakbench("replay", CHAT, "--now", "0", "--out", report).code == 0
    assert report.stat().st_mode & 0o777 == 0o600
    assert report.stat().st_size > 1000


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"report": "../outside.json"}, "'../outside.json' is not a file in reports/; correct that row"),
        ({"report": "/etc/passwd"}, "'/etc/passwd' is not a file in reports/; correct that row"),
        ({"report": "reports/../x"}, "'reports/../x' is not a file in reports/; correct that row"),
        ({"report": "reports/index.json"}, "'reports/index.json' is not a file in reports/; correct that row"),
        ({"report": "reports/a\u0000b"}, "'reports/a\\x00b' is not a file in reports/; correct that row"),
        ({"trace": "../../x"}, "'../../x' is not a file in traces/; correct that row"),
        ({"against": []}, "Expected `array` of length >= 1 - at `$.goldens[0].against`; correct that row"),
    ],
)
@pytest.mark.parametrize("update", [(), ("--update",)])
def test_an_index_may_only_name_reports_and_traces(
    row: dict[str, object], message: str, update: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "reports").mkdir()
    golden = {"report": "reports/r.json", "trace": "traces/batch.jsonl", "machine": "h100-sxm"} | row
    index = {"schema": "fakbench.goldens/1", "goldens": [golden]}
    (tmp_path / "reports" / "index.json").write_bytes(orjson.dumps(index))
    ran = fakbench("check", "--root", tmp_path, *update)
    assert (ran.code, ran.out, ran.err) == (2, b"", f"fakbench: reports/index.json: {message}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["reports"]


def test_a_tampered_report_cannot_steer_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    shutil.copytree(ROOT / "traces", tmp_path / "traces")
    shutil.copy(ROOT / "catalog.json", tmp_path)
    golden = {"report": "reports/r.json", "trace": "traces/batch.jsonl", "machine": "h100-sxm"}
    index = {"schema": "fakbench.goldens/1", "goldens": [golden]}
    (tmp_path / "reports" / "index.json").write_bytes(orjson.dumps(index))
    for kept in (b'{"\\u001b[2J": 1}', b'{"schema":' + b"[" * 600 + b"]" * 600 + b"}"):
        (tmp_path / "reports" / "r.json").write_bytes(kept)
        ran = fakbench("check", "--root", tmp_path)
        assert (ran.code, ran.err) == (1, "")
        assert b"\x1b" not in ran.out


def test_duplicate_keys_of_a_large_catalog_are_found_in_a_moment(tmp_path: Path) -> None:
    """One pass, not one for each key: a quadratic search would take minutes."""
    (tmp_path / "c.json").write_bytes(b"{" + b",".join(b'"a%d":0' % at for at in range(100_000)) + b',"a0":1}')
    ran = fakbench("catalog", "validate", tmp_path / "c.json")
    assert ran.code == 2
    assert "a0: is given twice" in ran.err
