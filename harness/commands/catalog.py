"""The catalog on the command line: validate, format and show it, print its schema, list machines and models.

`app` is the `catalog` group; `machines` and `models` are commands of the top level. A CatalogError passes through to
the main program, which prints it and exits 2.
"""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from harness.commands.saying import say, write


class Form(StrEnum):
    """How an entry or a list is printed."""

    table = "table"
    json = "json"


CatalogOption = Annotated[
    Path | None,
    typer.Option("--catalog", metavar="PATH", help="Another catalog than FAKBENCH_CATALOG or the one installed."),
]
PathArgument = Annotated[
    Path | None, typer.Argument(metavar="PATH", help="A catalog file; the one in use where none is named.")
]
FormOption = Annotated[Form, typer.Option("--format", help="How to print it.")]

app = typer.Typer(help="Check, format and show the catalog.", no_args_is_help=True, rich_markup_mode=None)


@app.command("validate")
def validate_command(path: PathArgument = None, catalog: CatalogOption = None) -> int:
    """Check a catalog: name every error, and what deserves a second look. Exit code 2 where there is an error."""
    from harness.catalog.checking import check
    from harness.catalog.lookup import error_text, read_catalog_bytes
    from harness.errors import EXIT_OK, CatalogError

    chosen = _chosen(path, catalog)
    checked = check(read_catalog_bytes(chosen))
    for warning in checked.warnings:
        say(f"warning: {warning}")
    if errors := checked.errors_and_form():
        raise CatalogError(error_text(chosen, errors, most=len(errors)))
    counts = f"{len(checked.machines)} machines, {len(checked.models)} models, {len(checked.warnings)} warnings"
    say(f"ok: {counts}")
    return EXIT_OK


@app.command("format")
def format_command(
    path: PathArgument = None,
    catalog: CatalogOption = None,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; exit code 1 where it would.")] = False,
) -> int:
    """Rewrite a catalog in canonical form: sorted keys, two-space indent, final newline. Bad ones stay."""
    import orjson

    from harness.catalog.canonical import canonical_bytes
    from harness.catalog.checking import check as check_bytes
    from harness.catalog.lookup import error_text, read_catalog_bytes
    from harness.documents import write_whole
    from harness.errors import EXIT_DIFFERENCE, EXIT_OK, CatalogError

    chosen = _chosen(path, catalog)
    data = read_catalog_bytes(chosen)
    checked = check_bytes(data)
    if checked.errors:
        raise CatalogError(error_text(chosen, checked.errors, most=len(checked.errors)))
    if checked.canonical:
        say("already canonical")
        return EXIT_OK
    if check:
        say("not canonical")
        return EXIT_DIFFERENCE
    # Through a link, so that a linked catalog is rewritten and the link stays.
    write_whole(chosen.resolve(), canonical_bytes(orjson.loads(data)))
    say("rewritten in canonical form")
    return EXIT_OK


@app.command("show")
def show_command(
    name: Annotated[str, typer.Argument(metavar="ID", help="A machine or a model.")],
    catalog: CatalogOption = None,
    form: FormOption = Form.table,
) -> int:
    """Show every number of a machine or model with its kind and source."""
    from harness.catalog.canonical import entry_bytes
    from harness.catalog.lookup import find_catalog, load_catalog
    from harness.errors import EXIT_OK

    entry = load_catalog(find_catalog(catalog, os.environ)).entry(name)
    if form is Form.json:
        write([entry_bytes(entry)])
    else:
        from harness.commands.catalog_views import entry_view

        say(entry_view(name, entry))
    return EXIT_OK


@app.command("schema")
def schema_command(
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it here instead of printing it.")] = None,
) -> int:
    """Print the JSON Schema of a catalog."""
    from harness.catalog.schema import schema_bytes
    from harness.documents import write_whole
    from harness.errors import EXIT_OK

    if out is None:
        write([schema_bytes()])
    else:
        write_whole(out, schema_bytes())
        say("written")
    return EXIT_OK


def machines(catalog: CatalogOption = None, form: FormOption = Form.table) -> int:
    """List the machines of the catalog."""
    from harness.catalog.canonical import canonical_bytes
    from harness.catalog.lookup import find_catalog, load_catalog
    from harness.commands.catalog_views import machines_document, machines_table
    from harness.errors import EXIT_OK

    loaded = load_catalog(find_catalog(catalog, os.environ))
    if form is Form.json:
        write([canonical_bytes(machines_document(loaded))])
    else:
        say(machines_table(loaded))
    return EXIT_OK


def models(catalog: CatalogOption = None, form: FormOption = Form.table) -> int:
    """List the models of the catalog, with the KV bytes that a token of each takes."""
    from harness.catalog.canonical import canonical_bytes
    from harness.catalog.lookup import find_catalog, load_catalog
    from harness.commands.catalog_views import models_document, models_table
    from harness.errors import EXIT_OK

    loaded = load_catalog(find_catalog(catalog, os.environ))
    if form is Form.json:
        write([canonical_bytes(models_document(loaded))])
    else:
        say(models_table(loaded))
    return EXIT_OK


def _chosen(path: Path | None, catalog: Path | None) -> Path:
    from harness.catalog.lookup import find_catalog
    from harness.errors import CatalogError

    if path is not None and catalog is not None:
        raise CatalogError(f"{path} and --catalog {catalog} are both named; name one of them")
    return find_catalog(path or catalog, os.environ)
