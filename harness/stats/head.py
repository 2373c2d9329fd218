"""The first requests of a trace as the reader understood them, with the controls between them."""

from __future__ import annotations

from typing import Any

from harness.render.tables import Table
from harness.render.view import View
from harness.stats.names import shortened, shown_name
from harness.trace import IDENTITY_AXES, Trace
from harness.units import counted

SCHEMA = "fakbench.trace_head/1"
Document = dict[str, Any]
_SHOWN_NAME = 20
_SHOWN_SCOPE = 60


def build_head(trace: Trace, most: int) -> Document:
    """The first `most` requests in file order, and every control before the next one."""
    events: list[Document] = []
    told = 0
    upto = min(most, trace.requests)
    # Where all requests are shown, so are the controls behind the last.
    for request in range(upto + (upto == trace.requests)):
        while told < len(trace.controls) and trace.controls[told].before_request <= request:
            events.append(_control(trace, told))
            told += 1
        if request < upto:
            events.append(_request(trace, request))
    return {
        "schema": SCHEMA,
        "trace": {
            "name": trace.name,
            "format": trace.format,
            "sha256": trace.sha256,
            "requests": trace.requests,
            "block_tokens": trace.block_tokens,
            "controls": len(trace.controls),
            "conventions": dict(trace.conventions),
            "notices": dict(trace.notices),
        },
        "events": events,
    }


def _request(trace: Trace, request: int) -> Document:
    path = trace.blocks_of(request)
    session, identity = trace.session[request], trace.identity
    stated = trace.identities[identity[request]] if identity else None
    names = {axis: name for axis in IDENTITY_AXES if stated is not None and (name := getattr(stated, axis))}
    return {
        "kind": "request",
        "t_us": trace.t_us[request],
        "input_tokens": trace.input_tokens[request],
        "output_tokens": trace.output_tokens[request],
        "unidentified_tokens": trace.unidentified_tokens[request],
        "blocks": len(path),
        "first_block": shown_name(trace.block_names[path[0]]) if path else None,
        "last_block": shown_name(trace.block_names[path[-1]]) if path else None,
        "last_block_tokens": trace.block_size_tokens[path[-1]] if path else None,
        "session": trace.sessions[session] if session >= 0 else None,
        "namespace": trace.namespaces[trace.namespace[request]],
        "identity": names,
    }


def _control(trace: Trace, index: int) -> Document:
    control = trace.controls[index]
    value = {"fault": "until_us", "pressure": "fill_ppm"}.get(control.kind)
    row = {"kind": control.kind, "t_us": control.t_us, "tier": control.tier or None}
    return row | ({value: control.value} if value else {})


def head_view(document: Document) -> View:
    """The head for a person."""
    trace, rows = document["trace"], []
    events = document["events"]
    for event in events:
        if event["kind"] != "request":
            tier = event["tier"] or "every tier"
            said = {"until_us": "until {:,} us", "fill_ppm": "{:,} ppm held by others"}
            values = [said[name].format(event[name]) for name in said if name in event]
            rows.append([event["kind"], f"{event['t_us']:,}", *[""] * 4, "", "", " ".join([tier, *values]), ""])
            continue
        identity = " ".join(f"{axis}={name}" for axis, name in event["identity"].items())
        rows.append(
            [
                "request",
                f"{event['t_us']:,}",
                *(f"{event[name]:,}" for name in ("input_tokens", "output_tokens", "unidentified_tokens", "blocks")),
                shortened(event["first_block"] or "-", _SHOWN_NAME),
                shortened(event["last_block"] or "-", _SHOWN_NAME),
                shortened(event["session"] or "", _SHOWN_SCOPE),
                shortened(" ".join(filter(None, [event["namespace"], identity])), _SHOWN_SCOPE),
            ]
        )
    columns = ["event", "t us", "input", "output", "unidentified", "blocks", "first", "last", "session or tier"]
    columns.append("namespace and identity")
    requests = sum(event["kind"] == "request" for event in events)
    before = [
        f"{trace['name']}: {trace['format']}, {counted(trace['requests'], 'request')},"
        f" {counted(trace['controls'], 'control')}, blocks of {trace['block_tokens']:,} tokens"
    ]
    after = [f"{name.replace('_', ' ')}: {said}" for name, said in trace["conventions"].items()]
    after += [f"trace: {name.replace('_', ' ')}: {count:,}" for name, count in trace["notices"].items()]
    title = f"The first {counted(requests, 'request')}, in the order of the file"
    return View(before, [Table(title, columns, rows)], after)
