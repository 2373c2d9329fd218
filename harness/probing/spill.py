"""The spill directory: how much of its file system is free, and whether that is a disk at all.

A directory in memory (`/tmp` often is one) would prove the same bytes twice, as DRAM and as disk.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from harness.probing.errors import ProbeError
from harness.probing.readings import Spill
from harness.probing.tree import Tree

IN_MEMORY = ("tmpfs", "ramfs", "hugetlbfs", "devtmpfs")
OVER_NETWORK = ("nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "gpfs", "beegfs", "9p", "virtiofs", "afs")


def read_spill(directory: Path, tree: Tree) -> Spill:
    """What the file system of `directory` has free for an unprivileged user. Raises `ProbeError` where it is none."""
    try:
        if not directory.is_dir():
            raise ProbeError(f"--spill {directory}: is not a directory; name the one that KV would be spilled to")
        found = os.statvfs(directory)
    except OSError as error:
        raise ProbeError(f"--spill {directory}: cannot be read ({error.strerror}); name another directory") from None
    kind = _mounted_kind(tree.text("proc/self/mountinfo") or "", directory.resolve())
    return Spill(found.f_bavail * found.f_frsize, kind)


def _mounted_kind(mountinfo: str, directory: Path) -> str:
    """The type of the file system mounted nearest above `directory`, the last of those mounted at one place."""
    best = ("", "")
    for line in mountinfo.splitlines():
        mounted, _, source = line.partition(" - ")
        fields = mounted.split(" ")
        if len(fields) < 5 or not source:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[4])
        if directory.is_relative_to(PurePosixPath(point)) and len(point) >= len(best[0]):
            best = (point, source.split(" ")[0])
    return best[1]
