"""Block names of a prompt, as an engine that hashes whole blocks gives them: a name stands for the whole prefix.

Two prompts share a block exactly if they agree on every token up to its end. So a block that straddles the end of a
shared prefix is each prompt's own, and the partial last block of a prompt has a name of its own: the prompt that
extends it completes that block with other tokens, under another name. Names count up from 0 in order of appearance.
"""

from __future__ import annotations

from typing import NamedTuple


class Prefix(NamedTuple):
    """The beginning of a prompt, `tokens` long: the complete blocks of `parent`, then a run of new ones."""

    parent: Prefix | None
    first_block: int
    block_count: int
    tokens: int


EMPTY = Prefix(None, 0, 0, 0)


class Blocks:
    """Hands out the names of one trace's blocks, `block_tokens` tokens each."""

    __slots__ = ("_next", "block_tokens")

    def __init__(self, block_tokens: int) -> None:
        self.block_tokens = block_tokens
        self._next = 0

    def grow(self, prefix: Prefix, tokens: int) -> Prefix:
        """`prefix` with `tokens` tokens after it that no other prompt has; only blocks that they complete get names."""
        total = prefix.tokens + tokens
        count = total // self.block_tokens - prefix.tokens // self.block_tokens
        # A run of no blocks adds nothing to a path: leave it out of the chain.
        parent = prefix if prefix.block_count else prefix.parent
        return Prefix(parent, self._take(count), count, total)

    def path(self, prefix: Prefix) -> list[int]:
        """The blocks of a prompt that ends where `prefix` does, root first, its own partial last block included."""
        runs = []
        run: Prefix | None = prefix
        while run is not None:
            runs.append(run)
            run = run.parent
        blocks: list[int] = []
        for run in reversed(runs):
            blocks.extend(range(run.first_block, run.first_block + run.block_count))
        if prefix.tokens % self.block_tokens:
            blocks.append(self._take(1))
        return blocks

    def _take(self, count: int) -> int:
        first = self._next
        self._next += count
        return first


class Shared:
    """A prefix that many prompts begin with: `tokens` tokens after `parent`. Named when the first prompt needs it."""

    __slots__ = ("_parent", "_prefix", "_tokens")

    def __init__(self, tokens: int, parent: Shared | None = None) -> None:
        self._tokens = tokens
        self._parent = parent
        self._prefix: Prefix | None = None

    def prefix(self, blocks: Blocks) -> Prefix:
        if self._prefix is None:
            above = self._parent.prefix(blocks) if self._parent else EMPTY
            self._prefix = blocks.grow(above, self._tokens)
        return self._prefix
