"""Classes of phase mixes, at and around their edges."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.phase_mix import DOMINANT_SHARE, PhaseClass, classify, phase_mix

PREFILL, DECODE, BALANCED = PhaseClass.PREFILL_DOMINATED, PhaseClass.DECODE_DOMINATED, PhaseClass.BALANCED


@pytest.mark.parametrize(
    ("prefill", "decode", "expected"),
    [
        (2.0, 1.0, PREFILL),  # exactly two thirds
        (1.0, 2.0, DECODE),
        (2_000_001.0, 1_000_000.0, PREFILL),
        (1_999_999.0, 1_000_000.0, BALANCED),
        (1_000_000.0, 1_999_999.0, BALANCED),
        (1_000_000.0, 2_000_001.0, DECODE),
        (1.0, 1.0, BALANCED),
        (1.0, 0.0, PREFILL),
        (0.0, 1.0, DECODE),
        (1e-12, 1e12, DECODE),
    ],
)
def test_a_phase_dominates_from_two_thirds_on(prefill: float, decode: float, expected: PhaseClass) -> None:
    mix = phase_mix(basis="cost", prefill=prefill, decode=decode)
    assert mix is not None
    assert mix.phase_class is expected


@pytest.mark.parametrize("scale", [0.1, 0.3, 1 / 3, 0.7, 3.3, 1e-9, 1e9])
def test_exact_thirds_dominate_at_every_scale_and_on_both_sides(scale: float) -> None:
    for prefill, decode, expected in ((2 * scale, scale, PREFILL), (scale, 2 * scale, DECODE)):
        mix = phase_mix(basis="cost", prefill=prefill, decode=decode)
        assert mix is not None
        assert mix.phase_class is expected


def test_nothing_to_divide_is_no_mix() -> None:
    assert phase_mix(basis="cost", prefill=0.0, decode=0.0) is None


def test_a_mix_says_its_numbers() -> None:
    mix = phase_mix(basis="gpu_time", prefill=3.0, decode=1.0, weak="only 3 requests")
    assert mix is not None
    assert (mix.prefill_share, mix.decode_share, mix.weak) == (0.75, 0.25, "only 3 requests")
    assert mix.distance == pytest.approx(0.75 - 2 / 3)
    assert mix.explanation == "prefill is 75% of the GPU time; a phase dominates from 67% on"


def test_an_unknown_basis_is_an_error() -> None:
    with pytest.raises(KeyError):
        phase_mix(basis="mood", prefill=1.0, decode=1.0)


amounts = st.floats(0, 1e12, allow_nan=False)


@given(prefill=amounts, decode=amounts)
def test_shares_add_up_and_the_classes_are_mirror_images(prefill: float, decode: float) -> None:
    mix, mirror = (
        phase_mix(basis="cost", prefill=prefill, decode=decode),
        phase_mix(basis="cost", prefill=decode, decode=prefill),
    )
    if mix is None or mirror is None:
        assert mix is mirror is None
        return
    assert mix.prefill_share + mix.decode_share == pytest.approx(1)
    assert 0 <= mix.distance <= 1 / 3 + 1e-9
    swapped = {PREFILL: DECODE, DECODE: PREFILL, BALANCED: BALANCED}
    if mix.distance > 1e-12:
        assert swapped[mirror.phase_class] is mix.phase_class


@given(st.floats(0, 1))
def test_every_share_has_a_class(share: float) -> None:
    assert classify(share) in PhaseClass
    assert (classify(share) is PREFILL) == (share >= DOMINANT_SHARE)
