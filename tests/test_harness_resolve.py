"""From the catalog to an engine: room for KV, copies of KV, parts of a node, and what cannot be."""

from __future__ import annotations

import pytest
from conftest import ROOT

from harness.catalog.lookup import load_catalog
from harness.engine import Engine
from harness.errors import SetupError
from harness.resolve import EngineOptions, resolve_engine
from policy.profiles import default_profiles
from policy.tiers import CXL, DISK, DRAM, HBM, NUMA_FAR

CATALOG = load_catalog(ROOT / "catalog.json")


def engine(machine: str, model: str | None = None, tensor_parallel: int = 1, **options: object) -> Engine:
    return resolve_engine(
        CATALOG,
        EngineOptions(machine=machine, model=model, tensor_parallel=tensor_parallel, **options),  # type: ignore[arg-type]
    )


def test_hbm_room_is_what_weights_and_overhead_leave() -> None:
    machine, model = CATALOG.machine("h100-sxm"), CATALOG.model("llama-3.1-8b")
    group = machine.accelerators
    assert group is not None
    usable = group.memory_bytes.value * group.kv_memory_utilisation_ppm.value // 10**6
    for ranks in (1, 2, 8):
        room = engine("h100-sxm", "llama-3.1-8b", ranks).profiles[HBM].capacity_bytes
        assert room == ranks * (usable - group.overhead_bytes.value) - model.weights_bytes.value


def test_seventy_billion_parameters_in_bf16_do_not_fit_one_card_and_do_fit_four() -> None:
    with pytest.raises(SetupError, match=r"^llama-3.1-70b leaves no HBM for KV on h100-sxm: 1 x 85899345920 bytes"):
        engine("h100-sxm", "llama-3.1-70b")
    assert engine("h100-sxm", "llama-3.1-70b", 4).profiles[HBM].capacity_bytes > 100 * 10**9


def test_kv_heads_are_dealt_out_and_an_mla_latent_is_on_every_rank() -> None:
    assert engine("h100-sxm", "llama-3.1-8b", 8).kv_bytes_per_token == 131_072
    assert engine("h200-sxm", "qwen3-30b-a3b", 8).kv_bytes_per_token == 2 * 98_304
    assert engine("h200-sxm", "deepseek-v3", 8).kv_bytes_per_token == 8 * 70_272


def test_an_engine_gets_its_part_of_the_node_and_all_of_its_own_links() -> None:
    one, four = engine("h100-sxm"), engine("h100-sxm", None, 4)
    tiers = CATALOG.machine("h100-sxm").tiers
    assert tiers.dram is not None
    assert one.profiles[DRAM].capacity_bytes == tiers.dram.capacity_bytes.value // 8
    assert four.profiles[DRAM].capacity_bytes == tiers.dram.capacity_bytes.value // 2
    assert four.profiles[HBM].bandwidth_mb_s == 4 * one.profiles[HBM].bandwidth_mb_s
    assert [link.down_mb_s for link in four.links] == [4 * link.down_mb_s for link in one.links]


def test_reference_is_the_default_profiles_to_the_digit() -> None:
    made = engine("reference", kv_bytes_per_token=1, prefill_ns_per_token=1)
    assert {tier: vars(profile) for tier, profile in made.profiles.items()} == {
        tier: vars(profile) for tier, profile in default_profiles().items()
    }
    assert (made.model_id, made.model_digest, made.links) == ("", "", ())


def test_a_link_narrows_what_crosses_it_and_nothing_else() -> None:
    machine = engine("h100-sxm")
    costs = machine.costs()
    link = machine.links[0]
    assert (link.hotter, link.colder) == (HBM, DRAM)
    size_bytes = 10**9
    narrow = min(link.up_mb_s, machine.profiles[DRAM].bandwidth_mb_s)
    assert costs.read_ns(DRAM, size_bytes) == machine.profiles[DRAM].read_latency_ns + size_bytes * 1000 // narrow
    disk = machine.profiles[DISK]
    assert costs.read_ns(DISK, size_bytes) == disk.read_latency_ns + size_bytes * 1000 // disk.bandwidth_mb_s


def test_dropped_tiers_take_their_links_with_them_and_capacities_are_as_given() -> None:
    made = engine("h100-cxl-direct", capacity_bytes={CXL: 0, DRAM: 5}, dropped=frozenset({NUMA_FAR}))
    assert NUMA_FAR not in made.profiles
    assert (made.profiles[CXL].capacity_bytes, made.profiles[DRAM].capacity_bytes) == (0, 5)
    assert all(NUMA_FAR not in (link.hotter, link.colder) for link in made.links)


def test_the_last_thousand_tokens_of_a_long_prompt_cost_more_than_the_first() -> None:
    prefill = engine("h100-sxm").prefill
    assert prefill.ns(1000, 99_000) > prefill.ns(1000, 0) > 0
    whole = prefill.ns(8192, 0)
    assert abs(whole - prefill.ns(4096, 0) - prefill.ns(4096, 4096)) <= 1


def test_attention_costs_as_much_as_the_rest_at_sixty_thousand_tokens_for_eight_billion_parameters() -> None:
    """The crossover that published figures give: about 61,000 tokens of context."""
    prefill = engine("h100-sxm").prefill
    # A prompt of n tokens attends to n / 2 on average.
    assert 60_000 < 2 * prefill.linear_flop_per_token / prefill.attention_flop_per_pair < 62_000
