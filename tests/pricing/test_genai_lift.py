"""Lifting genai-prices' objects, on models made up to hold each of its rules."""

from datetime import UTC, date, datetime, time
from decimal import Decimal

from genai_prices.types import (
    ClauseEquals,
    ConditionalPrice,
    ModelInfo,
    ModelPrice,
    PriceVariant,
    Provider,
    StartDateConstraint,
    Tier,
    TieredPrices,
    TimeOfDateConstraint,
)

from pricing.cards import PriceCard
from pricing.genai_lift import lift
from pricing.meters import Meter


def price(rate: str, **more: Decimal | TieredPrices) -> ModelPrice:
    return ModelPrice(input_mtok=Decimal(rate), **more)


def provider_of(*models: ModelInfo) -> Provider:
    return Provider(id="acme", name="Acme", api_pattern="x", models=list(models))


def model_of(prices: ModelPrice | list[ConditionalPrice], *variants: PriceVariant) -> ModelInfo:
    return ModelInfo(id="m", match=ClauseEquals("m"), prices=prices, price_variants=list(variants))


def rate(model: ModelInfo, at: str, tier: str | None = None, tokens: int = 1) -> Decimal:
    sheet = lift(provider_of(model), model).resolve(
        datetime.fromisoformat(at).replace(tzinfo=UTC), tokens, tier
    )
    return sheet.rates[Meter.INPUT_UNCACHED]


def test_the_last_active_entry_counts_and_the_first_is_open_to_the_past() -> None:
    model = model_of(
        [
            ConditionalPrice(StartDateConstraint(date(2026, 1, 1)), prices=price("1")),
            ConditionalPrice(StartDateConstraint(date(2026, 6, 1)), prices=price("2")),
        ]
    )
    assert [rate(model, at) for at in ("2020-01-01", "2026-05-31T23:59:59", "2026-06-01")] == [1, 1, 2]


def test_hours_count_over_the_dated_entries_before_them() -> None:
    model = model_of(
        [
            ConditionalPrice(prices=price("1")),
            ConditionalPrice(TimeOfDateConstraint(time(22), time(6)), prices=price("2")),
            ConditionalPrice(TimeOfDateConstraint(time(4), time(5)), prices=price("3")),
            ConditionalPrice(StartDateConstraint(date(2026, 6, 1)), prices=price("4")),
        ]
    )
    assert [rate(model, f"2026-05-01T{hour}:00") for hour in ("22", "04", "05", "06")] == [2, 3, 2, 1]
    assert rate(model, "2026-06-01T04:00") == 4  # the dated entry stands after the hours
    assert lift(provider_of(model), model).periods[1].windows == ()


def test_variants_count_first_to_last_by_key_and_from_their_start() -> None:
    model = model_of(
        price("10", output_mtok=Decimal(50)),
        PriceVariant({"processing": "batch"}, price("6"), StartDateConstraint(date(2026, 6, 1))),
        PriceVariant({"processing": "batch"}, price("5", output_mtok=Decimal(25)), StartDateConstraint(date(2026, 1, 1))),
        PriceVariant({"route": "eu"}, price("99")),
    )  # fmt: skip
    assert [rate(model, at, "batch") for at in ("2025-12-31", "2026-01-01", "2026-06-01")] == [10, 5, 6]
    card = lift(provider_of(model), model)
    assert card.resolve(datetime(2026, 7, 1, tzinfo=UTC), 1, "batch").rates[Meter.OUTPUT] == 25
    assert {tier.name for tier in card.periods[0].service_tiers} == {"batch"}


def test_a_flat_variant_replaces_a_tiered_price() -> None:
    tiered = ModelPrice(input_mtok=TieredPrices(Decimal(1), [Tier(100, Decimal(3))]))
    model = model_of(tiered, PriceVariant({"speed": "fast"}, price("2")))
    assert [rate(model, "2026-01-01", tokens=tokens) for tokens in (100, 101)] == [1, 3]
    assert rate(model, "2026-01-01", "fast", tokens=101) == 2


def test_variants_of_a_borrowed_model_do_not_apply() -> None:
    model = model_of(price("10"), PriceVariant({"processing": "batch"}, price("5")))
    card = lift(provider_of(), model)
    sheet = card.resolve(datetime(2026, 1, 1, tzinfo=UTC), 1, "batch")
    assert sheet.rates[Meter.INPUT_UNCACHED] == 10
    assert sheet.warnings == ("service tier 'batch' asked, standard price used",)


def test_units_are_ours() -> None:
    model = model_of(price("1", web_searches_kcount=Decimal(14), cache_write_mtok=Decimal("1.25")))
    sheet = lift(provider_of(model), model).resolve(datetime(2026, 1, 1, tzinfo=UTC), 1, None)
    assert sheet.rates[Meter.WEB_SEARCH_CALLS] == Decimal("0.014")
    assert sheet.rates[Meter.CACHE_WRITE_30M] == Decimal("1.25")
    assert sheet.fallbacks[Meter.CACHE_WRITE_30M] is Meter.CACHE_WRITE_5M


def test_an_empty_price_is_no_price_and_an_explicit_zero_is_free() -> None:
    empty, zero = model_of(ModelPrice()), model_of(price("0"))
    assert lift(provider_of(empty), empty).periods == ()
    assert not lift(provider_of(empty), empty).free
    assert lift(provider_of(zero), zero).free


def test_an_id_that_says_free_is_free_only_at_the_seller_who_writes_so() -> None:
    def lifted(seller: str, name: str, prices: ModelPrice) -> PriceCard:
        model = ModelInfo(id=name, match=ClauseEquals(name), prices=prices)
        return lift(Provider(id=seller, name="x", api_pattern="x", models=[model]), model)

    assert lifted("openrouter", "m:free", ModelPrice()).free
    assert lifted("openrouter", "m", ModelPrice()).periods == ()
    assert lifted("acme", "m:free", ModelPrice()).periods == ()
    assert lifted("openrouter", "m:free", price("1")).periods[0].rates == {Meter.INPUT_UNCACHED: 1}


def test_what_no_meter_holds_is_said() -> None:
    model = model_of(price("1", output_citation_mtok=Decimal(5)))
    sheet = lift(provider_of(model), model).resolve(datetime(2026, 1, 1, tzinfo=UTC), 1, None)
    assert sheet.warnings == ("citation tokens have a price of their own, the output rate was used",)


def test_a_fee_per_request_is_charged_for_each() -> None:
    model = model_of(price("1", requests_kcount=Decimal(5)))
    sheet = lift(provider_of(model), model).resolve(datetime(2026, 1, 1, tzinfo=UTC), 1, None)
    assert sheet.rates[Meter.REQUEST_CALLS] == Decimal("0.005")
    assert sheet.warnings == ()
