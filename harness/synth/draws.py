"""Chance in integers: every draw is bits of a seeded Mersenne Twister, so a recipe gives the same trace everywhere.

Only `random.Random(seed).getrandbits` is used: Python keeps its output the same across versions and platforms, which
it does not promise for the distributions of the `random` module, and floating-point logarithms differ between
C libraries. Distributions are therefore integer quantile tables with integer interpolation.
"""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Sequence

# A distribution with its mean taken as 1000: rising points (quantile in per mille, value in per mille of the mean),
# from quantile 0 to 1000, straight between them.
Shape = tuple[tuple[int, int], ...]

PPM = 1_000_000
_RESOLUTION_BITS = 32
# Streams of one seed never overlap: the stream's number sits above every seed that a recipe may name.
_SEED_BITS = 64


class Draws:
    """A stream of draws. Streams of one seed are independent, so that a longer trace begins like a shorter one."""

    __slots__ = ("_bits",)

    def __init__(self, seed: int, stream: int = 0) -> None:
        # Nothing here is secret, and a trace has to come again: a seeded generator is what is wanted.
        self._bits = random.Random((stream << _SEED_BITS) | seed).getrandbits  # noqa: S311

    def below(self, count: int) -> int:
        """A whole number from 0 to `count` - 1, each as likely (to within `count` / 2**64)."""
        return self._bits(64) * count >> 64

    def chance(self, ppm: int) -> bool:
        """True in `ppm` of a million cases."""
        return self.below(PPM) < ppm

    def sample(self, shape: Shape, mean: int, least: int = 0) -> int:
        """A value distributed like `shape` around `mean` (any unit), rounded to the nearest, at least `least`."""
        at = self._bits(_RESOLUTION_BITS) * 1000
        upper = bisect.bisect_right(shape, at >> _RESOLUTION_BITS, key=_quantile)
        low, low_value = shape[upper - 1]
        high, high_value = shape[upper]
        into = at - (low << _RESOLUTION_BITS)
        width = (high - low) << _RESOLUTION_BITS
        # The value times `width`, so that only one division rounds.
        scaled = low_value * width + (high_value - low_value) * into
        return max(least, (mean * scaled + 500 * width) // (1000 * width))

    def weighted(self, cumulative: Sequence[int]) -> int:
        """An index into `cumulative` weights (rising), as likely as its weight."""
        return bisect.bisect_right(cumulative, self.below(cumulative[-1]))


def zipf_weights(count: int) -> list[int]:
    """Cumulative weights of a Zipf distribution with exponent 1 over `count` ranks, the most popular first."""
    return list(itertools.accumulate(PPM // rank for rank in range(1, count + 1)))


def _quantile(point: tuple[int, int]) -> int:
    return point[0]
