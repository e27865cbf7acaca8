"""Which attention and which MLP each layer has, in all the ways that configurations say it."""

from typing import Any

import pytest

from pricing.model_layers import Attention, Mlp, layers_of, window_of

F, S, L, N = Attention.FULL, Attention.SLIDING, Attention.LINEAR, Attention.NONE
Config = dict[str, Any]


def attentions(config: Config, n_layers: int) -> list[Attention]:
    return [layer.attention for layer in layers_of(config, n_layers)]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, [F, F, F, F]),
        ({"sliding_window": 512, "use_sliding_window": False}, [F, F, F, F]),
        ({"sliding_window": 512}, [S, S, S, S]),
        ({"sliding_window": 512, "use_sliding_window": True, "max_window_layers": 3}, [F, F, F, S]),
        ({"sliding_window": 512, "sliding_window_pattern": 2}, [S, F, S, F]),
        ({"sliding_window": 512, "model_type": "cohere2"}, [S, S, S, F]),
        ({"sliding_window_size": 512, "hybrid_layer_pattern": [0, 1, 1, 0]}, [F, S, S, F]),
        ({"attention_chunk_size": 512, "no_rope_layers": [1, 1, 1, 0]}, [S, S, S, F]),
        ({"attention_chunk_size": 512}, [S, S, S, F]),
        ({"attention_chunk_size": 512, "no_rope_layer_interval": 2}, [S, F, S, F]),
        ({"full_attention_interval": 2}, [L, F, L, F]),
        ({"model_type": "qwen3_next"}, [L, L, L, F]),
        ({"linear_attn_config": {"kda_layers": [1, 3]}}, [L, F, L, F]),
        (
            {"layer_types": ["mamba", "sliding_attention", "full_attention", "odd"], "sliding_window": 8},
            [L, S, F, F],
        ),
        ({"layer_types": ["sliding_attention"] * 4}, [F, F, F, F]),
        ({"hybrid_override_pattern": "M*-E"}, [L, F, N, N]),
        (
            {"model_type": "nemotron_h", "layers_block_type": ["mamba", "attention", "mlp", "moe", "odd"]},
            [L, F, N, N],
        ),
    ],
)
def test_attentions(config: Config, expected: list[Attention]) -> None:
    assert attentions(config, 4) == expected


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, "dddd"),
        ({"enable_moe_block": True}, "bbbb"),
        ({"mlp_layer_types": ["dense", "sparse", "dense", "sparse"]}, "dmdm"),
        ({"moe_layer_freq": [0, 1, 1, 0]}, "dmmd"),
        ({"moe_layer_freq": 2}, "dmdm"),
        ({"moe_layers": [1, 2]}, "dmmd"),
        ({"moe_layers_enum": "0,3"}, "mddm"),
        ({"first_k_dense_replace": 3}, "dddm"),
        ({"interleave_moe_layer_step": 2}, "dmdm"),
        ({"decoder_sparse_step": 1, "mlp_only_layers": [2]}, "mmdm"),
    ],
)
def test_mlps(config: Config, expected: str) -> None:
    config = config | ({"num_experts": 8} if config else {})
    kinds = {Mlp.DENSE: "d", Mlp.MOE: "m", Mlp.BOTH: "b"}
    assert "".join(kinds[layer.mlp] for layer in layers_of(config, 4)) == expected


def test_layers_that_were_searched_one_by_one() -> None:
    blocks = [
        {"attention": {"n_heads_in_group": 8}, "ffn": {"ffn_mult": 2.625}},
        {"attention": {"no_op": True}, "ffn": {"ffn_mult": 1.0}},
        {"attention": {"replace_with_linear": True}, "ffn": {"no_op": True}},
        {"attention": {}, "ffn": {"no_op": True}},
    ]
    found = layers_of({"block_configs": blocks, "hidden_size": 8_192}, 4)
    # Two thirds of a multiple of the hidden size, in whole blocks of 256.
    assert [(one.attention, one.mlp, one.intermediate_size) for one in found] == [
        (F, Mlp.DENSE, 14_336),
        (N, Mlp.DENSE, 5_632),
        (N, Mlp.NONE, None),
        (F, Mlp.NONE, None),
    ]


def test_windows() -> None:
    assert window_of({"sliding_window": 128}) == 128
    assert window_of({"sliding_window": None, "attention_chunk_size": 8_192}) == 8_192
    assert window_of({"sliding_window": 128, "use_sliding_window": False}) is None
    assert window_of({}) is None
