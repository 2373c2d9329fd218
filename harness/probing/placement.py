"""Putting memory on a chosen NUMA node without libnuma, and proving afterwards where it went.

Two ways: the kernel's own `mbind` call where it is allowed (containers often forbid it), else first touch from a CPU
of that node. A node without CPUs can only be reached by the first. Either way the kernel's count of this process's
pages by node decides: memory that cannot be shown to lie where it was meant to lie is not measured.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re

from harness.probing.tree import Tree

# The call's number by machine, from the kernel's own tables (asm/unistd_64.h, asm-generic/unistd.h).
_MBIND = {"x86_64": 237, "aarch64": 235}
_BIND = 2  # MPOL_BIND
_MASK_WORDS = 16
_WORD_BITS = 64

_PAGES = re.compile(r"\bN(\d{1,4})=(\d{1,16})\b", re.ASCII)
_PAGE_SIZE = re.compile(r"\bkernelpagesize_kB=(\d{1,9})\b", re.ASCII)


def bind(address: int, size_bytes: int, node: int) -> bool:
    """Ask the kernel to put the pages of a mapping on `node`; False where it cannot or may not be asked."""
    number = _MBIND.get(platform.machine())
    if number is None or not 0 <= node < _MASK_WORDS * _WORD_BITS:
        return False
    mask = (ctypes.c_uint64 * _MASK_WORDS)()
    mask[node // _WORD_BITS] = 1 << (node % _WORD_BITS)
    bits = _MASK_WORDS * _WORD_BITS + 1  # the kernel looks at one bit less
    call = ctypes.CDLL(None, use_errno=True).syscall
    done: int = call(
        ctypes.c_long(number),
        ctypes.c_void_p(address),
        ctypes.c_ulong(size_bytes),
        ctypes.c_int(_BIND),
        mask,
        ctypes.c_ulong(bits),
        ctypes.c_uint(0),
    )
    return done == 0


def bytes_by_node(tree: Tree) -> dict[int, int] | None:
    """The bytes of this process that lie on each node; None where the kernel does not tell."""
    maps = tree.text("proc/self/numa_maps")
    if not maps:
        return None
    found: dict[int, int] = {}
    for line in maps.splitlines():
        page = _PAGE_SIZE.search(line)
        for match in _PAGES.finditer(line) if page else ():
            found[int(match[1])] = found.get(int(match[1]), 0) + int(match[2]) * int(page[1] if page else 0) * 1024
    return found


def allowed_cpus() -> frozenset[int]:
    """The CPUs that this process may run on."""
    return frozenset(os.sched_getaffinity(0))


def pin(cpu: int) -> bool:
    """Keep the calling thread, and no other, on one CPU; False where it may not."""
    try:
        os.sched_setaffinity(0, {cpu})
    except OSError:
        return False
    return True
