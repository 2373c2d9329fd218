"""What every reader of KV events gives and every question about them takes: batches of events, as one engine sent them.

A block's hash is an integer of 64 bits, kept unsigned whether it came signed or not, or text: bytes are given as their
hexadecimal digits. Equal hashes name equal blocks, in every medium.
"""

from __future__ import annotations

from typing import NamedTuple

Hash = int | str

MAX_SEQ = 2**63 - 1


class Stored(NamedTuple):
    """Blocks that became resident, each the child of the one before it and the first a child of `parent`.

    `parent` None is the root. `token_count` is how many tokens the event says they hold together, or -1 where it does
    not; `block_tokens` is its block size, or 0. `medium` is the name as it came, None where it did not. `namespace` is
    what keeps equal tokens apart (an adapter, a salt), or "".
    """

    hashes: tuple[Hash, ...]
    parent: Hash | None
    token_count: int
    block_tokens: int
    medium: str | None
    group: int
    namespace: str


class Removed(NamedTuple):
    """Blocks of which one copy left a medium."""

    hashes: tuple[Hash, ...]
    medium: str | None
    group: int


class Cleared(NamedTuple):
    """Every block of the publisher's rank is gone, in every medium."""


Event = Stored | Removed | Cleared


class Batch(NamedTuple):
    """The events that a publisher sent in one message.

    `seq` is its number among the publisher's messages, or -1 where the recording has none; `ts_us` its time in
    microseconds, which paces but never orders; `rank` the data-parallel rank; `place` the line or message of the file.
    """

    publisher: str
    seq: int
    ts_us: int
    rank: int
    events: tuple[Event, ...]
    place: int
