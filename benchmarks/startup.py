"""Start-up: `fakbench --version` against a bare Python.

.venv/bin/python benchmarks/startup.py [--rounds N]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from timing import in_turn, print_ratios


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    rounds = parser.parse_args().rounds
    fakbench = str(Path(sys.executable).parent / "fakbench")
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "fakbench --version": [fakbench, "--version"],
        "fakbench --help": [fakbench, "--help"],
        "fakbench policies": [fakbench, "policies"],
    }
    print_ratios(in_turn(commands, rounds), "python -c pass")


if __name__ == "__main__":
    main()
