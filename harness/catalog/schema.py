"""The catalog as a JSON Schema, generated from the records, for editors and other programs.

It says all that a schema can; the checks across fields (links, units, prices) are in `machine_checks` and
`model_checks`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from harness.catalog.canonical import canonical_bytes
from harness.catalog.figures import Record
from harness.catalog.machine import Machine
from harness.catalog.model import Model

_Id = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=64)]


class Catalog(Record, frozen=True, kw_only=True):
    """Machines and models for fakbench, every number with its kind and source."""

    schema: Literal["fakbench.catalog/1"]
    machines: dict[_Id, Machine]
    models: dict[_Id, Model]


def schema_bytes() -> bytes:
    """The JSON Schema of a catalog, canonical JSON."""
    schema: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return canonical_bytes(schema | msgspec.json.schema(Catalog))
