"""A recipe: a workload, a seed and integer knobs, from which the same trace comes every time.

The fields here are common to all workloads; each workload adds its own in its own file. A knob says what it is, its
unit and its bounds in its annotation: checks, error messages and `fakbench trace synth --list` all read it there.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from harness.errors import FakbenchError
from harness.trace import MAX_TIME_US

SCHEMA = "fakbench.recipe/1"

MAX_REQUESTS = 10_000_000
MAX_PROMPT_TOKENS = 2**20
MAX_BLOCK_TOKENS = 4096
MAX_GAP_MS = 24 * 3600 * 1000
MAX_T_MS = MAX_TIME_US // 1000
MAX_EVENTS = 10_000


class RecipeError(FakbenchError):
    """A recipe that cannot be followed. The message names the file or the trace, the field and what to do."""


def knob(low: int, high: int, about: str) -> msgspec.Meta:
    """An integer from `low` to `high`, both allowed, that is `about` something."""
    return msgspec.Meta(ge=low, le=high, description=about)


Tier = Literal["hbm", "dram", "numa_far", "cxl", "disk", "remote"]
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=MAX_T_MS)]


class Clear(msgspec.Struct, tag_field="kind", tag="clear", forbid_unknown_fields=True, frozen=True):
    """Drop what a tier holds, or what every tier holds where none is named."""

    t_ms: Milliseconds
    tier: Tier | msgspec.UnsetType = msgspec.UNSET


class Fault(msgspec.Struct, tag_field="kind", tag="fault", forbid_unknown_fields=True, frozen=True):
    """Reads of a tier fail from `t_ms` until `until_ms`, not including it."""

    t_ms: Milliseconds
    tier: Tier
    until_ms: Milliseconds


class Pressure(msgspec.Struct, tag_field="kind", tag="pressure", forbid_unknown_fields=True, frozen=True):
    """Others hold `fill_ppm` of a tier's capacity from `t_ms` on."""

    t_ms: Milliseconds
    tier: Tier
    fill_ppm: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]


Event = Clear | Fault | Pressure


class Recipe(msgspec.Struct, tag_field="workload", forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What every recipe has."""

    schema: Literal["fakbench.recipe/1"]
    name: Annotated[str, msgspec.Meta(max_length=200)] = ""
    seed: Annotated[int, knob(0, 2**53 - 1, "same recipe and seed, same trace")]
    block_tokens: Annotated[int, knob(1, MAX_BLOCK_TOKENS, "tokens of a block")] = 512
    events: Annotated[tuple[Event, ...], msgspec.Meta(max_length=MAX_EVENTS)] = ()

    @property
    def workload(self) -> str:
        return str(self.__struct_config__.tag)

    @property
    def title(self) -> str:
        return self.name or f"{self.workload}-{self.seed}"


class Paced(Recipe, frozen=True, kw_only=True):
    """A recipe whose requests or sessions begin at a mean rate."""

    mean_gap_ms: Annotated[int, knob(0, MAX_GAP_MS, "mean time between beginnings")]
    burst: Annotated[int, knob(1, 100_000, "how many begin at the same millisecond")] = 1
