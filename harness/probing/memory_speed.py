"""Memory bandwidth by large copies: one thread for each CPU, the C library's copy, no interpreter in the loop.

Source: STREAM's Copy kernel (McCalpin), which counts a copied byte twice, read and written. `ctypes` gives the
interpreter lock back during a copy, so the threads really run together. What comes out is a lower bound of what the
memory can do: fewer CPUs than it takes to fill the bus reach less. Latency is not measured: a chain of dependent
loads written in Python times the interpreter, a hundred times the memory.
"""

from __future__ import annotations

import ctypes
import mmap
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.probing.bounds import Clock
from harness.probing.errors import NotMeasuredError
from harness.probing.placement import bind, bytes_by_node, pin
from harness.probing.tree import Tree
from harness.probing.workers import Worker, run_together
from harness.units import size

MOST_THREADS = 64
# Pages are placed whole, and this process grows a little beside its buffers.
_PLACED_PER_CENT = 95
# Long enough for the slowest of the threads to touch its memory.
_PATIENCE_S = 120


@dataclass(frozen=True, slots=True)
class Reader:
    """One copying thread: the CPU it runs on, the node its memory lies on, a CPU of that node (None: it has none)."""

    cpu: int
    node: int
    touch_cpu: int | None


@dataclass(frozen=True, slots=True)
class Hands:
    """What a measurement asks of the system, so that a test can give other hands."""

    clock: Clock
    pin: Callable[[int], bool] = pin
    bind: Callable[[int, int, int], bool] = bind
    bytes_by_node: Callable[[Tree], dict[int, int] | None] = bytes_by_node


class _Copier(Worker):
    """Puts two buffers on a node, waits for the others, copies one to the other until the time is over."""

    def __init__(self, reader: Reader, half_bytes: int, time_ns: int, hands: Hands, gate: threading.Barrier) -> None:
        super().__init__()
        self._reader, self._half_bytes, self._time_ns = reader, half_bytes, time_ns
        self._hands, self._gate = hands, gate
        self._buffers: list[mmap.mmap] = []
        self.mb_s = 0

    def work(self) -> None:
        try:
            source, target = self._placed(), self._placed()
            if not self._hands.pin(self._reader.cpu):
                raise NotMeasuredError(f"a thread may not be kept on CPU {self._reader.cpu}")
        except BaseException:
            self._gate.abort()
            raise
        try:
            self._gate.wait(_PATIENCE_S)
        except threading.BrokenBarrierError:  # another one says why
            return
        self._copy(source, target)

    def end(self) -> None:
        super().end()
        self._gate.abort()

    def _placed(self) -> int:
        """The address of a buffer that lies on the node: bound there, or first touched from there."""
        buffer = mmap.mmap(-1, self._half_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._buffers.append(buffer)
        address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
        bound = self._hands.bind(address, self._half_bytes, self._reader.node)
        if not bound and (self._reader.touch_cpu is None or not self._hands.pin(self._reader.touch_cpu)):
            raise NotMeasuredError(
                f"memory cannot be put on node {self._reader.node}: the kernel refuses to bind it,"
                " and no CPU of that node may be used to touch it first"
            )
        ctypes.memset(address, 1, self._half_bytes)
        return address

    def _copy(self, source: int, target: int) -> None:
        begun = now = self._hands.clock()
        copied = 0
        while not self.stop and now - begun < self._time_ns:
            ctypes.memmove(target, source, self._half_bytes)
            copied += self._half_bytes
            now = self._hands.clock()
        self.mb_s = 2 * copied * 1000 // max(1, now - begun)

    def release(self) -> None:
        """Give the buffers back, unless they are still being copied into."""
        for buffer in self._buffers if self.done.is_set() else ():
            buffer.close()


def copy_mb_s(
    readers: Sequence[Reader], total_bytes: int, time_ns: int, hands: Hands, verify: Tree | None = None
) -> int:
    """What `readers` copy together in MB/s, read and written bytes counted, with buffers of `total_bytes` in all.

    With `verify` the pages must be shown to lie on the nodes they were meant for. Raises `NotMeasuredError`.
    """
    half_bytes = total_bytes // (2 * len(readers)) // mmap.PAGESIZE * mmap.PAGESIZE
    if not half_bytes:
        raise NotMeasuredError(f"{total_bytes} bytes are too few for {len(readers)} threads")
    before = hands.bytes_by_node(verify) if verify is not None else None
    gate = threading.Barrier(len(readers))
    copiers = [_Copier(reader, half_bytes, time_ns, hands, gate) for reader in readers]
    try:
        run_together(copiers)
        if failed := [copier.failure for copier in copiers if copier.failure is not None]:
            raise _reason(failed[0])
        if not all(copier.mb_s for copier in copiers):
            raise NotMeasuredError("the threads did not get to copy together in time")
        if verify is not None:
            _check_placement(readers, 2 * half_bytes, before, hands.bytes_by_node(verify))
    except RuntimeError as error:
        raise NotMeasuredError(f"threads cannot be started ({error})") from None
    finally:
        for copier in copiers:
            copier.release()
    return sum(copier.mb_s for copier in copiers)


def _reason(failure: Exception) -> NotMeasuredError:
    if isinstance(failure, NotMeasuredError):
        return failure
    return NotMeasuredError(f"a thread failed ({type(failure).__name__}: {failure})")


def _check_placement(
    readers: Sequence[Reader], bytes_each: int, before: dict[int, int] | None, after: dict[int, int] | None
) -> None:
    if before is None or after is None:
        raise NotMeasuredError("the kernel does not tell on which node memory lies (proc/self/numa_maps)")
    meant: dict[int, int] = {}
    for reader in readers:
        meant[reader.node] = meant.get(reader.node, 0) + bytes_each
    for node, wanted in sorted(meant.items()):
        found = after.get(node, 0) - before.get(node, 0)
        if found * 100 < wanted * _PLACED_PER_CENT:
            raise NotMeasuredError(f"only {size(max(0, found))} of {size(wanted)} came to lie on node {node}")
