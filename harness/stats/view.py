"""The document of a trace's statistics as a view for a person."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from harness.render.tables import Table
from harness.render.view import View
from harness.stats.names import shortened
from harness.units import counted, percent, size
from policy.cost import PPM

Document = dict[str, Any]

_BAR = 40
_SHOWN = 60
_UNKNOWN = "unknown"
_UNITS_US = {"h": 3_600_000_000, "min": 60_000_000, "s": 1_000_000, "ms": 1_000}
_TIMES = ("from one arrival to the next", "from one turn to the next", "since a block's last use")
_SHARES = {
    "none": "none of it",
    "below_25": "below 25 %",
    "below_50": "25 % to 50 %",
    "below_75": "50 % to 75 %",
    "below_100": "75 % to 100 %",
    "all": "all of it",
    "unknown": "unknown: no block ids",
    "without_input": "has no input",
}
_TAILS = {
    "whole": "a whole block",
    "partial_with_id": "a partial block with an id (ceil)",
    "partial_without_id": "tokens without an id (floor)",
    "access": "a span of its own size",
    "without_ids": "no block ids at all",
}


def stats_view(document: Document) -> View:
    """Everything a person reads of it."""
    reuse, lengths = document["reuse"], document["lengths"]
    tables = [_reuse(document), _percentiles(document)]
    tables.append(_histogram("Input tokens of a request", "tokens", lengths["input_histogram"], "requests"))
    if reuse is not None:
        shares = [[_SHARES[name], f"{count:,}"] for name, count in reuse["requests_by_share_seen"].items() if count]
        tables.append(Table("How much of a request was seen before", ["seen", "requests"], shares))
        tables.append(_histogram("Time since a block's last use", "", reuse["gap_histogram"], "uses"))
        tables.append(_histogram("Stack distance of a use", "tokens", reuse["distance_histogram"], "uses"))
        tables.append(_histogram("Uses of a block", "uses", document["blocks"]["uses_histogram"], "blocks"))
        tables.append(_roots(document["shared_roots"]))
    tails = [[_TAILS[name], f"{count:,}"] for name, count in document["tails"].items() if count]
    tables.append(Table("How requests end", ["with", "requests"], tails))
    tables.append(_series(document["series"]))
    return View(_head(document), [table for table in tables if table.rows], _foot(document))


def _head(document: Document) -> list[str]:
    trace, tokens, when = document["trace"], document["tokens"], document["arrivals"]
    rate = when["requests_per_1000_s"]
    lines = [
        f"{trace['name']}: {trace['format']}, {counted(trace['requests'], 'request')}, {tokens['input']:,} input"
        f" tokens, {tokens['output']:,} output tokens, {tokens['unidentified']:,} unidentified",
        f"time: {_duration(when['span_us'])},"
        f" {f'{rate // 1000:,}.{rate % 1000:03} requests a second' if rate is not None else 'no time passes'}; at most"
        f" {when['peak_requests_per_s']:,} in a second, {when['peak_requests_per_minute']:,} in a minute",
        f"ties: {when['ties']['requests']:,} requests in {counted(when['ties']['groups'], 'group')} of one time, the"
        f" largest of {when['ties']['largest']:,}; steps back: {when['steps_back']['count']:,}, the largest of"
        f" {_duration(when['steps_back']['largest_us'])}",
        _sessions(document["sessions"]),
        _whose(trace),
    ]
    if trace["controls"]:
        lines.append("controls: " + ", ".join(f"{kind} {count:,}" for kind, count in trace["controls"].items()))
    return lines + [f"{name.replace('_', ' ')}: {said}" for name, said in trace["conventions"].items()]


def _sessions(sessions: Document) -> str:
    if not sessions["count"]:
        return "sessions: none are stated"
    return (
        f"sessions: {sessions['count']:,}, {sessions['of_one_turn']:,} of them of one turn;"
        f" {counted(sessions['requests_without'], 'request')} without"
    )


def _whose(trace: Document) -> str:
    stated = ", ".join(f"{axis} ({count:,})" for axis, count in trace["identity"].items()) or "nothing stated"
    apart = f"; blocks are told apart by {', '.join(trace['isolation'])}" if trace["isolation"] else ""
    return f"identity: {stated}; {counted(trace['namespaces'], 'namespace')}{apart}"


def _reuse(document: Document) -> Table:
    """What comes back, and how much room that takes."""
    blocks, reuse, live, model = (document[name] for name in ("blocks", "reuse", "live_set", "model"))
    title, columns = "What comes back in a cache without bound", ["", "blocks", "tokens", "bytes", "share"]
    if blocks is None:
        words = ("referenced", "distinct", "seen before", "seen from the first block on", "live at the peak")
        return Table(title, columns, [[word, *[_UNKNOWN] * 4] for word in words])

    def hits(word: str, name: str) -> list[list[str]]:
        tally = reuse[name]
        by_blocks, by_tokens = (reuse[f"{name}_of_{of}_ppm"] for of in ("references", "identified_tokens"))
        counts = [f"{tally['blocks']:,}", f"{tally['tokens']:,}", ""]
        share = f"{percent(by_blocks)} of blocks, {percent(by_tokens)} of their tokens"
        return [[word, *counts, share]]

    rows = [
        ["referenced", f"{blocks['references']:,}", f"{blocks['references_tokens']:,}", "", ""],
        ["distinct", f"{blocks['distinct']:,}", f"{blocks['distinct_tokens']:,}", size(blocks["distinct_bytes"]), ""],
        ["used once", f"{blocks['used_once']:,}", "", "", ""],
        *hits("seen before", "seen"),
        *hits("seen from the first block on", "leading"),
        [
            "and servable",
            "",
            f"{reuse['servable_tokens']:,}",
            "",
            f"{percent(reuse['servable_of_input_tokens_ppm'])} of input",
        ],
    ]
    names = {"same_session": "used last by its own session", "other_session": "used last by another session"}
    for name, word in names.items():
        tally = reuse["last_used_by"][name]
        if tally["blocks"]:
            rows.append([word, f"{tally['blocks']:,}", f"{tally['tokens']:,}", "", ""])
    room, of_room = model["hbm_room_bytes"], live["peak_of_hbm_room_ppm"]
    against = f"{percent(of_room)} of {size(room)} of HBM room" if of_room is not None else ""
    rows.append(["live at the peak", "", f"{live['peak_tokens']:,}", size(live["peak_bytes"]), against])
    if live["mean_tokens"] is not None:
        rows.append(["live on average", "", f"{live['mean_tokens']:,}", size(live["mean_bytes"]), ""])
    return Table(title, columns, rows)


def _percentiles(document: Document) -> Table:
    lengths, when, sessions = document["lengths"], document["arrivals"], document["sessions"]
    reuse = document["reuse"] or {}
    summaries = {
        "input tokens of a request": lengths["input_tokens"],
        "output tokens of a request": lengths["output_tokens"],
        "blocks of a request": lengths["blocks"],
        "from one arrival to the next": when["gap_us"],
        "turns of a session": sessions["turns"],
        "from one turn to the next": sessions["gap_us"],
        "since a block's last use": reuse.get("gap_us"),
        "stack distance of a use, tokens": reuse.get("distance_tokens"),
    }
    names = ("min", "mean", "p50", "p90", "p99", "max")
    rows = []
    for word, found in summaries.items():
        if found:
            said = _duration if word in _TIMES else _number
            rows.append([word, f"{found['count']:,}", *(said(found[name]) for name in names)])
    return Table("How it is spread", ["", "count", *names], rows)


def _histogram(title: str, unit: str, rows: list[Document], noun: str) -> Table:
    most = max((row["count"] for row in rows), default=0)
    total = sum(row["count"] for row in rows)
    said = _duration if unit == "" else _number
    shown = []
    upto = 0
    for row in _folded(rows):
        upto += row["count"]
        ends = (said(row[end]) for end in ("from", "to"))
        shown.append([_bar(row["count"], most), *ends, f"{row['count']:,}", percent(upto * PPM // total)])
    return Table(title, ["", f"{unit} from".lstrip(), "to", noun, "up to here"], shown)


def _folded(rows: list[Document]) -> Iterator[Document]:
    """The rows, those without a count that stand together as one."""
    for empty, group in groupby(rows, key=lambda row: not row["count"]):
        found = list(group)
        yield from [found[0] | {"to": found[-1]["to"]}] if empty else found


def _bar(part: int, whole: int) -> str:
    """At least one mark for what is not nothing."""
    return "#" * -(-_BAR * part // whole) if whole else ""


def _number(value: int) -> str:
    return f"{value:,}"


def _duration(us: int) -> str:
    """Microseconds in the largest unit that leaves at least one whole, with two decimals, rounded down."""
    for unit, length_us in _UNITS_US.items():
        if us >= length_us:
            parts = us * 100 // length_us
            return f"{parts // 100:,}.{parts % 100:02} {unit}"
    return f"{us} us"


def _roots(roots: list[Document]) -> Table:
    rows = [
        [
            shortened(root["block"], _SHOWN),
            shortened(root["namespace"], _SHOWN),
            f"{root['requests']:,}",
            f"{root['shared_by_all_tokens']:,}",
            f"{root['shared_by_half_tokens']:,}",
        ]
        for root in roots
    ]
    columns = ["first block", "namespace", "requests", "tokens that all share", "that half of them share"]
    return Table("Beginnings that most requests share", columns, rows, left=2)


def _series(rows: list[Document]) -> Table:
    live = [row["live_tokens"] for row in rows if "live_tokens" in row]
    most, busiest = max(live, default=0), max(row["requests"] for row in rows)
    columns = ["", "from", "requests", "input tokens"] + (["seen before", "live tokens", "live"] if live else [])
    shown = []
    for row in rows:
        bar = _bar(row["live_tokens"], most) if live else _bar(row["requests"], busiest)
        cells = [bar, _duration(row["start_us"]), f"{row['requests']:,}", f"{row['input_tokens']:,}"]
        if live:
            cells += [f"{row['seen_tokens']:,}", f"{row['live_tokens']:,}", size(row["live_bytes"])]
        shown.append(cells)
    return Table(f"{'Live set' if live else 'Requests'} over time", columns, shown)


def _foot(document: Document) -> list[str]:
    trace, model, reuse = document["trace"], document["model"], document["reuse"]
    lines = [f"trace: {name.replace('_', ' ')}: {count:,}" for name, count in trace["notices"].items()]
    if reuse is None:
        return [*lines, "no request has block ids, so reuse is unknown: it is not none"]
    unknown = document["tokens"]["of_requests_without_ids"]
    if unknown:
        lines.append(f"reuse of {unknown:,} tokens is unknown: their requests have no block ids; shares leave them out")
    lines.append(
        f"servable: seen from the first block on, less {reuse['obligatory_tokens']:,} last tokens of requests seen"
        " whole, which have to be computed to have an answer"
    )
    lines.append(
        f"bytes: {model['kv_bytes_per_token']:,} per token ({model['id'] or 'as given'} on"
        f" {document['machine']['id']}), or as the trace states them"
    )
    return lines
