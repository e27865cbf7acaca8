"""Values of a ``config.json`` under the names that families of models give them."""

from collections.abc import Mapping
from typing import Any, Final

from pricing.model_layers import Config

NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "num_hidden_layers": ("n_layer", "n_layers", "num_layers"),
    "hidden_size": ("n_embd", "d_model"),
    "num_attention_heads": ("n_head", "n_heads", "num_heads"),
    "num_key_value_heads": ("num_kv_heads", "n_head_kv", "num_attention_groups", "multi_query_group_num"),
    "intermediate_size": ("ffn_hidden_size", "n_inner", "ffn_dim", "feed_forward_size"),
    "max_position_embeddings": ("n_positions", "seq_length", "max_seq_len", "model_max_length"),
    "num_experts_per_tok": ("num_experts_per_token", "moe_topk", "moe_top_k", "top_k_experts", "experts_per_token", "moe_k"),
    "moe_intermediate_size": ("expert_ffn_hidden_size", "expert_intermediate_size"),
    "n_shared_experts": ("num_shared_experts", "num_shared_expert", "moe_num_shared_experts"),
    "vocab_size": ("padded_vocab_size",),
    "v_head_dim": (),
}  # fmt: skip
PLAIN_MLP: Final = (
    "bloom",
    "falcon",
    "gpt2",
    "gptj",
    "gpt_neox",
    "opt",
    "mpt",
    "nemotron",
    "starcoder2",
    "phi",
)
TIED: Final = ("gemma", "bloom", "falcon", "cohere", "gpt2", "opt", "mpt", "starcoder2", "granitemoehybrid")
"""Families whose class ties the input table to the head when the config does not say."""

NOT_WORKED_OUT: Final = (
    "compress_ratios", "attn_layer_period", "attn_layer_indices", "ssm_cfg", "ffn_config", "attn_config", "layer_block_type",
)  # fmt: skip
"""Keys of families whose layers are described in a way that is not read: compressed caches, Jamba, Bamba, Mamba, DBRX, MPT."""


def any_of(config: Config, key: str) -> Any:
    """A value under any of its names; None if it has none of them."""
    return next((config[one] for one in (key, *NAMES.get(key, ())) if config.get(one) is not None), None)


def count_of(config: Config, key: str, default: int = 0) -> int:
    """A whole number under any of its names, the first of a list; ``default`` if it has none of them."""
    found = any_of(config, key)
    return int(found[0] if isinstance(found, list) else found) if found is not None else default


def is_one_of(config: Config, families: tuple[str, ...]) -> bool:
    """Whether the model is of one of some families; their later versions count, save where the shape changed."""
    kind = str(config.get("model_type", ""))
    return any(
        kind == one or (kind.startswith(one) and one not in {"phi", "nemotron"}) for one in families
    ) or (kind == "nemotron_h" and "nemotron" in families)


def linear_parameters(config: Config, hidden: int) -> int:
    """Parameters of one layer with a constant state: gated DeltaNet, Kimi Delta Attention, or Mamba-2."""
    if key_heads := count_of(config, "linear_num_key_heads"):
        value_heads = count_of(config, "linear_num_value_heads")
        keys = key_heads * count_of(config, "linear_key_head_dim")
        values = value_heads * count_of(config, "linear_value_head_dim")
        return hidden * (2 * keys + 2 * values + 2 * value_heads) + values * hidden
    kimi = config.get("linear_attn_config")
    if isinstance(kimi, Mapping):
        dim = int(kimi.get("head_dim") or 0)
        width = int(kimi.get("num_heads") or 0) * dim
        return 4 * hidden * width + 2 * dim * (hidden + width) + hidden * int(kimi.get("num_heads") or 0)
    heads = count_of(config, "mamba_num_heads") or count_of(config, "mamba_n_heads")
    if not heads:
        return 0
    inner = heads * (count_of(config, "mamba_head_dim") or count_of(config, "mamba_d_head"))
    groups = count_of(config, "n_groups") or count_of(config, "mamba_n_groups")
    state = count_of(config, "ssm_state_size") or count_of(config, "mamba_d_state")
    return hidden * (2 * inner + 2 * groups * state + heads) + inner * hidden


def linear_state_values(config: Config) -> int | None:
    """Values that one sequence leaves in one layer with a constant state: the state itself and the convolution's tail.

    Source: key dimension x value dimension a head (gated DeltaNet, arXiv 2412.06464; Kimi Delta Attention), head dimension
    x state size a head (Mamba-2, arXiv 2405.21060), and kernel - 1 inputs of the convolution before it.
    """
    kernel = count_of(config, "linear_conv_kernel_dim") or count_of(config, "conv_kernel") or 4
    if value_heads := count_of(config, "linear_num_value_heads"):
        key_dim, value_dim = (
            count_of(config, "linear_key_head_dim"),
            count_of(config, "linear_value_head_dim"),
        )
        inputs = 2 * count_of(config, "linear_num_key_heads") * key_dim + value_heads * value_dim
        return value_heads * key_dim * value_dim + (kernel - 1) * inputs
    kimi = config.get("linear_attn_config")
    if isinstance(kimi, Mapping):
        heads, dim = int(kimi.get("num_heads") or 0), int(kimi.get("head_dim") or 0)
        return heads * dim * dim + (kernel - 1) * 3 * heads * dim
    heads = count_of(config, "mamba_num_heads") or count_of(config, "mamba_n_heads")
    if not heads:
        return None
    dim = count_of(config, "mamba_head_dim") or count_of(config, "mamba_d_head")
    groups = count_of(config, "n_groups") or count_of(config, "mamba_n_groups")
    state = count_of(config, "ssm_state_size") or count_of(config, "mamba_d_state")
    return heads * dim * state + (kernel - 1) * (heads * dim + 2 * groups * state)
