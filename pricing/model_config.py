"""A model by the ``config.json`` that lies beside its weights on the Hugging Face hub."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pricing.errors import TableFileError
from pricing.kv_cache import CacheGroup, groups_of
from pricing.model_keys import (
    NOT_WORKED_OUT,
    PLAIN_MLP,
    TIED,
    any_of,
    count_of,
    is_one_of,
    linear_parameters,
    linear_state_values,
)
from pricing.model_layers import Attention, Config, Layer, Mlp, experts_of, layers_of, window_of
from pricing.model_parameters import Counts, Mla, Shape, count
from pricing.model_precision import stated_precision
from pricing.open_model import OpenModel
from pricing.units import GIGA


def from_config(source: Mapping[str, Any] | Path, name: str | None = None) -> OpenModel:
    """The model that a ``config.json`` describes.

    Args:
        source: The parsed file, or its path.
        name: What to call it; None for the name in the file, else its path.

    Raises:
        TableFileError: If it cannot be read, or keys are missing that its kind of model needs: all are listed.
    """
    whole = _read(source) if isinstance(source, Path) else source
    where = str(source) if isinstance(source, Path) else "config.json"
    config = _text_part(whole)
    try:
        _check(config, where)
        layers = layers_of(config, count_of(config, "num_hidden_layers"))
        shape = _shape(config)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise TableFileError(
            f"{where}: a value of an unexpected kind ({error!r}); pass the config.json that lies beside the weights."
        ) from error
    called = name or str(whole.get("_name_or_path") or where)
    return _model(config, layers, shape, count(shape, layers), called, where)


def cache_of_config(source: Mapping[str, Any] | Path) -> tuple[CacheGroup, ...]:
    """What a sequence caches, from a ``config.json`` or just the keys of one that say so.

    Raises:
        TableFileError: If the layers, the KV heads or their dimension are missing.
    """
    where = str(source) if isinstance(source, Path) else "config.json"
    config = _text_part(_read(source) if isinstance(source, Path) else source)
    heads = any_of(config, "num_key_value_heads") or any_of(config, "num_attention_heads")
    dim = any_of(config, "head_dim") or any_of(config, "kv_lora_rank")
    missing = [
        key
        for key, found in (
            (
                "num_hidden_layers",
                any_of(config, "num_hidden_layers") or config.get("hybrid_override_pattern"),
            ),
            ("num_key_value_heads", heads),
            ("head_dim", dim or (any_of(config, "hidden_size") and any_of(config, "num_attention_heads"))),
        )
        if not found
    ]
    if missing:
        raise TableFileError(
            f"{where}: {', '.join(missing)} missing; the size of the cache follows from them."
        )
    try:
        layers = layers_of(config, count_of(config, "num_hidden_layers"))
        model = _model(config, layers, _shape(config), Counts(0, 0, 0), "", where)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise TableFileError(f"{where}: a value of an unexpected kind ({error!r}).") from error
    return groups_of(model)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise TableFileError(
            f"{path}: cannot be read as JSON ({error}); a Hugging Face config.json is needed."
        ) from error
    if not isinstance(found, dict):
        raise TableFileError(f"{path}: holds no JSON object; a Hugging Face config.json is needed.")
    return found


def _text_part(whole: Mapping[str, Any]) -> Config:
    """The language model of a config that also describes towers for other media."""
    for key in ("text_config", "llm_config", "language_config"):
        if isinstance(part := whole.get(key), Mapping):
            return {**{key: whole[key] for key in _OUTSIDE if key in whole}, **part}
    return whole


_OUTSIDE: Final = ("quantization_config", "tie_word_embeddings", "torch_dtype", "dtype", "model_type")


def _check(config: Config, where: str) -> None:
    if odd := next((key for key in NOT_WORKED_OUT if config.get(key)), None):
        raise TableFileError(
            f"{where}: a model with {odd} (model_type {config.get('model_type')!r}) is not worked out from a config; "
            "write a row for it (docs/self-hosting.md)."
        )
    needed = ["hidden_size", "num_attention_heads", "vocab_size"]
    if not (config.get("hybrid_override_pattern") or config.get("layers_block_type")):
        needed.append("num_hidden_layers")
    widths = ("intermediate_size", "moe_intermediate_size", "block_configs")
    if all(any_of(config, key) is None for key in widths) and not is_one_of(config, PLAIN_MLP):
        needed.append("intermediate_size")
    if experts_of(config):
        needed.append("num_experts_per_tok")
    if config.get("kv_lora_rank"):
        needed += ["qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"]
    missing = [key for key in needed if any_of(config, key) is None]
    if missing:
        raise TableFileError(
            f"{where}: {', '.join(missing)} missing; these are needed for a model of type "
            f"{config.get('model_type', '(not stated)')!r}. Pass the config.json that lies beside the weights."
        )
    for key in needed:
        found = any_of(config, key)
        if not (isinstance(found, list) or (isinstance(found, int) and found > 0)):
            raise TableFileError(f"{where}: {key} is {found!r}; a whole number above 0 is needed.")


def _shape(config: Config) -> Shape:
    hidden, heads = count_of(config, "hidden_size"), count_of(config, "num_attention_heads")
    head_dim = count_of(config, "head_dim") or count_of(config, "attention_head_dim") or hidden // heads
    mla = _mla(config)
    experts = experts_of(config)
    tied = config.get("tie_word_embeddings")
    return Shape(
        hidden=hidden,
        intermediate=_dense_width(config, hidden),
        heads=heads,
        kv_heads=_kv_heads(config, heads),
        head_dim=head_dim,
        v_head_dim=head_dim if mla else count_of(config, "v_head_dim", head_dim),
        vocab=count_of(config, "vocab_size"),
        tied=is_one_of(config, TIED) if tied is None else bool(tied),
        mlp_matrices=2 if is_one_of(config, PLAIN_MLP) else 3,
        gated_attention=bool(config.get("attn_output_gate")) or config.get("model_type") == "qwen3_next",
        mla=mla,
        sliding_kv_heads=count_of(config, "swa_num_key_value_heads") or None,
        full_kv_heads=count_of(config, "num_global_key_value_heads") or None,
        full_head_dim=count_of(config, "global_head_dim") or None,
        shared_k_and_v=bool(config.get("attention_k_eq_v")),
        linear=linear_parameters(config, hidden),
        experts=experts,
        experts_per_token=count_of(config, "num_experts_per_tok") if experts else 0,
        expert_intermediate=_expert_width(config) if experts else 0,
        expert_hidden=count_of(config, "moe_latent_size")
        or count_of(config, "routed_expert_hidden_size")
        or None,
        shared_intermediate=_shared_width(config) if experts else 0,
    )


def _kv_heads(config: Config, heads: int) -> int:
    if blocks := config.get("block_configs"):
        groups = [found for block in blocks if (found := block["attention"].get("n_heads_in_group"))]
        return heads // int(groups[0]) if groups else heads
    if config.get("multi_query") and not config.get("new_decoder_architecture"):
        return 1
    return count_of(config, "num_key_value_heads", heads)


def _dense_width(config: Config, hidden: int) -> int:
    for key in ("intermediate_size_mlp", "dense_intermediate_size"):
        if found := count_of(config, key):
            return found
    return count_of(config, "intermediate_size", 4 * hidden if is_one_of(config, PLAIN_MLP) else 0)


def _expert_width(config: Config) -> int:
    return count_of(config, "moe_intermediate_size") or count_of(config, "intermediate_size")


def _shared_width(config: Config) -> int:
    for key in ("shared_expert_intermediate_size", "shared_intermediate_size"):
        if found := count_of(config, key):
            return found
    if found := count_of(config, "moe_shared_expert_intermediate_size"):
        return found * count_of(config, "n_shared_experts", 1)
    shared = (
        1 if str(config.get("model_type", "")).startswith("llama4") else count_of(config, "n_shared_experts")
    )
    return shared * _expert_width(config)


def _mla(config: Config) -> Mla | None:
    if not config.get("kv_lora_rank"):
        return None
    return Mla(
        q_lora_rank=count_of(config, "q_lora_rank") or None,
        kv_lora_rank=count_of(config, "kv_lora_rank"),
        nope_dim=count_of(config, "qk_nope_head_dim"),
        rope_dim=count_of(config, "qk_rope_head_dim"),
        v_dim=count_of(config, "v_head_dim"),
        indexer_heads=count_of(config, "index_n_heads"),
        indexer_dim=count_of(config, "index_head_dim"),
    )


def _model(
    config: Config, layers: tuple[Layer, ...], shape: Shape, counted: Counts, name: str, where: str
) -> OpenModel:
    full = sum(layer.attention is Attention.FULL for layer in layers)
    sliding = sum(layer.attention is Attention.SLIDING for layer in layers)
    linear = sum(layer.attention is Attention.LINEAR for layer in layers)
    state = linear_state_values(config) if linear else 0
    moe = sum(layer.mlp in {Mlp.MOE, Mlp.BOTH} for layer in layers)
    mla = shape.mla
    return OpenModel(
        id=name,
        family=str(config.get("model_type", "unknown")),
        total_params_b=counted.total / GIGA,
        active_params_b=counted.active / GIGA,
        active_matmul_b=counted.active_matmul / GIGA,
        n_layers=len(layers),
        n_full_attention_layers=full,
        hidden_size=shape.hidden,
        intermediate_size=shape.intermediate,
        n_heads=shape.heads,
        n_kv_heads=shape.kv_heads,
        head_dim=mla.nope_dim + mla.rope_dim if mla else shape.head_dim,
        attention_type=_attention_type(shape, layers),
        kv_bytes_per_token_bf16=2.0 * full * _full_kv_width(shape),
        vocab_size=shape.vocab,
        tied_embeddings=shape.tied,
        max_context=count_of(config, "max_position_embeddings"),
        released="",
        native_precision=stated_precision(config),
        licence="",
        source=where,
        verified="yes",
        note="",
        mlp_matrices=shape.mlp_matrices,
        sliding_window=window_of(config) if sliding else None,
        sliding_kv_width=(shape.sliding_kv_heads or shape.kv_heads) * (shape.head_dim + shape.v_head_dim)
        if sliding
        else None,
        mla_kv_lora_rank=mla.kv_lora_rank if mla else None,
        mla_rope_dim=mla.rope_dim if mla else None,
        linear_or_ssm_layers=linear,
        linear_state_values=None if state is None else linear * state,
        full_kv_heads=shape.full_kv_heads,
        sliding_kv_heads=shape.sliding_kv_heads,
        n_experts=shape.experts or None,
        experts_per_token=shape.experts_per_token or None,
        shared_experts=(1 if shape.shared_intermediate else 0) if shape.experts else None,
        moe_intermediate_size=shape.expert_intermediate or None,
        expert_hidden_size=shape.expert_hidden,
        n_moe_layers=moe or None,
    )


def _full_kv_width(shape: Shape) -> int:
    """Values that one token leaves in one layer that keeps the whole context."""
    if shape.mla:
        return shape.mla.kv_lora_rank + shape.mla.rope_dim + shape.mla.indexer_dim // 2
    heads = shape.full_kv_heads or shape.kv_heads
    if shape.full_head_dim:
        return heads * shape.full_head_dim * (1 if shape.shared_k_and_v else 2)
    return heads * (shape.head_dim + shape.v_head_dim)


def _attention_type(shape: Shape, layers: tuple[Layer, ...]) -> str:
    heads = "MLA" if shape.mla else "MHA" if shape.kv_heads == shape.heads else "GQA"
    kinds = {layer.attention for layer in layers}
    more = [
        word for kind, word in ((Attention.SLIDING, "sliding"), (Attention.LINEAR, "linear")) if kind in kinds
    ]
    return ", ".join((heads, *more))
