"""How many parameters a model has, counted from its shape: the check of a stated total, and the total of a config.

Ignores: norms, biases, rotary tables, routers' corrections (together under 0.2 %), and towers for other media.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pricing.model_layers import Attention, Layer, Mlp


@dataclass(frozen=True, slots=True, kw_only=True)
class Mla:
    """Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1)."""

    q_lora_rank: int | None
    kv_lora_rank: int
    nope_dim: int
    rope_dim: int
    v_dim: int
    indexer_heads: int = 0
    indexer_dim: int = 0
    """Of sparse attention (DSA): a small attention that picks the tokens to look at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What the count needs, beside the layers."""

    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    v_head_dim: int
    vocab: int
    tied: bool
    mlp_matrices: int
    gated_attention: bool = False
    mla: Mla | None = None
    sliding_kv_heads: int | None = None
    full_kv_heads: int | None = None
    full_head_dim: int | None = None
    shared_k_and_v: bool = False
    """Keys are used as values in the full layers."""
    linear: int = 0
    """Parameters of one linear-attention or state-space layer."""
    experts: int = 0
    experts_per_token: int = 0
    expert_intermediate: int = 0
    expert_hidden: int | None = None
    shared_intermediate: int = 0
    """Width of the experts that every token uses, together."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Parameters by use."""

    total: int
    active: int
    active_matmul: int


def count(shape: Shape, layers: Sequence[Layer]) -> Counts:
    """Count the parameters of a model."""
    table = shape.vocab * shape.hidden
    always = sum(_attention(shape, layer) + _always(shape, layer) for layer in layers)
    moe_layers = sum(layer.mlp in {Mlp.MOE, Mlp.BOTH} for layer in layers)
    expert = shape.mlp_matrices * (shape.expert_hidden or shape.hidden) * shape.expert_intermediate
    head = 0 if shape.tied else table
    active = always + moe_layers * shape.experts_per_token * expert
    return Counts(
        total=table + head + always + moe_layers * shape.experts * expert,
        active=table + head + active,
        active_matmul=table + active,
    )


def _attention(shape: Shape, layer: Layer) -> int:
    match layer.attention:
        case Attention.NONE:
            return 0
        case Attention.LINEAR:
            return shape.linear
        case Attention.SLIDING:
            return _heads(shape, shape.sliding_kv_heads or shape.kv_heads, shape.head_dim, shape.v_head_dim)
        case Attention.FULL if shape.mla is not None:
            return _latent(shape, shape.mla)
        case Attention.FULL:
            dim = shape.full_head_dim
            found = _heads(
                shape, shape.full_kv_heads or shape.kv_heads, dim or shape.head_dim, dim or shape.v_head_dim
            )
            return found - (
                shape.hidden * (shape.full_kv_heads or 0) * (dim or 0) if shape.shared_k_and_v else 0
            )


def _heads(shape: Shape, kv_heads: int, qk_dim: int, v_dim: int) -> int:
    queries = shape.heads * qk_dim * (2 if shape.gated_attention else 1)
    return shape.hidden * (queries + kv_heads * (qk_dim + v_dim) + shape.heads * v_dim)


def _latent(shape: Shape, mla: Mla) -> int:
    heads, qk_dim = shape.heads, mla.nope_dim + mla.rope_dim
    if mla.q_lora_rank:
        queries = mla.q_lora_rank * (shape.hidden + heads * qk_dim)
    else:
        queries = shape.hidden * heads * qk_dim
    latent = shape.hidden * (mla.kv_lora_rank + mla.rope_dim) + mla.kv_lora_rank * heads * (
        mla.nope_dim + mla.v_dim
    )
    indexer = (mla.q_lora_rank or shape.hidden) * mla.indexer_heads * mla.indexer_dim
    indexer += shape.hidden * (mla.indexer_dim + mla.indexer_heads)
    return queries + latent + heads * mla.v_dim * shape.hidden + indexer


def _always(shape: Shape, layer: Layer) -> int:
    """The MLP parameters of a layer that every token uses."""
    dense = shape.mlp_matrices * shape.hidden * (layer.intermediate_size or shape.intermediate)
    shared = shape.mlp_matrices * shape.hidden * shape.shared_intermediate
    router = shape.hidden * shape.experts
    latent = 2 * shape.hidden * shape.expert_hidden if shape.expert_hidden else 0
    match layer.mlp:
        case Mlp.NONE:
            return 0
        case Mlp.DENSE:
            return dense
        case Mlp.MOE:
            return shared + router + latent
        case Mlp.BOTH:
            return dense + shared + router + latent
