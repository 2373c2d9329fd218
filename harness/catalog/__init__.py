"""The catalog: machines and models, every number with its kind and source.

A catalog is one JSON file. It is decoded into immutable records, checked as a whole, and looked up by id.
"""

from harness.catalog.canonical import canonical_bytes, entry_bytes, entry_digest
from harness.catalog.checking import validate
from harness.catalog.figures import KINDS, Figure
from harness.catalog.findings import Finding
from harness.catalog.lookup import Catalog, find_catalog, load_catalog
from harness.catalog.machine import AcceleratorGroup, Link, Machine, Price, Tier, Tiers
from harness.catalog.model import Model, kv_bytes_per_token, kv_bytes_per_token_past_window, replicas_of_kv

__all__ = [
    "KINDS",
    "AcceleratorGroup",
    "Catalog",
    "Figure",
    "Finding",
    "Link",
    "Machine",
    "Model",
    "Price",
    "Tier",
    "Tiers",
    "canonical_bytes",
    "entry_bytes",
    "entry_digest",
    "find_catalog",
    "kv_bytes_per_token",
    "kv_bytes_per_token_past_window",
    "load_catalog",
    "replicas_of_kv",
    "validate",
]
