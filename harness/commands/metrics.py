"""What a replay does with metrics, where it is asked to: write them at the end, serve them meanwhile, or both."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from harness.documents import whole_file
from harness.errors import SetupError

if TYPE_CHECKING:
    from harness.metrics.journal import JournalMetrics

LOOPBACK = "127.0.0.1"
_MAX_PORT = 65535


@contextlib.contextmanager
def replay_metrics(path: Path | None, port: int | None, host: str | None) -> Iterator[JournalMetrics | None]:
    """Yields what is to follow the policy's journal, or None where nobody asked.

    `path` is written when the context ends well, and otherwise left as it was. `host` is this machine alone where it is
    None. Raises `SetupError` for what cannot be served.
    """
    if port is None:
        if host is not None:
            raise SetupError(f"--metrics-host {host}: nothing is served; give --metrics-port as well")
    elif not 0 <= port <= _MAX_PORT:
        raise SetupError(f"--metrics-port {port}: out of range; give 0 (any free port) to {_MAX_PORT}")
    if path is None and port is None:
        yield None
        return
    from harness.metrics.exposition import exposition
    from harness.metrics.journal import JournalMetrics

    metrics = JournalMetrics()
    with contextlib.ExitStack() as stack:
        stream = stack.enter_context(whole_file(path)) if path is not None else None
        if port is not None:
            stack.enter_context(_served(metrics, host or LOOPBACK, port))
        yield metrics
        if stream is not None:
            stream.write(exposition(metrics.snapshot()))


@contextlib.contextmanager
def _served(metrics: JournalMetrics, host: str, port: int) -> Iterator[None]:
    try:
        from harness.metrics.serving import serving
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "prometheus_client":
            raise
        raise SetupError(
            "--metrics-port: serving metrics takes the package prometheus_client; pip install 'fakbench[metrics]'"
        ) from None
    with serving(metrics.snapshot, host, port) as address:
        print(f"fakbench: metrics at {address} while the replay runs", file=sys.stderr)
        yield
