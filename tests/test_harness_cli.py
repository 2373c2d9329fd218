"""The command line as a person meets it: exit codes, messages, outputs, and the same bytes everywhere."""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
import zstandard
from conftest import ROOT
from running import fakbench

from harness import __version__
from policy.policies.registry import POLICIES

CHAT = ROOT / "traces" / "multi-turn-chat.jsonl"
FAULTS = ROOT / "traces" / "rag-with-faults.jsonl"
SMALL = ("--capacity", "hbm=2GB", "--capacity", "dram=3GB")


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "4242"},
        {"TZ": "Asia/Kathmandu", "LC_ALL": "C"},
        {"TZ": "America/New_York", "LANG": "de_DE.UTF-8"},
        {"COLUMNS": "20"},
        {"COLUMNS": "500", "TERM": "xterm-256color"},
        {"FORCE_COLOR": "1"},
        {"NO_COLOR": "1"},
    ],
    ids=lambda environment: ",".join(f"{name}={value}" for name, value in environment.items()),
)
@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_the_same_bytes_in_every_environment(
    environment: dict[str, str], form: str, tmp_path: Path, baseline_bytes: dict[str, bytes]
) -> None:
    files = _outputs(tmp_path)
    ran = fakbench("replay", FAULTS, "--now", "5", *SMALL, "--format", form, *files, cwd=tmp_path, **environment)
    assert ran.err == ""
    assert ran.code == 0
    assert ran.out == baseline_bytes[form]
    for name in ("report", "directives", "requests"):
        assert (tmp_path / name).read_bytes() == baseline_bytes[name]


def _outputs(folder: Path) -> list[str]:
    names = {"--out": "report", "--directives": "directives", "--per-request": "requests"}
    return [part for option, name in names.items() for part in (option, str(folder / name))]


