"""Bounds of both phases, against figures worked out by hand."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.accelerators import Accelerator, accelerator
from pricing.calibration import calibration
from pricing.deployment import Deployment, Load, Setups, setups
from pricing.layouts import Layout, parse_layout
from pricing.memory import Sharding
from pricing.open_models import open_model
from pricing.phase_bounds import (
    bounds,
    crossing,
    decode_bound_tokens_per_second,
    prefill_bound_tokens_per_second,
    ridge_batch,
    ridge_flops_per_byte,
)
from pricing.phase_figures import Figures, Variant, figures_of
from pricing.units import GIGA, TERA

H100 = accelerator("h100-sxm")
LLAMA = open_model("llama-3.1-70b")
ON_FOUR = Deployment(
    model=LLAMA, accelerator=H100, precision="fp8", layout=Layout(shard=Sharding(tp=4)), variant="vllm"
)
CHAT = Load(input_tokens=2_000, output_tokens=300, static=True)


def columns(deployment: Deployment, load: Load = CHAT) -> Setups:
    return setups([deployment], [load], [1.0], ["hopper"])


def test_1_2_tb_s_and_40_gb_of_active_weights_are_30_tokens_a_second() -> None:
    assert decode_bound_tokens_per_second(40 * GIGA, 1.2 * TERA) == 30


def test_the_bound_of_a_sparse_model_is_set_by_its_active_weights() -> None:
    """BR-077: 120 B parameters in 8 bits, 12 B of them active, at 3,350 GB/s."""
    assert decode_bound_tokens_per_second(12 * GIGA, 3_350 * GIGA) == pytest.approx(279.2, abs=0.05)
    assert decode_bound_tokens_per_second(120 * GIGA, 3_350 * GIGA) == pytest.approx(27.9, abs=0.05)


def test_a_batch_shares_the_reading_of_the_weights() -> None:
    assert decode_bound_tokens_per_second(40 * GIGA, 1.2 * TERA, batch=32) == 960


def test_prefill_is_bound_by_arithmetic() -> None:
    assert prefill_bound_tokens_per_second(2 * 70 * GIGA, 1_400 * TERA) == 10_000


def test_the_ridge_point_of_an_h100() -> None:
    """1,978.9 TFLOP/s of dense FP8 and 3.35 TB/s: each byte must serve 591 FLOPs, so a batch of 295 shares 1-byte weights."""
    ridge = ridge_flops_per_byte(1_978.9 * TERA, 3_350 * GIGA)
    assert ridge == pytest.approx(590.7, abs=0.1)
    assert ridge_batch(1.0, ridge) == pytest.approx(295.4, abs=0.1)
    assert ridge_batch(2.0, ridge_flops_per_byte(989.4 * TERA, 3_350 * GIGA)) == pytest.approx(295.4, abs=0.1)


def test_bounds_of_a_deployment_are_bytes_over_bandwidth_and_flops_over_peak() -> None:
    s = columns(ON_FOUR)
    found = bounds(s, s.layers * 0 + 32.0)
    # 69.5 B matrix parameters in 8 bits, of which the head (1.05 B) is in 16, over four ranks
    assert found.weight_bytes[0] == pytest.approx((69.5 + 1.05) * GIGA / 4, rel=0.005)
    # 80 layers x 8 heads x 128 x 2 at one byte, a quarter of them on each rank, for 32 sequences of 2,150 tokens
    assert found.cache_bytes[0] == pytest.approx(163_840 / 4 * 2_150 * 32)
    assert found.decode_memory_seconds[0] == pytest.approx(
        (found.weight_bytes[0] + found.cache_bytes[0]) / (3_350 * GIGA)
    )
    matrix_seconds = 2 * LLAMA.active_matmul_b * GIGA / 4 / (H100.fp8_dense_tflops or 0) / TERA
    assert found.prefill_arithmetic_seconds[0] > 2_000 * matrix_seconds
    assert found.prefill_arithmetic_seconds[0] == pytest.approx(2_000 * matrix_seconds, rel=0.1)


def test_decode_crosses_the_ridge_where_short_contexts_let_it() -> None:
    no_context = Load(input_tokens=1, output_tokens=1, static=True)
    by_weights = crossing(columns(ON_FOUR, no_context))
    assert by_weights == pytest.approx(ridge_batch(1.015, 590.7), rel=0.02)
    assert crossing(columns(ON_FOUR)) is None  # the cache of 2,150 tokens outgrows the arithmetic


def test_slow_arithmetic_is_crossed_by_one_sequence() -> None:
    slow = replace(H100, bf16_dense_tflops=0.1, fp8_dense_tflops=None)
    assert crossing(columns(replace(ON_FOUR, accelerator=slow))) == 1


# What must hold of any deployment, whatever the calibration.

MODELS = ("llama-3.1-8b", "llama-3.1-70b", "qwen3-32b", "gpt-oss-120b", "deepseek-r1", "qwen3-235b-a22b")
CARDS = ("h100-sxm", "h200-sxm", "b200", "a100-80-sxm", "mi300x", "rtx-4090", "m2-ultra")
ENGINES = ("vllm", "trtllm", "sglang")
setting = st.tuples(
    st.sampled_from(MODELS),
    st.sampled_from(CARDS),
    st.sampled_from(("bf16", "fp8", "int4")),
    st.sampled_from(("tp1", "tp4", "tp8", "dep8")),
    st.sampled_from(ENGINES),
)
Setting = tuple[str, str, str, str, str]


def deployed(chosen: Setting) -> Deployment:
    model, card, precision, layout, engine = chosen
    return Deployment(
        model=open_model(model),
        accelerator=accelerator(card),
        precision=precision,
        layout=parse_layout(layout),
        variant=engine,
    )


def run(deployment: Deployment, batch: int, input_tokens: float = 8_000) -> Figures:
    load = Load(input_tokens=input_tokens, output_tokens=300)
    return figures_of([Variant("", deployment, load, batch)], calibration())[0]


def faster(card: Accelerator, *, memory: float = 1.0, arithmetic: float = 1.0) -> Accelerator:
    def times(rate: float | None) -> float | None:
        return None if rate is None else rate * arithmetic

    return replace(
        card,
        memory_bandwidth_gb_s=card.memory_bandwidth_gb_s * memory,
        bf16_dense_tflops=times(card.bf16_dense_tflops),
        fp8_dense_tflops=times(card.fp8_dense_tflops),
        int8_dense_tops=times(card.int8_dense_tops),
        fp4_dense_tflops=times(card.fp4_dense_tflops),
    )


@given(setting)
def test_the_bound_of_decode_does_not_depend_on_arithmetic(chosen: Setting) -> None:
    one = deployed(chosen)
    more = replace(one, accelerator=faster(one.accelerator, arithmetic=10))
    assert run(more, 1).bound_step_seconds == run(one, 1).bound_step_seconds


@given(setting)
def test_more_flops_hardly_speed_up_the_decode_of_one_sequence(chosen: Setting) -> None:
    one = deployed(chosen)
    more = replace(one, accelerator=faster(one.accelerator, arithmetic=4))
    assert 0.9 < run(more, 1).tpot_seconds / run(one, 1).tpot_seconds <= 1


@given(setting)
def test_more_bandwidth_hardly_speeds_up_long_prompts(chosen: Setting) -> None:
    one = deployed(chosen)
    more = replace(one, accelerator=faster(one.accelerator, memory=4))
    assert 0.85 < run(more, 1, 32_000).ttft_seconds / run(one, 1, 32_000).ttft_seconds <= 1


@given(setting)
def test_batching_multiplies_decode_and_hardly_changes_prefill(chosen: Setting) -> None:
    """Far from any ridge. Sparse models read more experts with each sequence, so theirs grows less."""
    one = deployed((*chosen[:3], "tp4", chosen[4]))
    single, four = run(one, 1), run(one, 4)
    decode = four.decode_tokens_per_second / single.decode_tokens_per_second
    prefill = four.prefill_tokens_per_second / single.prefill_tokens_per_second
    if one.model.is_moe:
        assert 1.2 < decode <= 4
    else:
        assert 2.5 < decode <= 4
        assert 0.99 <= prefill < 1.25  # launches of a pass are shared, no more


@given(setting)
def test_work_of_a_decode_step_scales_with_the_bytes_that_are_active(chosen: Setting) -> None:
    """Without a cache, half the bytes a parameter are half of the time that reading takes."""
    one = deployed((chosen[0], chosen[1], "bf16", *chosen[3:]))
    narrow = replace(one, precision="fp8/bf16")
    wide_bytes, narrow_bytes = (run(each, 1, 1).weight_bytes for each in (one, narrow))
    wide_bound, narrow_bound = (run(each, 1, 1).bound_step_seconds for each in (one, narrow))
    assert narrow_bound / wide_bound == pytest.approx(narrow_bytes / wide_bytes, rel=0.05)
    assert 0.49 < narrow_bytes / wide_bytes < 0.66


@given(setting, st.sampled_from((1, 8, 64)))
def test_parts_add_up_to_estimates(chosen: Setting, batch: int) -> None:
    found = run(deployed(chosen), batch)
    assert sum(found.step_parts.values()) == pytest.approx(found.tpot_seconds)
    assert sum(found.prompt_parts.values()) == pytest.approx(found.ttft_seconds)
    assert all(part > -1e-12 for part in (*found.step_parts.values(), *found.prompt_parts.values()))
