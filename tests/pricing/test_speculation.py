"""Speculative decoding: the published formula, and a gain that ends where arithmetic is the limit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.calibration import calibration
from pricing.deployment import Load, Setups, setups
from pricing.efficiency import efficiency
from pricing.phase_bounds import IDEAL
from pricing.reference_deployment import reference_deployment
from pricing.speculation import speculative_gain, tokens_per_step


@pytest.mark.parametrize(
    ("acceptance", "drafts", "tokens"),
    [(0.0, 4, 1.0), (0.5, 1, 1.5), (0.7, 4, 2.7731), (0.8, 3, 2.952), (1.0, 4, 5.0)],
)
def test_tokens_of_a_checked_step(acceptance: float, drafts: int, tokens: float) -> None:
    assert tokens_per_step(acceptance, drafts) == pytest.approx(tokens)


@given(st.floats(0, 1), st.integers(0, 12))
def test_a_step_yields_from_one_token_to_one_more_than_drafted(acceptance: float, drafts: int) -> None:
    assert 1 - 1e-9 <= tokens_per_step(acceptance, drafts) <= drafts + 1 + 1e-9


def reference(context: float = 1.0) -> Setups:
    one = reference_deployment()
    return setups([one], [Load(input_tokens=context, output_tokens=1)], [1.0], ["hopper"])


def gain(s: Setups, batch: float, *, acceptance: float = 0.7, drafts: int = 4, ideal: bool = False) -> float:
    e = IDEAL if ideal else efficiency(s, calibration())
    found = speculative_gain(
        s, e, np.array([batch]), acceptance_ratio=acceptance, drafts=drafts, draft_share=0.05
    )
    return float(found[0])


def test_while_memory_is_the_limit_a_check_costs_what_a_step_does() -> None:
    """Ideal hardware, one short sequence: 2.77 tokens for one step and four drafts of a twentieth."""
    assert gain(reference(), 1, ideal=True) == pytest.approx(2.7731 / 1.2, rel=0.02)


def test_at_the_compute_roof_every_draft_costs_as_much_as_a_token() -> None:
    """Five products for 2.77 tokens, and the drafts: a loss."""
    assert gain(reference(), 100_000, ideal=True) == pytest.approx(2.7731 / 5.2, rel=0.02)


@given(st.sampled_from((1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)))
def test_the_gain_shrinks_with_the_batch(batch: int) -> None:
    s = reference(200.0)
    assert gain(s, batch * 2) <= gain(s, batch) + 1e-9


def test_useless_drafts_cost() -> None:
    assert gain(reference(), 1, acceptance=0.0) < 1
    assert gain(reference(), 1, drafts=0) == pytest.approx(1)
