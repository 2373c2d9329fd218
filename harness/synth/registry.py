"""The workloads: one file each with its knobs and its generator, and one row here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from harness.synth import agent_loop, batch, few_shot, multi_tenant_rag, multi_turn_chat, rag, shared_prefix
from harness.synth.agent_loop import AgentLoop
from harness.synth.batch import Batch
from harness.synth.few_shot import FewShot
from harness.synth.multi_tenant_rag import MultiTenantRag
from harness.synth.multi_turn_chat import MultiTurnChat
from harness.synth.rag import Rag
from harness.synth.recipe import Recipe
from harness.synth.records import Record
from harness.synth.shared_prefix import SharedPrefix

AnyRecipe = MultiTurnChat | AgentLoop | FewShot | Rag | MultiTenantRag | Batch | SharedPrefix


class Workload(NamedTuple):
    """`recipe` holds the knobs; `generate` yields the records of such a recipe by time, holding a few of them only."""

    recipe: type[Recipe]
    generate: Callable[[Any], Iterator[Record]]
    summary: str


WORKLOADS: dict[str, Workload] = {
    "multi-turn-chat": Workload(MultiTurnChat, multi_turn_chat.generate, "conversations that grow turn by turn"),
    "agent-loop": Workload(AgentLoop, agent_loop.generate, "agents with tools, pauses and sub-agents"),
    "few-shot": Workload(FewShot, few_shot.generate, "a shared system prompt and examples, a question of its own"),
    "rag": Workload(Rag, rag.generate, "popular documents before a question of its own"),
    "multi-tenant-rag": Workload(MultiTenantRag, multi_tenant_rag.generate, "`rag`, asked by many tenants"),
    "batch": Workload(Batch, batch.generate, "prompts that share nothing"),
    "shared-prefix": Workload(SharedPrefix, shared_prefix.generate, "one prefix among other tenants' spans"),
}
