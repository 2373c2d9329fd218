"""What may go wrong in a probe, as a sentence for a person."""

from __future__ import annotations

from harness.errors import FakbenchError


class ProbeError(FakbenchError):
    """A probe that cannot be made as it was asked for. The message says what to change."""


class NotMeasuredError(ProbeError):
    """One measurement that could not be made soundly. The message is the reason; the probe goes on without it."""
