"""Fixtures every test file may use."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Data that is not part of the repository: vectors, real traces, bad inputs. Where it is absent, skip visibly."""
    if not SHARED.is_dir():
        pytest.skip("../shared is absent: real traces and vectors are not part of the repository")
    return SHARED


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout's root."""
    return ROOT
