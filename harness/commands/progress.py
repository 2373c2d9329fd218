"""A progress bar for long replays: on standard error, and only where that is a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

# Below this a replay is over before a bar could be read.
_LONG_EVENTS = 20_000

Progress = Callable[[str, int, int], None]


@contextlib.contextmanager
def progress_bar(events: int) -> Iterator[Progress | None]:
    """Yields what a replay of `events` events calls with the arm's name, events done and all events; or None."""
    if events < _LONG_EVENTS or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    with Bars(console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def show(arm: str, done: int, total: int) -> None:
            if arm not in tasks:
                tasks[arm] = bars.add_task(arm, total=total)
            bars.update(tasks[arm], completed=done)

        yield show
