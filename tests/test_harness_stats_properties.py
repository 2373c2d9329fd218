"""Statistics against a naive model, on traces of every shape: chained ids, accesses, namespaces, ties, steps back."""

from __future__ import annotations

from collections import Counter
from itertools import groupby, pairwise
from random import Random
from typing import Any

from builders import BLOCK_BYTES, engine_of
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import read
from stats_model import BLOCK, Model, Row, native_file, summary

from harness.documents import canonical_bytes
from harness.isolation import isolate, parse_isolation
from harness.stats.document import StatsOptions, build_stats


def grow_rows(seed: int, length: int, chained: bool) -> list[Row]:
    """Rows of a native file. Where ids are not chained, each is the text of the whole prefix and its length."""
    random = Random(seed)
    rows: list[Row] = []
    times = [0, 0, 1, 2, 7, 61_000]
    for _ in range(length):
        kind = random.choice(["request"] * 6 + ["access", "access", "without", "clear"])
        if kind == "clear":
            rows.append({"kind": "clear", "t_ms": random.choice(times)})
            continue
        row: Row = {"t_ms": random.choice(times), "output_tokens": random.choice([0, 1, 9])}
        if random.random() < 0.5:
            row["session"] = random.choice(["a", "b"])
        if random.random() < 0.3:
            row["namespace"] = random.choice(["x", "y"])
        if random.random() < 0.3:
            row["tenant"] = random.choice(["t", "u"])
        if kind == "access":
            span = random.randint(0, 3)
            size_bytes = {"bytes": span * 777} if span % 2 else {}
            rows.append({"kind": "access", "span": span, "tokens": 1 + 3 * span, **size_bytes, **row})
            continue
        depth = 0 if kind == "without" else random.randint(0, 5)
        last = random.choice([BLOCK, BLOCK, 2]) if depth else 0
        tail = random.choice([0, 0, 3]) if last == BLOCK else 0
        named = [random.choice([0, 0, 0, 1]) for _ in range(depth)]
        lengths = [BLOCK] * (depth - 1) + [last] * (depth > 0)
        ids: list[Any] = named
        if not chained:
            ids = [f"{named[: at + 1]}{lengths[at]}" for at in range(depth)]
        tokens = sum(lengths) + tail if depth else random.choice([0, 5])
        rows.append({"kind": "request", "input_tokens": tokens, "blocks": ids, **row})
    if all(row["kind"] == "clear" for row in rows):
        rows.append({"kind": "request", "t_ms": 3, "input_tokens": 0, "blocks": []})
    return rows


@settings(max_examples=300, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    length=st.integers(1, 30),
    chained=st.booleans(),
    apart=st.booleans(),
    buckets=st.integers(1, 9),
)
def test_every_figure_is_that_of_a_naive_count(
    seed: int, length: int, chained: bool, apart: bool, buckets: int
) -> None:
    rows = grow_rows(seed, length, chained)
    trace = read(native_file(rows), chain_ids=chained)
    engine = engine_of({"hbm": 10 * BLOCK_BYTES})
    isolated = isolate(trace, parse_isolation("all" if apart else "none"))
    document = build_stats(isolated, engine, StatsOptions(buckets))
    model = Model(rows, apart)
    _check_times(document, model, rows)
    requests = len(model.rows)
    assert document["trace"]["requests"] == requests
    assert document["trace"]["controls"].get("clear", 0) == len(rows) - requests
    inputs = [model.input(row) for row in model.rows]
    without = [model.input(row) for row, path in zip(model.ordered, model.paths, strict=True) if not path]
    references = [block for path in model.paths for block in path]
    named = model.tally(references)["tokens"]
    assert document["tokens"] == {
        "input": sum(inputs),
        "output": sum(row.get("output_tokens", 0) for row in model.rows),
        "unidentified": sum(inputs) - named,
        "of_requests_without_ids": sum(without),
    }
    assert document["lengths"]["input_tokens"] == summary(inputs)
    assert document["lengths"]["blocks"] == summary([len(path) for path in model.paths if path])
    assert document["series"] == model.series(buckets)
    assert document["tails"] == _tails(model)
    if not references:
        assert [document[name] for name in ("blocks", "reuse", "live_set", "shared_roots")] == [None] * 4
        return
    _check_reuse(document, model, references)
    live = document["live_set"]
    assert (live["peak_tokens"], live["peak_bytes"]) == (
        max(model.live(model.tokens)),
        max(model.live(model.bytes)),
    )
    assert (live["mean_tokens"], live["mean_bytes"]) == (model.mean_live(model.tokens), model.mean_live(model.bytes))
    assert live["peak_of_hbm_room_ppm"] == live["peak_bytes"] * 1_000_000 // (10 * BLOCK_BYTES)
    names = ("requests", "shared_by_all_tokens", "shared_by_half_tokens")
    assert [tuple(root[name] for name in names) for root in document["shared_roots"]] == model.roots()


