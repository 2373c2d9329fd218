"""Publisher logs of Alibaba's Tair KVCache, JSONL: `GetCacheLocation`, `StartWriteCache` and `FinishWriteCache`.

Source: tair-kvcache. A read is a request: its keys name whole prefixes, and what it had not found it has computed
by the next request, which is how a replay takes it. The log knows better: what was computed can be read from when its
write finished, or 100 ms after it began where the log has no end of it. So references that a replay may serve from
cache, although no write of them could be read yet, are counted. Left out: which blocks an engine held itself
(`block_mask`), and how many of a write's keys were new (`success_block`), which does not say which.
"""

from __future__ import annotations

from typing import Any

from harness.readers.builder import TraceBuilder
from harness.readers.fields import integer, items, shown, text
from harness.readers.problems import BAD_FIELD, UNKNOWN_KIND, BadLineError
from harness.readers.source import Source
from harness.trace import MAX_TIME_US, MAX_TOKENS

BLOCK_TOKENS = 16

_READ, _BEGIN, _END = "GetCacheLocation", "StartWriteCache", "FinishWriteCache"
_UNFINISHED_US = 100_000


def sniff(record: dict[str, Any]) -> bool:
    """True for one of the three events."""
    return record.get("type") in (_READ, _BEGIN, _END) and "trigger_time_us" in record


def read(source: Source, builder: TraceBuilder) -> None:
    """Every read is a request of its instance, which is a namespace; writes say what could be read when."""
    size = builder.block_tokens(BLOCK_TOKENS, "default")
    builder.time_unit("us")
    writes = _Writes()
    reads: list[tuple[int, str, list[Any]]] = []

    def row(line: int, record: dict[str, Any]) -> None:
        kind = record.get("type")
        t_us = integer(record, "trigger_time_us", -MAX_TIME_US, MAX_TIME_US)
        space = text(record, "source") or ""
        keys = items(record, "keys")
        if kind == _READ:
            tokens = items(record, "tokens")
            if len(keys) * size > MAX_TOKENS or len(tokens) > MAX_TOKENS:
                raise BadLineError(BAD_FIELD, f"{len(keys)} keys are more than {MAX_TOKENS} tokens")
            builder.request(line, t_us, len(tokens) or len(keys) * size, 0, keys, namespace=space)
            reads.append((t_us, space, keys))
        elif kind == _BEGIN:
            writes.begin(text(record, "write_session_id") or "", t_us, space, keys)
        elif kind == _END:
            writes.end(text(record, "write_session_id") or "", t_us)
        else:
            raise BadLineError(UNKNOWN_KIND, f"type {shown(kind)} is not {_READ}, {_BEGIN} or {_END}")

    source.each(row)
    early = writes.read_early(reads)
    builder.convention("writes", "visible when finished, or 100 ms after they began where nothing ends them (format)")
    for kind, count in (
        ("writes_without_an_end", writes.unfinished),
        ("references_before_their_write", early),
    ):
        if count:
            builder.notice(kind, count)


class _Writes:
    """The writes of a log: which keys, and from when on they can be read."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[int, str, list[Any]]] = {}
        self._from_us: dict[tuple[str, Any], int] = {}

    @property
    def unfinished(self) -> int:
        """Writes that nothing has ended, so far."""
        return len(self._open)

    def begin(self, session: str, t_us: int, space: str, keys: list[Any]) -> None:
        self._open[session] = (t_us, space, keys)

    def end(self, session: str, t_us: int) -> None:
        if session in self._open:
            _, space, keys = self._open.pop(session)
            self._visible(t_us, space, keys)

    def read_early(self, reads: list[tuple[int, str, list[Any]]]) -> int:
        """References to what an earlier read asked for, before any write of it could be read."""
        for t_us, space, keys in self._open.values():
            self._visible(t_us + _UNFINISHED_US, space, keys)
        asked: set[tuple[str, Any]] = set()
        early = 0
        for t_us, space, keys in sorted(reads, key=lambda read: read[0]):
            for key in keys:
                if type(key) is int or type(key) is str:
                    name = (space, key)
                    early += name in asked and self._from_us.get(name, MAX_TIME_US) > t_us
                    asked.add(name)
        return early

    def _visible(self, t_us: int, space: str, keys: list[Any]) -> None:
        for key in keys:
            if type(key) is int or type(key) is str:
                name = (space, key)
                self._from_us[name] = min(t_us, self._from_us.get(name, t_us))
