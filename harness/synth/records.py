"""What a workload yields, in time order: requests, and accesses to one named span."""

from __future__ import annotations

from dataclasses import dataclass

from policy.identity import NOT_STATED, Identity


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt that arrives at `t_ms`: its blocks from the root, the tokens of its answer, and who asks."""

    t_ms: int
    input_tokens: int
    output_tokens: int
    blocks: list[int]
    session: str = ""
    identity: Identity = NOT_STATED


@dataclass(frozen=True, slots=True)
class Access:
    """A request whose whole path is one span of `tokens` tokens and `span_bytes` bytes."""

    t_ms: int
    span: str
    tokens: int
    span_bytes: int


Record = Request | Access
