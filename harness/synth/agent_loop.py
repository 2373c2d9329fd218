"""Agents in a loop: a long prompt that grows by tool results, short answers, pauses, sub-agents and compactions.

Defaults follow 30 of the Weka agentic traces (kv-cache-tester). Their only sub-agent has a tool set of its own and
shares no block with its agent; here sub-agents begin with the agent's tools and system prompt, as a harness that
forks an agent does, unless `subagents_share` is 0.
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
from harness.synth.shapes import (
    AGENT_FIRST_TOKENS,
    AGENT_GAP,
    AGENT_OUTPUT_TOKENS,
    AGENT_STEP_TOKENS,
    AGENT_STEPS,
    UNIFORM,
)


class AgentLoop(Paced, tag="agent-loop", frozen=True, kw_only=True):
    """Knobs of `agent-loop`. A prompt that would pass the limit is compacted to tools, system prompt and a summary."""

    sessions: Annotated[int, knob(1, MAX_REQUESTS, "agents")] = 100
    mean_gap_ms: Annotated[int, knob(0, MAX_GAP_MS, "mean time between agents' beginnings")] = 60_000
    products: Annotated[int, knob(1, 10_000, "sets of tools and system prompt, each as likely")] = 4
    prefix_tokens: Annotated[int, knob(0, MAX_PROMPT_TOKENS, "tokens of tools and system prompt")] = 14_532
    first_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "mean tokens an agent begins with after them")] = 45_050
    steps: Annotated[int, knob(1, 10_000, "mean steps of an agent")] = 74
    step_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "mean new tokens of a step: tool results")] = 1287
    output_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "mean tokens of an answer")] = 393
    pause_ms: Annotated[int, knob(1, MAX_GAP_MS, "mean time from a step to the next")] = 81_975
    limit_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "tokens of the longest prompt")] = 240_000
    summary_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "mean tokens of a compaction's summary")] = 60_000
    subagent_ppm: Annotated[int, knob(0, 1_000_000, "steps that start sub-agents")] = 10_000
    subagents: Annotated[int, knob(1, 64, "most sub-agents started at once, each number as likely")] = 3
    subagent_steps: Annotated[int, knob(1, 10_000, "mean steps of a sub-agent")] = 11
    subagent_tokens: Annotated[int, knob(1, MAX_PROMPT_TOKENS, "mean tokens of a sub-agent's task")] = 1400
    subagent_pause_ms: Annotated[int, knob(1, MAX_GAP_MS, "mean time from a sub-agent's step to the next")] = 9400
    subagents_share: Annotated[int, knob(0, 1, "1: they begin with the agent's tools and system prompt")] = 1

    def __post_init__(self) -> None:
        if self.prefix_tokens >= self.limit_tokens:
            raise ValueError("`prefix_tokens` must be below `limit_tokens`")


def generate(recipe: AgentLoop) -> Iterator[Record]:
    """The steps of all agents and sub-agents, by time."""
    return interleave(_agents(recipe), Blocks(recipe.block_tokens))


def _agents(recipe: AgentLoop) -> Iterator[Session]:
    products = [Shared(recipe.prefix_tokens) for _ in range(recipe.products)]
    others = products if recipe.subagents_share else [Shared(recipe.prefix_tokens) for _ in products]
    beginnings = arrivals_ms(Draws(recipe.seed), recipe.sessions, recipe.mean_gap_ms, recipe.burst)
    for number, t_ms in enumerate(beginnings, start=1):
        draws = Draws(recipe.seed, number)
        product = draws.below(recipe.products)
        name = f"agent-{number}"
        yield Session(name, products[product], _steps(recipe, draws, t_ms, name, others[product]))


def _steps(recipe: AgentLoop, draws: Draws, t_ms: int, name: str, subagent_root: Shared) -> Iterator[Turn]:
    most = recipe.limit_tokens - recipe.prefix_tokens
    room = most
    new_tokens = min(most, draws.sample(AGENT_FIRST_TOKENS, recipe.first_tokens, least=1))
    started = 0
    for _ in range(draws.sample(AGENT_STEPS, recipe.steps, least=1)):
        compacted = new_tokens > room
        if compacted:
            new_tokens = min(most, draws.sample(UNIFORM, recipe.summary_tokens, least=1))
            room = most
        room -= new_tokens
        output_tokens = draws.sample(AGENT_OUTPUT_TOKENS, recipe.output_tokens, least=1)
        spawned: list[Session] = []
        next_ms = t_ms + draws.sample(AGENT_GAP, recipe.pause_ms, least=1)
        if draws.chance(recipe.subagent_ppm):
            # The agent goes on when the last of them has answered: a sub-agent's pause after its last step.
            for _ in range(1 + draws.below(recipe.subagents)):
                started += 1
                turns, done_ms = _subagent(recipe, draws, t_ms)
                spawned.append(Session(f"{name}/sub-{started}", subagent_root, iter(turns)))
                next_ms = max(next_ms, done_ms)
        yield Turn(t_ms, new_tokens, output_tokens, compacted, tuple(spawned))
        t_ms = next_ms
        room -= output_tokens
        new_tokens = draws.sample(AGENT_STEP_TOKENS, recipe.step_tokens, least=1)


def _subagent(recipe: AgentLoop, draws: Draws, t_ms: int) -> tuple[list[Turn], int]:
    """The steps of a sub-agent that is started by the step at `t_ms`, and when its last answer is there."""
    turns: list[Turn] = []
    room = recipe.limit_tokens - recipe.prefix_tokens
    new_tokens = min(room, draws.sample(UNIFORM, recipe.subagent_tokens, least=1))
    for _ in range(draws.sample(UNIFORM, recipe.subagent_steps, least=1)):
        if new_tokens > room:
            break
        room -= new_tokens
        t_ms += draws.sample(UNIFORM, recipe.subagent_pause_ms, least=1)
        output_tokens = draws.sample(AGENT_OUTPUT_TOKENS, recipe.output_tokens, least=1)
        turns.append(Turn(t_ms, new_tokens, output_tokens))
        room -= output_tokens
        new_tokens = draws.sample(AGENT_STEP_TOKENS, recipe.step_tokens, least=1)
    return turns, t_ms + draws.sample(UNIFORM, recipe.subagent_pause_ms, least=1)
