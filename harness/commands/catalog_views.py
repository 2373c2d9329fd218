"""How the catalog is printed: machines and models as rows, one entry with every number, kind and source."""

from __future__ import annotations

import textwrap

from harness.catalog.canonical import entry_digest
from harness.catalog.lookup import Catalog
from harness.catalog.machine import Machine
from harness.catalog.model import Model, kv_bytes_per_token, kv_bytes_per_token_past_window
from harness.catalog.walk import figures_of
from harness.render.table import ascii_table
from harness.render.tables import Table
from harness.render.text import printable
from harness.units import size
from policy.tiers import LADDER

# A figure's path, kind, value, and source with note.
_Shown = tuple[str, str, str, tuple[str, str]]

# Of a note; pinned, so the bytes do not depend on the terminal.
_WIDTH = 120


def machines_table(catalog: Catalog) -> str:
    """A line for each machine: what it is, and the capacity of each tier."""
    rows = [[name, machine.title, *_capacities(machine)] for name, machine in catalog.machines.items()]
    return ascii_table(Table("", ["machine", "title", *LADDER], rows, left=2))


def models_table(catalog: Catalog) -> str:
    """A line for each model: what it is, and the KV bytes of a token."""
    rows = [
        [name, model.title, model.attention, f"{kv_bytes_per_token(model):,}", size(model.weights_bytes.value)]
        for name, model in catalog.models.items()
    ]
    return ascii_table(Table("", ["model", "title", "attention", "KV bytes/token", "weights"], rows, left=3))


def machines_document(catalog: Catalog) -> dict[str, object]:
    """The list of machines for a program."""
    return {"machines": [_machine_record(name, machine) for name, machine in catalog.machines.items()]}


def models_document(catalog: Catalog) -> dict[str, object]:
    """The list of models for a program."""
    return {"models": [_model_record(name, model) for name, model in catalog.models.items()]}


def entry_view(name: str, entry: Machine | Model) -> str:
    """One entry: title, digest, what it says in words, every number with its kind, and where each is from."""
    head = [f"{name}: {printable(entry.title)}"]
    if entry.note:
        head.append(printable(entry.note))
    head.append(f"digest {entry_digest(entry)}")
    figures: list[_Shown] = [
        (path, figure.kind, f"{figure.value:,}", (figure.source, figure.note)) for path, figure in figures_of(entry)
    ]
    if isinstance(entry, Model):
        said = [f"attention {entry.attention}"]
        figures += _computed(entry)
    else:
        said = _said_of(entry)
    # A source is numbered where it is first used; the same words are printed once.
    origins = list(dict.fromkeys(origin for *_, origin in figures))
    rows = [[path, kind, value, str(origins.index(origin) + 1)] for path, kind, value, origin in figures]
    table = ascii_table(Table("", ["figure", "kind", "value", "source"], rows, left=2))
    sources = [_numbered(number, *origin) for number, origin in enumerate(origins, 1)]
    return "\n\n".join(["\n".join(head), "\n".join(said), table, "\n".join(["Sources and notes", *sources])])


def _capacities(machine: Machine) -> list[str]:
    present = dict(machine.tiers.present())
    cells = []
    for name in LADDER:
        capacity = present[name].capacity_bytes.value if name in present else None
        cells.append("-" if capacity is None else size(capacity) if capacity else "unbounded")
    return cells


def _machine_record(name: str, machine: Machine) -> dict[str, object]:
    group = machine.accelerators
    return {
        "id": name,
        "title": machine.title,
        "digest": entry_digest(machine),
        "accelerators": {"name": group.name, "count": group.count.value} if group is not None else None,
        "tiers": {
            tier_name: {
                "read_latency_ns": tier.read_latency_ns.value,
                "bandwidth_mb_s": tier.bandwidth_mb_s.value,
                "capacity_bytes": tier.capacity_bytes.value,
            }
            for tier_name, tier in machine.tiers.present()
        },
    }


def _model_record(name: str, model: Model) -> dict[str, object]:
    return {
        "id": name,
        "title": model.title,
        "digest": entry_digest(model),
        "attention": model.attention,
        "kv_bytes_per_token": kv_bytes_per_token(model),
        "weights_bytes": model.weights_bytes.value,
    }


def _said_of(machine: Machine) -> list[str]:
    """What a machine says beside its numbers: the accelerators' name, and what may be done with each tier."""
    group = machine.accelerators
    lines = [f"accelerators: {printable(group.name)}"] if group is not None else []
    for name, tier in machine.tiers.present():
        place = "attended in place" if tier.attendable else "staged"
        kept = ", persistent" if tier.persistent else ""
        note = f"; {printable(tier.note)}" if tier.note else ""
        lines.append(f"{name}: {place}{kept}, share {tier.share or 'copy'}{note}")
    return lines


def _computed(model: Model) -> list[_Shown]:
    from_shape = ("from the shape above", "")
    rows = [("KV bytes per token", "computed", f"{kv_bytes_per_token(model):,}", from_shape)]
    if model.window_tokens is not None:
        past = f"{kv_bytes_per_token_past_window(model):,}"
        only_full = ("from the shape above", "Only full-attention layers still grow.")
        rows.append(("KV bytes per token past the window", "computed", past, only_full))
    return rows


def _numbered(number: int, source: str, note: str) -> str:
    """A source on a line of its own, never broken so that its address can be copied, and its note below it."""
    lines = [f"{number:3}. {printable(source)}"]
    if note:
        indent = " " * 5
        lines += textwrap.wrap(
            printable(note),
            _WIDTH,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(lines)
