"""Prompts that share nothing: the negative control, on which no cache of any size may save anything.

Defaults follow the Azure LLM inference trace 2023, code: its rate and lengths. That trace names no prefixes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from harness.synth.arrivals import arrivals_ms
from harness.synth.draws import Draws
from harness.synth.prompts import EMPTY, Blocks
from harness.synth.recipe import MAX_BLOCK_TOKENS, MAX_GAP_MS, MAX_PROMPT_TOKENS, MAX_REQUESTS, Paced, knob
from harness.synth.records import Record, Request
from harness.synth.shapes import CODE_INPUT_TOKENS, CODE_OUTPUT_TOKENS


class Batch(Paced, tag="batch", frozen=True, kw_only=True):
    """Knobs of `batch`."""

    requests: Annotated[int, knob(1, MAX_REQUESTS, "requests")] = 2000
    block_tokens: Annotated[int, knob(1, MAX_BLOCK_TOKENS, "tokens of a block")] = 16
    mean_gap_ms: Annotated[int, knob(0, MAX_GAP_MS, "mean time between requests")] = 390
    input_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "mean tokens of a prompt")] = 2048
    output_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "mean tokens of an answer")] = 28


def generate(recipe: Batch) -> Iterator[Record]:
    """The requests, by time."""
    draws = Draws(recipe.seed)
    blocks = Blocks(recipe.block_tokens)
    for t_ms in arrivals_ms(Draws(recipe.seed, 1), recipe.requests, recipe.mean_gap_ms, recipe.burst):
        prompt = blocks.grow(EMPTY, draws.sample(CODE_INPUT_TOKENS, recipe.input_tokens, least=1))
        output_tokens = draws.sample(CODE_OUTPUT_TOKENS, recipe.output_tokens, least=1)
        yield Request(t_ms, prompt.tokens, output_tokens, blocks.path(prompt))
