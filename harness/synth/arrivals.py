"""When things begin: a Poisson process, or groups that begin together, at a given mean rate.

Real arrivals are burstier than that (ServeGen, arXiv 2505.09999, fits Gamma and Weibull gaps); `burst` is the integer
way to say so: that many begin at the same millisecond, and the gaps between groups are as many times longer.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.synth.draws import Draws
from harness.synth.shapes import EXPONENTIAL


def arrivals_ms(draws: Draws, count: int, mean_gap_ms: int, burst: int) -> Iterator[int]:
    """`count` rising times, the first of them 0, `mean_gap_ms` apart on average."""
    t_us = 0
    for number in range(count):
        if number and number % burst == 0:
            t_us += draws.sample(EXPONENTIAL, mean_gap_ms * burst * 1000)
        yield t_us // 1000
