"""The chart of the forecast: it ends at the numbers of the table, stays inside, and its band holds its line."""

import re
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import groupby, pairwise

import finance_factory
import pytest

from advisor.course import Course, Level, Month, course
from advisor.forecast import outlook
from advisor.forecast_days import DaySeries
from advisor.render.html import render_html
from advisor.scales import text_width
from advisor.view import build_view
from advisor.view_course import course_part
from advisor.view_finance_model import CoursePart


def drawn(budget: str = "31000") -> CoursePart:
    finance = finance_factory.financed(budget).finance
    assert finance is not None
    part = course_part(finance.outlook, finance.checks)
    assert part is not None
    return part


def points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)]


def test_months_end_at_the_forecast() -> None:
    made = outlook(finance_factory.series()).forecast
    assert made is not None
    last = {month: list(days)[-1] for month, days in groupby(made.course, key=lambda one: one.day.month)}
    for span in (made.month, *made.months):
        point = last[span.last.month]
        assert (point.day, point.low, point.expected, point.high) == (
            span.last,
            span.low,
            span.expected,
            span.high,
        )
    for one, other in pairwise(made.course):
        if one.day.month == other.day.month:
            assert one.expected <= other.expected
            assert one.low <= one.expected <= one.high


@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_everything_is_inside_and_in_its_place(size: str) -> None:
    chart: Course = getattr(drawn(), size)
    for month in chart.months:
        for x, y in points(month.spent + month.ahead + month.band):
            assert chart.plot.x - 0.1 <= x <= chart.plot.x + chart.plot.width + 0.1
            assert chart.plot.y - 0.1 <= y <= chart.plot.y + chart.plot.height + 0.1
        assert month.label is None or month.label.x - text_width(month.label.text) >= month.start
    september, october, november = chart.months[:3]
    assert points(september.spent)[0] == (september.start, round(chart.plot.y + chart.plot.height, 1))
    assert not september.ahead
    assert points(october.ahead)[0] == points(october.spent)[-1]
    assert not november.spent
    assert points(november.ahead)[0][0] == november.start


def test_the_log_is_drawn_from_the_month_before_on() -> None:
    made = drawn()
    assert [tick.label for tick in made.wide.x_ticks][:2] == ["Sep 2026", "Oct 2026"]
    early = outlook(
        DaySeries(first=date(2026, 10, 12), amounts=tuple(Decimal(10 + day % 3) for day in range(15)))
    )
    part = course_part(early, ())
    assert part is not None
    assert part.wide.x_ticks[0].label == "Oct 2026"
    assert part.wide.hits[0].tip.startswith("12 Oct 2026: $10.00")


def test_a_budget_is_a_line_and_one_far_above_is_none() -> None:
    near, far = drawn("31000"), drawn("900000")
    assert near.wide.limit is not None
    assert near.limit == "Budget of $31k a month"
    assert near.wide.plot.y <= near.wide.limit <= near.wide.plot.y + near.wide.plot.height
    assert (far.wide.limit, far.limit) == (None, "")


def test_credits_are_drawn_as_nothing() -> None:
    level = Level(day=date(2026, 10, 1), low=Decimal(-5), expected=Decimal(-5), high=Decimal(-5))
    chart = course(
        [Month(first=date(2026, 10, 1), last=date(2026, 10, 31), spent=(level,), ahead=(), label="-$5.00")],
        [],
        (342, 240),
    )
    assert {y for _, y in points(chart.months[0].spent)} == {round(chart.plot.y + chart.plot.height, 1)}


def test_the_page_has_chart_table_and_words() -> None:
    page = render_html(build_view(finance_factory.financed()))
    assert 'aria-labelledby="course-t course-d"' in page
    assert 'id="t-course"' in page
    assert "Budget of $31k a month" in page
    finance = finance_factory.financed().finance
    assert finance is not None
    short = replace(
        finance_factory.financed(), finance=replace(finance, outlook=outlook(finance_factory.series(13)))
    )
    assert 'id="course-t"' not in render_html(build_view(short))
