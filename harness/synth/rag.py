"""Questions behind retrieved documents: instructions, then the documents, then the question, so that prefixes repeat.

A few documents take most retrievals: by default 3 % take 60 %, as RAGCache (arXiv 2404.12457) reports. A prefix
repeats only where the same documents come in the same order, so `sort_documents` puts the most popular first.
Memory grows with the number of distinct sequences of documents, a few hundred bytes each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from harness.synth.arrivals import arrivals_ms
from harness.synth.draws import PPM, Draws
from harness.synth.prompts import Blocks, Prefix, Shared
from harness.synth.recipe import MAX_BLOCK_TOKENS, MAX_GAP_MS, MAX_PROMPT_TOKENS, MAX_REQUESTS, Paced, knob
from harness.synth.records import Request
from harness.synth.shapes import CODE_OUTPUT_TOKENS, UNIFORM


class Rag(Paced, tag="rag", frozen=True, kw_only=True):
    """Knobs of `rag`."""

    requests: Annotated[int, knob(1, MAX_REQUESTS, "requests")] = 2000
    block_tokens: Annotated[int, knob(1, MAX_BLOCK_TOKENS, "tokens of a block")] = 16
    mean_gap_ms: Annotated[int, knob(0, MAX_GAP_MS, "mean time between requests")] = 500
    documents: Annotated[int, knob(1, 1_000_000, "documents")] = 2000
    hot_documents_ppm: Annotated[int, knob(0, 1_000_000, "documents that are popular")] = 30_000
    hot_draws_ppm: Annotated[int, knob(0, 1_000_000, "retrievals that fall on the popular ones")] = 600_000
    top_k: Annotated[int, knob(1, 64, "documents of a prompt, all different")] = 5
    sort_documents: Annotated[int, knob(0, 1, "1: the most popular first; 0: as they were retrieved")] = 1
    system_tokens: Annotated[int, knob(0, MAX_PROMPT_TOKENS, "tokens of the instructions")] = 200
    document_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS // 128, "mean tokens of a document")] = 320
    question_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS // 2, "mean tokens of a question")] = 100
    output_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "mean tokens of an answer")] = 128

    def __post_init__(self) -> None:
        if self.top_k > self.documents:
            raise ValueError("`top_k` must not be above `documents`")


def generate(recipe: Rag) -> Iterator[Request]:
    """The requests, by time."""
    draws = Draws(recipe.seed)
    blocks = Blocks(recipe.block_tokens)
    system = Shared(recipe.system_tokens)
    lengths = Draws(recipe.seed, 1)
    sizes = [lengths.sample(UNIFORM, recipe.document_tokens, least=1) for _ in range(recipe.documents)]
    behind: dict[tuple[int, ...], Prefix] = {}
    for t_ms in arrivals_ms(Draws(recipe.seed, 2), recipe.requests, recipe.mean_gap_ms, recipe.burst):
        prompt = system.prefix(blocks)
        retrieved = retrieve(recipe, draws)
        for count in range(1, recipe.top_k + 1):
            sequence = retrieved[:count]
            if sequence not in behind:
                behind[sequence] = blocks.grow(prompt, sizes[sequence[-1]])
            prompt = behind[sequence]
        prompt = blocks.grow(prompt, draws.sample(UNIFORM, recipe.question_tokens, least=1))
        output_tokens = draws.sample(CODE_OUTPUT_TOKENS, recipe.output_tokens, least=1)
        yield Request(t_ms, prompt.tokens, output_tokens, blocks.path(prompt))


def retrieve(recipe: Rag, draws: Draws) -> tuple[int, ...]:
    """`top_k` different documents; document 0 is the most popular. A repeat takes the next document after it."""
    hot = recipe.documents * recipe.hot_documents_ppm // PPM
    found: list[int] = []
    while len(found) < recipe.top_k:
        popular = draws.chance(recipe.hot_draws_ppm)
        first, last = (0, hot) if popular else (hot, recipe.documents)
        if first == last:
            first, last = 0, recipe.documents
        document = first + draws.below(last - first)
        while document in found:
            document = (document + 1) % recipe.documents
        found.append(document)
    return tuple(sorted(found) if recipe.sort_documents else found)
