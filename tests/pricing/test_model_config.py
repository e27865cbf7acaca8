"""A model by its ``config.json``: families write the same things in many ways, and the arithmetic must come out."""

import json
from pathlib import Path
from typing import Any

import pytest

from pricing.errors import TableFileError
from pricing.open_models import from_config, open_model

Config = dict[str, Any]

LLAMA: Config = {
    "model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "intermediate_size": 14336,
    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072,
    "tie_word_embeddings": False, "torch_dtype": "bfloat16",
}  # fmt: skip
MIXTRAL: Config = {
    **LLAMA, "model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000,
    "sliding_window": None,
}  # fmt: skip
DEEPSEEK_V3: Config = {
    "model_type": "deepseek_v3", "num_hidden_layers": 61, "hidden_size": 7168, "intermediate_size": 18432,
    "num_attention_heads": 128, "num_key_value_heads": 128, "vocab_size": 129280, "q_lora_rank": 1536,
    "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
    "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1, "moe_intermediate_size": 2048,
    "first_k_dense_replace": 3, "moe_layer_freq": 1, "max_position_embeddings": 163840,
    "quantization_config": {"quant_method": "fp8"}, "torch_dtype": "bfloat16",
}  # fmt: skip
GEMMA_3: Config = {
    "model_type": "gemma3",
    "text_config": {
        "model_type": "gemma3_text", "num_hidden_layers": 62, "hidden_size": 5376, "intermediate_size": 21504,
        "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128, "vocab_size": 262144,
        "sliding_window": 1024, "max_position_embeddings": 131072,
    },
    "torch_dtype": "bfloat16",
}  # fmt: skip
GPT_OSS: Config = {
    "model_type": "gpt_oss", "num_hidden_layers": 36, "hidden_size": 2880, "intermediate_size": 2880,
    "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 201088,
    "num_local_experts": 128, "num_experts_per_tok": 4, "sliding_window": 128, "max_position_embeddings": 131072,
    "layer_types": ["sliding_attention", "full_attention"] * 18, "quantization_config": {"quant_method": "mxfp4"},
}  # fmt: skip
QWEN3_NEXT: Config = {
    "model_type": "qwen3_next", "num_hidden_layers": 48, "hidden_size": 2048, "intermediate_size": 5120,
    "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "vocab_size": 151936, "num_experts": 512,
    "num_experts_per_tok": 10, "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
    "decoder_sparse_step": 1, "full_attention_interval": 4, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
    "linear_key_head_dim": 128, "linear_value_head_dim": 128, "max_position_embeddings": 262144,
}  # fmt: skip
NEMOTRON_NANO: Config = {
    "model_type": "nemotron_h", "hidden_size": 2688, "intermediate_size": 1856, "num_attention_heads": 32,
    "num_key_value_heads": 2, "head_dim": 128, "vocab_size": 131072, "n_routed_experts": 128, "n_shared_experts": 1,
    "num_experts_per_tok": 6, "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712,
    "mamba_num_heads": 64, "mamba_head_dim": 64, "n_groups": 8, "ssm_state_size": 128, "conv_kernel": 4,
    "hybrid_override_pattern": "ME" * 23 + "*" * 6, "max_position_embeddings": 262144,
}  # fmt: skip
BLOOM: Config = {
    "model_type": "bloom", "n_layer": 70, "hidden_size": 14336, "n_head": 112, "vocab_size": 250880, "seq_length": 2048,
}  # fmt: skip
FALCON: Config = {
    "model_type": "falcon", "num_hidden_layers": 80, "hidden_size": 14848, "num_attention_heads": 232,
    "num_kv_heads": 8, "new_decoder_architecture": True, "multi_query": True, "vocab_size": 65024,
}  # fmt: skip
GEMMA_4: Config = {
    "model_type": "gemma4_text", "num_hidden_layers": 60, "hidden_size": 5376, "intermediate_size": 21504,
    "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 256, "global_head_dim": 512,
    "num_global_key_value_heads": 4, "attention_k_eq_v": True, "sliding_window": 1024, "vocab_size": 262144,
    "layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 10, "max_position_embeddings": 262144,
}  # fmt: skip


@pytest.mark.parametrize(
    ("config", "row"),
    [
        (LLAMA, "meta-llama/Llama-3.1-8B-Instruct"),
        (MIXTRAL, "mistralai/Mixtral-8x7B-Instruct-v0.1"),
        (DEEPSEEK_V3, "deepseek-ai/DeepSeek-V3"),
        (GEMMA_3, "google/gemma-3-27b-it"),
        (GPT_OSS, "openai/gpt-oss-120b"),
        (QWEN3_NEXT, "Qwen/Qwen3-Next-80B-A3B-Instruct"),
        (NEMOTRON_NANO, "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"),
        (BLOOM, "bigscience/bloom"),
        (FALCON, "tiiuae/falcon-180B"),
        (GEMMA_4, "google/gemma-4-31B-it"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_config_says_what_the_table_says(config: Config, row: str) -> None:
    read, known = from_config(config), open_model(row)
    assert read.total_params_b == pytest.approx(known.total_params_b, rel=0.01)
    assert read.active_matmul_b == pytest.approx(known.active_matmul_b, rel=0.01)
    assert read.routed_params_b == pytest.approx(known.routed_params_b, rel=0.001)
    assert read.dense_params_b == pytest.approx(known.dense_params_b, rel=0.03)
    assert read.kv_bytes_per_token() == known.kv_bytes_per_token()
    assert read.kv_window_bytes() == known.kv_window_bytes()
    assert read.linear_or_ssm_layers == known.linear_or_ssm_layers
    assert read.linear_state_values in {known.linear_state_values, 0}
    assert (read.n_experts, read.experts_per_token) == (known.n_experts, known.experts_per_token)


def test_precision_is_that_of_the_published_weights() -> None:
    assert from_config(LLAMA).native_precision == "bf16"
    assert from_config(DEEPSEEK_V3).native_precision == "fp8"
    assert from_config(GPT_OSS).native_precision == "mxfp4"
    assert from_config(BLOOM).native_precision is None


@pytest.mark.parametrize(
    ("quantised", "precision"),
    [
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4"),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "fp8"),
        ({"quant_method": "awq", "bits": 4}, "int4"),
        ({"quant_method": "gptq", "bits": 8}, "int8"),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int", "group_size": 32}}},
            },
            "int4",
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"g": {"weights": {"num_bits": 4, "type": "float", "group_size": 16}}},
            },
            "nvfp4",
        ),
        ({"quant_method": "novel"}, None),
    ],
)
def test_quantised_checkpoints_say_how(quantised: Config, precision: str | None) -> None:
    assert from_config({**LLAMA, "quantization_config": quantised}).native_precision == precision


