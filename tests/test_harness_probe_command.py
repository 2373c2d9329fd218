"""`fakbench probe` as a person starts it: on this machine, on trees of others, interrupted, and asked for nonsense."""

from __future__ import annotations

import getpass
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest
from conftest import ROOT
from fake_nvml import H100, FakeNvml
from running import Ran, fakbench
from sysfs_trees import expander, four_nodes, no_numa, two_sockets

from harness.catalog import validate
from harness.commands import probe as probe_module
from harness.errors import EXIT_OK
from harness.probing import gpus
from harness.probing.spill import IN_MEMORY, read_spill
from harness.probing.tree import Tree

ASSUMED = ("--hbm-bytes", "80GiB", "--hbm-mb-s", "3350000")
TINY = ("--measure", "--measure-for", "5ms", "--measure-memory", "1MiB", "--measure-disk", "8MiB")
TRACE = ROOT / "traces" / "shared-prefix-8-turns.jsonl"


def replayed(entry: Path, trace: Path = TRACE) -> Ran:
    options = ("--machine", "probed", "--kv-bytes-per-token", "131072", "--prefill-ns-per-token", "45000")
    return fakbench("replay", trace, "--now", "0", "--catalog", entry, *options, "--format", "json")


def test_this_machine_is_probed() -> None:
    ran = fakbench("probe")

    assert (ran.code, ran.err) == (0, "")
    text = ran.out.decode()
    assert text.startswith("host memory: ")
    assert "nothing was measured: give --measure" in text
    assert " dram.capacity_bytes " in text
    assert "  disk: no spill directory is named; give --spill DIR" in text
    assert "  remote: a probe of one machine cannot see it" in text


def test_this_machines_entry_validates_and_is_replayed(tmp_path: Path) -> None:
    out = tmp_path / "entry.json"

    ran = fakbench("probe", "--out", out, *ASSUMED, "--spill", tmp_path, *TINY)

    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith(b"\nwritten\n")
    assert list(tmp_path.iterdir()) == [out]
    assert validate(out.read_bytes())[0] == []
    assert fakbench("catalog", "validate", out).code == 0
    replay = replayed(out)
    assert (replay.code, replay.err) == (0, "")
    assert orjson.loads(replay.out)["machine"]["id"] == "probed"


def test_nothing_gives_the_host_the_user_or_a_place_away(tmp_path: Path) -> None:
    """Not on the screen and not in the entry, though the spill directory and the file were named."""
    out = tmp_path / "entry.json"

    ran = fakbench("probe", "--out", out, *ASSUMED, "--spill", tmp_path, *TINY)

    for text in (ran.out.decode(), out.read_text()):
        assert str(tmp_path) not in text
        assert not re.search(rf"\b(?:{re.escape(socket.gethostname())}|{re.escape(getpass.getuser())})\b", text)
        assert not re.search(r"(?<![\w.])/\w", text)


@pytest.mark.parametrize("tree", [two_sockets, expander, four_nodes, no_numa], ids=lambda tree: tree.__name__)
def test_another_machines_tree_becomes_the_same_entry_every_time(tmp_path: Path, tree: object) -> None:
    assert callable(tree)
    root = tree(tmp_path / "tree")
    first, second = tmp_path / "first.json", tmp_path / "second.json"

    one = fakbench("probe", "--sysfs", root, "--out", first, *ASSUMED, PYTHONHASHSEED="1", COLUMNS="40", TZ="UTC")
    two = fakbench("probe", "--sysfs", root, "--out", second, *ASSUMED, PYTHONHASHSEED="2", FORCE_COLOR="1")

    assert (one.code, one.err) == (0, "")
    assert one.out == two.out
    assert first.read_bytes() == second.read_bytes()
    assert replayed(first).code == 0


