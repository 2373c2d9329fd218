"""Nonsense that fits the form: wrong units, figures that contradict each other, links that cannot be; word by word."""

from __future__ import annotations

import pytest
from catalog_edits import ABSENT, edited, figure, shipped_part

from harness.catalog import validate

M = "machines/h100-sxm/"
L = "models/llama-3.1-8b/"
H = "machines.h100-sxm"
BYTES = "looks like gigabytes, not bytes"

MAGNITUDES = [
    (
        M + "accelerators/memory_bytes/value",
        0,
        f"{H}.accelerators.memory_bytes.value: 0 is an accelerator without memory; give the bytes of one accelerator",
    ),
    (
        M + "accelerators/memory_bytes",
        ABSENT,
        f"{H}.accelerators.memory_bytes: is missing; add a figure with its kind and source",
    ),
    (
        M + "accelerators/memory_bytes/value",
        80,
        f"{H}.accelerators.memory_bytes.value: 80 {BYTES}; write bytes: 80 GB is 80000000000",
    ),
    (
        M + "tiers/disk/capacity_bytes/value",
        51200,
        f"{H}.tiers.disk.capacity_bytes.value: 51200 {BYTES}; write bytes: 80 GB is 80000000000",
    ),
    (
        M + "accelerators/overhead_bytes/value",
        3,
        f"{H}.accelerators.overhead_bytes.value: 3 {BYTES}; write bytes: 3 GB is 3000000000",
    ),
    (
        M + "accelerators/memory_bandwidth_mb_s/value",
        3350,
        f"{H}.accelerators.memory_bandwidth_mb_s.value: 3350 looks like GB/s, not MB/s; "
        "write MB/s: 3350 GB/s is 3350000",
    ),
    (
        M + "accelerators/bf16_dense_gflops/value",
        989,
        f"{H}.accelerators.bf16_dense_gflops.value: 989 looks like TFLOP/s, not GFLOP/s; "
        "write GFLOP/s: 989 TFLOP/s is 989000",
    ),
    (
        M + "accelerators/mfu_ppm/value",
        54,
        f"{H}.accelerators.mfu_ppm.value: 54 looks like per cent, not parts per million; write ppm: 50 % is 500000",
    ),
    (
        M + "accelerators/kv_memory_utilisation_ppm/value",
        90,
        f"{H}.accelerators.kv_memory_utilisation_ppm.value: 90 looks like per cent, not parts per million; "
        "write ppm: 50 % is 500000",
    ),
    (
        M + "price/usd_micros_per_hour/value",
        39,
        f"{H}.price.usd_micros_per_hour.value: 39 looks like dollars, not micro-dollars; "
        "write micro-dollars: 1 USD is 1000000",
    ),
    (
        M + "price/usd_micros_per_gb/dram/value",
        32,
        f"{H}.price.usd_micros_per_gb.dram.value: 32 looks like dollars, not micro-dollars; "
        "write micro-dollars: 1 USD is 1000000",
    ),
    (
        M + "price/rated_drive_write_bytes/value",
        70080,
        f"{H}.price.rated_drive_write_bytes.value: 70080 looks like terabytes, not bytes; "
        "write bytes: 1 TB is 1000000000000",
    ),
    (
        L + "weights_bytes/value",
        16,
        f"models.llama-3.1-8b.weights_bytes.value: 16 {BYTES}; write bytes: 16 GB is 16000000000",
    ),
    (
        L + "weights_bytes/value",
        0,
        "models.llama-3.1-8b.weights_bytes.value: 0 is a model without weights; give their bytes",
    ),
    (
        L + "active_params/value",
        8,
        "models.llama-3.1-8b.active_params.value: 8 looks like billions, not parameters; "
        "write parameters: 8 billion is 8000000000",
    ),
]

