"""Rows of the overlay become rules of cards: what they change, from when until when, and nothing else."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricing.amend import amend, at_profile, cards_of, within
from pricing.cards import PriceCard
from pricing.meters import Meter
from pricing.overlay import Overlay
from pricing.rules import ContextTier, RatePeriod, RegionRate, ServiceTier, is_active

IN, OUT, READ, W12 = Meter.INPUT_UNCACHED, Meter.OUTPUT, Meter.CACHE_READ, Meter.CACHE_WRITE_12H
RATES = {IN: Decimal(4), OUT: Decimal(20), READ: Decimal(1)}
SAID = {"provider": "acme", "source": "https://acme.example/pricing", "checked_on": "2026-11-01"}
AT = datetime(2026, 11, 2, 12, tzinfo=UTC)  # a Monday


def card(**given: Any) -> PriceCard:
    period = RatePeriod(**{"rates": RATES, **given})
    return PriceCard(
        provider="acme", model="demo", periods=(period,), source="list", retrieved=date(2026, 10, 1)
    )


def rows(**kinds: list[dict[str, Any]]) -> Overlay:
    return Overlay.model_validate(
        {
            kind: [
                {**SAID, "models": ["demo"], **row} if kind != "card" else {**SAID, **row} for row in given
            ]
            for kind, given in kinds.items()
        }
    )


def test_a_stated_rate_holds_for_its_time_only_and_names_both_sources() -> None:
    found = amend(card(), rows(rate=[{"rates": {"cache_read": "2"}, "valid_until": "2026-11-02T00:00:00Z"}]))
    before, after = (found.resolve(AT - timedelta(days=back), 1, None) for back in (1, 0))
    assert (before.rates[READ], after.rates[READ]) == (2, 1)
    assert before.source == "list; https://acme.example/pricing"
    assert (before.retrieved, after.retrieved) == (date(2026, 10, 1), date(2026, 10, 1))
    assert (before.valid_until, after.valid_from) == (datetime(2026, 11, 2, tzinfo=UTC),) * 2
    assert after.source == "list"


def test_a_multiple_of_the_input_rate_follows_context_and_service_tier() -> None:
    one = card(
        context_tiers=(ContextTier(above=100, rates={IN: Decimal(8)}),),
        service_tiers=(ServiceTier(name="batch", rates={IN: Decimal(2)}),),
    )
    found = amend(one, rows(rate=[{"times_input": {"cache_write_12h": "2"}}]))
    assert found.resolve(AT, 1, None).rates[W12] == 8
    assert found.resolve(AT, 101, None).rates[W12] == 16
    assert found.resolve(AT, 1, "batch").rates[W12] == 4


def test_a_tier_row_fills_in_and_gives_way_to_what_the_price_list_states() -> None:
    stated = ServiceTier(name="batch", rates={IN: Decimal(3)}, valid_from=AT)
    found = amend(card(service_tiers=(stated,)), rows(tier=[{"tier": "batch", "multiplier": "0.5"}]))
    assert found.resolve(AT - timedelta(days=1), 1, "batch").rates[IN] == 2
    assert found.resolve(AT, 1, "batch").rates[IN] == 3


def test_an_exception_of_a_tier_keeps_its_own_factor() -> None:
    row = {"tier": "batch", "multiplier": "0.5", "multipliers": {"cache_read": "1"}}
    sheet = amend(card(), rows(tier=[row])).resolve(AT, 1, "batch")
    assert (sheet.rates[IN], sheet.rates[OUT], sheet.rates[READ]) == (2, 10, 1)
    assert sheet.rule == "batch x0.5, cache_read x1"
    assert sheet.source == "list; https://acme.example/pricing"


def test_a_tier_is_dated_back_as_multiples_of_what_was_standard_then() -> None:
    """Half of today's price means half of last year's too; what the tier does not name stays as it was."""
    edge = datetime(2026, 10, 14, tzinfo=UTC)
    stated = ServiceTier(name="batch", rates={IN: Decimal(2), OUT: Decimal(10)}, valid_from=edge)
    cut = datetime(2026, 1, 1, tzinfo=UTC)
    periods = (
        RatePeriod(
            valid_until=cut,
            rates={IN: Decimal(6), OUT: Decimal(30), READ: Decimal(3)},
            service_tiers=(stated,),
        ),
        RatePeriod(valid_from=cut, rates=RATES, service_tiers=(stated,)),
    )
    one = PriceCard(provider="acme", model="demo", periods=periods, source="list")
    found = amend(one, rows(backdate=[{"tier": "batch", "valid_from": "2025-06-01T00:00:00Z"}]))
    early = found.resolve(datetime(2025, 7, 1, tzinfo=UTC), 1, "batch")
    assert (early.rates[IN], early.rates[OUT], early.rates[READ]) == (3, 15, 3)
    assert found.resolve(datetime(2025, 5, 31, tzinfo=UTC), 1, "batch").service_tier_applied == "standard"
    assert found.resolve(edge, 1, "batch").rule == "batch rates"


def test_regions_scale_tokens_and_not_fees() -> None:
    one = card(rates={**RATES, Meter.WEB_SEARCH_CALLS: Decimal("0.01")})
    overlay = rows(region=[{"regions": ["*"], "except_regions": ["global"], "multiplier": "1.1"}])
    found = amend(one, overlay)
    assert found.resolve(AT, 1, None, "eu-west-1").rates[IN] == Decimal("4.4")
    assert found.resolve(AT, 1, None, "eu-west-1").rates[Meter.WEB_SEARCH_CALLS] == Decimal("0.01")
    assert [found.resolve(AT, 1, None, word).rates[IN] for word in (None, "", "Global")] == [4, 4, 4]


def test_peak_hours_are_not_on_holidays_or_weekends() -> None:
    calendar = {
        "name": "c",
        "utc_offset_hours": 8,
        "days": ["2026-11-03"],
        "source": "gazette",
        "checked_on": "2026-01-01",
    }
    window = {"name": "peak", "hours": ["Mon-Fri 01:00-04:00"], "calendar": "c", "multiplier": "2"}
    overlay = Overlay.model_validate(
        {"window": [{**SAID, "models": ["demo"], **window}], "calendar": [calendar]}
    )
    found = amend(card(), overlay)

    def rate(day: int, hour: int) -> Decimal:
        return found.resolve(datetime(2026, 11, day, hour, tzinfo=UTC), 1, None).rates[IN]

    assert (rate(2, 1), rate(2, 3), rate(2, 4)) == (8, 8, 4)  # Monday
    assert rate(3, 2) == 4  # the holiday, 2 November 16:00 UTC to 3 November 16:00 UTC
    assert rate(4, 2) == 8
    assert rate(7, 2) == 4  # Saturday


def test_cards_of_the_overlay_have_their_periods_in_order() -> None:
    found = list(
        cards_of(
            rows(
                card=[
                    {"model": "new", "valid_from": "2026-02-01T00:00:00Z", "rates": {"input_uncached": "1"}},
                    {"model": "new", "valid_until": "2026-02-01T00:00:00Z", "rates": {"input_uncached": "3"}},
                ]
            )
        )
    )
    assert [(one.provider, one.model, len(one.periods)) for one in found] == [("acme", "new", 2)]
    assert found[0].resolve(datetime(2026, 1, 31, tzinfo=UTC), 1, None).rates[IN] == 3


@pytest.mark.parametrize(("region", "expected"), [("global", "4"), ("us", "4.4")])
def test_a_regional_id_of_a_model_has_the_providers_usual_surcharge(region: str, expected: str) -> None:
    overlay = Overlay.model_validate(
        {"profile": [{**SAID, "except_regions": ["global"], "multiplier": "1.1"}]}
    )
    found = at_profile(card(), "acme", region, overlay)
    assert found.resolve(AT, 1, None, "somewhere else").rates[IN] == Decimal(expected)


def test_a_card_with_regional_prices_of_its_own_keeps_them() -> None:
    one = card(regions=(RegionRate(regions=("us",), multiplier=Decimal(3)),))
    overlay = Overlay.model_validate({"profile": [{**SAID, "multiplier": "1.1"}]})
    assert at_profile(one, "acme", "us", overlay).resolve(AT, 1, None).rates[IN] == 12


instants = st.integers(0, 40).map(lambda day: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day))


@settings(deadline=None, derandomize=True)
@given(edges=st.sets(instants, max_size=4), start=st.none() | instants, end=st.none() | instants, at=instants)
def test_cutting_periods_loses_no_instant_and_changes_only_what_is_within(
    edges: set[datetime], start: datetime | None, end: datetime | None, at: datetime
) -> None:
    bounds: list[datetime | None] = [None, *sorted(edges), None]
    periods = tuple(
        RatePeriod(valid_from=one, valid_until=other, rates={IN: Decimal(number)})
        for number, (one, other) in enumerate(pairwise(bounds))
    )
    if start and end and start >= end:
        start, end = end, start + timedelta(days=1)
    cut = within(
        periods,
        start,
        end,
        lambda one: RatePeriod(
            valid_from=one.valid_from, valid_until=one.valid_until, rates={OUT: one.rates[IN]}
        ),
    )
    active = [one for one in cut if is_active(one.valid_from, one.valid_until, at)]
    (before,) = (one for one in periods if is_active(one.valid_from, one.valid_until, at))
    meter = OUT if is_active(start, end, at) else IN
    assert [dict(one.rates) for one in active] == [{meter: before.rates[IN]}]


def test_a_tier_of_a_time_without_a_standard_price_is_not_backdated() -> None:
    sold = datetime(2026, 10, 14, tzinfo=UTC)
    batch = ServiceTier(name="batch", rates={IN: Decimal(2)}, valid_from=sold)
    one = card(service_tiers=(batch,), valid_from=AT)
    assert amend(one, rows(backdate=[{"tier": "batch"}])).periods == one.periods
