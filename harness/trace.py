"""A trace in memory: columns of integers, blocks interned in order of first appearance.

Blocks name whole prefixes, so the blocks of a trace form a forest: `block_parent` is that forest. Names
(of any type and width) live only in `block_names`; everything after reading works on dense integers.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from policy.identity import AXIS_NAMES, Identity

NO_BLOCK = -1

# What a trace may state of whose KV a request's is: every axis but `session`, which is a column of its own.
IDENTITY_AXES = tuple(axis for axis in AXIS_NAMES if axis != "session")

# Every integer is bounded where it is read, so that no later product passes 2**62 (compiled integers wrap).
MAX_TIME_US = 2**53
MAX_TOKENS = 2**24
MAX_BLOCK_TOKENS = 2**20
MAX_BLOCK_BYTES = 2**50


@dataclass(slots=True)
class Control:
    """A `clear`, `fault` or `pressure` event. `tier` is a tier name, or "" for every tier (clear only).

    `before_request` is the position in file order: the event falls before the request with that index.
    `value` is the end of a fault window in microseconds, or a pressure in parts per million.
    """

    kind: str
    t_us: int
    before_request: int
    tier: str
    value: int


@dataclass(slots=True)
class Trace:
    """What a reader returns: requests in file order, and what had to be said about the file.

    Request `r` arrives at `t_us[r]` and its path is `path[path_start[r]:path_start[r + 1]]`, root first.
    Tokens of a request that no block names are `unidentified`: always computed, never cached.
    """

    name: str = ""
    format: str = ""
    sha256: str = ""
    block_tokens: int = 0
    notes: str = ""

    t_us: array[int] = field(default_factory=lambda: array("q"))
    input_tokens: array[int] = field(default_factory=lambda: array("q"))
    output_tokens: array[int] = field(default_factory=lambda: array("q"))
    unidentified_tokens: array[int] = field(default_factory=lambda: array("q"))
    namespace: array[int] = field(default_factory=lambda: array("q"))
    session: array[int] = field(default_factory=lambda: array("q"))
    # By request, into `identities`; empty where the format states none.
    identity: array[int] = field(default_factory=lambda: array("q"))
    path_start: array[int] = field(default_factory=lambda: array("q", [0]))
    path: array[int] = field(default_factory=lambda: array("q"))

    block_parent: array[int] = field(default_factory=lambda: array("q"))
    block_size_tokens: array[int] = field(default_factory=lambda: array("q"))
    # Bytes of a block where the trace states them (native `access`), else 0: tokens times KV bytes per token.
    block_size_bytes: array[int] = field(default_factory=lambda: array("q"))
    block_names: list[object] = field(default_factory=list)

    namespaces: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    identities: list[Identity] = field(default_factory=list)
    controls: list[Control] = field(default_factory=list)
    # What was noticed and accepted, or (leniently) left out: kind -> count, in order of first appearance.
    notices: dict[str, int] = field(default_factory=dict)
    # How the file was understood, and who said so: convention -> "value (format, declared, detected, default or set)".
    conventions: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def requests(self) -> int:
        return len(self.t_us)

    def blocks_of(self, request: int) -> Sequence[int]:
        return self.path[self.path_start[request] : self.path_start[request + 1]]
