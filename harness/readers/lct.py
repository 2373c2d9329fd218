"""LMCache traces (`.lct`): `u32 big-endian length | MessagePack map`, a header and then records.

Source: LMCache 0.5. At the storage level a request is a prefetch that asks for the chunks of a prompt; each rank asks
for its own part of the same chunks, of which the first is taken. At the events level every entry that is stored or
accessed is a request of that chunk alone, with the bytes of its first store, since events do not say which prompt they
are for. A chunk has 256 tokens unless told otherwise. Times are those of the recorder's own clock. Left out: writes and
reads that follow a prefetch, deletions, capacities, and lifecycles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from harness.errors import TraceError
from harness.readers.builder import TraceBuilder
from harness.readers.decompress import BrokenStreamError
from harness.readers.fields import integer, items, shown, text, time_us
from harness.readers.problems import BAD_FIELD, NOT_AN_OBJECT, TRUNCATED_TAIL, UNKNOWN_KIND, BadLineError
from harness.readers.source import Source
from harness.trace import MAX_BLOCK_BYTES, MAX_TOKENS

CHUNK_TOKENS = 256

_MAGIC = b"LMCT"
_VERSION = 1
_LEVELS = ("storage", "events")
_LENGTH_BYTES = 4
_MOST_BYTES = 16 << 20
_PREFETCH = ".submit_prefetch_task"
_WRAPPED, _VALUE = "__t__", "v"


def sniff(head: bytes) -> bool:
    """A length, and a map that is this kind of header."""
    return head[4:5] >= b"\x80" and _MAGIC in head[:256] and b"header" in head[:256]


def read(source: Source, builder: TraceBuilder) -> None:
    """Requests of the level that the header names. Raises `TraceError` for a header or a version that is not known."""
    builder.counted_in(source.problems, "record")
    unit = builder.time_unit("s", "format")
    size = builder.block_tokens(CHUNK_TOKENS, "default")
    records = _records(source)
    number, header = next(records, (0, {}))
    if not number:
        return
    if not isinstance(header, dict) or header.get("type") != "header" or header.get("magic") != _MAGIC:
        raise TraceError(f"{source.path}: is not an LMCache trace: its first record is no header")
    if header.get("format_version") != _VERSION:
        raise TraceError(
            f"{source.path}: format_version {shown(header.get('format_version'))} is not supported: "
            f"this version reads {_VERSION}"
        )
    level = header.get("level")
    if level not in _LEVELS:
        raise TraceError(f"{source.path}: level {shown(level)} is not {' or '.join(_LEVELS)}")
    builder.convention("level", f"{level} (declared)")
    handle = _storage if level == "storage" else _Events()
    for number, record in records:
        try:
            if not isinstance(record, dict):
                raise BadLineError(NOT_AN_OBJECT, "a record is no map")
            args = record.get("args")
            if not isinstance(args, dict):
                raise BadLineError(BAD_FIELD, "args is not a map")
            handle(builder, number, record, args, time_us(record, "t_mono", unit), size)
        except BadLineError as bad:
            source.problems.add(number, 0, bad.kind, bad.sentence)


def _storage(
    builder: TraceBuilder, number: int, record: dict[str, Any], args: dict[str, Any], t_us: int, size: int
) -> None:
    """A prefetch is a request; what follows from it is none."""
    qualname = text(record, "qualname") or ""
    if not qualname.endswith(_PREFETCH):
        builder.notice("calls_not_replayed")
        return
    spec = _unwrapped(args.get("spec"))
    groups = [_unwrapped(group) for group in items(spec, "key_groups")]
    keys = [_unwrapped(key) for key in items(groups[0], "keys")] if groups else []
    if len(keys) * size > MAX_TOKENS:
        raise BadLineError(BAD_FIELD, f"{len(keys)} chunks are more than {MAX_TOKENS} tokens")
    models = {text(key, "model_name") or "" for key in keys}
    if len(models) > 1:
        raise BadLineError(BAD_FIELD, "the keys of one prefetch are of several models")
    names = [_chunk(key.get("chunk_hash")) for key in keys]
    builder.request(number, t_us, len(keys) * size, 0, names, namespace=models.pop() if models else "")


class _Events:
    """Accesses and stores of chunks, each with the size that it was first given."""

    def __init__(self) -> None:
        self._sizes: dict[tuple[str, str], tuple[int, int]] = {}

    def __call__(
        self, builder: TraceBuilder, number: int, record: dict[str, Any], args: dict[str, Any], t_us: int, size: int
    ) -> None:
        if record.get("qualname") != "events.batch":
            builder.notice("calls_not_replayed")
            return
        kind = args.get("event_type")
        if kind in ("delete", "config"):
            builder.notice("events_not_replayed")
            return
        if kind not in ("store", "access"):
            raise BadLineError(UNKNOWN_KIND, f"event_type {shown(kind)} is not store, access, delete or config")
        for entry in items(args, "entries"):
            self._entry(builder, number, _unwrapped(entry), t_us, size)

    def _entry(self, builder: TraceBuilder, number: int, entry: dict[str, Any], t_us: int, size: int) -> None:
        key = _unwrapped(entry.get("key"))
        model, salt = text(key, "model_name") or "", text(key, "cache_salt") or ""
        space = f"{model}/{salt}" if salt else model
        parts = (_chunk(key.get("chunk_hash_hex")), shown(key.get("kv_rank")), shown(key.get("object_group_id")))
        name = "/".join(parts)
        tokens = len(items(entry, "token_ids")) or size
        size_bytes = integer(entry, "size_bytes", 0, MAX_BLOCK_BYTES, default=0)
        if tokens > MAX_TOKENS:
            raise BadLineError(BAD_FIELD, f"{tokens} token_ids are more than {MAX_TOKENS}")
        tokens, size_bytes = self._sizes.setdefault((space, name), (tokens, size_bytes))
        builder.access(number, t_us, name, tokens, size_bytes, 0, namespace=space)


def _records(source: Source) -> Iterator[tuple[int, object]]:
    """Every record that is whole, with its number; a last one that is cut is a problem."""
    waiting = bytearray()
    number = 1
    for piece in source.content:
        waiting += piece
        at = 0
        while len(waiting) - at >= _LENGTH_BYTES:
            length = int.from_bytes(waiting[at : at + _LENGTH_BYTES])
            if length > _MOST_BYTES:
                raise BrokenStreamError(
                    f"record {number} says that it has {length} bytes, over {_MOST_BYTES >> 20} MiB", "get it again"
                )
            begin = at + _LENGTH_BYTES
            if len(waiting) < begin + length:
                break
            source.problems.lines += 1
            try:
                yield number, msgspec.msgpack.decode(bytes(waiting[begin : begin + length]))
            except (msgspec.DecodeError, ValueError, TypeError, RecursionError):
                source.problems.add(number, 0, NOT_AN_OBJECT, "not MessagePack")
            number, at = number + 1, begin + length
        del waiting[:at]
    if waiting:
        source.problems.lines += 1
        source.problems.add(number, 0, TRUNCATED_TAIL, "the last record is cut short")


def _unwrapped(value: object) -> dict[str, Any]:
    """A map, out of the wrapping that names its type."""
    if isinstance(value, dict) and _WRAPPED in value:
        value = value.get(_VALUE)
    if isinstance(value, dict):
        return value
    raise BadLineError(BAD_FIELD, f"{shown(value)} where a map is needed")


def _chunk(name: object) -> str:
    """A chunk's hash as hexadecimal text, whether it came as such or as bytes."""
    if isinstance(name, bytes):
        return name.hex()
    if isinstance(name, str) and name:
        return name
    raise BadLineError(BAD_FIELD, f"a chunk's hash {shown(name)} is not bytes or text")
