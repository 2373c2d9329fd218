"""A model: the shape that decides how many bytes of KV a token takes, which is computed and never typed in.

The formulas are the engines' own: two vectors per layer and KV head for grouped heads, one latent per layer for MLA.
"""

from __future__ import annotations

from typing import Literal, get_args

from harness.catalog.figures import Bytes, Count, DtypeBytes, Note, Parameters, Record, Text, Tokens

Attention = Literal["gqa", "mla", "sliding", "hybrid"]
ATTENTIONS: tuple[str, ...] = get_args(Attention)


class Model(Record, frozen=True, kw_only=True):
    """A transformer's shape.

    `kv_lora_rank` and `rope_dim` belong to `mla`, `full_attention_layers` to `sliding` and `hybrid`, `window_tokens`
    to `sliding`. `head_dim` is the mean of the query-key and the value dimension, for the compute roofline.
    """

    title: Text
    attention: Attention
    layers: Count
    kv_heads: Count
    query_heads: Count
    head_dim: Count
    kv_dtype_bytes: DtypeBytes
    kv_lora_rank: Count | None = None
    rope_dim: Count | None = None
    full_attention_layers: Count | None = None
    window_tokens: Tokens | None = None
    active_params: Parameters
    total_params: Parameters
    weights_bytes: Bytes
    note: Note = ""


def kv_bytes_per_token(model: Model) -> int:
    """Bytes of KV that one token takes, over all layers and all ranks, each byte counted once.

    Sliding-window layers count in full, because engines reserve full pages for them. Of a hybrid model only the
    attention layers count: the fixed state of the others does not grow with the context.
    """
    if model.attention == "mla" and model.kv_lora_rank is not None and model.rope_dim is not None:
        latent = model.kv_lora_rank.value + model.rope_dim.value
        return model.layers.value * latent * model.kv_dtype_bytes.value
    layers = model.layers.value
    if model.attention == "hybrid" and model.full_attention_layers is not None:
        layers = model.full_attention_layers.value
    return layers * _kv_bytes_per_layer(model)


def kv_bytes_per_token_past_window(model: Model) -> int:
    """Bytes that one more token takes once the window layers are full: only full-attention layers still grow."""
    if model.attention == "sliding" and model.full_attention_layers is not None:
        return model.full_attention_layers.value * _kv_bytes_per_layer(model)
    return kv_bytes_per_token(model)


def replicas_of_kv(model: Model, tensor_parallel: int) -> int:
    """How many times the ranks of a tensor-parallel group hold each KV byte between them, at least once.

    MLA keeps its latent on every rank. Grouped heads are dealt out until there are more ranks than heads.
    """
    if model.attention == "mla":
        return max(1, tensor_parallel)
    return max(1, -(-tensor_parallel // model.kv_heads.value))


def _kv_bytes_per_layer(model: Model) -> int:
    return 2 * model.kv_heads.value * model.head_dim.value * model.kv_dtype_bytes.value