def test_a_gpu_that_nvml_proves_needs_no_assumption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(gpus, "load_nvml", lambda: FakeNvml(H100))
    out = tmp_path / "entry.json"

    code = probe_module.probe(out=out, name="h100-box", title="A box")

    assert code == EXIT_OK
    assert b"GPU: NVIDIA H100 80GB HBM3, 85.52 GB, 3,352,320 MB/s of memory, 64,000 MB/s of PCIe" in (
        capsysbinary.readouterr().out
    )
    machine = orjson.loads(out.read_bytes())["machines"]["h100-box"]
    assert machine["title"] == "A box"
    assert machine["tiers"]["hbm"]["capacity_bytes"]["kind"] == "measured"
    assert machine["links"][0]["a_to_b_mb_s"]["value"] == 50_000


def test_the_bounds_are_said_beside_what_was_measured(tmp_path: Path) -> None:
    ran = fakbench("probe", "--spill", tmp_path, *TINY)

    line = "measured, at most 5 ms each, 1.05 MB of memory, 8.39 MB of the spill directory:"
    assert line in ran.out.decode().splitlines()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGKILL", -9)])
def test_an_interrupted_measurement_leaves_nothing_behind(tmp_path: Path, name: str, code: int) -> None:
    """Stopped while its file is open: looked for among the process's own, since the directory never shows it."""
    if read_spill(tmp_path, Tree(Path("/"))).kind in IN_MEMORY:
        pytest.skip("temporary files are in memory here, where no disk is measured")
    bounds = ("--measure", "--measure-for", "60s", "--measure-memory", "1MiB", "--measure-disk", "8MiB")
    start = "import sys; sys.argv[0] = 'fakbench'; from harness.cli import app; app()"
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            start,
            "probe",
            "--spill",
            tmp_path,
            *bounds,
            "--out",
            tmp_path / "entry.json",
            *ASSUMED,
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        while process.poll() is None and not _holds_a_file_in(process.pid, tmp_path):
            time.sleep(0.01)
        assert process.poll() is None
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()

    assert process.returncode == code
    assert out == b""
    assert b"Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def _holds_a_file_in(pid: int, directory: Path) -> bool:
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(entry)
        except OSError:
            continue
        if target.startswith(str(directory.resolve())):
            return True
    return False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--spill", "absent"), "--spill absent: is not a directory; name the one that KV would be spilled to"),
        (("--spill", "README.md"), "--spill README.md: is not a directory; name the one that KV would be spilled to"),
        (
            ("--sysfs", "traces", "--out", "entry.json"),
            "--out entry.json: a machine of the catalog needs the tier hbm and there is none (no GPU is proven: the"
            " tree of another machine says nothing about its GPUs); give --hbm-bytes and --hbm-mb-s to assume one",
        ),
        (
            ("--out", "catalog.json", *ASSUMED),
            "--out catalog.json: is a catalog with other entries (a100-sxm, b200-sxm, gh200) that would be lost;"
            " name a new file and copy the machine over",
        ),
        (("--measure", "--measure-for", "1h"), "--measure-for 1h: out of range; give 1ms to 60s"),
        (
            ("--measure", "--measure-memory", "lots"),
            "--measure-memory lots: not understood; give bytes or a size like 400GB or 512GiB (0 is unbounded)",
        ),
        (
            ("--measure", "--sysfs", "traces"),
            "--measure measures this machine and --sysfs reads another; keep one of them",
        ),
        (("--hbm-mb-s", "-1"), "--hbm-mb-s -1: out of range; give 1 to 1000000000, like 3350000 for 3,350 GB/s"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments: tuple[str, ...], message: str) -> None:
    ran = fakbench("probe", *arguments)

    assert (ran.code, ran.out, ran.err) == (2, b"", f"fakbench: {message}\n")


def test_every_option_is_in_the_documentation() -> None:
    text = (ROOT / "docs" / "probe.md").read_text(encoding="utf-8")
    help_text = fakbench("probe", "--help", COLUMNS="100", TERM="dumb").out.decode()

    options = set(re.findall(r"--[a-z][a-z-]+", help_text)) - {"--help"}
    assert len(options) == 10
    assert {option for option in options if f"`{option}" not in text} == set()
    assert "--sysfs" not in help_text
