"""How much lies above a multiple of the median, of what mean and quantiles tell."""

from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lever_cubes import EVEN, TAIL

from advisor.analysis import Distribution
from advisor.recommendation import Level
from advisor.tails import has_tail, tail_share


def test_shares_worked_by_hand() -> None:
    # Median 100, 90th 300, 99th 1,000, mean 200. The longest hundredth above 200: 0.01 x 800 = 8 of 200 tokens.
    assert float(tail_share(TAIL, Level.LOW)) == pytest.approx(8 / 200)
    # Above 200 by quantiles 0.09 x 100 + 8 = 17; by the mean 200 - (0.5 x 100 + 0.5 x 200) = 50, which is more.
    assert float(tail_share(TAIL, Level.EXPECTED)) == pytest.approx(50 / 200)
    # Above 150: 200 - (0.5 x 100 + 0.5 x 150) = 75.
    assert float(tail_share(TAIL, Level.HIGH)) == pytest.approx(75 / 200)
    # Where the mean says little, quantiles do: 0.09 x 300 + 0.01 x 300 = 30 of 140; the mean 140 - 150 < 0.
    even = Distribution(mean=140, p50=100, p90=500, p99=500)
    assert float(tail_share(even, Level.EXPECTED)) == pytest.approx(30 / 140)


def test_what_is_a_tail() -> None:
    assert has_tail(TAIL)
    assert not has_tail(EVEN)
    assert not has_tail(Distribution(mean=125, p50=100, p90=900, p99=1_000))
    assert not has_tail(Distribution(mean=200, p50=100, p90=190, p99=390))
    assert has_tail(Distribution(mean=200, p50=100, p90=190, p99=410))
    assert not has_tail(Distribution(mean=5, p50=0, p90=9, p99=99))


def test_nothing_of_nothing() -> None:
    assert tail_share(Distribution(mean=0, p50=0, p90=0, p99=0), Level.HIGH) == 0


@given(st.lists(st.integers(0, 10_000), min_size=30, max_size=200))
def test_no_share_is_larger_than_what_is_there(sizes: list[int]) -> None:
    p50, p90, p99 = (float(one) for one in np.quantile(sizes, (0.5, 0.9, 0.99)))
    told = Distribution(mean=fmean(sizes), p50=p50, p90=p90, p99=p99)
    shares = [tail_share(told, level) for level in (Level.LOW, Level.EXPECTED, Level.HIGH)]
    assert 0 <= shares[0] <= shares[1] <= shares[2] <= 1
    for share, times in zip(shares, (2.0, 2.0, 1.5), strict=True):
        above = fmean(max(0.0, size - times * p50) for size in sizes)
        # Interpolated quantiles are off by one request at most; a share has six digits.
        assert float(share) * told.mean <= above + times * p50 / len(sizes) + told.mean / 10**5
