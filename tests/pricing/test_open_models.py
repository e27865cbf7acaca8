"""The table of open models: parameter arithmetic, cache sizes, and the names that find a row."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.errors import TableFileError, UnknownOpenModelError
from pricing.open_models import OpenModel, add_open_models, open_model, open_models

TABLE = open_models()
MOE = [row for row in TABLE.values() if row.is_moe]

SPELLINGS = {
    "bloom-176b": "bigscience/bloom",
    "deepseek-r1-671b-a37b": "deepseek-ai/DeepSeek-R1",
    "deepseek-v3.1": "deepseek-ai/DeepSeek-V3",
    "gemma-3-4b": "google/gemma-3-4b-it",
    "gpt-oss-120b-a5b": "openai/gpt-oss-120b",
    "kimi-k2.5-1t-a32b": "moonshotai/Kimi-K2.5",
    "llama-2-70b": "meta-llama/Llama-2-70b-hf",
    "llama-3-8b": "meta-llama/Meta-Llama-3-8B",
    "llama-3.1-70b": "meta-llama/Llama-3.1-70B-Instruct",
    "llama-3.1-8b": "meta-llama/Llama-3.1-8B-Instruct",
    "llama-3.3-70b": "meta-llama/Llama-3.3-70B-Instruct",
    "llama-4-maverick-400b-a17b": "meta-llama/Llama-4-Maverick-17B-128E-Instruct",
    "llama-4-scout-109b-a17b": "meta-llama/Llama-4-Scout-17B-16E-Instruct",
    "nemotron-nano-30b-a3b": "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    "nemotron-super-49b": "nvidia/Llama-3_3-Nemotron-Super-49B-v1",
    "qwen3-235b-a22b": "Qwen/Qwen3-235B-A22B",
    "qwen3.5-397b-a17b": "Qwen/Qwen3.5-397B-A17B",
    "Llama-3.1-8B-Instruct-FP8-KV": "meta-llama/Llama-3.1-8B-Instruct",
    "Qwen/Qwen3-235B-A22B-Instruct-2507": "Qwen/Qwen3-235B-A22B",
    "RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16": "meta-llama/Llama-3.1-8B-Instruct",
    "amd/DeepSeek-R1-MXFP4-Preview": "deepseek-ai/DeepSeek-R1",
    "deepseek-v3": "deepseek-ai/DeepSeek-V3",
    "deepseek-v3.2": "deepseek-ai/DeepSeek-V3.2",
    "gemma3:27b": "google/gemma-3-27b-it",
    "glm-4.5-air": "zai-org/GLM-4.5-Air",
    "glm-5-744b-a40b": "zai-org/GLM-5",
    "gptj-6b": "EleutherAI/gpt-j-6b",
    "llama-3.1-405b": "meta-llama/Llama-3.1-405B-Instruct",
    "llama3.1:8b": "meta-llama/Llama-3.1-8B-Instruct",
    "minimax-m2.5-230b-a10b": "MiniMaxAI/MiniMax-M2",
    "mistral-7b": "mistralai/Mistral-7B-Instruct-v0.3",
    "mixtral-8x7b": "mistralai/Mixtral-8x7B-Instruct-v0.1",
    "phi-4": "microsoft/phi-4",
    "qwen2.5-coder-7b": "Qwen/Qwen2.5-7B-Instruct",
    "qwen3-30b-a3b": "Qwen/Qwen3-30B-A3B",
    "qwen3-32b": "Qwen/Qwen3-32B",
    "unsloth/Qwen3-30B-A3B-GGUF": "Qwen/Qwen3-30B-A3B",
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_spellings_find_their_row(name: str) -> None:
    assert open_model(name).id == SPELLINGS[name]


@pytest.mark.parametrize("row", TABLE.values(), ids=lambda row: row.id)
def test_every_row_finds_itself(row: OpenModel) -> None:
    assert open_model(row.id) is row
    assert open_model(row.id.rsplit("/", 1)[-1].lower()) is row


def test_every_alias_finds_its_row() -> None:
    for row in TABLE.values():
        for alias in row.aliases:
            assert open_model(alias) is row, alias


@given(st.text(max_size=40))
def test_any_text_is_a_row_or_an_unknown_name(text: str) -> None:
    try:
        found = open_model(text).id in TABLE
    except UnknownOpenModelError as error:
        found = "Nearest: " in str(error) or "several sizes" in str(error)
    assert found


@pytest.mark.parametrize("row", TABLE.values(), ids=lambda row: row.id)
def test_parameters_add_up(row: OpenModel) -> None:
    table = 0 if row.tied_embeddings else row.embedding_params_b
    counted = row.dense_params_b + row.routed_params_b + table
    # The name says 1T; its parts are 1.047 T.
    tolerance = 0.05 if row.id == "mistralai/Mistral-Large-4-1T-A52B" else 0.03
    assert counted == pytest.approx(row.total_params_b, rel=tolerance)
    assert 0 < row.dense_params_b <= row.active_matmul_b <= row.total_params_b * 1.03


@pytest.mark.parametrize("row", MOE, ids=lambda row: row.id)
def test_experts_are_most_of_a_sparse_model(row: OpenModel) -> None:
    assert row.n_experts
    assert row.experts_per_token
    assert row.routed_params_b / row.total_params_b > 0.75
    assert row.distinct_experts(1) == pytest.approx(row.experts_per_token)
    assert row.distinct_experts(1e6) == pytest.approx(row.n_experts)


# Cache rows that plain K and V over all heads do not describe, and the bytes by hand.
OTHER_CACHES = {
    "deepseek-ai/DeepSeek-V3.2": 61 * (576 + 64) * 2,  # with the indexer's keys, 128 of a byte each
    "zai-org/GLM-5": 78 * (576 + 64) * 2,
    "zai-org/GLM-5.2": 78 * (576 + 64) * 2,
    "google/gemma-4-31B-it": 10 * 4 * 512 * 2,  # other heads in full layers, one vector for K and V
    "google/gemma-4-26B-A4B-it": 5 * 2 * 512 * 2,
    "XiaomiMiMo/MiMo-V2-Flash": 9 * 4 * (192 + 128) * 2,
    "deepseek-ai/DeepSeek-V4-Flash": 5_536,  # compressed 4:1 and 128:1, as published
    "deepseek-ai/DeepSeek-V4-Pro": 7_928,
}


@pytest.mark.parametrize("row", TABLE.values(), ids=lambda row: row.id)
def test_cache_bytes_follow_from_the_shape(row: OpenModel) -> None:
    if row.id in OTHER_CACHES:
        wanted = OTHER_CACHES[row.id]
    elif row.mla_kv_lora_rank is not None:
        wanted = row.n_full_attention_layers * (row.mla_kv_lora_rank + (row.mla_rope_dim or 0)) * 2
    else:
        wanted = 2 * row.n_full_attention_layers * row.n_kv_heads * row.head_dim * 2
    assert row.kv_bytes_per_token() == wanted
    assert row.kv_bytes_per_token(1.0) == wanted / 2


@pytest.mark.parametrize("row", TABLE.values(), ids=lambda row: row.id)
def test_rows_are_plausible_and_sourced(row: OpenModel) -> None:
    assert row.source
    assert row.n_full_attention_layers + row.linear_or_ssm_layers <= row.n_layers
    assert row.sliding_layers >= 0
    assert row.n_heads % row.n_kv_heads == 0
    assert 512 <= row.hidden_size <= 20_000
    assert row.max_context >= 2_048


def test_known_caches() -> None:
    assert open_model("llama-3.1-70b").kv_bytes_per_token() == 327_680
    assert open_model("deepseek-v3").kv_bytes_per_token() == 70_272


def test_a_window_stops_growing() -> None:
    gemma = open_model("gemma-3-27b")
    assert gemma.sliding_layers == 52
    assert gemma.kv_window_bytes() == 52 * 1024 * 2 * 16 * 128 * 2
    growth = gemma.kv_bytes(20_000) - gemma.kv_bytes(10_000)
    assert growth == 10_000 * gemma.kv_bytes_per_token()
    assert gemma.kv_bytes(512) == 512 * 62 * 2 * 16 * 128 * 2
    every_layer = open_model("mistralai/Mistral-7B-v0.1")
    assert every_layer.kv_bytes(4_096) == every_layer.kv_bytes(32_000) == 4_096 * 131_072


def test_an_unknown_name_gets_the_nearest_ones_and_what_to_do() -> None:
    with pytest.raises(UnknownOpenModelError, match=r"'lama-3\.1-8b'.*Llama-3\.1-8B-Instruct.*config\.json"):
        open_model("lama-3.1-8b")
    with pytest.raises(UnknownOpenModelError, match=r"'whisper'.*Nearest: .*config\.json"):
        open_model("whisper")


def test_another_size_of_a_known_family_is_unknown() -> None:
    with pytest.raises(UnknownOpenModelError, match="Nearest"):
        open_model("llama-3.1-30b")


def test_a_family_is_not_a_model() -> None:
    with pytest.raises(UnknownOpenModelError, match=r"several sizes: .*8B.*70B.*405B"):
        open_model("llama-3.1")


def test_rows_of_the_users_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    row = {
        "id": "acme/tiny", "family": "Acme", "total_params_b": 1.0, "active_params_b": 1.0, "active_matmul_b": 0.9,
        "n_layers": 16, "n_full_attention_layers": 16, "hidden_size": 2048, "intermediate_size": 8192,
        "mlp_matrices": 3, "n_heads": 32, "n_kv_heads": 8, "head_dim": 64, "attention_type": "GQA",
        "kv_bytes_per_token_bf16": 32768, "vocab_size": 32000, "tied_embeddings": "no", "max_context": 4096,
        "source": "card", "verified": "yes",
    }  # fmt: skip
    path.write_text("[[model]]\n" + "".join(f"{key} = {value!r}\n" for key, value in row.items()))
    table = add_open_models(path)
    assert open_model("tiny", table).native_precision is None
    assert open_model("llama-3.1-8b", table) is open_model("llama-3.1-8b")
    path.write_text('[[model]]\nid = "x"\n')
    with pytest.raises(TableFileError, match=r"mine\.toml, row 1: family is empty"):
        add_open_models(path)
