"""The forecast: whole days only, exact where the series is, wide enough where it is not, and silent under 14 days."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from advisor.analysis import Analysis, DaySlice, Slice
from advisor.document import document_of
from advisor.document_finance import ForecastDoc
from advisor.forecast import PriceStep, method_of, outlook
from advisor.forecast_days import DaySeries, series_of
from advisor.forecast_fit import LEAST_DAYS, RANGE_SHARE, continued
from advisor.options import AnalyseOptions
from advisor.run import analyse

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

PROFILE = (110, 120, 115, 105, 110, 30, 20)
MONDAY = date(2026, 6, 1)


def weekly(days: int, *, first: date = MONDAY) -> tuple[Decimal, ...]:
    return tuple(Decimal(PROFILE[(first + timedelta(days=day)).weekday()]) for day in range(days))


def series(amounts: tuple[Decimal, ...], first: date = MONDAY) -> DaySeries:
    return DaySeries(first=first, amounts=amounts)


def test_a_series_that_repeats_weekly_is_continued_exactly() -> None:
    made = outlook(series(weekly(21))).forecast
    assert made is not None
    assert made.month.spent == sum(weekly(21))
    assert made.month.low == made.month.expected == made.month.high == sum(weekly(30))
    assert [span.expected for span in made.months] == [
        sum(weekly(days, first=first))
        for days, first in ((31, date(2026, 7, 1)), (31, date(2026, 8, 1)), (30, date(2026, 9, 1)))
    ]
    assert made.ahead.expected == sum(span.expected for span in made.months)
    assert made.backtest.error_ratio == pytest.approx(0)


def test_one_wild_day_does_not_move_the_level() -> None:
    amounts = list(weekly(28))
    amounts[9] *= 50
    made = outlook(series(tuple(amounts))).forecast
    assert made is not None
    assert made.months[0].expected == sum(weekly(31, first=date(2026, 7, 1)))
    assert "median" in method_of(outlook(series(tuple(amounts))))


def test_a_trend_is_followed_and_damped() -> None:
    amounts = tuple(Decimal(100 + 5 * day) for day in range(42))
    made = outlook(series(amounts)).forecast
    assert made is not None
    assert made.trend
    straight = sum(100 + 5 * day for day in range(42, 61))
    flat = 19 * amounts[-1]
    assert flat < made.month.expected - made.month.spent < straight


@pytest.mark.parametrize(("days", "available"), [(13, False), (14, True)])
def test_under_fourteen_whole_days_there_is_none(days: int, available: bool) -> None:  # noqa: FBT001
    found = outlook(series(weekly(days)))
    assert (found.forecast is not None) is available
    assert bool(found.reason) is not available
    with pytest.raises(ValueError, match="14 are needed"):
        continued([1.0] * (LEAST_DAYS - 1), 0, 10)


def test_days_without_spend_alone_are_no_base() -> None:
    assert "nothing was spent" in outlook(series((Decimal(0),) * 20)).reason


def test_the_range_holds_what_it_says() -> None:
    """Of series whose level wanders, four of five months to come lie within the range, more or less."""
    random = np.random.default_rng(5)
    held = 0
    for _ in range(60):
        level = 100 * np.exp(np.cumsum(random.normal(0, 0.02, 65)))
        days = level * np.array(PROFILE)[np.arange(65) % 7] * np.exp(random.normal(0, 0.1, 65))
        fit = continued(list(days[:35]), 0, 30)
        real, said, half = days[35:].sum(), fit.days.sum(), fit.half_range(30)
        held += said * (1 - half) <= real <= said * (1 + half)
    assert held / 60 > RANGE_SHARE - 0.15


def test_the_range_widens_with_the_horizon() -> None:
    random = np.random.default_rng(2)
    fit = continued(list(random.uniform(50, 150, 40)), 0, 100)
    widths = [fit.half_range(days) for days in range(1, 101)]
    assert widths[-1] > widths[20] > widths[6] > 0
    assert fit.half_range(0) == 0


def test_announced_prices_count_from_their_day_on() -> None:
    flat = series((Decimal(10),) * 20, date(2026, 6, 1))
    steps = (PriceStep(day=date(2026, 7, 11), ratio=0.5, models=("m",)),)
    made = outlook(flat, steps).forecast
    assert made is not None
    assert [span.expected for span in made.months] == [10 * 10 + 21 * 5, 31 * 5, 30 * 5]
    assert made.steps == steps
    late = PriceStep(day=date(2028, 1, 1), ratio=0.5, models=("m",))
    assert (outlook(flat, (late,)).forecast or made).steps == ()


def day_slice(day: date, amount: int) -> DaySlice:
    from pricing.meters import Meter  # noqa: PLC0415

    whole = Slice(
        records=1,
        requests=1,
        tokens={Meter.OUTPUT: 1},
        reasoning=None,
        cost={Meter.OUTPUT: Decimal(amount)},
        priced_requests=1,
    )
    return DaySlice(day=day, whole=whole, by_model={})


def test_days_that_are_cut_off_are_not_whole() -> None:
    days = [day_slice(MONDAY + timedelta(days=number), 10) for number in range(12)]
    spans = {row.day: (0.2, 23.8) for row in days if row.day is not None}
    spans[MONDAY] = (15.0, 23.9)
    spans[MONDAY + timedelta(days=11)] = (0.1, 9.0)
    found = series_of(days, spans, datetime(2026, 8, 1, tzinfo=UTC), "UTC")
    assert found is not None
    assert (found.first, found.next_day) == (MONDAY + timedelta(days=1), MONDAY + timedelta(days=11))
    assert found.cut_first == (MONDAY, Decimal(10))
    assert found.cut_last == (MONDAY + timedelta(days=11), Decimal(10))
    assert found.spent(MONDAY, MONDAY + timedelta(days=30)) == 120


def test_the_day_of_the_report_is_not_over() -> None:
    days = [day_slice(MONDAY + timedelta(days=number), 10) for number in range(3)]
    # 22:30 in UTC is the next day in Berlin: the third of June has begun there.
    found = series_of(days, {}, datetime(2026, 6, 2, 22, 30, tzinfo=UTC), "Europe/Berlin")
    assert found is not None
    assert len(found.amounts) == 2


def test_days_in_between_without_a_request_are_days_without_spend() -> None:
    days = [day_slice(MONDAY, 10), day_slice(MONDAY + timedelta(days=3), 10)]
    found = series_of(days, {}, datetime(2026, 8, 1, tzinfo=UTC), "UTC")
    assert found is not None
    assert [int(amount) for amount in found.amounts] == [10, 0, 0, 10]
    assert found.empty_days == 2


PRICES = """
models:
  demo-small:
    provider: demo
    input: "1.00"
    output: "5.00"
