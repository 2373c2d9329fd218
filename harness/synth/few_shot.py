"""Single prompts: a system prompt that all share, the examples of a task that its prompts share, a question of its own.

Defaults follow the Mooncake tool & agent trace (FAST'25): its rate, mean lengths and reuse, and a first task that a
bit more than a third of the requests belong to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from harness.synth.arrivals import arrivals_ms
from harness.synth.draws import Draws, zipf_weights
from harness.synth.prompts import Blocks, Shared
from harness.synth.recipe import MAX_GAP_MS, MAX_PROMPT_TOKENS, MAX_REQUESTS, Paced, knob
from harness.synth.records import Record, Request
from harness.synth.shapes import TASK_NEW_TOKENS, TASK_OUTPUT_TOKENS, UNIFORM


class FewShot(Paced, tag="few-shot", frozen=True, kw_only=True):
    """Knobs of `few-shot`."""

    requests: Annotated[int, knob(1, MAX_REQUESTS, "requests")] = 2000
    mean_gap_ms: Annotated[int, knob(0, MAX_GAP_MS, "mean time between requests")] = 152
    tasks: Annotated[int, knob(1, 10_000, "tasks; task n is n times rarer than the first")] = 8
    system_tokens: Annotated[int, knob(0, MAX_PROMPT_TOKENS, "tokens of the system prompt")] = 880
    examples_tokens: Annotated[int, knob(0, MAX_PROMPT_TOKENS // 2, "mean tokens of a task's examples")] = 4448
    question_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "mean tokens of a question")] = 3268
    output_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "mean tokens of an answer")] = 182


def generate(recipe: FewShot) -> Iterator[Record]:
    """The requests, by time."""
    draws = Draws(recipe.seed)
    blocks = Blocks(recipe.block_tokens)
    system = Shared(recipe.system_tokens)
    lengths = Draws(recipe.seed, 1)
    tasks = [Shared(lengths.sample(UNIFORM, recipe.examples_tokens), system) for _ in range(recipe.tasks)]
    popularity = zipf_weights(recipe.tasks)
    for t_ms in arrivals_ms(Draws(recipe.seed, 2), recipe.requests, recipe.mean_gap_ms, recipe.burst):
        task = tasks[draws.weighted(popularity)]
        question = draws.sample(TASK_NEW_TOKENS, recipe.question_tokens, least=1)
        prompt = blocks.grow(task.prefix(blocks), question)
        output_tokens = draws.sample(TASK_OUTPUT_TOKENS, recipe.output_tokens, least=1)
        yield Request(t_ms, prompt.tokens, output_tokens, blocks.path(prompt))
