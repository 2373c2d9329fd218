"""The document of a curve as a view for a person, and its points as CSV for a plot."""

from __future__ import annotations

from typing import Any

from harness.curve.axis import KNEES_PPM
from harness.render.tables import Table
from harness.render.view import View
from harness.units import counted, percent, size

Document = dict[str, Any]


def curve_view(document: Document) -> View:
    """Everything a person reads of a curve."""
    tables = [
        _points("Knees", document["knees"], "knee"),
        _points("Tokens re-prefilled against capacity", document["curve"]),
    ]
    tables.append(_splits(document["splits"]))
    if document["windows"]:
        tables.append(_windows(document["windows"]))
    return View(_head(document), tables, _foot(document))


def curve_csv(document: Document) -> str:
    """The points of the curve, one a line, under the names that the document has for them."""
    points = document["curve"]
    if not points:
        return ""
    lines = [",".join(points[0]), *(",".join(str(int(value)) for value in point.values()) for point in points)]
    return "\n".join(lines) + "\n"


def _head(document: Document) -> list[str]:
    trace, tokens, live_set = document["trace"], document["tokens"], document["live_set"]
    model = document["model"]
    return [
        f"{trace['name']}: {counted(trace['requests'], 'request')}, {tokens['input']:,} input tokens,"
        f" {counted(trace['spans'], 'span')}",
        f"{document['machine']['id']}, {model['id'] or 'no model'}: {model['kv_bytes_per_token']:,} KV bytes per token",
        f"ceiling: {tokens['ceiling']:,} tokens hit where nothing is evicted; {tokens['cold']:,} are cold",
        f"live set: {size(live_set['capacity_bytes'])} in {live_set['tokens']:,} tokens",
    ]


def _points(title: str, points: list[Document], *named: str) -> Table:
    blocks = ["blocks"] if points and "blocks" in points[0] else []
    columns = [*named, "engine", "per rank", "per GPU", "per node", "tokens", *blocks]
    columns += ["hit", "re-prefilled", "of ceiling", "live set / capacity", "exact"]
    rows = [
        [
            *([percent(point["knee_ppm"])] if named else []),
            *(size(point[f"{name}_bytes"]) for name in ("capacity", "per_rank", "per_gpu", "per_node")),
            f"{point['tokens']:,}",
            *(f"{point[name]:,}" for name in blocks),
            f"{point['hit_tokens']:,}",
            f"{point['reprefilled_tokens']:,}",
            percent(point["of_ceiling_ppm"]),
            percent(point["live_set_ppm"]),
            _yes(point["exact"]),
        ]
        for point in points
    ]
    return Table(title, columns, rows)


def _splits(splits: list[Document]) -> Table:
    rows = []
    for number, split in enumerate(splits):
        for name, tier in split["tiers"].items():
            rows.append(
                [
                    f"at {number}" if number else "this engine",
                    name,
                    size(tier["capacity_bytes"]) if tier["capacity_bytes"] else "unbounded",
                    f"{tier['hit_tokens']:,}",
                    f"{tier['down_to_here']:,}",
                    f"{tier['down_to_here_at_least']:,}",
                    "",
                    "",
                    "",
                ]
            )
        rows[-1][-3:] = [f"{split['reprefilled_tokens']:,}", percent(split["of_ceiling_ppm"]), _yes(split["exact"])]
    columns = ["split", "tier", "capacity", "hit", "down to here", "at least", "re-prefilled", "of ceiling", "exact"]
    return Table("Splits: an exclusive LRU ladder that always demotes and restores", columns, rows, left=2)


def _windows(windows: list[Document]) -> Table:
    rows = [
        [
            f"{window['start_ms']:,}",
            f"{window['requests']:,}",
            f"{window['input_tokens']:,}",
            f"{window['ceiling_tokens']:,}",
            *(size(knee) for knee in window["knees_bytes"]),
        ]
        for window in windows
    ]
    knees = [f"knee {percent(knee_ppm)}" for knee_ppm in KNEES_PPM]
    return Table("Windows, each begun warm", ["from ms", "requests", "input", "ceiling", *knees], rows)


def _foot(document: Document) -> list[str]:
    exactness = document["exactness"]
    lines = [f"trace: {name.replace('_', ' ')}: {count:,}" for name, count in document["trace"]["notices"].items()]
    if exactness["events_left_out"]:
        events = counted(exactness["events_left_out"], "clear, fault or pressure event")
        lines.append(f"left out: {events} of the trace; a replay that heeds them hits less")
    if "error_ppm" in exactness:
        lines.append(
            f"sampled: {counted(exactness['far_spans'], 'span')} that came back from afar stand for all; two standard"
            f" errors of the hits are {percent(exactness['error_ppm'])} of the ceiling"
        )
    if "exact_from_bytes" in exactness:
        lines.append(
            f"equal to a replay of blind-lru to the token from {size(exactness['exact_from_bytes'])} on;"
            " below, a request may exceed the capacity"
            if exactness["exact_from_bytes"]
            else "equal to a replay of blind-lru to the token at every capacity"
        )
    return lines


def _yes(exact: bool) -> str:
    return "yes" if exact else "no"
