"""A trace's statistics once more, naively: blocks as tuples in dicts, sets and one long list, and no spans.

It takes the rows that a native file was written from, so it shares nothing with the readers either.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import orjson
from builders import KV_BYTES

Row = dict[str, Any]
BLOCK = 4
AXES = ("model", "tokenizer", "adapter", "salt", "tenant")


def native_file(rows: list[Row]) -> bytes:
    """The rows as a native trace."""
    header = {"kind": "trace", "schema": "fakbench.trace/1", "block_tokens": BLOCK}
    return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in [header, *rows])


class Model:
    """What every figure of the document should be. `apart` is whether identities share nothing."""

    def __init__(self, rows: list[Row], apart: bool) -> None:
        self.rows = [row for row in rows if row["kind"] in ("request", "access")]
        self.apart = apart
        self.ordered = sorted(self.rows, key=lambda row: row["t_ms"])
        self.times = [row["t_ms"] * 1000 for row in self.ordered]
        self.paths = [self.path(row) for row in self.ordered]
        self.walk()

    def path(self, row: Row) -> list[tuple[Any, ...]]:
        """Blocks as (where, names and lengths from the root on)."""
        where = (row.get("namespace", ""), *(row.get(axis, "") for axis in AXES if self.apart))
        if row["kind"] == "access":
            return [(where, ("access", row["span"], row["tokens"], row.get("bytes", 0)))]
        lengths = [BLOCK] * len(row["blocks"])
        if lengths and row["input_tokens"] < BLOCK * len(lengths):
            lengths[-1] = row["input_tokens"] % BLOCK
        named = list(zip(row["blocks"], lengths, strict=True))
        return [(where, *named[: depth + 1]) for depth in range(len(named))]

    @staticmethod
    def tokens(block: tuple[Any, ...]) -> int:
        last = block[-1]
        return int(last[2] if last[0] == "access" else last[1])

    def bytes(self, block: tuple[Any, ...]) -> int:
        last = block[-1]
        return (last[3] if last[0] == "access" else 0) or self.tokens(block) * KV_BYTES

    def input(self, row: Row) -> int:
        return int(row["tokens"] if row["kind"] == "access" else row["input_tokens"])

    def walk(self) -> None:
        stack: list[tuple[Any, ...]] = []
        self.first: dict[Any, int] = {}
        self.last: dict[Any, int] = {}
        self.uses: Counter[Any] = Counter()
        self.gaps: list[int] = []
        self.distances: list[int] = []
        self.seen: list[list[Any]] = []
        self.leading: list[Any] = []
        self.who: dict[str, list[Any]] = {"same_session": [], "other_session": [], "not_stated": []}
        self.obligatory = 0
        for at, (row, path) in enumerate(zip(self.ordered, self.paths, strict=True)):
            seen = [block for block in path if block in self.first]
            self.seen.append(seen)
            for block in path:
                if block not in self.first:
                    break
                self.leading.append(block)
            for block in seen:
                self.gaps.append(self.times[at] - self.times[self.last[block]])
                self.distances.append(sum(map(self.tokens, stack[stack.index(block) :])))
                before, now = self.ordered[self.last[block]].get("session"), row.get("session")
                stated = before is not None and now is not None
                name = "not_stated" if not stated else "same_session" if before == now else "other_session"
                self.who[name].append(block)
            if path and len(seen) == len(path) and sum(map(self.tokens, path)) == self.input(row):
                self.obligatory += 1
            for block in reversed(path):
                if block in stack:
                    stack.remove(block)
                stack.append(block)
                self.first.setdefault(block, at)
                self.last[block] = at
            self.uses.update(path)

    def tally(self, blocks: list[Any]) -> dict[str, int]:
        return {"blocks": len(blocks), "tokens": sum(map(self.tokens, blocks))}

    def by_share(self) -> dict[str, int]:
        names = ("none", "below_25", "below_50", "below_75", "below_100", "all", "unknown", "without_input")
        found = dict.fromkeys(names, 0)
        for row, path, seen in zip(self.ordered, self.paths, self.seen, strict=True):
            whole, part = self.input(row), sum(map(self.tokens, seen))
            if not whole:
                name = "without_input"
            elif not path:
                name = "unknown"
            elif not part:
                name = "none"
            elif part == whole:
                name = "all"
            else:
                name = ("below_25", "below_50", "below_75", "below_100")[4 * part // whole]
            found[name] += 1
        return found

    def live(self, measure: Any) -> list[int]:
        """After each request: what was used and will be again."""
        return [
            sum(measure(block) for block in self.first if self.first[block] <= at < self.last[block])
            for at in range(len(self.ordered))
        ]

    def mean_live(self, measure: Any) -> int | None:
        live, span = self.live(measure), self.times[-1] - self.times[0]
        if not span:
            return None
        return sum(live[at] * (self.times[at + 1] - self.times[at]) for at in range(len(live) - 1)) // span

    def series(self, buckets: int) -> list[dict[str, int]]:
        length = self.times[-1] - self.times[0] + 1
        buckets = min(buckets, length)
        live_tokens, live_bytes = self.live(self.tokens), self.live(self.bytes)
        rows = []
        for bucket in range(buckets):
            inside = [at for at, t in enumerate(self.times) if (t - self.times[0]) * buckets // length == bucket]
            start = next(t for t in range(bucket * length // buckets, length + 1) if t * buckets // length == bucket)
            before = [at for at, t in enumerate(self.times) if (t - self.times[0]) * buckets // length < bucket][-1:]
            row = {
                "start_us": start,
                "requests": len(inside),
                "input_tokens": sum(self.input(self.ordered[at]) for at in inside),
            }
            if self.first:
                row |= {
                    "seen_tokens": sum(self.tokens(block) for at in inside for block in self.seen[at]),
                    "live_tokens": max(live_tokens[at] for at in before + inside),
                    "live_bytes": max(live_bytes[at] for at in before + inside),
                }
            rows.append(row)
        return rows

    def roots(self) -> list[tuple[int, int, int]]:
        """Requests, tokens that all share, tokens that half share, of the five first blocks used most."""
        used: dict[Any, list[list[Any]]] = {}
        for path in self.paths:
            if path:
                used.setdefault(path[0], []).append(path)
        found = []
        for paths in sorted(used.values(), key=lambda paths: -len(paths))[:5]:
            if len(paths) > 1:
                common = [block for block in paths[0] if all(block in path for path in paths)]
                counts = Counter(block for path in paths for block in path)
                half = [
                    sum(map(self.tokens, path[: depth + 1]))
                    for path in paths
                    for depth, block in enumerate(path)
                    if 2 * counts[block] >= len(paths)
                ]
                found.append((len(paths), sum(map(self.tokens, common)), max(half)))
        return found


def summary(values: list[int]) -> dict[str, int] | None:
    """Nearest rank: the smallest value that at least so many of a hundred do not pass."""
    if not values:
        return None
    ordered = sorted(values)
    ranks = {
        f"p{rank}": next(v for v in ordered if 100 * sum(o <= v for o in ordered) >= rank * len(ordered))
        for rank in (50, 90, 99)
    }
    return {
        "count": len(ordered),
        "min": ordered[0],
        "mean": sum(ordered) // len(ordered),
        **ranks,
        "max": ordered[-1],
    }
