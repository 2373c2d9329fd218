"""What a well-formed model may still get wrong: fields of another attention kind, heads that do not add up."""

from __future__ import annotations

from collections.abc import Iterator

from harness.catalog.findings import Finding
from harness.catalog.magnitude import PARAMS, WEIGHTS, too_small
from harness.catalog.model import Model, kv_bytes_per_token

# Times the most tokens of a request (2**24) this stays within the most bytes of a block (2**50).
MAX_KV_BYTES_PER_TOKEN = 2**26

# Which attention kinds use which of the optional fields.
USED_BY = {
    "kv_lora_rank": ("mla",),
    "rope_dim": ("mla",),
    "full_attention_layers": ("sliding", "hybrid"),
    "window_tokens": ("sliding",),
}


def model_errors(model: Model, path: str) -> Iterator[Finding]:
    """Why a model cannot be used, in the order of its fields."""
    complete = True
    for field, kinds in USED_BY.items():
        given = getattr(model, field) is not None
        if model.attention in kinds and not given:
            complete = False
            yield Finding(f"{path}.{field}", f"is missing; attention '{model.attention}' needs it")
        if model.attention not in kinds and given:
            yield Finding(f"{path}.{field}", f"is not used by attention '{model.attention}'; remove it")
    if model.kv_heads.value > model.query_heads.value:
        yield Finding(
            f"{path}.kv_heads.value",
            f"{model.kv_heads.value} is more than query_heads {model.query_heads.value}; check both",
        )
    if model.full_attention_layers is not None and model.full_attention_layers.value > model.layers.value:
        yield Finding(
            f"{path}.full_attention_layers.value",
            f"{model.full_attention_layers.value} is more than layers {model.layers.value}; check both",
        )
    yield from too_small(model.active_params, f"{path}.active_params", PARAMS)
    if model.active_params.value > model.total_params.value:
        yield Finding(
            f"{path}.active_params.value",
            f"{model.active_params.value} is more than total_params {model.total_params.value}; check both",
        )
    yield from too_small(model.total_params, f"{path}.total_params", PARAMS)
    if model.weights_bytes.value == 0:
        yield Finding(f"{path}.weights_bytes.value", "0 is a model without weights; give their bytes")
    yield from too_small(model.weights_bytes, f"{path}.weights_bytes", WEIGHTS)
    if complete and kv_bytes_per_token(model) > MAX_KV_BYTES_PER_TOKEN:
        yield Finding(
            path,
            f"its shape gives {kv_bytes_per_token(model)} KV bytes per token, above {MAX_KV_BYTES_PER_TOKEN}; "
            "check layers, kv_heads, head_dim and kv_dtype_bytes",
        )
