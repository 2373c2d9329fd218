"""Threads that are surely over before what they work on is taken away, interrupts included.

`Thread.join` cannot be trusted for that: interrupted by Ctrl-C, CPython 3.11 takes the thread for ended and every later
join returns at once (bpo-45274). A worker says itself that it is done.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

_PATIENCE_S = 10


class Worker(threading.Thread):
    """A thread with one piece of work. `stop` is set where it should end soon; `failure` is what it raised."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.stop = False
        self.failure: Exception | None = None
        self.done = threading.Event()

    def work(self) -> None:
        """What it does; given by a subclass."""
        raise NotImplementedError

    def end(self) -> None:
        """Ask it to end soon."""
        self.stop = True

    def run(self) -> None:
        """Do it, and say so however it ends."""
        try:
            self.work()
        except Exception as failure:
            self.failure = failure
        finally:
            self.done.set()


def run_together(workers: Sequence[Worker]) -> None:
    """Start all and wait for all. An exception, an interrupt among them, leaves when every one of them has ended.

    An interrupt may come while a thread is being started, and then it is unknown whether it was: it is waited for, but
    not forever. Raises `RuntimeError` where the system gives no more threads.
    """
    started: list[Worker] = []
    try:
        for worker in workers:
            started.append(worker)
            try:
                worker.start()
            except RuntimeError:
                started.pop()
                raise
        for worker in started:
            worker.done.wait()
    finally:
        for worker in started:
            worker.end()
        for worker in started:
            worker.done.wait(_PATIENCE_S)
