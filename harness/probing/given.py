"""What a person says of a GPU that no probe saw: assumed, and marked so."""

from __future__ import annotations

from dataclasses import dataclass

from harness.catalog.figures import MAX_MEMORY_BYTES
from harness.catalog.magnitude import GIBIBYTE
from harness.probing.errors import ProbeError
from harness.units import parse_size

_MOST_MB_S = 10**9


@dataclass(frozen=True, slots=True)
class Given:
    """The GPU memory and its bandwidth that are to be assumed; 0 is not given."""

    hbm_bytes: int = 0
    hbm_mb_s: int = 0


def parse_given(bytes_text: str | None, mb_s: int | None) -> Given:
    """The figures that options give. Raises `SetupError` for what is not a size, `ProbeError` for what is no GPU's."""
    hbm_bytes = parse_size(bytes_text, "--hbm-bytes") if bytes_text is not None else 0
    if bytes_text is not None and not GIBIBYTE.least <= hbm_bytes <= MAX_MEMORY_BYTES:
        raise ProbeError(f"--hbm-bytes {bytes_text}: out of range; give 1GiB to 1024TiB, like 80GiB")
    if mb_s is not None and not 1 <= mb_s <= _MOST_MB_S:
        raise ProbeError(f"--hbm-mb-s {mb_s}: out of range; give 1 to {_MOST_MB_S}, like 3350000 for 3,350 GB/s")
    return Given(hbm_bytes, mb_s or 0)