CONTRADICTIONS = [
    (
        M + "tiers/hbm/capacity_bytes/value",
        2**36,
        f"{H}.tiers.hbm.capacity_bytes.value: 68719476736 differs from accelerators.memory_bytes 85899345920; "
        "hbm is the memory of one accelerator, so give both the same value",
    ),
    (
        M + "tiers/hbm/bandwidth_mb_s/value",
        3_350_001,
        f"{H}.tiers.hbm.bandwidth_mb_s.value: 3350001 is above accelerators.memory_bandwidth_mb_s 3350000; "
        "hbm reaches at most the memory's own rate",
    ),
    (
        M + "accelerators/fp8_dense_gflops/value",
        988_999,
        f"{H}.accelerators.fp8_dense_gflops.value: 988999 is slower than bf16_dense_gflops 989000; check both",
    ),
    (
        M + "links/0/b",
        "cxl",
        f"{H}.links[0].b: 'cxl' is not a tier of this machine; add the tier or remove the link",
    ),
    (
        M + "links/0/b",
        "hbm",
        f"{H}.links[0].a: 'hbm' is not hotter than b, 'hbm'; let a be the hotter end and swap the directions",
    ),
    (
        M + "links/0/a",
        "numa_far",
        f"{H}.links[0].a: 'numa_far' is not hotter than b, 'dram'; let a be the hotter end and swap the directions",
    ),
    (
        M + "links/0/b_to_a_mb_s/value",
        2_680_001,
        f"{H}.links[0].b_to_a_mb_s.value: 2680001 is wider than both of its ends, hbm (2680000) and dram (491200); "
        "remove or correct it",
    ),
    (
        M + "links/0/both_mb_s/value",
        100_001,
        f"{H}.links[0].both_mb_s.value: 100001 is above the sum of its directions (50000 + 50000); "
        "give what both reach together",
    ),
    (
        M + "price/usd_micros_per_gb/cxl",
        figure(10**7),
        f"{H}.price.usd_micros_per_gb.cxl: 'cxl' is not a tier of this machine; add the tier or remove the price",
    ),
    (
        M + "tiers/disk",
        ABSENT,
        f"{H}.price.rated_drive_write_bytes: this machine has no tier 'disk' to wear out; "
        "add the tier or remove the figure",
    ),
    (L + "kv_heads/value", 33, "models.llama-3.1-8b.kv_heads.value: 33 is more than query_heads 32; check both"),
    (
        L + "active_params/value",
        8_030_000_001,
        "models.llama-3.1-8b.active_params.value: 8030000001 is more than total_params 8030000000; check both",
    ),
    (L + "rope_dim", figure(64), "models.llama-3.1-8b.rope_dim: is not used by attention 'gqa'; remove it"),
    (
        L + "window_tokens",
        figure(128),
        "models.llama-3.1-8b.window_tokens: is not used by attention 'gqa'; remove it",
    ),
    (
        "models/deepseek-v3/kv_lora_rank",
        ABSENT,
        "models.deepseek-v3.kv_lora_rank: is missing; attention 'mla' needs it",
    ),
    (
        "models/gpt-oss-120b/window_tokens",
        ABSENT,
        "models.gpt-oss-120b.window_tokens: is missing; attention 'sliding' needs it",
    ),
    (
        "models/gpt-oss-120b/full_attention_layers/value",
        37,
        "models.gpt-oss-120b.full_attention_layers.value: 37 is more than layers 36; check both",
    ),
    (
        L + "layers/value",
        16385,
        "models.llama-3.1-8b: its shape gives 67112960 KV bytes per token, above 67108864; "
        "check layers, kv_heads, head_dim and kv_dtype_bytes",
    ),
]


@pytest.mark.parametrize(("path", "value", "message"), MAGNITUDES + CONTRADICTIONS)
def test_one_contradiction_gives_one_message(path: str, value: object, message: str) -> None:
    """The message names the field, the value, what is wrong with it and what to do; nothing else is said."""
    errors, _ = validate(edited((path, value)))

    assert [message] == [str(error) for error in errors]


def test_a_link_is_listed_once() -> None:
    """The second of two links between the same tiers is refused."""
    errors, _ = validate(edited((M + "links", shipped_part(M + "links") * 2)))

    assert [f"{H}.links[1]: hbm-dram is already listed as links[0]; keep one of them"] == [
        str(error) for error in errors
    ]


@pytest.mark.parametrize(
    ("machine", "link"),
    [("reference", ("hbm", "dram")), ("h100-sxm", ("dram", "disk"))],
)
def test_only_a_link_from_hbm_can_be_per_accelerator(machine: str, link: tuple[str, str]) -> None:
    """A link between tiers of the node, or of a machine without accelerators, is not divided among them."""
    document = {
        "a": link[0],
        "b": link[1],
        "a_to_b_mb_s": figure(1000),
        "b_to_a_mb_s": figure(1000),
        "per_accelerator": True,
    }

    errors, _ = validate(edited((f"machines/{machine}/links", [document])))

    assert [
        f"machines.{machine}.links[0].per_accelerator: true, but only a link from the hbm of a machine with "
        "accelerators is; write false"
    ] == [str(error) for error in errors]


def test_a_link_of_the_node_sees_the_hbm_of_all_accelerators() -> None:
    """Eight accelerators together are eight times as fast, and no link may be wider than that."""
    widest = 8 * 2_680_000
    changes = [(M + "links/0/per_accelerator", False), (M + "links/0/a_to_b_mb_s/value", widest)]
    assert validate(edited(*changes))[0] == []

    errors, _ = validate(edited(*changes, (M + "links/0/a_to_b_mb_s/value", widest + 1)))

    assert [
        f"{H}.links[0].a_to_b_mb_s.value: 21440001 is wider than both of its ends, hbm (21440000) and dram (491200); "
        "remove or correct it"
    ] == [str(error) for error in errors]


def test_a_link_as_wide_as_one_of_its_ends_is_accepted() -> None:
    """A link may bind for one end only."""
    assert validate(edited((M + "links/0/a_to_b_mb_s/value", 2_680_000)))[0] == []
