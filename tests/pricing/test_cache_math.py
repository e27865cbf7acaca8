"""When caching pays: numbers worked by hand, and the two sides of each break-even."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing import cache_math

MINUTES_5, MINUTES_30, HOUR = 300, 1800, 3600
WRITES = st.floats(1.0, 3.0)
READS = st.floats(0.01, 0.99)


@pytest.mark.parametrize(
    ("write", "read", "share", "reads", "requests", "lifetime", "rate"),
    [
        (1.25, 0.1, 0.217, 0.278, 2, MINUTES_5, 2.94),
        (1.25, 0.1, 0.217, 0.278, 2, MINUTES_30, 0.49),
        (2.0, 0.1, 0.526, 1.111, 3, HOUR, 0.75),
        (1.25, 0.05, 0.208, 0.263, 2, MINUTES_5, 2.80),
        (2.0, 0.025, 0.506, 1.026, 3, HOUR, 0.71),
        (1.0, 0.1, 0.0, 0.0, 1, MINUTES_5, 0.0),
    ],
)
def test_break_even_points(
    write: float, read: float, share: float, reads: float, requests: int, lifetime: int, rate: float
) -> None:
    assert cache_math.break_even_hit_ratio(write, read) == pytest.approx(share, abs=5e-4)
    assert cache_math.reads_per_write(write, read) == pytest.approx(reads, abs=5e-4)
    assert cache_math.requests_per_life(write, read) == requests
    assert cache_math.break_even_rate_per_hour(write, read, lifetime, refresh=True) == pytest.approx(
        rate, abs=5e-3
    )


@pytest.mark.parametrize(("requests", "saved"), [(2, 0.325), (5, 0.67), (10, 0.785)])
def test_savings_at_some_requests_per_entry(requests: int, saved: float) -> None:
    """The published table of AWS: 32 %, 67 % and 78 %."""
    assert cache_math.saving_ratio((requests - 1) / requests, 1.25, 0.1) == pytest.approx(saved)


def test_the_last_digit_of_a_quotient_does_not_cost_a_request() -> None:
    reads = cache_math.reads_per_write(1.3, 0.9)
    assert reads is not None
    assert reads > 3  # 0.3 / 0.1, in floats
    assert cache_math.requests_per_life(1.3, 0.9) == 4


def test_a_read_at_the_price_of_input_never_pays() -> None:
    assert cache_math.break_even_hit_ratio(1.25, 1.0) is None
    assert cache_math.break_even_hit_ratio(1.0, 1.0) is None
    assert cache_math.reads_per_write(1.25, 1.0) is None
    assert cache_math.requests_per_life(1.25, 1.0) is None
    assert cache_math.break_even_rate_per_hour(1.25, 1.0, MINUTES_5, refresh=True) is None
    assert cache_math.storage_break_even_reads_per_hour(1.0, 1.0) is None


def test_poisson() -> None:
    assert cache_math.hit_ratio_poisson(20, MINUTES_5, refresh=True) == pytest.approx(0.811, abs=5e-4)
    assert cache_math.hit_ratio_poisson(20, MINUTES_5, refresh=False) == pytest.approx(0.625)
    assert cache_math.hit_ratio_poisson(0, MINUTES_5, refresh=True) == 0
    # Without refresh every write needs its reads within one lifetime: as many an hour as reads per write.
    assert cache_math.break_even_rate_per_hour(2.0, 0.1, HOUR, refresh=False) == pytest.approx(10 / 9)


@pytest.mark.parametrize(("read", "threshold"), [(0.1, 0.652), (0.05, 0.625), (0.025, 0.612)])
def test_one_hour_against_five_minutes(read: float, threshold: float) -> None:
    found = cache_math.longer_lifetime_threshold(1.25, 2.0, read)
    assert found == pytest.approx(threshold, abs=5e-4)
    prices = {"short_write": 1.25, "long_write": 2.0, "read": read}
    assert cache_math.longer_lifetime_pays(threshold * 100 + 1, 100, **prices)
    assert not cache_math.longer_lifetime_pays(threshold * 100 - 1, 100, **prices)


def test_a_longer_lifetime_never_pays_where_reads_cost_what_writes_cost() -> None:
    assert cache_math.longer_lifetime_threshold(1.0, 2.0, 1.0) is None
    assert not cache_math.longer_lifetime_pays(100, 1, short_write=1.0, long_write=2.0, read=1.0)


@pytest.mark.parametrize(
    ("read", "bound", "pings", "chance"),
    [(0.1, 11.5, 11, 0.087), (0.05, 24, 24, 0.042), (0.025, 49, 49, 0.020)],
)
def test_keep_alive(read: float, bound: float, pings: int, chance: float) -> None:
    assert cache_math.keep_alive_break_even(1.25, read) == pytest.approx(bound)
    assert cache_math.most_pings(1.25, read) == pings
    assert cache_math.ping_break_even_probability(1.25, read) == pytest.approx(chance, abs=5e-4)
    # The pings and the request's own read, against the write that they spare.
    assert (pings + 1) * read <= 1.25 + 1e-12 < (pings + 2) * read


def test_pings_where_there_is_nothing_to_spare() -> None:
    assert cache_math.keep_alive_break_even(1.0, 0.0) is None
    assert cache_math.most_pings(1.0, 0.0) is None
    assert cache_math.most_pings(1.0, 1.0) == 0
    assert cache_math.ping_break_even_probability(1.0, 1.0) is None


@pytest.mark.parametrize(
    ("storage_usd", "input_usd", "read_usd", "reads"),
    [
        (4.50, 1.25, 0.125, 4.0),
        (1.00, 0.30, 0.03, 3.70),
        (4.50, 2.00, 0.20, 2.5),
        (0.50, 0.75, 0.075, 0.74),
    ],
)
def test_storage_of_an_explicit_cache(
    storage_usd: float, input_usd: float, read_usd: float, reads: float
) -> None:
    found = cache_math.storage_break_even_reads_per_hour(storage_usd / input_usd, read_usd / input_usd)
    assert found == pytest.approx(reads, abs=5e-3)


def test_padding_to_the_minimum() -> None:
    # 0.9 x 0.1 + 0.1 x 1.25 = 0.215 of 1,024 tokens are 220.2.
    assert cache_math.padding_pays(221, 1024, 0.9, 1.25, 0.1)
    assert not cache_math.padding_pays(220, 1024, 0.9, 1.25, 0.1)


@given(write=WRITES, read=READS)
def test_a_cache_saves_above_the_break_even_and_costs_below(write: float, read: float) -> None:
    share = cache_math.break_even_hit_ratio(write, read)
    assert share is not None
    assert cache_math.saving_ratio(share, write, read) == pytest.approx(0, abs=1e-9)
    assert cache_math.saving_ratio(share + 0.01, write, read) > 0
    assert cache_math.saving_ratio(share - 0.01, write, read) < 0
    # n reads per write are a share of n / (n + 1).
    reads = cache_math.reads_per_write(write, read)
    assert reads is not None
    assert reads / (reads + 1) == pytest.approx(share)


@given(write=WRITES, read=READS, lifetime=st.floats(60, 86_400), refresh=st.booleans())
def test_the_break_even_rate_has_the_break_even_share(
    *, write: float, read: float, lifetime: float, refresh: bool
) -> None:
    rate = cache_math.break_even_rate_per_hour(write, read, lifetime, refresh=refresh)
    assert rate is not None
    share = cache_math.hit_ratio_poisson(rate, lifetime, refresh=refresh)
    assert share == pytest.approx(cache_math.break_even_hit_ratio(write, read), abs=1e-9)


@given(rate=st.floats(0, 1000), lifetime=st.floats(1, 86_400))
def test_refreshing_never_hits_less(rate: float, lifetime: float) -> None:
    kept = cache_math.hit_ratio_poisson(rate, lifetime, refresh=True)
    fixed = cache_math.hit_ratio_poisson(rate, lifetime, refresh=False)
    assert 0 <= fixed <= kept + 1e-12
    assert kept <= 1
