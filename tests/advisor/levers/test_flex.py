"""The flex tier: where batch jobs are not sold, or cost more."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from lever_cubes import AS_OF, cube, evidence, row

from advisor.evidence import Evidence, Signals, total_usd
from advisor.levers import flex
from advisor.recommendation import Level
from pricing.book import PriceBook
from pricing.cards import PriceCard
from pricing.frame import price_cube
from pricing.meters import Meter
from pricing.rules import RatePeriod, ServiceTier

RATES = {Meter.INPUT_UNCACHED: Decimal(1), Meter.OUTPUT: Decimal(10)}


def seen(**multipliers: str) -> Evidence:
    tiers = tuple(ServiceTier(name=name, multiplier=Decimal(factor)) for name, factor in multipliers.items())
    card = PriceCard(
        provider="openai",
        model="gpt-5",
        periods=(RatePeriod(rates=RATES, service_tiers=tiers),),
        source="test",
    )
    book = PriceBook(builtin=False, user_cards=(card,))
    frame = cube([row(), row(service_tier="priority"), row(bucketed=True)])
    return replace(evidence(frame), book=book, priced=price_cube(frame, book, as_of=AS_OF))


def test_what_can_wait_some_minutes() -> None:
    told = seen(flex="0.5")
    (one,) = flex.find(told)
    (fact,) = one.evidence
    assert fact.value == "gpt-5 50 % off"
    saved = [told.cost_of(told.cube) - told.cost_of(one.change(told.cube, level)) for level in Level]
    # Of single requests at the standard tier, which cost $0.24: half the price for a quarter, a half and all of them.
    assert saved == [Decimal("0.03"), Decimal("0.06"), Decimal("0.12")]


@pytest.mark.parametrize(
    "multipliers", [{}, {"flex": "0.5", "batch": "0.5"}, {"flex": "0.5", "batch": "0.4"}, {"flex": "1.2"}]
)
def test_nothing_where_batch_jobs_are_as_cheap_or_flex_is_not(multipliers: dict[str, Any]) -> None:
    assert not list(flex.find(seen(**multipliers)))


def test_nothing_where_somebody_waits() -> None:
    told = replace(seen(flex="0.5"), signals={"app": Signals(requests=100, streamed=51)})
    assert not list(flex.find(told))


def test_it_costs_nothing_less_than_what_is_there() -> None:
    told = seen(flex="0.5")
    (one,) = flex.find(told)
    after = price_cube(one.change(told.cube, Level.HIGH), told.book, as_of=AS_OF)
    assert 0 < total_usd(after) < total_usd(told.priced)
