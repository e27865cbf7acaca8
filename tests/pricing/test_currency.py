"""Currencies: the rate of each day before anything is added up, and USD where there is none."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from deals import AS_OF, cube, list_total, row, total
from hypothesis import given
from hypothesis import strategies as st

from pricing.currency import FxRates, converted, currency_code, read_rates
from pricing.discounts import Discount, contracted
from pricing.errors import PriceFileError

UNTIMED = date(2026, 11, 1)


def rates(**by_period: str) -> FxRates:
    made = {key.replace("_", "-")[1:]: Decimal(value) for key, value in by_period.items()}
    return FxRates(currency="EUR", rates=made, source="fx.csv")


def million(day: str | None) -> dict[str, Any]:
    return row("beta", 1_000_000, 0, day)


def write(folder: Path, text: str, name: str = "fx.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


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


# ---- files


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fx.csv", "month,rate\n2026-10,0.92\n2026-11-03,0.93\n"),
        ("fx.csv", "\ufeffDate , Rate, currency\n2026-10,0.92,EUR\n2026-11-03,0.93,eur\n2026-10,150,JPY\n"),
        ("fx.json", '{"EUR": {"2026-10": "0.92", "2026-11-03": 0.93}, "JPY": {"2026-10": 150}}'),
        ("fx.json", '{"2026-10": "0.92", "2026-11-03": 0.93}'),
        ("fx.yaml", "eur:\n  2026-10: 0.92\n  2026-11-03: 0.93\n"),
    ],
)
def test_every_spelling_says_the_same(tmp_path: Path, name: str, text: str) -> None:
    made = read_rates(write(tmp_path, text, name), "EUR")
    assert dict(made.rates) == {"2026-10": Decimal("0.92"), "2026-11-03": Decimal("0.93")}
    assert made.source == name
    assert made.key(date(2026, 11, 3)) == "2026-11-03"
    assert made.key(date(2026, 11, 4)) is None


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("fx.csv", "", r"columns: got none, expected date or month, and rate"),
        ("fx.csv", "month,eur\n2026-10,0.9\n", r"columns: got month, eur, expected"),
        ("fx.csv", "month,rate\n", r"no rate of EUR; expected a rate for each month or day, EUR per USD"),
        ("fx.csv", "month,rate\n2026-13,0.9\n", r"fx\.csv:2: got '2026-13', expected a month"),
        ("fx.csv", "month,rate\n2026-10,0,9\n", r"fx\.csv:2: expected 2 columns \(month, rate\)"),
        ("fx.csv", "month,rate\n2026-10,0\n", r"fx\.csv:2: rate '0': expected a number above 0"),
        ("fx.csv", 'month,rate\n2026-10,"0,9"\n', r"rate '0,9': expected a number above 0 .*such as 0\.92"),
        ("fx.csv", "month,rate\n2026-10,0.9\n2026-10,0.8\n", r"fx\.csv:3: 2026-10 has a rate already"),
        ("fx.json", '{"USD": {"2026-10": 1}}', r"no rates of EUR; it has USD"),
        ("fx.json", "[1]", r"expected rates by month or day, such as"),
        ("fx.json", '{"EUR": {"2026-10": null}}', r"fx\.json: 2026-10: rate None"),
        ("fx.xlsx", "", r"cannot tell the syntax of a \.xlsx file"),
    ],
)
def test_mistakes_name_file_and_row(tmp_path: Path, name: str, text: str, expected: str) -> None:
    with pytest.raises(PriceFileError, match=expected):
        read_rates(write(tmp_path, text, name), "EUR")


@pytest.mark.parametrize(
    ("text", "code"), [("eur", "EUR"), (" USD ", "USD"), ("euro", None), ("€", None), ("", None)]
)
def test_codes(text: str, code: str | None) -> None:
    assert currency_code(text) == code


# ---- properties

days = st.sampled_from((None, "2026-09-30", "2026-10-01", "2026-10-31", "2026-11-01"))
usages = st.lists(
    st.builds(row, st.sampled_from(("alpha", "beta")), st.integers(0, 10**12), st.integers(0, 10**9), days),
    max_size=8,
    min_size=1,
)
factors = st.decimals("0.000001", 10_000, places=6).map(str)


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
