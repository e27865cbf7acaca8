"""Bytes that the keys and values of a sequence take, by kind of attention, and how parallelism splits them.

A model's cache is a few groups of layers. In each, a token leaves ``width`` values a layer: keys and values of every KV
head (MHA, GQA), or one latent vector for all heads (MLA). A window bounds what a layer keeps; a layer of linear attention
or of a state space keeps a state of constant size instead.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from pricing.open_model import OpenModel

BYTES_PER_VALUE: Final[Mapping[str, float]] = {
    "bf16": 2.0, "fp16": 2.0, "f16": 2.0, "fp8": 1.0, "int8": 1.0, "q8_0": 34 / 32, "q4_0": 18 / 32, "fp4": 0.5625,
}  # fmt: skip
"""Of a cached value. llama.cpp's q8_0 and q4_0 keep a 2-byte scale for 32 values, NVFP4 one byte for 16."""
STATE_BYTES_PER_VALUE: Final = 4.0
"""Of the state of linear and state-space layers, which engines keep in FP32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheGroup:
    """Layers that cache alike.

    Attributes:
        layers: How many.
        width: Values that a token leaves in one layer; 0 for a state of constant size.
        heads: KV heads that tensor parallelism can share out; None for a latent vector that all heads need.
        window_tokens: The most that a layer keeps; None for the whole context.
        state_values: Values that one sequence keeps in one layer whatever its length.
    """

    layers: float
    width: float = 0.0
    heads: int | None = None
    window_tokens: int | None = None
    state_values: float = 0.0


def head_group(
    layers: int, kv_heads: int, head_dim: int, value_dim: int | None = None, window_tokens: int | None = None
) -> CacheGroup:
    """Layers of multi-head or grouped-query attention: keys and values of each KV head.

    Source: Ainslie et al., arXiv 2305.13245 (grouped-query attention); only KV heads are cached, not query heads.
    """
    width = kv_heads * (head_dim + (head_dim if value_dim is None else value_dim))
    return CacheGroup(layers=layers, width=width, heads=kv_heads, window_tokens=window_tokens)


def latent_group(layers: int, kv_lora_rank: int, rope_dim: int) -> CacheGroup:
    """Layers of multi-head latent attention: one compressed vector and one rotary key a token, for all heads.

    Source: DeepSeek-V2, arXiv 2405.04434, table 1: (rank + rotary dimension) values a token and layer.
    """
    return CacheGroup(layers=layers, width=kv_lora_rank + rope_dim)


def groups_of(model: OpenModel) -> tuple[CacheGroup, ...]:
    """The groups of a model of the table or of a ``config.json``.

    Ignores: what engines leave unused when they give every layer blocks of one size (a tenth on models with windows),
    and the compressed part of DeepSeek-V4's cache is taken as published, not derived.
    """
    full, sliding, linear = model.n_full_attention_layers, model.sliding_layers, model.linear_or_ssm_layers
    found: list[CacheGroup] = []
    if grown := model.kv_bytes_per_token_bf16 / 2:
        shared = model.is_mla or not full
        layers = full or model.n_layers
        heads = None if shared else model.full_kv_heads or model.n_kv_heads
        found.append(CacheGroup(layers=layers, width=grown / layers, heads=heads))
    if sliding and model.sliding_window:
        width = model.sliding_kv_width or 2 * model.n_kv_heads * model.head_dim
        heads = model.sliding_kv_heads or model.n_kv_heads
        found.append(CacheGroup(layers=sliding, width=width, heads=heads, window_tokens=model.sliding_window))
    if linear and model.linear_state_values:
        found.append(CacheGroup(layers=linear, state_values=model.linear_state_values / linear))
    return tuple(found)


def bytes_per_token(groups: Iterable[CacheGroup], bytes_per_value: float = 2.0) -> float:
    """What one more token adds once the windows are full: the growth that bounds long contexts."""
    return sum(
        group.layers * group.width * bytes_per_value for group in groups if group.window_tokens is None
    )


def sequence_bytes(
    groups: Iterable[CacheGroup], context_tokens: float, bytes_per_value: float = 2.0
) -> float:
    """What one sequence keeps at a length of context.

    Source: layers x values a token x min(context, window) x bytes, plus states of constant size.
    Ignores: rounding up to blocks (``sequence_bytes_in_blocks``).
    """
    return sum(
        group.layers
        * (
            group.width * _kept(group, context_tokens) * bytes_per_value
            + group.state_values * STATE_BYTES_PER_VALUE
        )
        for group in groups
    )


def sequence_bytes_in_blocks(
    groups: Iterable[CacheGroup], context_tokens: float, bytes_per_value: float = 2.0, block_tokens: int = 16
) -> float:
    """The same with the length rounded up to whole blocks, as paged engines hand memory out (vLLM: 16 tokens)."""
    rounded = math.ceil(context_tokens / block_tokens) * block_tokens
    return sequence_bytes(groups, rounded, bytes_per_value)


def on_one_rank(groups: Iterable[CacheGroup], tp: int = 1, pp: int = 1) -> tuple[CacheGroup, ...]:
    """What one accelerator of a deployment keeps of every sequence.

    Tensor parallelism shares KV heads out; with more ranks than heads each head has copies, so a rank never keeps less
    than one. A latent vector is needed by every rank and copied to all. Pipeline parallelism shares layers out.

    Source: vLLM's and TensorRT-LLM's rule, max(1, KV heads / ranks), here rounded up where it does not divide.
    Ignores: layers that do not divide by the pipeline (the largest stage keeps more), context parallelism.
    """
    return tuple(
        CacheGroup(
            layers=group.layers / pp,
            width=group.width * rank_share(group.heads, tp),
            heads=None if group.heads is None else math.ceil(group.heads / tp),
            window_tokens=group.window_tokens,
            state_values=group.state_values / tp,
        )
        for group in groups
    )


def rank_share(heads: int | None, tp: int) -> float:
    """Share of a layer's cache that one of ``tp`` ranks keeps; over all ranks more than 1 where there are copies."""
    return 1.0 if heads is None else math.ceil(heads / tp) / heads


def _kept(group: CacheGroup, context_tokens: float) -> float:
    return context_tokens if group.window_tokens is None else min(context_tokens, group.window_tokens)
