"""Currencies: the rate of each day before anything is added up, and USD where there is none."""

from datetime import date
from decimal import Decimal
from typing import Any

from deals import AS_OF, cube, list_total, row, total
from hypothesis import given, settings
from hypothesis import strategies as st

from pricing.currency import FxRates, converted, mean_rate
from pricing.discounts import Discount, contracted

UNTIMED = date(2026, 11, 1)


def rates(**by_period: str) -> FxRates:
    made = {key.replace("_", "-")[1:]: Decimal(value) for key, value in by_period.items()}
    return FxRates(currency="EUR", rates=made, source="fx.csv")


def million(day: str | None) -> dict[str, Any]:
    return row("beta", 1_000_000, 0, day)


def test_each_day_has_its_own_rate_or_its_months() -> None:
    rows = [million("2026-10-05"), million("2026-10-06"), million("2026-11-30")]
    made, done = converted(
        cube(rows), rates(_2026_10="0.9", _2026_10_06="0.95", _2026_11="0.8"), untimed=UNTIMED
    )
    assert total(made) == Decimal("0.9") + Decimal("0.95") + Decimal("0.8")
    assert done.rates == {
        "2026-10": Decimal("0.9"),
        "2026-10-06": Decimal("0.95"),
        "2026-11": Decimal("0.8"),
    }
    assert (done.currency, done.source, done.unconverted) == ("EUR", "fx.csv", {})


def test_a_month_without_a_rate_stays_in_usd() -> None:
    rows = [
        million("2026-10-05"),
        million("2026-09-05"),
        million("2026-09-06"),
        row("nobody", 5, 0, "2026-08-01"),
    ]
    made, done = converted(cube(rows), rates(_2026_10="0.9"), untimed=UNTIMED)
    assert total(made) == Decimal("0.9")
    assert list(made.frame["unconverted_usd"]) == [None, 1, 1, 0]
    assert done.unconverted == {"2026-08": 0, "2026-09": 2}


def test_when_no_day_has_a_rate_all_of_it_stays_in_usd() -> None:
    priced = cube([million("2026-09-05")])
    made, done = converted(priced, rates(_2026_10="0.9"), untimed=UNTIMED)
    assert made is priced
    assert (done.currency, done.rates, done.unconverted) == ("USD", {}, {"2026-09": 1})


def test_usage_without_a_day_has_the_rate_of_the_report() -> None:
    made, _ = converted(cube([million(None)]), rates(_2026_11="0.5", _2026_10="0.9"), untimed=UNTIMED)
    assert total(made) == Decimal("0.5")


def test_list_cost_and_recorded_money_are_converted_too() -> None:
    half = Discount(multiplier=Decimal("0.5"), where="d")
    rows = [million("2026-10-05") | {"recorded_cost_usd": Decimal("3.30")}, million("2026-09-05")]
    priced, _ = contracted(cube(rows), [half], as_of=AS_OF)
    made, _ = converted(priced, rates(_2026_10="0.9"), untimed=UNTIMED)
    assert (list_total(made), total(made)) == (Decimal("0.9"), Decimal("0.45"))
    assert list(made.frame["recorded_cost_usd"]) == [Decimal("2.970"), None]
    assert list(made.frame["unconverted_usd"]) == [None, Decimal("0.5")]


def test_lines_of_a_cost_export_stay_what_they_state() -> None:
    line = million("2026-09-05") | {"charge_only": True, "recorded_cost_usd": Decimal("7.25")}
    made, done = converted(cube([line, million("2026-10-05")]), rates(_2026_10="0.9"), untimed=UNTIMED)
    assert list(made.frame["unconverted_usd"]) == [Decimal("7.25"), None]
    assert done.unconverted == {"2026-09": Decimal("7.25")}


def test_the_mean_of_some_days() -> None:
    fx = rates(_2026_10="0.9", _2026_10_31="0.6")
    assert mean_rate(fx, date(2026, 10, 29), date(2026, 10, 31)) == Decimal("0.8")
    assert mean_rate(fx, date(2026, 10, 31), date(2026, 11, 1)) is None


# ---- properties

days = st.sampled_from((None, "2026-09-30", "2026-10-01", "2026-10-31", "2026-11-01"))
usages = st.lists(
    st.builds(row, st.sampled_from(("alpha", "beta")), st.integers(0, 10**12), st.integers(0, 10**9), days),
    max_size=8,
    min_size=1,
)
factors = st.decimals("0.000001", 10_000, places=6).map(str)


@settings(deadline=None)
@given(usages, factors, factors, st.randoms())
def test_every_cell_is_converted_once_or_kept(
    rows: list[dict[str, Any]], october: str, november: str, random: Any
) -> None:
    fx = rates(_2026_10=october, _2026_11=november)
    made, done = converted(cube(rows), fx, untimed=UNTIMED)
    by_month = {"2026-10": Decimal(october), "2026-11": Decimal(november)}
    expected, kept = Decimal(0), Decimal(0)
    for usage in rows:
        usd = total(cube([usage]))
        month = (usage["day"] or UNTIMED).strftime("%Y-%m")
        expected, kept = (
            (expected + usd * by_month[month], kept) if month in by_month else (expected, kept + usd)
        )
    assert sum(done.unconverted.values(), Decimal(0)) == kept
    assert total(made) == (expected if done.currency == "EUR" else kept)
    random.shuffle(rows)
    again, same = converted(cube(rows), fx, untimed=UNTIMED)
    assert (total(again), same) == (total(made), done)