def _check_reuse(document: dict[str, Any], model: Model, references: list[Any]) -> None:
    blocks, reuse = document["blocks"], document["reuse"]
    distinct = list(model.first)
    assert blocks["references"] == len(references)
    assert blocks["references_tokens"] == model.tally(references)["tokens"]
    assert (blocks["distinct"], blocks["distinct_tokens"]) == tuple(model.tally(distinct).values())
    assert blocks["distinct_bytes"] == sum(map(model.bytes, distinct))
    assert blocks["used_once"] == sum(count == 1 for count in model.uses.values())
    assert blocks["uses"] == summary(list(model.uses.values()))
    seen = [block for found in model.seen for block in found]
    assert reuse["seen"] == model.tally(seen)
    assert reuse["leading"] == model.tally(model.leading)
    assert reuse["seen_of_references_ppm"] == 1_000_000 * len(seen) // len(references)
    assert reuse["obligatory_tokens"] == model.obligatory
    assert reuse["servable_tokens"] == reuse["leading"]["tokens"] - model.obligatory
    assert reuse["last_used_by"] == {name: model.tally(found) for name, found in model.who.items()}
    assert reuse["requests_by_share_seen"] == model.by_share()
    assert reuse["gap_us"] == summary(model.gaps)
    assert reuse["distance_tokens"] == summary(model.distances)
    for name, values in (("gap_histogram", model.gaps), ("distance_histogram", model.distances)):
        for row in reuse[name]:
            assert row["count"] == sum(row["from"] <= value <= row["to"] for value in values)
        assert sum(row["count"] for row in reuse[name]) == len(values)
        assert all(row["to"] + 1 == after["from"] for row, after in pairwise(reuse[name]))


def _check_times(document: dict[str, Any], model: Model, rows: list[Row]) -> None:
    when, times = document["arrivals"], model.times
    back = [now - then for now, then in pairwise([1000 * row["t_ms"] for row in rows]) if then < now]
    assert when["steps_back"] == {"count": len(back), "largest_us": max(back, default=0)}
    ties = [size for size in (len(list(group)) for _, group in groupby(times)) if size > 1]
    assert when["ties"] == {"groups": len(ties), "requests": sum(ties), "largest": max(ties, default=0)}
    assert (when["first_us"], when["span_us"]) == (times[0], times[-1] - times[0])
    assert when["gap_us"] == summary([then - now for now, then in pairwise(times)])
    minutes = Counter((time - times[0]) // 60_000_000 for time in times)
    assert when["peak_requests_per_minute"] == max(minutes.values())
    assert when["peak_requests_per_s"] == max(Counter((time - times[0]) // 1_000_000 for time in times).values())
    of_session: dict[str, list[int]] = {}
    for row, time in zip(model.ordered, times, strict=True):
        if "session" in row:
            of_session.setdefault(row["session"], []).append(time)
    turns = [len(found) for found in of_session.values()]
    assert document["sessions"] == {
        "count": len(turns),
        "requests_without": len(times) - sum(turns),
        "of_one_turn": turns.count(1),
        "turns": summary(turns),
        "gap_us": summary([then - now for found in of_session.values() for now, then in pairwise(found)]),
    }


def _tails(model: Model) -> dict[str, int]:
    found = {"whole": 0, "partial_with_id": 0, "partial_without_id": 0, "access": 0, "without_ids": 0}
    for row, path in zip(model.ordered, model.paths, strict=True):
        if not path:
            found["without_ids"] += 1
        elif row["kind"] == "access":
            found["access"] += 1
        elif sum(map(model.tokens, path)) < row["input_tokens"]:
            found["partial_without_id"] += 1
        else:
            found["partial_with_id" if model.tokens(path[-1]) < BLOCK else "whole"] += 1
    return found


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32), length=st.integers(1, 30))
def test_the_same_trace_gives_the_same_bytes(seed: int, length: int) -> None:
    content = native_file(grow_rows(seed, length, True))
    engine = engine_of({"hbm": 0})
    first, second = (
        canonical_bytes(build_stats(isolate(read(content, chain_ids=True), ()), engine, StatsOptions(5)))
        for _ in range(2)
    )
    assert first == second
