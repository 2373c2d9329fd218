"""The questions of `rag`, asked by many tenants over one library: what each could reuse of the others' KV.

A tenant asks through one adapter (LoRA), tenant 0 through adapter 0, tenant 1 through adapter 1, and so on in turn. All
tenants retrieve the same documents, so isolation costs what they would have shared. Tenants ask equally often: how
traffic is spread over tenants in production we have no figures of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from harness.synth import rag
from harness.synth.draws import Draws
from harness.synth.rag import Rag
from harness.synth.recipe import knob
from harness.synth.records import Request
from policy.identity import Identity


class MultiTenantRag(Rag, tag="multi-tenant-rag", frozen=True, kw_only=True):
    """Knobs of `multi-tenant-rag`."""

    tenants: Annotated[int, knob(1, 100_000, "tenants, each asking equally often")] = 8
    adapters: Annotated[int, knob(1, 100_000, "adapters, given to the tenants in turn")] = 2


def generate(recipe: MultiTenantRag) -> Iterator[Request]:
    """The requests of `rag` of the same knobs and seed, by time, each with who asks."""
    draws = Draws(recipe.seed, 3)
    for request in rag.generate(recipe):
        tenant = draws.below(recipe.tenants)
        who = Identity(adapter=f"adapter-{tenant % recipe.adapters}", tenant=f"tenant-{tenant}")
        yield replace(request, identity=who)
