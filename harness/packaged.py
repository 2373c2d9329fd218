"""Data files that come with fakbench: in the package where a wheel put them, in the checkout's root otherwise."""

from __future__ import annotations

from pathlib import Path

from harness.errors import FakbenchError

_PACKAGE = Path(__file__).resolve().parent


def data_file(name: str) -> Path:
    """Where a data file is, by its path from the checkout's root. Raises `FakbenchError` where it is nowhere."""
    for folder in (_PACKAGE / "data", _PACKAGE.parent):
        path = folder / name
        if path.is_file():
            return path
    raise FakbenchError(f"{name} does not come with this installation; run from a checkout, or install fakbench again")
