"""Conversations that grow turn by turn after a shared system prompt, with a person's pauses between the turns.

Defaults follow the Mooncake conversation trace (FAST'25): its request rate, lengths, pauses and share of later turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from harness.synth.arrivals import arrivals_ms
from harness.synth.draws import Draws
from harness.synth.prompts import Blocks, Shared
from harness.synth.recipe import MAX_GAP_MS, MAX_PROMPT_TOKENS, MAX_REQUESTS, Paced, knob
from harness.synth.records import Record
from harness.synth.sessions import Session, Turn, interleave
from harness.synth.shapes import CHAT_FIRST_TOKENS, CHAT_GAP, CHAT_LATER_TOKENS, CHAT_OUTPUT_TOKENS


class MultiTurnChat(Paced, tag="multi-turn-chat", frozen=True, kw_only=True):
    """Knobs of `multi-turn-chat`. A conversation ends where its prompt would pass the limit."""

    sessions: Annotated[int, knob(1, MAX_REQUESTS, "conversations")] = 1000
    mean_gap_ms: Annotated[int, knob(0, MAX_GAP_MS, "mean time between conversations' beginnings")] = 480
    system_prompts: Annotated[int, knob(1, 10_000, "system prompts, each as likely")] = 1
    system_tokens: Annotated[int, knob(0, MAX_PROMPT_TOKENS, "tokens of a system prompt")] = 880
    first_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "mean tokens a conversation begins with after it")] = 9885
    later_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "mean new tokens of a later turn")] = 1258
    output_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "mean tokens of an answer")] = 343
    think_ms: Annotated[int, knob(1, MAX_GAP_MS, "mean time from a turn to the next")] = 214_708
    second_turn_ppm: Annotated[int, knob(0, 1_000_000, "conversations that have a second turn")] = 307_000
    next_turn_ppm: Annotated[int, knob(0, 990_000, "later turns that another one follows")] = 514_000
    limit_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "tokens of the longest prompt")] = 131_072

    def __post_init__(self) -> None:
        if self.system_tokens >= self.limit_tokens:
            raise ValueError("`system_tokens` must be below `limit_tokens`")


def generate(recipe: MultiTurnChat) -> Iterator[Record]:
    """The turns of all conversations, by time."""
    prompts = [Shared(recipe.system_tokens) for _ in range(recipe.system_prompts)]
    return interleave(_sessions(recipe, prompts), Blocks(recipe.block_tokens))


def _sessions(recipe: MultiTurnChat, prompts: list[Shared]) -> Iterator[Session]:
    beginnings = arrivals_ms(Draws(recipe.seed), recipe.sessions, recipe.mean_gap_ms, recipe.burst)
    for number, t_ms in enumerate(beginnings, start=1):
        draws = Draws(recipe.seed, number)
        prompt = prompts[draws.below(recipe.system_prompts)]
        yield Session(f"chat-{number}", prompt, _turns(recipe, draws, t_ms))


def _turns(recipe: MultiTurnChat, draws: Draws, t_ms: int) -> Iterator[Turn]:
    room = recipe.limit_tokens - recipe.system_tokens
    new_tokens = min(room, draws.sample(CHAT_FIRST_TOKENS, recipe.first_tokens, least=1))
    goes_on_ppm = recipe.second_turn_ppm
    while new_tokens <= room:
        room -= new_tokens
        output_tokens = draws.sample(CHAT_OUTPUT_TOKENS, recipe.output_tokens, least=1)
        yield Turn(t_ms, new_tokens, output_tokens)
        if not draws.chance(goes_on_ppm):
            return
        goes_on_ppm = recipe.next_turn_ppm
        room -= output_tokens
        t_ms += draws.sample(CHAT_GAP, recipe.think_ms, least=1)
        new_tokens = draws.sample(CHAT_LATER_TOKENS, recipe.later_tokens, least=1)
