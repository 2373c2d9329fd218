"""What a person may ask of a curve, from its spelling on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.arguments import parse_capacities
from harness.errors import SetupError
from harness.trace import MAX_TOKENS
from harness.units import parse_duration_us
from policy.cost import PPM


@dataclass(frozen=True, slots=True)
class CurveOptions:
    """`splits` are capacities by tier code, 0 being unbounded; `window_us` of 0 is none; `rate_ppm` is the sample."""

    span_tokens: int
    splits: tuple[dict[int, int], ...]
    window_us: int
    rate_ppm: int


def curve_options(span_tokens: int, at: Iterable[str], window: str, sample: int) -> CurveOptions:
    """The options of a curve. Raises `SetupError` for what is not understood."""
    if not 0 <= span_tokens <= MAX_TOKENS:
        raise SetupError(f"--span-tokens {span_tokens}: out of range; give 0 (one block) to {MAX_TOKENS}")
    if not 1 <= sample <= PPM:
        raise SetupError(f"--sample {sample}: out of range; give 1 to {PPM} spans of a million ({PPM} is exact)")
    splits = tuple(parse_capacities(text.split(","), "--at") for text in at)
    return CurveOptions(span_tokens, splits, parse_duration_us(window, "--window"), sample)
