"""The command line's entry: an error is one sentence and exit code 2; `--version` answers before anything is loaded."""

from __future__ import annotations

import contextlib
import gc
import signal
import sys
from types import FrameType

from harness import __version__
from harness.errors import EXIT_BAD_INPUT, EXIT_OK, FakbenchError

_INTERRUPTED = 130
_SIGNALLED = 128


def app() -> None:
    """Run the command line with the arguments of this process, and exit."""
    if sys.argv[1:] == ["--version"] and sys.stdout is not None:
        with contextlib.suppress(OSError):
            print(f"fakbench {__version__}", flush=True)
        sys.exit(EXIT_OK)
    sys.exit(run())


def run() -> int:
    """Run a command; returns its exit code. Usage errors and `typer.Exit` leave through `SystemExit`."""
    # typer takes several times as long to load as Python itself, so --version does without it.
    from harness.commands.app import build_app

    # A run makes next to no cycles, and scanning a large trace for them again and again costs a fifth of its time.
    gc.disable()
    # Whatever ends this process from outside, half-written files are cleared away first.
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, _stop)
    try:
        build_app()()
    except FakbenchError as error:
        _complain(str(error))
        return EXIT_BAD_INPUT
    except MemoryError:
        _complain("out of memory; give a smaller trace, or more memory")
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        _complain("interrupted")
        return _INTERRUPTED
    return EXIT_OK


def _stop(number: int, _: FrameType | None) -> None:
    sys.exit(_SIGNALLED + number)


def _complain(message: str) -> None:
    """One line for each line of the message, on standard error where there is one."""
    from harness.render.text import printable

    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(
                "\n".join(f"fakbench: {printable(line)}" for line in message.split("\n")), file=sys.stderr, flush=True
            )
