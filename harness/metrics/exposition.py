"""The metrics of cache events as Prometheus text, version 0.0.4: families in a fixed order, each with HELP and TYPE.

Source: the original plane's exposition, whose bytes the strict rules give. `prometheus_client` is not asked to write
it: it prints every value as a float (9 as 9.0, and no integer beyond 2**53 exactly) and sorts labels by their names.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.metrics.snapshot import Snapshot

COUNTER = "counter"
GAUGE = "gauge"

_PREFIX = "fak_engine_cache_"

# A counter for each of these attributes of a snapshot, in the order of the text, with its HELP.
_TOTALS = (
    ("events", "Live-engine KV cache events normalized into the cache-entry stream."),
    ("hits", "Cache events whose typed verdict was a HIT (serveable)."),
    ("misses", "Cache events whose typed verdict was a MISS."),
    ("faults", "Cache events whose typed verdict was a FAULT (never silent recompute)."),
    ("restore_miss", "Restore/load events that found nothing usable (typed MISS)."),
    (
        "restore_fault",
        "Restore/load events that errored (typed FAULT) \N{EM DASH} surfaced, never a silent recompute.",
    ),
    ("bytes_moved", "Bytes moved across residency tiers by cache events."),
    ("tokens_moved", "KV span positions moved across residency tiers by cache events."),
)

# The same of a row of the breakdown: the name's stem, the attribute, and how its HELP begins.
_BREAKDOWNS = (
    ("event", "count", "Cache events by"),
    ("bytes_moved", "bytes_moved", "Bytes moved by cache events, bucketed by"),
    ("tokens_moved", "tokens_moved", "KV span positions moved by cache events, bucketed by"),
)

_CAPPED_AT_BOUND = (
    "1 when the cache-event breakdown key cardinality has hit its bound (further distinct keys fold into the overflow"
    " bucket, never grow unbounded), 0 otherwise."
)
_CAPPED_WHEN_FOLDED = (
    "1 when distinct keys of the cache-event breakdown were beyond its bound and folded into the overflow bucket,"
    " 0 otherwise."
)
_DECISIONS = "Things done to cached spans by action and the planner's reason, which is empty where it was not asked."
_OCCUPANCY = "Bytes of cached spans held by residency tier."


@dataclass(frozen=True, slots=True)
class Family:
    """One metric: each sample has a value for each of `labels`, in that order, and its number."""

    name: str
    kind: str
    help: str
    samples: tuple[tuple[tuple[str, ...], int], ...]
    labels: tuple[str, ...] = ()


def exposition(snapshot: Snapshot) -> bytes:
    """Every family as UTF-8 text, each line ended by a newline."""
    return "".join(_text(family) for family in families(snapshot)).encode()


def families(snapshot: Snapshot) -> list[Family]:
    """Every family that the snapshot's rules expose, in the order of the text."""
    found = [_single(f"{name}_total", COUNTER, text, getattr(snapshot, name)) for name, text in _TOTALS]
    found += _breakdown(snapshot)
    found += _bound(snapshot)
    if snapshot.rules.decisions:
        decisions = tuple(((row.action, row.reason), row.count) for row in snapshot.decisions)
        found.append(Family(f"{_PREFIX}decisions_total", COUNTER, _DECISIONS, decisions, ("action", "reason")))
    if snapshot.rules.occupancy:
        held = tuple(((row.tier,), row.used_bytes) for row in snapshot.occupancy)
        found.append(Family(f"{_PREFIX}occupancy_bytes", GAUGE, _OCCUPANCY, held, ("tier",)))
    return found


def _breakdown(snapshot: Snapshot) -> list[Family]:
    if snapshot.rules.from_tier_label:
        labels: tuple[str, ...] = ("direction", "outcome", "from_tier", "to_tier", "memory_class")
        by = "direction, outcome, source and destination residency tier, and memory class."
    else:
        labels = ("direction", "outcome", "to_tier", "memory_class")
        by = "direction, outcome, destination residency tier, and memory class."
    keys = [tuple(getattr(row, label) for label in labels) for row in snapshot.rows]
    return [
        Family(
            f"{_PREFIX}{stem}_breakdown_total",
            COUNTER,
            f"{text} {by}",
            tuple((key, getattr(row, attribute)) for key, row in zip(keys, snapshot.rows, strict=True)),
            labels,
        )
        for stem, attribute, text in _BREAKDOWNS
    ]


def _bound(snapshot: Snapshot) -> list[Family]:
    """How far the breakdown is from whole."""
    rules = snapshot.rules
    key = f"(direction, outcome, {'from_tier, ' if rules.from_tier_label else ''}to_tier, memory_class)"
    folded = f"folded into the overflow bucket because a new {key} key would exceed the bound."
    capped = _CAPPED_WHEN_FOLDED if rules.capped_when_folded else _CAPPED_AT_BOUND
    found = [
        _single("keys_capped", GAUGE, capped, int(snapshot.keys_capped)),
        _single("event_overflow_total", COUNTER, f"Cache events {folded}", snapshot.overflow_events),
    ]
    if rules.overflow_moved:
        for stem, text, value in (
            ("bytes", "Bytes moved by cache events", snapshot.overflow_bytes_moved),
            ("tokens", "KV span positions moved by cache events", snapshot.overflow_tokens_moved),
        ):
            found.append(_single(f"{stem}_moved_overflow_total", COUNTER, f"{text} {folded}", value))
    return found


def _single(name: str, kind: str, text: str, value: int) -> Family:
    return Family(_PREFIX + name, kind, text, (((), value),))


def _text(family: Family) -> str:
    lines = [f"# HELP {family.name} {family.help}\n# TYPE {family.name} {family.kind}\n"]
    for values, number in family.samples:
        pairs = ",".join(f'{label}="{_escaped(value)}"' for label, value in zip(family.labels, values, strict=True))
        lines.append(f"{family.name}{{{pairs}}} {number}\n" if pairs else f"{family.name} {number}\n")
    return "".join(lines)


def _escaped(value: str) -> str:
    """What the format escapes in a label's value, and nothing else: carriage returns and tabs pass through."""
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
