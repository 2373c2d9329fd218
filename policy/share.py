"""How the bytes of a span can be shared without copying them: share kinds, and the descriptor of one shared span.

Source: the original plane's share kinds. Its test for zero-copy is "not the empty string", kept here as it is, so a
missing kind is safe but an unrecognised one (even the word `copy`) counts as zero-copy: whoever reads kinds from
outside asks `known_share_kind` first and refuses the rest.
"""

from dataclasses import dataclass

COPY = ""
MMAP = "mmap"
CXL_HDM = "cxl_hdm"
RDMA = "rdma"
DMABUF = "dmabuf"

SHARE_KINDS = (COPY, MMAP, CXL_HDM, RDMA, DMABUF)


def known_share_kind(kind: str) -> bool:
    """Whether `kind` is one of `SHARE_KINDS`, case sensitive."""
    return kind in SHARE_KINDS


def zero_copy(kind: str) -> bool:
    """Whether a span of this kind is used without copying it: any kind that is not the empty string."""
    return kind != COPY


@dataclass(frozen=True)
class ShareDescriptor:
    """One span's share: its kind, the opaque handle by which another process maps it, and whether it is coherent.

    The zero value is a copy. A handle is never looked into, so a zero-copy kind without one still counts.
    """

    kind: str = COPY
    handle: str = ""
    coherent: bool = False

    def zero_copy(self) -> bool:
        """Whether the kind is zero-copy; handle and coherence play no part."""
        return zero_copy(self.kind)
