"""Whole replicas for requests that come together: the tail of what is in flight, by the exact distribution."""

import math

import numpy as np
import pytest

from pricing.replica import replicas_needed


def over(mean: float, slots: int) -> float:
    """How likely more than ``slots`` requests are in flight."""
    return 1 - sum(math.exp(-mean + n * math.log(mean) - math.lgamma(n + 1)) for n in range(slots + 1))


@pytest.mark.parametrize("concurrency", [1, 4, 32, 256])
@pytest.mark.parametrize("in_flight", [0.05, 0.5, 1.0, 3.0, 10.0, 60.0, 400.0, 3_000.0])
def test_more_than_fit_are_in_flight_at_most_one_time_in_twenty(concurrency: int, in_flight: float) -> None:
    work_seconds = in_flight / concurrency * 60
    count = int(replicas_needed(np.asarray([work_seconds]), float(concurrency))[0])
    assert over(in_flight, count * concurrency) < 0.055
    if count > 1:
        # one replica fewer would not do, but for the rounding of a normal to a Poisson tail
        assert over(in_flight, (count - 1) * concurrency - 1) > 0.045


def test_nothing_needs_nothing() -> None:
    assert list(replicas_needed(np.asarray([0.0, 60.0]), 1e9)) == [0.0, 2.0]
