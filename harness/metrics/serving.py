"""Metrics over HTTP while a replay runs: `prometheus_client` answers with what a snapshot holds at each request.

The library speaks the format that a scraper asks for, with values as floats, as every Prometheus server keeps them.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from harness.errors import SetupError
from harness.metrics.exposition import COUNTER, families
from harness.metrics.snapshot import Snapshot

# The end of a replay waits this long for the server at most; a shorter poll would interrupt the replay more often.
_POLL_SECONDS = 0.2


class SnapshotCollector(Collector):
    """What the library collects at each request: the families of a fresh snapshot."""

    def __init__(self, source: Callable[[], Snapshot]) -> None:
        self._source = source

    def collect(self) -> Iterable[Metric]:
        for family in families(self._source()):
            kind = CounterMetricFamily if family.kind == COUNTER else GaugeMetricFamily
            metric = kind(family.name, family.help, labels=family.labels)
            for values, number in family.samples:
                metric.add_metric(values, number)
            yield metric


class _Server(ThreadingMixIn, WSGIServer):
    """A thread for each request, so that one that dawdles keeps nobody waiting, the end of the replay least of all."""

    daemon_threads = True


class _ServerOver6(_Server):
    address_family = socket.AF_INET6


class _SilentHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Nothing: standard error is for what concerns the replay."""


@contextlib.contextmanager
def serving(source: Callable[[], Snapshot], host: str, port: int) -> Iterator[str]:
    """Serve the snapshots of `source` until the end of the context; port 0 is any that is free. Yields the address.

    Raises `SetupError` where the address cannot be listened on.
    """
    registry = CollectorRegistry()
    registry.register(SnapshotCollector(source))
    kind = _ServerOver6 if ":" in host else _Server
    try:
        server = make_server(host, port, make_wsgi_app(registry), kind, _SilentHandler)
    except OSError as error:
        raise SetupError(
            f"--metrics-port {port}: cannot listen on {host} ({error.strerror}); choose another port (0 is any) or host"
        ) from None
    thread = threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,), daemon=True)
    thread.start()
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