def test_a_window_that_is_switched_off_is_none() -> None:
    qwen = {**LLAMA, "model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": False}
    assert from_config(qwen).sliding_window is None
    assert from_config(qwen).n_full_attention_layers == 32
    mistral = {**LLAMA, "model_type": "mistral", "sliding_window": 4096}
    assert from_config(mistral).n_full_attention_layers == 0
    assert from_config(mistral).sliding_layers == 32
    partly = {**qwen, "use_sliding_window": True, "max_window_layers": 20}
    assert (from_config(partly).n_full_attention_layers, from_config(partly).sliding_layers) == (20, 12)


def test_every_other_way_to_place_experts() -> None:
    moe = {**MIXTRAL, "num_hidden_layers": 8}
    assert from_config({**moe, "decoder_sparse_step": 2}).n_moe_layers == 4
    assert from_config({**moe, "moe_layer_freq": [0, 1, 1, 1, 1, 1, 1, 1]}).n_moe_layers == 7
    assert from_config({**moe, "mlp_layer_types": ["dense"] * 3 + ["sparse"] * 5}).n_moe_layers == 5
    assert from_config({**moe, "mlp_only_layers": [0, 1]}).n_moe_layers == 6
    assert from_config({**moe, "moe_layers_enum": "2,3,4"}).n_moe_layers == 3


def test_missing_keys_are_all_named() -> None:
    with pytest.raises(TableFileError, match=r"num_hidden_layers, num_experts_per_tok missing.*'mixtral'"):
        from_config(
            {key: MIXTRAL[key] for key in MIXTRAL if key not in {"num_hidden_layers", "num_experts_per_tok"}}
        )
    with pytest.raises(TableFileError, match="qk_rope_head_dim, qk_nope_head_dim, v_head_dim missing"):
        from_config({**LLAMA, "kv_lora_rank": 512})


def test_a_number_that_is_none_is_an_error_of_the_file() -> None:
    with pytest.raises(TableFileError, match="hidden_size is 'wide'; a whole number above 0 is needed"):
        from_config({**LLAMA, "hidden_size": "wide"})
    with pytest.raises(TableFileError, match="num_attention_heads is 0; a whole number above 0"):
        from_config({**LLAMA, "num_attention_heads": 0})


@pytest.mark.parametrize(
    "odd",
    [
        {"num_key_value_heads": "many"},
        {"num_local_experts": "8x"},
        {"block_configs": [1]},
        {"layer_types": 3},
    ],
)
def test_an_odd_value_elsewhere_is_an_error_of_the_file_too(odd: Config) -> None:
    with pytest.raises(TableFileError, match=r"config\.json: "):
        from_config({**MIXTRAL, **odd})


def test_an_attention_that_is_not_worked_out_is_refused() -> None:
    with pytest.raises(TableFileError, match=r"compress_ratios.*'deepseek_v4'.*write a row"):
        from_config({**LLAMA, "model_type": "deepseek_v4", "compress_ratios": [4, 128]})


def test_a_file_is_read_and_named(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA))
    assert from_config(path, "acme/eight").id == "acme/eight"
    assert from_config(path).source == str(path)
    for text in ("{", "[]"):
        path.write_text(text)
        with pytest.raises(TableFileError, match=r"config\.json"):
            from_config(path)
    with pytest.raises(TableFileError, match="cannot be read"):
        from_config(tmp_path / "none.json")


def test_key_value_heads_that_are_said_otherwise() -> None:
    falcon = {**LLAMA, "model_type": "falcon", "multi_query": True}
    assert from_config(falcon).n_kv_heads == 1
    assert from_config(falcon | {"new_decoder_architecture": True}).n_kv_heads == 8
    block = {"attention": {"n_heads_in_group": 8}, "ffn": {"ffn_mult": 2.625}}
    assert from_config({**LLAMA, "model_type": "nemotron-nas", "block_configs": [block] * 32}).n_kv_heads == 4


def test_dense_layers_with_a_width_of_their_own() -> None:
    wide = from_config({**LLAMA, "dense_intermediate_size": 2 * LLAMA["intermediate_size"]})
    more = wide.total_params_b - from_config(LLAMA).total_params_b
    assert more == pytest.approx(32 * 3 * 4096 * 14336 / 1e9)


def test_a_width_that_is_missing_is_named() -> None:
    config = {name: value for name, value in LLAMA.items() if name != "intermediate_size"}
    with pytest.raises(TableFileError, match="intermediate_size"):
        from_config(config)
