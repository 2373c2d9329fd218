"""The spill directory's read bandwidth and latency, through direct I/O where its file system has that.

One file without a name is written and read back: reads of 2 MiB by eight threads for the bandwidth (a drive needs
several at once to be busy), single reads of 4 KiB for the latency, each past the page cache. The file has no name
from the start, or loses it at once where a file system cannot do that, so that not even a killed process leaves it
behind. Its bytes are random: a compressing file system or drive would otherwise be measured on nothing.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.probing.bounds import Clock
from harness.probing.errors import NotMeasuredError
from harness.probing.workers import Worker, run_together
from harness.units import size

PIECE_BYTES = 2 * 2**20
BLOCK_BYTES = 4096
THREADS = 8
_LEAST_PIECES = 4
_MOST_READS = 2000
# Coprime with every number of blocks in a file of whole pieces, so that a walk by it comes to each block once.
_STRIDE = 1_000_003


@dataclass(frozen=True, slots=True)
class DiskSpeed:
    """What was read: bandwidth, the median latency, how many bytes the file had, and whether the page cache was out."""

    mb_s: int
    latency_ns: int
    file_bytes: int
    reads: int
    direct: bool


def use_direct(descriptor: int) -> bool:
    """Switch a file to direct I/O; False where its file system refuses."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_DIRECT)
    except OSError:
        return False
    return True


def measure_disk(
    directory: Path, most_bytes: int, time_ns: int, clock: Clock, direct: Callable[[int], bool] = use_direct
) -> DiskSpeed:
    """Write at most `most_bytes` into `directory`, for at most `time_ns`, read them back, and leave nothing there.

    Raises `NotMeasuredError` where the file cannot be written or is too small to say anything.
    """
    try:
        try:
            return _measure(directory, most_bytes, time_ns, clock, direct)
        except OSError as error:
            # Some file systems take the switch and then refuse every read and write.
            if error.errno != errno.EINVAL:
                raise
            return _measure(directory, most_bytes, time_ns, clock, lambda _: False)
    except OSError as error:
        raise NotMeasuredError(f"the spill directory cannot be used ({error.strerror})") from None
    except RuntimeError as error:
        raise NotMeasuredError(f"threads cannot be started ({error})") from None


def _measure(directory: Path, most_bytes: int, time_ns: int, clock: Clock, direct: Callable[[int], bool]) -> DiskSpeed:
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        descriptor = file.fileno()
        is_direct = direct(descriptor)
        pieces = _write(descriptor, most_bytes // PIECE_BYTES, time_ns, clock)
        if pieces < _LEAST_PIECES:
            raise NotMeasuredError(f"only {size(pieces * PIECE_BYTES)} could be written within the bounds given")
        # Small reads first: the large ones of a file system without direct I/O would leave it all in memory.
        _forget(descriptor)
        latency_ns, reads = _median_read_ns(descriptor, pieces * PIECE_BYTES // BLOCK_BYTES, time_ns, clock)
        _forget(descriptor)
        # What was read once without direct I/O comes from memory the second time.
        rounds = 0 if is_direct else 1
        mb_s = _read_mb_s(descriptor, pieces, rounds, time_ns, clock)
    return DiskSpeed(mb_s, latency_ns, pieces * PIECE_BYTES, reads, is_direct)


def _write(descriptor: int, most_pieces: int, time_ns: int, clock: Clock) -> int:
    """Fill the file until it is large enough or the time is over; returns the pieces that are on the disk."""
    begun = clock()
    with mmap.mmap(-1, PIECE_BYTES) as buffer:  # page-aligned, as direct I/O wants it
        for piece in range(most_pieces):
            buffer[:] = os.urandom(PIECE_BYTES)
            if os.pwrite(descriptor, buffer, piece * PIECE_BYTES) != PIECE_BYTES:
                return piece
            # Without this, a slow disk would be given everything at once and asked to finish after the time.
            os.fdatasync(descriptor)
            if clock() - begun >= time_ns:
                return piece + 1
    return most_pieces


def _forget(descriptor: int) -> None:
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def _median_read_ns(descriptor: int, blocks: int, time_ns: int, clock: Clock) -> tuple[int, int]:
    """The median of single reads of one block, all over the file, and how many there were."""
    taken: list[int] = []
    block = 0
    begun = clock()
    with mmap.mmap(-1, BLOCK_BYTES) as buffer:
        while len(taken) < min(blocks, _MOST_READS):
            block = (block + _STRIDE) % blocks
            asked = clock()
            os.preadv(descriptor, [buffer], block * BLOCK_BYTES)
            answered = clock()
            taken.append(answered - asked)
            if answered - begun >= time_ns:
                break
    return int(statistics.median_low(taken)), len(taken)


class _Reader(Worker):
    """Reads every eighth piece, round after round, until the time or the rounds are over."""

    def __init__(self, descriptor: int, first: int, pieces: int, rounds: int, time_ns: int, clock: Clock) -> None:
        super().__init__()
        self._descriptor, self._pieces = descriptor, range(first, pieces, THREADS)
        self._rounds, self._time_ns, self._clock = rounds, time_ns, clock
        self.bytes_read = 0
        self.taken_ns = 1

    def work(self) -> None:
        with mmap.mmap(-1, PIECE_BYTES) as buffer:
            self._read(buffer)

    def _read(self, buffer: mmap.mmap) -> None:
        begun = self._clock()
        rounds = 0
        while not self._rounds or rounds < self._rounds:
            for piece in self._pieces:
                self.bytes_read += os.preadv(self._descriptor, [buffer], piece * PIECE_BYTES)
                self.taken_ns = max(1, self._clock() - begun)
                if self.stop or self.taken_ns >= self._time_ns:
                    return
            rounds += 1


def _read_mb_s(descriptor: int, pieces: int, rounds: int, time_ns: int, clock: Clock) -> int:
    """What eight readers get together, in MB/s; `rounds` 0 is as many as the time allows."""
    readers = [_Reader(descriptor, first, pieces, rounds, time_ns, clock) for first in range(min(THREADS, pieces))]
    run_together(readers)  # the file is closed after this, and nobody reads on from its number
    for reader in readers:
        if reader.failure is not None:
            raise reader.failure
    return sum(reader.bytes_read * 1000 // reader.taken_ns for reader in readers)
