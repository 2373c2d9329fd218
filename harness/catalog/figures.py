"""A figure: one number that says where it comes from.

Every number of the catalog is a `Figure`: an integer value in the unit of its field, a kind, a source and
perhaps a note. Each subclass is one unit with its bounds, so that no product of figures passes 2**62.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

Kind = Literal["measured", "datasheet", "derived", "assumed"]
KINDS: tuple[str, ...] = get_args(Kind)

# One accelerator's memory times the accelerators of a node stays within the capacity of a tier.
MAX_CAPACITY_BYTES = 2**60
MAX_MEMORY_BYTES = 2**50
MAX_ACCELERATORS = 2**10

Text = Annotated[str, Meta(pattern=r"\S", max_length=200, description="One line, not blank.")]
Source = Annotated[str, Meta(pattern=r"\S", max_length=400, description="Where the number was read, or why assumed.")]
Note = Annotated[str, Meta(max_length=800, description="Conditions, theoretical values, what to be careful of.")]


class Record(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A record of the catalog: immutable, refuses unknown fields, encodes without defaults."""


class Figure(Record, frozen=True, kw_only=True):
    """An integer in the unit of its field, with its kind and source."""

    value: int
    kind: Kind
    source: Source
    note: Note = ""


class Nanoseconds(Figure, frozen=True, kw_only=True):
    """A latency in nanoseconds."""

    value: Annotated[int, Meta(ge=0, le=10**12, description="Nanoseconds.")]


class MegabytesPerSecond(Figure, frozen=True, kw_only=True):
    """A bandwidth in MB/s, where 1 MB is 10**6 bytes; never zero."""

    value: Annotated[int, Meta(ge=1, le=10**9, description="MB/s; 1 MB is 10**6 bytes.")]


class CapacityBytes(Figure, frozen=True, kw_only=True):
    """The size of a tier in bytes; 0 is unbounded."""

    value: Annotated[int, Meta(ge=0, le=MAX_CAPACITY_BYTES, description="Bytes; 0 is unbounded.")]


class Bytes(Figure, frozen=True, kw_only=True):
    """An amount of bytes."""

    value: Annotated[int, Meta(ge=0, le=MAX_CAPACITY_BYTES, description="Bytes.")]


class MemoryBytes(Figure, frozen=True, kw_only=True):
    """The memory of one accelerator in bytes."""

    value: Annotated[int, Meta(ge=0, le=MAX_MEMORY_BYTES, description="Bytes of one accelerator.")]


class AcceleratorCount(Figure, frozen=True, kw_only=True):
    """How many accelerators a node has."""

    value: Annotated[int, Meta(ge=1, le=MAX_ACCELERATORS, description="Accelerators of the node.")]


class Gigaflops(Figure, frozen=True, kw_only=True):
    """A dense arithmetic rate in GFLOP/s: 1 TFLOP/s is 1000. Sparse figures are twice the dense ones."""

    value: Annotated[int, Meta(ge=1, le=10**9, description="Dense GFLOP/s; 1 TFLOP/s is 1000.")]


class PartsPerMillion(Figure, frozen=True, kw_only=True):
    """A ratio in parts per million: 500000 is one half."""

    value: Annotated[int, Meta(ge=1, le=10**6, description="Parts per million; 500000 is one half.")]


class UsdMicros(Figure, frozen=True, kw_only=True):
    """Money in micro-dollars: 1 USD is 1000000."""

    value: Annotated[int, Meta(ge=0, le=10**12, description="Micro-dollars; 1 USD is 1000000.")]


class Count(Figure, frozen=True, kw_only=True):
    """A count of layers or heads, or a dimension."""

    value: Annotated[int, Meta(ge=1, le=2**16, description="A count, at least 1.")]


class DtypeBytes(Figure, frozen=True, kw_only=True):
    """Bytes of one element of the KV cache: 2 for bf16, 1 for fp8."""

    value: Annotated[int, Meta(ge=1, le=8, description="Bytes of one element; bf16 is 2, fp8 is 1.")]


class Tokens(Figure, frozen=True, kw_only=True):
    """An amount of tokens."""

    value: Annotated[int, Meta(ge=1, le=2**24, description="Tokens.")]


class Parameters(Figure, frozen=True, kw_only=True):
    """An amount of model parameters."""

    value: Annotated[int, Meta(ge=1, le=10**14, description="Parameters, not billions of them.")]