@pytest.fixture(scope="module")
def baseline_bytes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the same command gives in this process's own environment, from the checkout's root."""
    folder = tmp_path_factory.mktemp("baseline")
    kept = {}
    for form in ("table", "json", "markdown"):
        kept[form] = fakbench("replay", FAULTS, "--now", "5", *SMALL, "--format", form, *_outputs(folder)).out
    return kept | {name: (folder / name).read_bytes() for name in ("report", "directives", "requests")}


def test_json_on_the_terminal_is_the_report_that_is_written(baseline_bytes: dict[str, bytes]) -> None:
    assert baseline_bytes["json"] == baseline_bytes["report"]


def test_the_directive_digest_is_the_digest_of_the_file(baseline_bytes: dict[str, bytes]) -> None:
    report = orjson.loads(baseline_bytes["report"])
    digest = hashlib.sha256(baseline_bytes["directives"]).hexdigest()
    assert report["arms"]["tiered"]["directives_sha256"] == digest


def test_the_directive_stream_adds_up_to_the_moves_of_the_report(baseline_bytes: dict[str, bytes]) -> None:
    report = orjson.loads(baseline_bytes["report"])
    lines = [orjson.loads(line) for line in baseline_bytes["directives"].splitlines()]
    assert lines[0]["schema"] == "fakbench.directives/1"
    spans = {line["span"]: line for line in lines if line.get("kind") == "span"}
    moves: dict[tuple[str, ...], list[int]] = {}
    for line in lines:
        if "kind" in line:
            continue
        key = tuple(line[name] for name in ("action", "directive", "from", "to", "outcome"))
        row = moves.setdefault(key, [0, 0, 0])
        row[0] += 1
        row[1] += line["bytes"]
        row[2] += spans[line["span"]]["tokens"]
    reported = {
        tuple(row[name] for name in ("action", "directive", "from", "to", "outcome")): [
            row["count"],
            row["bytes"],
            row["tokens"],
        ]
        for row in report["arms"]["tiered"]["moves"]
    }
    assert moves == reported


def test_the_request_lines_add_up_to_the_report(baseline_bytes: dict[str, bytes]) -> None:
    report = orjson.loads(baseline_bytes["report"])
    arm = report["arms"]["tiered"]
    lines = [orjson.loads(line) for line in baseline_bytes["requests"].splitlines()]
    assert len(lines) == report["trace"]["requests"]
    for tier, tokens in arm["tokens"]["hit"].items():
        assert sum(line["hit"].get(tier, 0) for line in lines) == tokens
    for name in ("cold", "obligatory", "unidentified"):
        assert sum(line[name] for line in lines) == arm["tokens"][name]
    assert sum(line["reprefilled"] for line in lines) == sum(arm["tokens"]["reprefilled"].values())
    for name in ("prefill", "stage", "attend"):
        assert sum(line[f"{name}_ns"] for line in lines) == arm["time_ns"][name]
    for line in lines:
        parts = sum(line["hit"].values()) + sum(
            line[name] for name in ("cold", "obligatory", "unidentified", "reprefilled")
        )
        assert parts == line["input_tokens"]


def test_the_packing_of_a_trace_changes_nothing(tmp_path: Path) -> None:
    text = CHAT.read_bytes()
    packed = {
        "chat.jsonl": text,
        "chat.jsonl.gz": gzip.compress(text, mtime=0),
        "chat.jsonl.zst": zstandard.compress(text),
        "misnamed.gz": text,
    }
    reports = set()
    for name, data in packed.items():
        (tmp_path / name).write_bytes(data)
        ran = fakbench("replay", tmp_path / name, "--now", "0", "--format", "json")
        assert ran.code == 0, ran.err
        reports.add(ran.out)
    assert len(reports) == 1


def test_version_answers_alike_before_and_after_loading() -> None:
    assert fakbench("--version").out.decode() == f"fakbench {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--policy", "no-such-policy"],
            f"--policy/--against no-such-policy: no such policy; choose one of {', '.join(POLICIES)}",
        ),
        (["--set", "cascad=0"], "--set cascad: no such parameter; choose one of "),
        (["--set", "cascade=2"], "--set cascade=2: out of range; give 0 to 1"),
        (["--set", "cascade"], "--set cascade: not an assignment; write it like --set cascade=0"),
        (["--replicas", "0"], "--replicas 0: out of range; give 1 to 256"),
        (["--replicas", "257"], "--replicas 257: out of range; give 1 to 256"),
        (["--router", "random"], "--router random: no such router; choose one of round-robin, least-loaded, prefix"),
        (["--pool", "hbm=2"], "--pool hbm: an engine's HBM is its own; pool colder tiers only"),
        (["--pool", "dram=0"], "--pool dram=0: out of range; give 1 to 256 hosts"),
        (["--pool", "dram=x"], "--pool x: not a whole number; give one like 8"),
        (["--pool", "dram"], "--pool dram: not an assignment; write it like --pool cxl=8"),
        (["--pool", "dram=2", "--pool", "dram=4"], "--pool dram=4: dram is given twice; keep one"),
        (
            ["--pool", "cxl=2"],
            "--pool cxl: this engine has no such tier; it has hbm, dram, numa_far, disk, remote",
        ),
        (
            ["--replicas", "2", "--pool", "dram=2", "--ttl", "dram=5s"],
            "--ttl dram: a pool has no TTL, since no host owns what is in it; leave it out",
        ),
        (["--set", "cascade=-1"], "--set cascade=-1: -1 is not a whole number; write it like --set cascade=0"),
        (["--set", "cascade=0", "--set", "cascade=1"], "--set cascade=1: cascade is given twice; keep one"),
        (["--capacity", "dram"], "--capacity dram: not an assignment; write it like --capacity dram=512GiB"),
        (
            ["--capacity", "ram=1GB"],
            "--capacity ram: no such tier; choose one of hbm, dram, numa_far, cxl, disk, remote",
        ),
        (
            ["--capacity", "dram=1XB"],
            "--capacity 1XB: not understood; give bytes or a size like 400GB or 512GiB (0 is unbounded)",
        ),
        (
            ["--capacity", "dram=1e9"],
            "--capacity 1e9: not understood; give bytes or a size like 400GB or 512GiB (0 is unbounded)",
        ),
        (
            ["--capacity", "dram=-5"],
            "--capacity -5: not understood; give bytes or a size like 400GB or 512GiB (0 is unbounded)",
        ),
        (
            ["--capacity", "dram=9999PB"],
            "--capacity 9999PB: more than 1152921504606846976 bytes; give bytes or a size like 400GB or 512GiB",
        ),
        (
            ["--capacity", "hbm=0.5B"],
            "--capacity 0.5B: less than the smallest unit; give bytes or a size like 400GB or 512GiB (0 is unbounded)",
        ),
        (["--model", ""], "'' is not a model of this catalog;"),
        (["--capacity", "dram=1GB", "--capacity", "dram=2GB"], "--capacity dram=2GB: dram is given twice; keep one"),
        (["--capacity", "cxl=1GB"], "h100-sxm has no tier cxl; it has hbm, dram, numa_far, disk, remote"),
        (["--drop-tier", "hbm"], "--drop-tier hbm: every engine computes in HBM; drop colder tiers only"),
        (["--drop-tier", "HBM"], "--drop-tier HBM: no such tier; choose one of hbm, dram, numa_far, cxl, disk, remote"),
        (["--drop-tier", "dram", "--capacity", "dram=1GB"], "--capacity and --drop-tier both name dram; keep one"),
        (
            ["--ttl", "hbm=5"],
            "--ttl 5: not understood; give a duration with its unit, like 500ms, 5s, 2m or 1h (0 is none)",
        ),
        (["--ttl", "hbm=5s", "--ttl", "hbm=6s"], "--ttl hbm=6s: hbm is given twice; keep one"),
        (
            ["--grace", "soon"],
            "--grace soon: not understood; give a duration with its unit, like 500ms, 5s, 2m or 1h (0 is none)",
        ),
        (["--span-tokens", "-1"], "--span-tokens -1: out of range; give 0 (one block) to 16777216"),
        (["--ttl", "cxl=5s"], "--ttl cxl: this engine has no such tier; it has hbm, dram, numa_far, disk, remote"),
        (["--replicas", "-1"], "--replicas -1: out of range; give 1 to 256"),
        (["--pool", "cxl=0"], "--pool cxl=0: out of range; give 1 to 256 hosts"),
        (["--pool", "cxl=257"], "--pool cxl=257: out of range; give 1 to 256 hosts"),
        (["--pool", "cxl=x"], "--pool x: not a whole number; give one like 8"),
        (["--pool", "cxl"], "--pool cxl: not an assignment; write it like --pool cxl=8"),
        (["--pool", "dram=2", "--pool", "dram=3"], "--pool dram=3: dram is given twice; keep one"),
        (["--pool", "nope=2"], "--pool nope: no such tier; choose one of hbm, dram, numa_far, cxl, disk, remote"),
        (
            ["--router", "nonsense"],
            "--router nonsense: no such router; choose one of round-robin, least-loaded, prefix",
        ),
        (["--grace", "2s"], "--grace without a --ttl: nothing ever expires; give a --ttl too"),
        (
            ["--set", "compress_ppm=500000"],
            "--set compress_ppm: nothing is compressed whose quality loss was not measured; set compress_measured=1",
        ),
        (
            ["--policy", "infinite", "--set", "ttls=1"],
            "--set with --policy infinite: the ceiling has no settings; choose another --policy",
        ),
        (["--out", "traces"], "traces: is a directory; name a file"),
        (["--out", str(CHAT)], f"--out {CHAT}: is the same file as the trace; name another"),
        (
            ["--out", "no-such", "--directives", "./no-such"],
            "--directives no-such: is the same file as --out; name another",
        ),
        (["--machine", "no-such-machine"], "'no-such-machine' is not a machine of this catalog"),
        (["--model", "no-such-model"], "'no-such-model' is not a model of this catalog"),
        (
            ["--machine", "reference"],
            "reference has no accelerator figures to derive a prefill rate from; give --prefill-ns-per-token",
        ),
        (["--tensor-parallel", "0"], "--tensor-parallel 0: h100-sxm has 8 accelerators; give 1 to 8"),
        (["--tensor-parallel", "9"], "--tensor-parallel 9: h100-sxm has 8 accelerators; give 1 to 8"),
        (["--kv-bytes-per-token", "-1"], "--kv-bytes-per-token -1: out of range; give 1 to 1073741824"),
        (["--prefill-ns-per-token", "-1"], "--prefill-ns-per-token -1: out of range; give 1 to 1000000000000"),
        (
            ["--against", "tiered", "--set", "cascade=0"],
            "--against tiered: the same policy as --policy, whose --set it would not share",
        ),
        (
            ["--catalog", "no-such.json"],
            "no-such.json: cannot be read (No such file or directory); name a catalog file",
        ),
        (
            ["--out", "no/such/folder/x.json"],
            "no/such/folder/x.json: cannot be written (No such file or directory); choose another place",
        ),
        (
            ["--directives", "no/such/x"],
            "no/such/x: cannot be written (No such file or directory); choose another place",
        ),
        (
            ["--now", "9999999999999999999"],
            "--now 9999999999999999999: out of range; give milliseconds within 1125899906842624 of 0",
        ),
    ],
)
def test_a_bad_option_is_one_sentence_and_exit_code_2(arguments: list[str], message: str) -> None:
    ran = fakbench("replay", CHAT, "--now", "0", *arguments)
    assert ran.code == 2
    assert ran.err.startswith(f"fakbench: {message}")
    assert ran.err.count("\n") == 1
    assert ran.out == b""


@pytest.mark.parametrize(
    "arguments", [["replay"], ["replay", str(CHAT)], ["no-such-command"], ["replay", str(CHAT), "--now", "soon"]]
)
def test_bad_usage_is_exit_code_2_without_a_traceback(arguments: list[str]) -> None:
    ran = fakbench(*arguments)
    assert ran.code == 2
    assert "Traceback" not in ran.err
    assert ran.err


def test_a_model_that_leaves_no_room_is_refused_with_the_arithmetic() -> None:
    ran = fakbench("replay", CHAT, "--now", "0", "--model", "llama-3.1-70b")
    assert ran.code == 2
    assert ran.err == (
        "fakbench: llama-3.1-70b leaves no HBM for KV on h100-sxm: 1 x 85899345920 bytes of HBM x 900000 ppm"
        " - 141000000000 of weights - 1 x 3000000000 of overhead = -66690588672 bytes; raise --tensor-parallel, or"
        " give --capacity hbm=SIZE\n"
    )


def test_a_failed_run_leaves_no_file_behind(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("not a trace\n")
    before = sorted(tmp_path.iterdir())
    ran = fakbench("replay", bad, "--now", "0", *_outputs(tmp_path))
    assert ran.code == 2
    assert sorted(tmp_path.iterdir()) == before


def test_an_interrupted_write_keeps_the_old_report(tmp_path: Path) -> None:
    report = tmp_path / "report"
    report.write_text("kept")
    ran = fakbench("replay", CHAT, "--now", "0", "--out", report, "--per-request", tmp_path / "no" / "where")
    assert ran.code == 2
    assert report.read_text() == "kept"


def test_words_of_a_trace_cannot_steer_the_terminal(tmp_path: Path) -> None:
    trace = tmp_path / "evil.jsonl"
    header = {
        "kind": "trace",
        "schema": "fakbench.trace/1",
        "block_tokens": 16,
        "name": "\x1b[31m[bold]:smile:\x9b|<b>",
    }
    request = {"kind": "request", "t_ms": 0, "input_tokens": 16, "output_tokens": 1, "blocks": [1]}
    trace.write_bytes(b"\n".join(orjson.dumps(line) for line in (header, request)))
    for form, shown in (
        ("table", "\ufffd[31m[bold]:smile:\ufffd|<b>"),
        ("markdown", "\ufffd\\[31m\\[bold\\]\\:smile\\:\ufffd\\|\\<b\\>"),
    ):
        out = fakbench("replay", trace, "--now", "0", "--format", form, FORCE_COLOR="1").out.decode()
        assert shown in out
        assert "\x1b" not in out
        assert "\x9b" not in out


def test_a_reader_that_stops_reading_is_not_an_error() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", "from harness.cli import app; import sys; sys.argv = ['fakbench', 'demo']; app()"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 0


def test_a_device_is_written_and_never_replaced(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = subprocess.Popen(["/bin/cat", str(fifo)], stdout=subprocess.PIPE)
    ran = fakbench("replay", CHAT, "--now", "0", "--format", "json", "--out", fifo, "--directives", "/dev/null")
    assert (ran.code, ran.err) == (0, "")
    assert reader.communicate(timeout=60)[0] == ran.out
    assert fifo.is_fifo()
    assert Path("/dev/null").is_char_device()


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    assert fakbench("replay", CHAT, "--now", "0", "--format", "json", "--out", tmp_path / "link").code == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes().startswith(b'{\n  "schema": "fakbench.report/1"')


def test_the_tables_fit_a_terminal_of_120_columns() -> None:
    """All but the arithmetic of HBM room and the sentences of warnings."""
    out = fakbench("replay", CHAT, "--now", "0", "--against", "blind-lru", "--against", "tiered-reference").out.decode()
    wide = [line for line in out.splitlines() if len(line) > 120]
    assert all(line.startswith(("HBM room", "warning:")) for line in wide), wide
