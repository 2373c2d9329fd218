"""The catalog on the command line: validate, format and show it, print its schema, list machines and models.

`app` is the `catalog` group; `machines` and `models` are commands of the top level. A CatalogError passes through to
the main program, which prints it and exits 2.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from harness.catalog import Catalog, canonical_bytes, entry_bytes, entry_digest, find_catalog, load_catalog
from harness.catalog.figures import Figure
from harness.catalog.findings import near_misses, shown
from harness.catalog.lookup import error_text, read_catalog_bytes
from harness.catalog.machine import Machine
from harness.catalog.model import Model, kv_bytes_per_token, kv_bytes_per_token_past_window
from harness.catalog.validate import check, validate
from harness.errors import EXIT_DIFFERENCE, CatalogError
