"""What each layer of a model is, read from its ``config.json``: attention kind, MLP kind, MLP width.

Families write the same thing in many ways: a list of layer types, a pattern string, every n-th layer, the first k layers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

Config = Mapping[str, Any]


class Attention(StrEnum):
    """What a layer remembers of the context."""

    FULL = "full"
    SLIDING = "sliding"
    LINEAR = "linear"
    """A state of constant size: linear attention or a state-space layer."""
    NONE = "none"


class Mlp(StrEnum):
    """What follows the attention."""

    DENSE = "dense"
    MOE = "moe"
    BOTH = "both"
    """A dense MLP beside the experts."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer. ``intermediate_size`` is that of its dense MLP where it differs from the model's."""

    attention: Attention
    mlp: Mlp
    intermediate_size: int | None = None


_WORDS: Final[Mapping[str, Attention]] = {
    "full_attention": Attention.FULL, "attention": Attention.FULL, "global": Attention.FULL,
    "sliding_attention": Attention.SLIDING, "chunked_attention": Attention.SLIDING,
    "linear_attention": Attention.LINEAR, "mamba": Attention.LINEAR, "mamba2": Attention.LINEAR,
}  # fmt: skip
_LETTERS: Final[Mapping[str, Layer]] = {
    "M": Layer(Attention.LINEAR, Mlp.NONE),
    "*": Layer(Attention.FULL, Mlp.NONE),
    "-": Layer(Attention.NONE, Mlp.DENSE),
    "E": Layer(Attention.NONE, Mlp.MOE),
}
"""Nemotron-H: each block is one of them alone."""
_BLOCKS: Final[Mapping[str, str]] = {"mamba": "M", "attention": "*", "mlp": "-", "moe": "E"}
_FULL_EVERY: Final[Mapping[str, int]] = {
    "gemma2": 2,
    "gemma3": 6,
    "gemma3_text": 6,
    "cohere2": 4,
    "gpt_oss": 2,
}
"""Families whose every n-th layer keeps the whole context, where their config does not say so."""
_LINEAR_EVERY: Final[Mapping[str, int]] = {"qwen3_next": 4, "qwen3_5_text": 4, "qwen3_5_moe_text": 4}


def layers_of(config: Config, n_layers: int) -> tuple[Layer, ...]:
    """The layers of a model, in order."""
    if pattern := config.get("hybrid_override_pattern"):
        return tuple(_LETTERS[letter] for letter in str(pattern) if letter in _LETTERS)
    if (words := config.get("layers_block_type")) and config.get("model_type") == "nemotron_h":
        return tuple(_LETTERS[_BLOCKS[word]] for word in words if word in _BLOCKS)
    if blocks := config.get("block_configs"):
        hidden = int(config.get("hidden_size") or 0)
        return tuple(_searched_layer(block, hidden) for block in blocks)
    mlp = _mlp_of(config)
    return tuple(
        Layer(attention, mlp(number)) for number, attention in enumerate(_attentions(config, n_layers))
    )


def window_of(config: Config) -> int | None:
    """Tokens that a window layer keeps; None if no layer has a window."""
    if config.get("use_sliding_window") is False:
        return None
    found = (
        config.get("sliding_window")
        or config.get("sliding_window_size")
        or config.get("attention_chunk_size")
    )
    return int(found) if found else None


def _attentions(config: Config, n_layers: int) -> tuple[Attention, ...]:
    if words := config.get("layer_types"):
        return tuple(_word(word, config) for word in words)
    if every := config.get("full_attention_interval") or _LINEAR_EVERY.get(str(config.get("model_type"))):
        return _every(n_layers, int(every), Attention.LINEAR)
    if linear := _linear_layer_numbers(config):
        return tuple(Attention.LINEAR if number in linear else Attention.FULL for number in range(n_layers))
    if window_of(config) is None:
        return (Attention.FULL,) * n_layers
    return _windows(config, n_layers)


def _windows(config: Config, n_layers: int) -> tuple[Attention, ...]:
    """The layers of a model some of whose layers have a window."""
    if flags := config.get("hybrid_layer_pattern") or config.get("no_rope_layers"):
        return tuple(Attention.SLIDING if flag else Attention.FULL for flag in flags)
    if config.get("attention_chunk_size"):
        return _every(n_layers, int(config.get("no_rope_layer_interval") or 4), Attention.SLIDING)
    if every := config.get("sliding_window_pattern") or _FULL_EVERY.get(str(config.get("model_type"))):
        return _every(n_layers, int(every), Attention.SLIDING)
    first = int(config.get("max_window_layers") or 0) if "use_sliding_window" in config else 0
    return (Attention.FULL,) * min(first, n_layers) + (Attention.SLIDING,) * max(n_layers - first, 0)


def _word(word: object, config: Config) -> Attention:
    found = _WORDS.get(str(word), Attention.FULL)
    return Attention.FULL if found is Attention.SLIDING and window_of(config) is None else found


def _every(n_layers: int, every: int, else_: Attention) -> tuple[Attention, ...]:
    return tuple(Attention.FULL if (number + 1) % every == 0 else else_ for number in range(n_layers))


def _linear_layer_numbers(config: Config) -> frozenset[int]:
    """Kimi Linear lists its linear layers, counted from 1."""
    found = config.get("linear_attn_config")
    listed = found.get("kda_layers") if isinstance(found, Mapping) else None
    return frozenset(int(number) - 1 for number in listed or ())


def _mlp_of(config: Config) -> Callable[[int], Mlp]:
    """Which MLP a layer has, by its number from 0."""
    if not experts_of(config):
        return lambda _: Mlp.DENSE
    if config.get("enable_moe_block"):
        return lambda _: Mlp.BOTH
    words = config.get("mlp_layer_types")
    if isinstance(words, Sequence) and not isinstance(words, str):
        return lambda number: Mlp.DENSE if words[number] == "dense" else Mlp.MOE
    frequency = config.get("moe_layer_freq")
    if isinstance(frequency, Sequence) and not isinstance(frequency, str):
        return lambda number: Mlp.MOE if frequency[number] else Mlp.DENSE
    listed = config.get("moe_layers") or config.get("moe_layers_enum")
    if listed:
        numbers = {int(one) for one in (listed.split(",") if isinstance(listed, str) else listed)}
        return lambda number: Mlp.MOE if number in numbers else Mlp.DENSE
    first = int(config.get("first_k_dense_replace") or 0)
    step = int(config.get("decoder_sparse_step") or config.get("interleave_moe_layer_step") or frequency or 1)
    dense = frozenset(int(one) for one in config.get("mlp_only_layers") or ())
    return lambda number: (
        Mlp.MOE if number >= first and number not in dense and (number + 1) % step == 0 else Mlp.DENSE
    )


def experts_of(config: Config) -> int:
    """Routed experts of a mixture-of-experts layer; 0 for a dense model."""
    for key in ("n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts", "n_experts"):
        if config.get(key):
            return int(config[key])
    return 0


def _searched_layer(block: Any, hidden: int) -> Layer:
    """A layer of a model whose layers were searched one by one (Nemotron-NAS): width by a multiplier, parts left out."""
    attention, ffn = block["attention"], block["ffn"]
    keeps = not (attention.get("no_op") or attention.get("replace_with_linear"))
    if ffn.get("no_op"):
        return Layer(Attention.FULL if keeps else Attention.NONE, Mlp.NONE)
    width = int(2 * (ffn.get("ffn_mult") or 0) * hidden / 3)
    return Layer(Attention.FULL if keeps else Attention.NONE, Mlp.DENSE, -(-width // 256) * 256)
