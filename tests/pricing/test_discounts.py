"""Discounts: the most specific row counts, none stacks, sums are exact, and the order of rows never matters."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from deals import AS_OF, cube, list_total, row, total
from hypothesis import given, settings
from hypothesis import strategies as st

from pricing.discounts import Discount, breakpoints, check_overlaps, contracted
from pricing.errors import PriceFileError
from pricing.meters import Meter


def discount(multiplier: str, number: int = 0, **scope: Any) -> Discount:
    return Discount(multiplier=Decimal(multiplier), where=f"deal.yaml: discounts.{number}", **scope)


def day(number: int) -> datetime:
    return datetime(2026, 10, number, tzinfo=UTC)


def net(rows: list[dict[str, Any]], *discounts: Discount) -> Decimal:
    return total(contracted(cube(rows), discounts, as_of=AS_OF)[0])


def test_a_key_gets_its_multiplier_and_the_other_pays_list() -> None:
    rows = [row("alpha", 1_000, 1_000, api_key="hash-a"), row("alpha", 1_000, 1_000, api_key="hash-b")]
    made, (applied,) = contracted(cube(rows), [discount("0.80", api_key="hash-a")], as_of=AS_OF)
    # 1,000 x 2.50 + 1,000 x 10.00 = 0.0125 for each
    assert (list_total(made), total(made)) == (Decimal("0.025"), Decimal("0.0225"))
    assert (applied.list_usd, applied.contracted_usd) == (Decimal("0.0125"), Decimal("0.01"))


@pytest.mark.parametrize(
    ("scopes", "expected"),
    [
        ([{}], "0.9"),
        ([{}, {"meter": Meter.INPUT_UNCACHED}], "0.8"),
        ([{}, {"meter": Meter.INPUT_UNCACHED}, {"provider": "openai"}], "0.7"),
        ([{}, {"provider": "openai"}, {"model": "ALPHA"}], "0.7"),
        ([{}, {"model": "alpha"}, {"api_key": "k"}], "0.7"),
        ([{"api_key": "k", "meter": Meter.INPUT_UNCACHED}, {"api_key": "k", "model": "alpha"}], "0.8"),
        ([{"provider": "anthropic"}, {"model": "beta"}, {"api_key": "other"}], "1"),
    ],
)
def test_the_most_specific_row_wins_and_none_stacks(scopes: list[dict[str, Any]], expected: str) -> None:
    rows = [discount(str(Decimal("0.9") - Decimal("0.1") * i), i, **scope) for i, scope in enumerate(scopes)]
    usage = [row("alpha", 1_000_000, 0, api_key="k", provider="openai")]
    assert net(usage, *rows) == Decimal("2.5") * Decimal(expected)
    assert net(usage, *rows[::-1]) == Decimal("2.5") * Decimal(expected)


def test_a_model_is_known_by_every_exact_name_of_it() -> None:
    usage = [row("openai/alpha-2026-01-05", 1_000_000, 0)]
    assert net(usage, discount("0.5", model="alpha")) == Decimal("1.25")
    assert net(usage, discount("0.5", model="alph")) == Decimal("2.5")


def test_the_provider_that_the_log_names_is_paid() -> None:
    half = discount("0.5", provider="open_ai")
    assert net([row("alpha", 1_000_000, 0)], half) == Decimal("1.25")
    assert net([row("alpha", 1_000_000, 0, provider="OpenAI")], half) == Decimal("1.25")
    assert net([row("beta", 1_000_000, 0)], half) == Decimal(1)


def test_dates_are_from_inclusive_until_exclusive() -> None:
    rows = [row("alpha", 1_000_000, 0, f"2026-10-{n:02}", price_at=day(n)) for n in (4, 5, 6)]
    one = discount("0", model="alpha", valid_from=day(5), valid_until=day(6))
    made, _ = contracted(cube(rows), [one], as_of=AS_OF)
    assert list(made.frame["cost_input_uncached"] == 0) == [False, True, False]
    assert breakpoints([one, discount("1")]) == (day(5), day(6))


def test_usage_without_a_time_has_the_discount_of_the_report() -> None:
    usage = [row("alpha", 1_000_000, 0, None)]
    assert net(usage, discount("0.5", valid_from=day(20))) == Decimal("1.25")
    assert net(usage, discount("0.5", valid_until=day(20))) == Decimal("2.5")


def test_a_meter_of_its_own() -> None:
    usage = [row("alpha", 1_000_000, 1_000_000, web_search_calls=100)]
    assert net(usage, discount("0.5", meter=Meter.OUTPUT)) == Decimal("2.5") + 5 + 1
    assert net(usage, discount("0.5")) == Decimal("6.75")


def test_what_matched_nothing_is_told_apart() -> None:
    _, (applied,) = contracted(cube([row("alpha", 1, 1)]), [discount("0.5", model="alphabet")], as_of=AS_OF)
    assert applied.list_usd == 0


def test_without_rows_nothing_changes() -> None:
    priced = cube([row("alpha", 1, 1)])
    assert contracted(priced, [], as_of=AS_OF) == (priced, ())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {}),
        ({"model": "alpha"}, {"model": " Alpha "}),
        ({"provider": "google"}, {"provider": "vertex_ai"}),
        ({"valid_from": day(1)}, {"valid_until": day(2)}),
        ({"valid_from": day(1), "valid_until": day(9)}, {"valid_from": day(3), "valid_until": day(4)}),
    ],
)
def test_rows_that_overlap_are_refused(one: dict[str, Any], other: dict[str, Any]) -> None:
    rows = [discount("0.5", 0, **one), discount("0.6", 1, **other)]
    with pytest.raises(PriceFileError, match=r"discounts\.0 and deal\.yaml: discounts\.1: both are for"):
        check_overlaps(rows)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"valid_until": day(2)}, {"valid_from": day(2)}),
        ({"model": "alpha"}, {"model": "beta"}),
        ({"model": "alpha"}, {"api_key": "alpha"}),
        ({"model": "alpha"}, {"model": "alpha", "meter": Meter.OUTPUT}),
    ],
)
def test_rows_that_differ_are_not(one: dict[str, Any], other: dict[str, Any]) -> None:
    check_overlaps([discount("0.5", 0, **one), discount("0.6", 1, **other)])


def test_two_names_of_one_model_are_refused_when_they_meet() -> None:
    rows = [discount("0.5", 0, model="alpha"), discount("0.6", 1, model="alpha-2026-01-05")]
    check_overlaps(rows)
    with pytest.raises(PriceFileError, match="by different names of one model; keep one"):
        net([row("alpha-2026-01-05", 1, 0)], *rows)


# ---- properties

tokens = st.integers(0, 10**12)
usages = st.lists(
    st.builds(
        row,
        st.sampled_from(("alpha", "beta", "nobody-knows")),
        tokens,
        tokens,
        st.sampled_from((None, "2026-10-01", "2026-10-05", "2026-10-09")),
        api_key=st.sampled_from((None, "k", "l")),
    ),
    min_size=1,
    max_size=8,
)
scopes = st.fixed_dictionaries(
    {},
    optional={
        "api_key": st.sampled_from(("k", "l")),
        "model": st.sampled_from(("alpha", "beta")),
        "provider": st.sampled_from(("openai", "anthropic")),
        "meter": st.sampled_from((Meter.INPUT_UNCACHED, Meter.OUTPUT)),
    },
)
off = st.decimals(0, 1, places=7)
deals = st.lists(
    st.tuples(scopes, off), max_size=6, unique_by=lambda pair: tuple(sorted(pair[0].items()))
).map(lambda pairs: [discount(str(factor), i, **scope) for i, (scope, factor) in enumerate(pairs)])


def slow_net(rows: list[dict[str, Any]], discounts: list[Discount]) -> Decimal:
    """The same by hand: row by row, meter by meter, trying discounts from the most specific on."""
    rates = {"alpha": ("2.5", "10", "openai"), "beta": ("1", "5", "anthropic")}
    ranks = ("api_key", "model", "provider", "meter")
    ordered = sorted(discounts, key=lambda one: [getattr(one, name) is None for name in ranks])
    whole = Decimal(0)
    for usage in rows:
        if usage["model"] not in rates:
            continue
        *prices, payee = rates[usage["model"]]
        for meter, rate in zip((Meter.INPUT_UNCACHED, Meter.OUTPUT), prices, strict=True):
            facts = {"api_key": usage["api_key"], "model": usage["model"], "provider": payee, "meter": meter}
            fits = (one for one in ordered if all(getattr(one, k) in (None, v) for k, v in facts.items()))
            factor = next((one.multiplier for one in fits), Decimal(1))
            whole += Decimal(rate) * usage[meter.value] / 1_000_000 * factor
    return whole


@settings(deadline=None)
@given(usages, deals)
def test_net_is_list_times_the_most_specific_multiplier(
    rows: list[dict[str, Any]], discounts: list[Discount]
) -> None:
    made, applied = contracted(cube(rows), discounts, as_of=AS_OF)
    assert total(made) == slow_net(rows, discounts)
    if discounts:
        assert total(made) <= list_total(made) == total(cube(rows))
        saved = sum((one.list_usd - one.contracted_usd for one in applied), Decimal(0))
        assert list_total(made) - total(made) == saved


@settings(deadline=None)
@given(usages, deals, st.randoms())
def test_the_order_of_rows_never_matters(
    rows: list[dict[str, Any]], discounts: list[Discount], random: Any
) -> None:
    before = net(rows, *discounts)
    random.shuffle(rows)
    random.shuffle(discounts)
    assert net(rows, *discounts) == before
