"""The command line's entry: an error is one sentence and exit code 2; `--version` answers before anything is loaded."""

from __future__ import annotations

import gc
import sys

from harness import __version__
from harness.errors import EXIT_BAD_INPUT, EXIT_OK, FakbenchError

_INTERRUPTED = 130


def app() -> None:
    """Run the command line with the arguments of this process, and exit."""
    if sys.argv[1:] == ["--version"]:
        print(f"fakbench {__version__}")
        sys.exit(0)
    sys.exit(run())


def run() -> int:
    """Run a command; returns its exit code. Usage errors and `typer.Exit` leave through `SystemExit`."""
    # typer takes several times as long to load as Python itself, so --version does without it.
    from harness.commands.app import build_app
    from harness.render.text import printable

    # A run makes next to no cycles, and scanning a large trace for them again and again costs a fifth of its time.
    gc.disable()
    try:
        build_app()()
    except FakbenchError as error:
        lines = str(error).splitlines()
        print("\n".join(f"fakbench: {printable(line)}" for line in lines), file=sys.stderr)
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        print("fakbench: interrupted; nothing was written", file=sys.stderr)
        return _INTERRUPTED
    return EXIT_OK
