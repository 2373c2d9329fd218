"""Validation: everything that is wrong with a catalog, and everything that deserves a second look.

Errors come first from the file, then from each machine and each model in the order of their ids, so the same bytes
always give the same findings in the same order.
"""

from __future__ import annotations

from harness.catalog.document import NOT_CANONICAL, read_document
from harness.catalog.findings import Finding
from harness.catalog.machine import Machine
from harness.catalog.machine_checks import machine_errors, machine_warnings
from harness.catalog.model import Model
from harness.catalog.model_checks import model_errors
from harness.catalog.structure import convert


class Checked:
    """The entries of a catalog that fit, what is wrong, what deserves a look, and whether the file is canonical."""

    def __init__(self) -> None:
        self.machines: dict[str, Machine] = {}
        self.models: dict[str, Model] = {}
        self.errors: list[Finding] = []
        self.warnings: list[Finding] = []
        self.canonical = False

    def errors_and_form(self) -> list[Finding]:
        """The errors; where there are none, that the file is not canonical: one with errors is not reformatted."""
        return self.errors or ([] if self.canonical else [Finding("", NOT_CANONICAL)])


def check(data: bytes) -> Checked:
    """Check the bytes of a catalog. Form is reported apart from content: `canonical` adds no error."""
    document = read_document(data)
    checked = Checked()
    checked.canonical = document.canonical
    checked.errors += document.errors
    for name, raw in document.entries["machines"].items():
        path = f"machines.{name}"
        machine, errors = convert(raw, Machine, path)
        if machine is not None:
            errors += machine_errors(machine, path)
            checked.warnings += machine_warnings(machine, path)
            checked.machines[name] = machine
        checked.errors += errors
    for name, raw in document.entries["models"].items():
        path = f"models.{name}"
        model, errors = convert(raw, Model, path)
        if model is not None:
            errors += model_errors(model, path)
            checked.models[name] = model
        checked.errors += errors
    return checked


def validate(data: bytes) -> tuple[list[Finding], list[Finding]]:
    """Errors and warnings of a catalog, in a fixed order. A file that is right but not canonical is an error too."""
    checked = check(data)
    return checked.errors_and_form(), checked.warnings
