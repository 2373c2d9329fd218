"""Turns of a session that list only what is new: each becomes the whole prompt that an engine would see.

Source: the delta form of Mooncake rows, of Dynamo and AIPerf. A prompt is the prompt before
it, with `delta+outputs` the answer to that one, and the turn's own tokens. Its blocks are the whole blocks of the
prompt before it and the ids of the turn: a last block that was partial has grown, and is another block. Left out: ids
that do not cover the answer; they would stand behind tokens without a name, and what they name is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.readers.problems import BAD_FIELD, BadLineError
from harness.readers.source import DELTA_OUTPUTS
from harness.trace import MAX_TOKENS

# What turns list may be repeated in full by many later turns. Past this it is no recording but an attack on memory.
_MOST_REFERENCES = 1 << 20
_MOST_REPETITION = 1000


@dataclass(slots=True)
class Prompt:
    """A whole prompt: its tokens, the ids of its blocks, and how many tokens at its end have none."""

    tokens: int
    ids: list[Any] = field(default_factory=list)
    unnamed_tokens: int = 0
    output_tokens: int = 0


class Deltas:
    """The sessions of a file whose turns are deltas, read as `mode`: "delta" or "delta+outputs"."""

    def __init__(self, mode: str, block_tokens: int) -> None:
        self._outputs = mode == DELTA_OUTPUTS
        self._block_tokens = block_tokens
        self._last: dict[str, Prompt] = {}
        self._listed = 0
        self._references = 0

    def turn(self, session: str, tokens: int, ids: list[Any], output_tokens: int, reset: bool) -> Prompt:
        """The prompt of a session's next turn. Raises `BadLineError` where it is longer than prompts may be."""
        before = self._last.get(session)
        if before is None or reset:
            now = Prompt(tokens, ids, 0 if ids else tokens, output_tokens)
        else:
            answer = before.output_tokens if self._outputs else 0
            total = before.tokens + answer + tokens
            if total > MAX_TOKENS:
                raise BadLineError(BAD_FIELD, f"the turns of this session add up to more than {MAX_TOKENS} tokens")
            if before.unnamed_tokens or not (ids or before.ids):
                unnamed = total - (before.tokens - before.unnamed_tokens)
                now = Prompt(total, before.ids, unnamed, output_tokens)
            else:
                whole = before.ids[: before.tokens // self._block_tokens]
                unnamed = 0 if ids else total - len(whole) * self._block_tokens
                now = Prompt(total, whole + ids, unnamed, output_tokens)
        self._listed += len(ids)
        self._references += len(now.ids)
        if self._references > max(_MOST_REFERENCES, _MOST_REPETITION * self._listed):
            raise BadLineError(
                BAD_FIELD, f"turns repeat what was listed before them more than {_MOST_REPETITION} times: no recording"
            )
        self._last[session] = now
        return now
