"""A native trace of as many block references as asked for: chats whose prompts grow, the same bytes every time.

Every chat begins with one of a few system prompts; a turn appends blocks of its own, and after a number of turns the
chat ends and another takes its place. Blocks are numbered as they appear.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

BLOCK_TOKENS = 16
CHATS = 64
SYSTEM_BLOCKS = 40
TURN_BLOCKS = 16
TURNS = 20


def lines(references: int) -> Iterator[str]:
    """The lines of the trace, header first; at least as many references."""
    yield f'{{"kind":"trace","schema":"fakbench.trace/1","block_tokens":{BLOCK_TOKENS},"name":"big"}}\n'
    system: list[int] = []
    chats: list[list[int]] = [[] for _ in range(CHATS)]
    blocks = written = request = 0
    while written < references:
        chat = request % CHATS
        path = chats[chat]
        if not path or len(path) > SYSTEM_BLOCKS + TURNS * TURN_BLOCKS:
            if not system:
                system, blocks = list(range(SYSTEM_BLOCKS)), SYSTEM_BLOCKS
            path = chats[chat] = list(system)
        path += range(blocks, blocks + TURN_BLOCKS)
        blocks += TURN_BLOCKS
        listed = ",".join(map(str, path))
        yield (
            f'{{"kind":"request","t_ms":{request * 250},"input_tokens":{len(path) * BLOCK_TOKENS},"output_tokens":200,'
            f'"blocks":[{listed}],"session":"chat-{chat}"}}\n'
        )
        written += len(path)
        request += 1


def write(path: Path, references: int) -> None:
    """Write the trace to `path`."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(lines(references))


def main() -> None:
    """Write the trace that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--references", type=int, default=10_000_000)
    arguments = parser.parse_args()
    write(arguments.path, arguments.references)


if __name__ == "__main__":
    main()
