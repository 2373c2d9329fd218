"""TTL and grace deadlines in the order in which they fall: by time, then by span id."""

from heapq import heappop, heappush

NONE_FALLS = 2**62


class Deadlines:
    """A heap of (time, span). A deadline that no longer holds is the owner's to notice when it falls."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int]] = []

    def add(self, time: int, span: int) -> None:
        heappush(self._heap, (time, span))

    def due(self, now: int) -> bool:
        """Whether a deadline has fallen by `now`, the bound included."""
        return bool(self._heap) and self._heap[0][0] <= now

    def next(self) -> int:
        """When the next deadline falls; `NONE_FALLS` where there is none."""
        return self._heap[0][0] if self._heap else NONE_FALLS

    def pop(self) -> tuple[int, int]:
        """The next deadline."""
        return heappop(self._heap)
