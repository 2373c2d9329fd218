"""The one way to write a catalog: sorted keys, two-space indent, final newline; and the digest of an entry.

A canonical file makes a new machine a small diff, and makes duplicate keys impossible: they do not survive a rewrite.
"""

from __future__ import annotations

import hashlib

import msgspec
import orjson

from harness.catalog.figures import Record


def canonical_bytes(document: object) -> bytes:
    """The document as canonical JSON. It must come from JSON: text, integers, booleans, null, lists, objects."""
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def entry_bytes(entry: Record) -> bytes:
    """A machine or a model as canonical JSON, fields at their defaults left out."""
    return canonical_bytes(msgspec.to_builtins(entry))


def entry_digest(entry: Record) -> str:
    """The sha256 of an entry's canonical JSON, in hex: equal for equal entries, however their files are written."""
    return hashlib.sha256(entry_bytes(entry)).hexdigest()
