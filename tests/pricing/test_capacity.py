"""Weights, memory budgets and what fits, against figures worked out by hand and published ones."""

import pytest

from pricing.accelerators import accelerator
from pricing.capacity import DoesNotFitError, capacity, min_gpus_by_weights, room_for, smallest_sharding
from pricing.kv_cache import head_group
from pricing.memory import Budget, Sharding, kv_room, visible_bytes, weights_on_one
from pricing.open_models import open_model
from pricing.units import GIB
from pricing.weights import UnknownPrecisionError, parse_precision, part_bits, weight_bytes

EIGHT_B_CACHE = (head_group(layers=32, kv_heads=8, head_dim=128),)


@pytest.mark.parametrize(
    ("text", "weights", "kv_bytes"),
    [
        ("fp8/fp8", "fp8", 1.0),
        ("fp8/?", "fp8", None),
        ("bf16?/?", "bf16", None),
        ("fp4/fp8", "fp4", 1.0),
        ("fp8/fp8? (inferred)", "fp8", 1.0),
        ("q4_k_m/f16", "q4_k_m", 2.0),
        ("f16/f16", "fp16", 2.0),
        ("mxfp4/f16", "mxfp4", 2.0),
        ("int4/?", "int4", None),
        ("AWQ", "int4", None),
        ("q8_0/q8_0", "q8_0", 34 / 32),
        ("fp8_block/bf16", "fp8", 2.0),
        ("w4a16_nvfp4", "nvfp4", None),
        ("UD-Q4_K_M", "q4_k_m", None),
    ],
)
def test_precisions_are_read_as_benchmarks_write_them(
    text: str, weights: str, kv_bytes: float | None
) -> None:
    found = parse_precision(text)
    assert (found.weights, found.kv_bytes) == (weights, kv_bytes)


def test_an_unknown_precision_lists_the_known_ones() -> None:
    with pytest.raises(UnknownPrecisionError, match=r"'fp3'.*allowed are .*bf16, fp16"):
        parse_precision("fp3")


def test_weights_by_precision() -> None:
    llama = open_model("llama-3.1-70b")
    assert weight_bytes(llama, "bf16").total_bytes == pytest.approx(141.1e9, rel=0.001)
    fp8 = weight_bytes(llama, "fp8")
    assert fp8.total_bytes == pytest.approx(72.7e9, rel=0.005)  # 70.6 + the two tables that stay in BF16
    assert fp8.expert_bytes == fp8.one_expert_bytes == 0
    # File sizes as published: 42.5 GB (Q4_K_M) and 75.0 GB (Q8_0).
    assert weight_bytes(llama, "q4_k_m").total_bytes == pytest.approx(42.5e9, rel=0.01)
    assert weight_bytes(llama, "q8_0").total_bytes == pytest.approx(75.0e9, rel=0.01)


def test_only_experts_of_a_4_bit_checkpoint_are_in_4_bits() -> None:
    gpt_oss = open_model("gpt-oss-120b")
    assert part_bits(gpt_oss, "mxfp4") == (4.25, 16, 16)
    assert part_bits(gpt_oss, "fp4") == (4.25, 16, 16)
    assert weight_bytes(gpt_oss, "mxfp4").total_bytes == pytest.approx(
        65.2e9, rel=0.02
    )  # 60.8 GiB on the hub
    assert part_bits(open_model("deepseek-r1"), "fp4") == (4.5, 8, 16)
    assert part_bits(open_model("qwen3-235b-a22b"), "fp4") == (4.5, 4.5, 16)
    assert part_bits(open_model("minimax-m2.5"), "nvfp4") == (4.5, 16, 16)
    assert part_bits(open_model("kimi-k2.5"), "int4") == (4.5, 16, 16)
    assert weight_bytes(open_model("kimi-k2.5"), "int4").total_bytes == pytest.approx(595e9, rel=0.02)
    assert part_bits(open_model("llama-3.1-70b"), "fp4") == (4.5, 4.5, 16)


def test_an_input_table_is_counted_once() -> None:
    tied, untied = open_model("gemma-3-27b"), open_model("llama-3.1-8b")
    assert weight_bytes(tied, "bf16").table_bytes == 0
    assert weight_bytes(tied, "bf16").total_bytes == pytest.approx(2 * tied.total_params_b * 1e9, rel=0.001)
    assert weight_bytes(untied, "bf16").table_bytes == pytest.approx(128_256 * 4_096 * 2)


def test_memory_holds_all_parameters_of_a_sparse_model() -> None:
    parts = weight_bytes(open_model("qwen3-235b-a22b"), "fp8")
    assert parts.total_bytes > 234e9
    assert parts.expert_bytes / parts.total_bytes > 0.9
    laid = weights_on_one(parts, Sharding(tp=2, dp=4))
    assert laid == pytest.approx(parts.expert_bytes / 8 + (parts.dense_bytes + parts.table_bytes) / 2)


def test_vllm_divides_a_share_of_all_memory() -> None:
    budget = kv_room("vllm", 80 * GIB, 40 * GIB, 4 * GIB, memory_share=0.9)
    assert budget.kv_room / GIB == pytest.approx(28)
    found = room_for(budget, EIGHT_B_CACHE, 9_216)
    assert found.sequences == 24