"""


def analysed(folder: Path, rows: list[str], as_of: datetime, prices: str = PRICES) -> Analysis:
    log, book = folder / "log.csv", folder / "prices.yaml"
    log.write_text("\n".join(["timestamp,project,model,input_tokens,output_tokens", *rows]) + "\n")
    book.write_text(prices)
    return analyse([str(log)], AnalyseOptions(as_of=as_of, price_files=(book,)))


def forecast_of(analysis: Analysis) -> ForecastDoc:
    found = document_of(analysis).forecast
    assert found is not None
    return found


def test_a_part_of_a_day_is_no_day_of_the_run_rate(tmp_path: Path) -> None:
    """Ten whole days at $10 and a quarter of a day at $1: the month comes to $300, not to $275.45."""
    rows = [f"2026-06-{day:02d}T12:00:00Z,p1,demo-small,10000000,0" for day in range(1, 11)]
    rows.append("2026-06-11T03:00:00Z,p1,demo-small,1000000,0")
    found = forecast_of(analysed(tmp_path, rows, datetime(2026, 6, 11, 6, tzinfo=UTC)))
    assert not found.available
    assert found.reason == "10 whole days are in the log, 14 are needed"
    assert found.run_rate is not None
    assert (found.run_rate.spent, found.run_rate.month_end, found.run_rate.days_used) == ("101", "300", 10)
    assert found.partial_days == ["2026-06-11"]


def test_prices_that_are_announced_are_in_the_forecast(tmp_path: Path) -> None:
    prices = """
models:
  demo-small:
    provider: demo
    periods:
      - until: 2026-07-11T00:00:00Z
        input: "1.00"
        output: "5.00"
      - start: 2026-07-11T00:00:00Z
        input: "0.50"
        output: "2.50"
"""
    rows = [f"2026-06-{day:02d}T12:00:00Z,p1,demo-small,10000000,0" for day in range(1, 21)]
    found = forecast_of(analysed(tmp_path, rows, datetime(2026, 6, 21, tzinfo=UTC), prices))
    assert [(step.day, step.ratio, step.models) for step in found.price_changes] == [
        ("2026-07-11", 0.5, ["demo-small"])
    ]
    assert [month.expected for month in found.months] == ["205", "155", "150"]
    assert found.month_end is not None
    assert found.month_end.expected == "300"
    assert any("50 % cheaper" in note for note in found.notes)


def test_what_has_no_price_is_said_beside_the_forecast(tmp_path: Path) -> None:
    rows = [f"2026-06-{day:02d}T12:00:00Z,p1,demo-small,10000000,0" for day in range(1, 21)]
    rows.append("2026-06-20T12:00:00Z,p1,nobody-knows-9b,10000000,0")
    found = forecast_of(analysed(tmp_path, rows, datetime(2026, 6, 21, tzinfo=UTC)))
    assert any("Only what has a price" in note for note in found.notes)


@pytest.mark.parametrize(("spent", "expected"), [(4, 300), (25, 315)])
def test_a_day_that_is_not_over_costs_what_is_usual_or_more_where_more_is_spent(
    spent: int, expected: int
) -> None:
    days = DaySeries(
        first=MONDAY, amounts=(Decimal(10),) * 20, cut_last=(MONDAY + timedelta(days=20), Decimal(spent))
    )
    made = outlook(days).forecast
    assert made is not None
    assert made.month.spent == 200 + spent
    assert made.month.expected == expected
    assert made.month.low >= made.month.spent
