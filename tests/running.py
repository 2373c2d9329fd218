"""fakbench as a process of its own, as a person starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from conftest import ROOT

_START = "import sys; sys.argv[0] = 'fakbench'; from harness.cli import app; app()"


@dataclass(frozen=True)
class Ran:
    """What a process left behind."""

    code: int
    out: bytes
    err: str


def fakbench(*arguments: str | Path, cwd: Path = ROOT, stdin: bytes = b"", **environment: str) -> Ran:
    """Run `fakbench ARGUMENTS` in `cwd` with `environment` added to this process's."""
    merged = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(
        [sys.executable, "-c", _START, *map(str, arguments)],
        cwd=cwd,
        env=merged,
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())
