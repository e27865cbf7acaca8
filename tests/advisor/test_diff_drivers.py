"""The drivers of a difference: each one alone by hand, sums that are exact whatever is compared, and none where sums are missing."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.diff_drivers import drivers
from advisor.document_bill import TierDoc
from advisor.variance_terms import Driver
from pricing.charges import exact_sum

PAIRS = {("maker", "small"), ("maker", "large")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    requests: int | None = 10
    tokens: Mapping[str, int]
    rates: Mapping[str, int]
    model: str = "small"
    tier: str = "standard"


def tier(one: Usage) -> TierDoc:
    return TierDoc(
        provider="maker",
        model=one.model,
        service_tier=one.tier,
        requests=one.requests,
        tokens=dict(one.tokens),
        cost_by_meter={meter: str(count * one.rates[meter]) for meter, count in one.tokens.items()},
    )


def cost(side: list[TierDoc]) -> Decimal:
    return exact_sum(Decimal(amount) for one in side for amount in one.cost_by_meter.values())


def found(before: list[TierDoc], after: list[TierDoc]) -> dict[Driver, Decimal]:
    made = drivers(before, after, PAIRS, (cost(before), cost(after)))
    assert made is not None
    assert exact_sum(made.terms.values()) == cost(after) - cost(before)
    return {driver: amount for driver, amount in made.terms.items() if abs(amount) > Decimal("1e-9")}


RATES = {"input_uncached": 4, "cache_read": 1, "output": 20}
USED = {"input_uncached": 100, "cache_read": 100, "output": 50}
BASE = Usage(tokens=USED, rates=RATES)


@pytest.mark.parametrize(
    ("changed", "driver", "change"),
    [
        (Usage(requests=20, tokens={m: 2 * n for m, n in USED.items()}, rates=RATES), Driver.VOLUME, 1_500),
        (Usage(tokens={m: 2 * n for m, n in USED.items()}, rates=RATES), Driver.TOKENS, 1_500),
        (Usage(tokens=USED | {"input_uncached": 60, "cache_read": 140}, rates=RATES), Driver.CACHE, -120),
        (Usage(tokens=USED, rates={m: 3 * rate for m, rate in RATES.items()}), Driver.PRICE, 3_000),
    ],
)
def test_one_driver_alone(changed: Usage, driver: Driver, change: int) -> None:
    assert found([tier(BASE)], [tier(changed)]) == {driver: pytest.approx(Decimal(change))}


def test_requests_that_move_to_another_model_or_tier() -> None:
    dear = Usage(tokens=USED, rates={m: 10 * rate for m, rate in RATES.items()}, model="large")
    assert found([tier(BASE)], [tier(dear)]) == {Driver.MODEL_MIX: Decimal(13_500)}
    batch = Usage(
        tokens=USED, rates={m: rate // 2 if rate > 1 else 1 for m, rate in RATES.items()}, tier="batch"
    )
    assert found([tier(BASE)], [tier(batch)]) == {Driver.TIER: Decimal(-700)}


def test_without_counts_volume_is_tokens() -> None:
    more = Usage(requests=None, tokens={m: 2 * n for m, n in USED.items()}, rates=RATES)
    assert found([tier(BASE)], [tier(more)]) == {Driver.VOLUME: Decimal(1_500)}


def test_models_that_are_not_compared_are_in_no_driver() -> None:
    other = tier(Usage(tokens=USED, rates=RATES, model="mystery"))
    assert found([tier(BASE)], [tier(BASE)]) == {}
    made = drivers([tier(BASE)], [tier(BASE), other], PAIRS, (Decimal(1_500), Decimal(1_500)))
    assert made is not None
    assert made.change == 0


def test_none_where_the_sums_are_not_those_of_the_costs() -> None:
    assert drivers([], [tier(BASE)], PAIRS, (Decimal(1_500), Decimal(1_500))) is None
    assert drivers([], [], PAIRS, (Decimal(0), Decimal(0))) is None
    flat = tier(BASE).model_copy(update={"tokens": {}})
    assert drivers([tier(BASE)], [flat], PAIRS, (Decimal(1_500), Decimal(1_500))) is None


METERS = ("input_uncached", "cache_read", "cache_write_5m", "output", "web_search_calls")
NUMBERS = st.lists(st.integers(0, 10**9), min_size=5, max_size=5)


def made_up(place: int, requests: int, counts: list[int], nanos: list[int]) -> TierDoc:
    return TierDoc(
        provider="maker",
        model=("small", "large")[place % 2],
        service_tier=("standard", "batch")[place // 2],
        requests=requests or None,
        tokens=dict(zip(METERS, counts, strict=True)),
        cost_by_meter={
            meter: str(Decimal(amount).scaleb(-9)) if count else "0"
            for meter, count, amount in zip(METERS, counts, nanos, strict=True)
        },
    )


TIERS = st.builds(made_up, st.integers(0, 3), st.integers(0, 10**6), NUMBERS, NUMBERS)
SIDES = st.lists(TIERS, min_size=1, max_size=4, unique_by=lambda one: (one.model, one.service_tier))


@given(SIDES, SIDES)
def test_the_drivers_add_up_exactly(before: list[TierDoc], after: list[TierDoc]) -> None:
    made = drivers(before, after, PAIRS, (cost(before), cost(after)))
    assert made is not None
    assert exact_sum(made.terms.values()) == made.change == exact_sum((cost(after), -cost(before)))
