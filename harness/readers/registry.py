"""The formats fakbench reads: a format is one file with `sniff` and `read`, and one row here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from harness.errors import TraceError
from harness.readers import (
    azure,
    bailian,
    burstgpt,
    dynamo,
    fak_events,
    lct,
    libcachesim,
    libcachesim_csv,
    lmcache_agent,
    lmcache_lookups,
    mooncake,
    native,
    tair,
    tair_optimizer,
    weka,
)
from harness.readers.builder import TraceBuilder
from harness.readers.source import Source

# What a format's file is made of, which is what its `sniff` is shown: the first JSON object of its lines, its first
# line that is not blank, or its first 64 KiB.
RECORDS, TEXT, BYTES = "records", "text", "bytes"


class Format(NamedTuple):
    """`sniff` looks at the start of a file in the format's shape; `read` gives its requests to the builder.

    `id_scope` is where a block id means the same: "global" in every file, "declared" by each file itself, "none"
    where there are no ids, and "" where nobody says.
    """

    name: str
    summary: str
    sniff: Callable[[Any], bool]
    read: Callable[[Source, TraceBuilder], None]
    shape: str = RECORDS
    id_scope: str = ""


# In the order in which they are tried, among those of one shape; bytes are looked at first, then text, then records.
FORMATS = (
    Format("native", "fakbench.trace/1: JSON lines after a header line", native.sniff, native.read),
    Format("bailian", "Qwen-Bailian: JSON lines with chat_id and hash_ids", bailian.sniff, bailian.read),
    Format("dynamo", "Dynamo request trace: JSON lines with an event", dynamo.sniff, dynamo.read, id_scope="global"),
    Format("tair", "Tair publisher log: JSON lines of reads and writes", tair.sniff, tair.read, id_scope="global"),
    Format(
        "tair-optimizer",
        "Tair optimizer: JSON lines with instance_id and keys",
        tair_optimizer.sniff,
        tair_optimizer.read,
        id_scope="global",
    ),
    Format(
        "lmcache-lookups",
        "LMCache lookup log: JSON lines with chunk_hashes",
        lmcache_lookups.sniff,
        lmcache_lookups.read,
        id_scope="global",
    ),
    Format("lct", "LMCache .lct, storage or events level", lct.sniff, lct.read, BYTES, "global"),
    Format(
        "lmcache-agent",
        "LMCache agent trace: JSON lines of text",
        lmcache_agent.sniff,
        lmcache_agent.read,
        RECORDS,
        "none",
    ),
    Format("weka", "Weka kv-cache-tester: one JSON object a file", weka.sniff, weka.read, BYTES, "declared"),
    Format(
        "fak-events",
        "fak cache events: JSON lines with Direction",
        fak_events.sniff,
        fak_events.read,
        RECORDS,
        "global",
    ),
    Format("azure", "Azure LLM inference trace, CSV", azure.sniff, azure.read, TEXT, "none"),
    Format("burstgpt", "BurstGPT, CSV", burstgpt.sniff, burstgpt.read, TEXT, "none"),
    Format("libcachesim", "libCacheSim oracleGeneral, binary", libcachesim.sniff, libcachesim.read, BYTES),
    Format(
        "libcachesim-csv", "libCacheSim CSV: time, object, bytes", libcachesim_csv.sniff, libcachesim_csv.read, TEXT
    ),
    Format("mooncake", "JSON lines with timestamp, input_length and hash_ids", mooncake.sniff, mooncake.read),
)


def known_formats() -> str:
    """The formats in words, for messages."""
    return "; ".join(f"{row.name} ({row.summary})" for row in FORMATS)


def format_named(name: str) -> Format:
    """The row of that name. Raises `TraceError` where there is none."""
    for row in FORMATS:
        if row.name == name:
            return row
    raise TraceError(f"--trace-format {name} is not known: use auto or one of {', '.join(row.name for row in FORMATS)}")
