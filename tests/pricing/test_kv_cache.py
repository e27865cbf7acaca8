"""Cache bytes by kind of attention and their split, against figures worked out by hand."""

import pytest

from pricing.errors import TableFileError
from pricing.kv_cache import (
    CacheGroup,
    bytes_per_token,
    groups_of,
    head_group,
    latent_group,
    on_one_rank,
    rank_share,
    sequence_bytes,
    sequence_bytes_in_blocks,
)
from pricing.model_config import cache_of_config
from pricing.open_models import OpenModel, open_model, open_models
from pricing.units import GIB

EIGHT_B = (head_group(layers=32, kv_heads=8, head_dim=128),)


def test_only_kv_heads_are_cached() -> None:
    assert bytes_per_token(EIGHT_B) == 131_072
    assert sequence_bytes(EIGHT_B, 8_192) == 1 * GIB
    all_heads = (head_group(layers=32, kv_heads=32, head_dim=128),)
    assert bytes_per_token(all_heads) == 524_288  # what a formula over query heads would say


def test_half_the_bytes_a_value_is_half_the_cache() -> None:
    assert bytes_per_token(EIGHT_B, 1.0) == 65_536


@pytest.mark.parametrize(("tp", "one_rank", "all_ranks"), [(1, 131_072, 131_072), (4, 32_768, 131_072), (8, 16_384, 131_072), (16, 16_384, 262_144)])  # fmt: skip
def test_ranks_share_heads_and_copy_the_last_one(tp: int, one_rank: int, all_ranks: int) -> None:
    on_rank = bytes_per_token(on_one_rank(EIGHT_B, tp))
    assert on_rank == one_rank
    assert on_rank * tp == all_ranks


def test_heads_that_do_not_divide_are_rounded_up() -> None:
    assert rank_share(8, 3) == 3 / 8
    assert rank_share(2, 8) == 1 / 2
    assert rank_share(None, 8) == 1


def test_a_latent_vector_is_copied_to_every_rank() -> None:
    latent = (latent_group(layers=61, kv_lora_rank=512, rope_dim=64),)
    assert bytes_per_token(latent) == 70_272
    assert bytes_per_token(on_one_rank(latent, tp=8)) == 70_272
    assert bytes_per_token(on_one_rank(latent, tp=8, pp=2)) == 35_136


def test_window_layers_hold_a_window() -> None:
    groups = (
        head_group(layers=36, kv_heads=8, head_dim=256, window_tokens=2_048),
        head_group(layers=6, kv_heads=1, head_dim=512),
    )
    assert sequence_bytes(groups, 131_072) == 2_214_592_512
    assert sequence_bytes(groups, 131_072) / GIB == 2.0625
    assert sequence_bytes(groups, 1_024) == 1_024 * (36 * 8 * 512 + 6 * 1_024) * 2
    assert bytes_per_token(groups) == 6 * 1_024 * 2


def test_a_constant_state_does_not_grow_and_is_shared_out() -> None:
    groups = (CacheGroup(layers=10, state_values=1_000),)
    assert sequence_bytes(groups, 1) == sequence_bytes(groups, 1_000_000) == 40_000
    assert sequence_bytes(on_one_rank(groups, tp=4), 1) == 10_000
    assert bytes_per_token(groups) == 0


def test_blocks_round_up() -> None:
    assert sequence_bytes_in_blocks(EIGHT_B, 17) == 32 * 131_072
    assert sequence_bytes_in_blocks(EIGHT_B, 16) == 16 * 131_072


@pytest.mark.parametrize("row", open_models().values(), ids=lambda row: row.id)
def test_groups_say_what_the_row_says(row: OpenModel) -> None:
    groups = groups_of(row)
    assert bytes_per_token(groups) == pytest.approx(row.kv_bytes_per_token())
    without_state = [group for group in groups if not group.state_values]
    assert sequence_bytes(without_state, 50_000) == pytest.approx(row.kv_bytes(50_000))
    assert bytes_per_token(on_one_rank(groups, tp=2)) <= bytes_per_token(groups)


def test_known_models() -> None:
    deepseek, llama = groups_of(open_model("deepseek-v3")), groups_of(open_model("llama-3.1-70b"))
    assert bytes_per_token(on_one_rank(deepseek, tp=8)) == 70_272
    assert bytes_per_token(on_one_rank(llama, tp=8)) == 327_680 / 8
    gemma = groups_of(open_model("gemma-4-31b"))
    assert (
        bytes_per_token(on_one_rank(gemma, tp=8)) == bytes_per_token(gemma) / 4
    )  # 4 KV heads in full layers
    hybrid = groups_of(open_model("qwen3.5-397b-a17b"))
    assert sequence_bytes(hybrid, 0) == pytest.approx(195.4e6, rel=0.01)


def test_the_keys_of_a_config_that_say_so_are_enough() -> None:
    config = {"num_hidden_layers": 32, "num_key_value_heads": 8, "head_dim": 128, "torch_dtype": "bfloat16"}
    assert cache_of_config(config) == EIGHT_B
    assert cache_of_config({"n_layer": 32, "n_head": 32, "n_embd": 4096}) == (
        head_group(layers=32, kv_heads=32, head_dim=128),
    )
    latent = {
        "num_hidden_layers": 61,
        "num_attention_heads": 128,
        "kv_lora_rank": 512,
        "qk_rope_head_dim": 64,
    }
    assert cache_of_config(latent) == (latent_group(layers=61, kv_lora_rank=512, rope_dim=64),)
    with pytest.raises(TableFileError, match="num_key_value_heads, head_dim missing"):
        cache_of_config({"num_hidden_layers": 32, "hidden_size": 4096})