def test_vllms_own_log_comes_out() -> None:
    # As printed by vLLM for an 8B model on 39.50 GiB: 11.12 GiB left, 5,691 blocks, 11.12 x 8,192 tokens.
    budget = kv_room("vllm", 39.50 * GIB, 14.96 * GIB, (0.10 + 9.37) * GIB, memory_share=0.9)
    assert budget.kv_room / GIB == pytest.approx(11.12, abs=0.01)
    found = room_for(budget, EIGHT_B_CACHE, 8_192)
    assert found.cache_tokens / 16 == pytest.approx(5_691, abs=6)
    assert found.sequences == 11


def test_tensorrt_llm_takes_a_share_of_what_is_free() -> None:
    budget = kv_room("trtllm", 80 * GIB, 40 * GIB, 4 * GIB, memory_share=0.9)
    assert budget.kv_room / GIB == pytest.approx(0.9 * 36)
    assert kv_room("trtllm", 80 * GIB, 90 * GIB, 0.0).kv_room < 0


def test_sglang_keeps_the_overhead_in_the_rest() -> None:
    assert kv_room("sglang", 100 * GIB, 50 * GIB, 10 * GIB, memory_share=0.88).kv_room / GIB == pytest.approx(
        38
    )
    assert kv_room("sglang", 100 * GIB, 50 * GIB, 20 * GIB, memory_share=0.88).kv_room / GIB == pytest.approx(
        30
    )


def test_a_token_more_is_a_block_more_and_room_never_negative() -> None:
    budget = Budget(total=0, usable=0, weights=0, overhead=0, kv_room=33 * 131_072)
    assert room_for(budget, EIGHT_B_CACHE, 16).sequences == 2
    assert room_for(budget, EIGHT_B_CACHE, 17).sequences == 1
    assert room_for(budget, EIGHT_B_CACHE, 16).cache_tokens == 32
    assert room_for(budget, EIGHT_B_CACHE, 16, dp=4).sequences == 8
    nothing = Budget(total=0, usable=0, weights=1, overhead=0, kv_room=-1)
    assert room_for(nothing, EIGHT_B_CACHE, 16).sequences == 0


def test_a_model_that_cannot_fit_gets_a_count_by_weights() -> None:
    weights = 480e9 * 2
    assert weights / GIB == pytest.approx(894.1, abs=0.05)
    assert min_gpus_by_weights(weights, 0.9 * 80 * GIB) == 13


def test_what_does_not_fit_is_refused_with_the_budget_and_a_count_that_does() -> None:
    with pytest.raises(DoesNotFitError) as caught:
        capacity(
            open_model("llama-3.1-405b"),
            accelerator("H100"),
            Sharding(tp=2),
            precision="bf16",
            context_tokens=8_192,
        )
    assert "does not fit on 2 x H100 SXM5: 79.2 GiB a GPU, usable 71.3, weights 378.0" in str(caught.value)
    assert "activations and runtime 3.6, short by 310.3" in str(caught.value)
    assert "a sequence of 8,192 tokens needs 2.0. The smallest count that holds one is 16." in str(
        caught.value
    )


def test_more_memory_longer_context_and_finer_cache_move_the_right_way() -> None:
    llama, h100 = open_model("llama-3.1-8b"), accelerator("H100")
    base = capacity(llama, h100, precision="bf16", context_tokens=4_096)
    assert (
        capacity(llama, accelerator("H200"), precision="bf16", context_tokens=4_096).sequences
        > base.sequences
    )
    assert capacity(llama, h100, precision="fp8", context_tokens=4_096).sequences > base.sequences
    assert capacity(llama, h100, precision="bf16", context_tokens=8_192).sequences < base.sequences
    halved = capacity(llama, h100, precision="bf16", context_tokens=4_096, kv_bytes=1.0)
    assert halved.sequences == pytest.approx(2 * base.sequences, abs=1)


def test_attention_groups_hold_more_of_a_latent_cache_than_tensor_parallelism() -> None:
    deepseek, h200 = open_model("deepseek-r1"), accelerator("H200")
    tensor = capacity(deepseek, h200, Sharding(tp=8), precision="fp8", context_tokens=8_192)
    groups = capacity(deepseek, accelerator("B200"), Sharding(dp=8), precision="fp8", context_tokens=8_192)
    assert groups.sequences > 3 * tensor.sequences


def test_a_default_share_that_is_just_too_small_is_raised_and_a_stated_one_is_not() -> None:
    tight = {"precision": "fp8", "context_tokens": 9_216.0}
    deepseek, b200 = open_model("deepseek-r1"), accelerator("B200")
    assert capacity(deepseek, b200, Sharding(tp=4), engine="sglang", **tight).sequences >= 1  # type: ignore[arg-type]
    with pytest.raises(DoesNotFitError):
        capacity(deepseek, b200, Sharding(tp=4), engine="sglang", memory_share=0.88, **tight)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "gib"),
    [("H100", 79.2), ("L40S", 45.0), ("M2 Ultra 192GB", 144), ("M3 Max 36GB", 24), ("MI300X", 190.1)],
)
def test_software_sees_a_little_less_than_the_sheet_says(name: str, gib: float) -> None:
    assert visible_bytes(accelerator(name)) / GIB == pytest.approx(gib, abs=0.1)


def test_a_laptop_holds_what_people_run_on_it() -> None:
    found = capacity(
        open_model("llama-3-8b"),
        accelerator("4080 16GB"),
        precision="f16/f16",
        context_tokens=2_048,
        engine="llama.cpp",
    )
    assert found.sequences >= 1
    small = smallest_sharding(
        open_model("llama-3.1-70b"),
        accelerator("4090"),
        precision="q4_k_m",
        context_tokens=4_096,
        engine="llama.cpp",
    )
    assert small == Sharding(tp=2)
