"""What techniques change, and what a growing batch does: directions that hold whatever the calibration."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.batch_sweep import batch_sweep
from pricing.calibration import calibration
from pricing.capacity import DoesNotFitError
from pricing.deployment import Load
from pricing.reference_deployment import local_deployment, reference_deployment
from pricing.techniques import Techniques, techniques

CHAT = Load(input_tokens=1_500, cached_tokens=500, output_tokens=300)


def worked_out(load: Load = CHAT, *, batch: int = 32, longest: float = 20_000.0) -> Techniques:
    return techniques(
        reference_deployment(),
        load,
        calibration(),
        batch=batch,
        longest_tokens=longest,
        local=local_deployment(),
    )


def test_each_technique_acts_on_its_phase() -> None:
    found = worked_out()
    assert found.wide is not None
    assert found.now.prefill_tokens_per_second > 1.3 * found.wide.prefill_tokens_per_second
    assert found.now.decode_tokens_per_second > 1.1 * found.wide.decode_tokens_per_second
    assert found.now.decode_tokens_per_second > 10 * found.single.decode_tokens_per_second
    assert found.now.prefill_tokens_per_second < 1.6 * found.single.prefill_tokens_per_second
    assert found.uncached is not None
    assert found.uncached.ttft_seconds > found.now.ttft_seconds
    assert found.uncached.tpot_seconds == found.now.tpot_seconds
    assert found.local is not None
    read = found.single.prefill_tokens_per_second / found.local.prefill_tokens_per_second
    written = found.single.decode_tokens_per_second / found.local.decode_tokens_per_second
    assert read > 3 * written > 3  # a desk lacks arithmetic more than bandwidth


def test_a_chunk_stalls_others_less_than_the_whole_prompt() -> None:
    found = worked_out(longest=40_000)
    assert found.chunk_seconds < found.stall_seconds / 5
    short = worked_out(longest=1_000)
    assert short.chunk_seconds == short.stall_seconds


def test_pools_of_their_own_take_the_prompts_of_others_out_of_a_token() -> None:
    long_prompts = worked_out(replace(CHAT, input_tokens=8_000, output_tokens=100))
    assert long_prompts.mixed_tpot_seconds > 2 * long_prompts.now.tpot_seconds
    assert long_prompts.prefill_per_decode > 1
    assert worked_out(replace(CHAT, input_tokens=100, output_tokens=2_000)).prefill_per_decode < 0.5


def test_reserving_the_longest_context_holds_as_many_times_fewer_requests() -> None:
    found = worked_out()
    assert found.reserved_tokens == 131_072
    assert found.sequences / found.reserved_sequences == pytest.approx(131_072 / 2_300, rel=0.1)


def test_nothing_cached_is_no_gain_of_a_cache() -> None:
    assert worked_out(replace(CHAT, cached_tokens=0.0)).uncached is None


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(DoesNotFitError, match="does not fit"):
        worked_out(replace(CHAT, input_tokens=3_000_000))


@given(st.integers(50, 30_000), st.integers(10, 3_000))
def test_batching_raises_decode_and_leaves_prefill(read: int, written: int) -> None:
    points = batch_sweep(
        reference_deployment(), Load(input_tokens=read, output_tokens=written), calibration()
    )
    decode = [point.decode_tokens_per_second for point in points]
    prefill = [point.prefill_tokens_per_second for point in points]
    assert decode == sorted(decode)
    assert [point.batch for point in points] == sorted({point.batch for point in points})
    assert points[0].batch == 1
    if len(points) > 3:
        assert decode[-1] / decode[0] > 3 * (prefill[-1] / prefill[0]) or read < 500
    assert all(point.mixed_tpot_seconds >= point.tpot_seconds for point in points)
    assert all(0.7 * point.tpot_seconds <= points[-1].tpot_seconds for point in points)


def test_twice_the_batch_is_nearly_twice_the_decode_before_the_cache_weighs() -> None:
    points = batch_sweep(reference_deployment(), Load(input_tokens=500, output_tokens=200), calibration())
    for one, other in pairwise(points[:4]):
        assert other.decode_tokens_per_second > 1.85 * one.decode_tokens_per_second
