"""`fakbench check`: every golden report is made anew and held against the kept one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.commands.saying import say


def check(
    root: Annotated[Path, typer.Option(help="The checkout whose reports/index.json is meant.")] = Path(),
    update: Annotated[
        bool, typer.Option("--update", help="Write the reports anew instead; read the difference.")
    ] = False,
    catalog: Annotated[Path | None, typer.Option(help="Another catalog than the checkout's.")] = None,
) -> int:
    """Re-derive every golden report and say which fields differ. Exit code 1 where one does."""
    from harness.catalog.lookup import FILE_NAME, load_catalog
    from harness.errors import EXIT_DIFFERENCE, EXIT_OK
    from harness.goldens import check_golden, load_index, refresh

    rows = load_index(root)
    loaded = load_catalog(catalog or root / FILE_NAME)
    if update:
        changed = [row.report for row in rows if refresh(row, root, loaded)]
        for name in changed:
            say(f"written: {name}")
        say(f"{len(rows)} golden reports, {len(changed)} changed")
        return EXIT_OK
    drifts = [drift for row in rows if (drift := check_golden(row, root, loaded)) is not None]
    for drift in drifts:
        say(f"differs: {drift.report}")
        for line in drift.differences:
            say(f"  {line}")
    say(f"{len(rows)} golden reports, {len(drifts)} differ")
    return EXIT_DIFFERENCE if drifts else EXIT_OK
