"""fak's cache events, NDJSON with Go's own names: `Direction`, `SpanDigest`, `Tokens`, `FromTier`, `ToTier`, `Outcome`.

Source: the original plane's `CacheEvent`. There are no times: the order is that of the file. A `restore` or a `route`
asks for a span and is a request of it; an `offload` or a `migrate` moves one, and is counted. What came of each is
counted apart: a blank outcome is ok, as in the original; an unknown one is refused, where the original takes it for a
miss. Model and tokenizer are a namespace. Left out: leases, owners and position modes, and bytes moved, which failures
have none of.
"""

from __future__ import annotations

from typing import Any

from harness.readers.builder import TraceBuilder
from harness.readers.fields import shown, text
from harness.readers.problems import BAD_FIELD, BadLineError
from harness.readers.source import Source
from harness.trace import MAX_TOKENS
from policy.tiers import LADDER

_ASKS = ("restore", "route")
_MOVES = ("offload", "migrate")
_TIERS = ("", *LADDER, "provider", "recompute")
_OUTCOMES = {"": "ok", "ok": "ok", "missed": "missed", "fault": "fault"}
_KNOWN = {"Direction": (*_ASKS, *_MOVES), "FromTier": _TIERS, "ToTier": _TIERS, "Outcome": tuple(_OUTCOMES)}


def sniff(record: dict[str, Any]) -> bool:
    """True for an event."""
    return "Direction" in record and "SpanDigest" in record


def read(source: Source, builder: TraceBuilder) -> None:
    """Every event that asks for a span is a request of it."""
    builder.without_times()
    builder.without_blocks()

    def row(line: int, record: dict[str, Any]) -> None:
        _check(record)
        direction, tokens = record["Direction"], record.get("Tokens") or 0
        builder.notice(f"outcomes_{_OUTCOMES[record.get('Outcome') or '']}")
        if direction in _MOVES:
            builder.notice("moves_not_replayed")
            return
        if not tokens:
            builder.notice("spans_without_tokens")
            return
        model, tokenizer = text(record, "ModelID") or "", text(record, "TokenizerID") or ""
        # A blank digest stands for what the original hashes instead.
        span = text(record, "SpanDigest") or f"{direction}|{model}|{tokenizer}"
        space = f"{model}/{tokenizer}" if tokenizer else model
        builder.access(line, 0, span, tokens, 0, 0, namespace=space)

    source.each(row)


def _check(record: dict[str, Any]) -> None:
    """Everything that is wrong with one event, in one sentence."""
    wrong = []
    for field, known in _KNOWN.items():
        value = record.get(field) if record.get(field) is not None else ""
        if value not in known:
            wrong.append(f"{field} {shown(value)} is not one of {', '.join(name for name in known if name)}")
    tokens = record.get("Tokens", 0)
    if type(tokens) is not int or not 0 <= tokens <= MAX_TOKENS:
        wrong.append(f"Tokens {shown(tokens)} is not an integer from 0 to {MAX_TOKENS}")
    if wrong:
        raise BadLineError(BAD_FIELD, "; ".join(wrong))
