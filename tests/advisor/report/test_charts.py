"""Geometry: ticks cover, labels neither collide nor leave the picture, stacks add up."""

import math
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise

import pytest
import report_factory
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis import Analysis
from advisor.charts import (
    Column,
    StackedColumns,
    label_box,
    place_labels,
    plain_bar,
    split_bar,
    stacked_columns,
)
from advisor.phase_map import Cell, Centre, PhaseMap, phase_map
from advisor.scales import Box, LogAxis, Tick, log_limits, nice_ticks, text_width, thin
from advisor.view import build_view

START = date(2026, 10, 1)
MONEY = st.decimals(min_value=0, max_value=10**9, places=6, allow_nan=False)


def columns(values: list[tuple[Decimal, ...] | None]) -> list[Column]:
    return [Column(start=START + timedelta(days=i), values=v, tip="") for i, v in enumerate(values)]


def labels_apart(ticks: tuple[Tick, ...], width: float) -> None:
    for tick in ticks:
        assert tick.at - text_width(tick.label) / 2 >= 0
        assert tick.at + text_width(tick.label) / 2 <= width
    for left, right in pairwise(ticks):
        assert left.at + text_width(left.label) / 2 < right.at - text_width(right.label) / 2


@given(st.decimals(min_value=Decimal("1e-12"), max_value=Decimal("1e15"), allow_nan=False))
def test_ticks_cover_and_are_few(top: Decimal) -> None:
    ticks = nice_ticks(top)
    assert ticks[0] == 0
    assert ticks[-2] < top <= ticks[-1]
    assert 2 <= len(ticks) <= 6
    steps = {b - a for a, b in pairwise(ticks)}
    assert len(steps) == 1


@given(st.lists(st.tuples(MONEY, MONEY, MONEY), min_size=1, max_size=40))
def test_stacks_add_up_and_stay_inside(values: list[tuple[Decimal, ...]]) -> None:
    chart = stacked_columns(columns(list(values)), (0, 1, -1), "day", (980, 300))
    top = nice_ticks(max(sum(v, Decimal(0)) for v in values), 5)[-1]
    for column, amounts in zip(chart.columns, values, strict=True):
        height = sum(block.box.height for block in column.blocks)
        assert height == pytest.approx(float(sum(amounts, Decimal(0)) / top) * chart.plot.height, abs=1e-6)
        for lower, upper in pairwise(column.blocks):
            assert upper.box.y + upper.box.height == pytest.approx(lower.box.y, abs=1e-6)
        for block in column.blocks:
            assert block.box.y >= chart.plot.y - 1e-6
            assert column.hit.x <= block.box.x
            assert block.box.x + block.box.width <= column.hit.x + column.hit.width + 1e-6


@pytest.mark.parametrize("width", [342, 980])
@pytest.mark.parametrize("days", [1, 2, 9, 10, 11, 30, 31, 62, 124])
@pytest.mark.parametrize("amount", ["0.0000004", "9", "999999", "123456789012"])
def test_labels_of_columns_fit(width: int, days: int, amount: str) -> None:
    chart = stacked_columns(columns([(Decimal(amount),)] * days), (0,), "day", (width, 260))
    labels_apart(chart.x_ticks, width)
    assert chart.x_ticks or 1 < days < 7 or days > 10
    for tick in chart.y_ticks:
        assert text_width(tick.label) <= chart.plot.x - 8
        assert 12 <= tick.at <= chart.height


def test_gaps_are_merged_and_only_where_nothing_is() -> None:
    one = (Decimal(1),)
    chart = stacked_columns(columns([one, None, None, one, None]), (0,), "day", (980, 300))
    slot = chart.plot.width / 5
    assert [(round(g.x - chart.plot.x, 3), round(g.width, 3)) for g in chart.gaps] == [
        (round(slot, 3), round(2 * slot, 3)),
        (round(4 * slot, 3), round(slot, 3)),
    ]


def test_nothing_spent_is_still_a_chart() -> None:
    chart = stacked_columns(columns([(Decimal(0),)]), (0,), "day", (980, 300))
    assert chart.columns[0].blocks == ()
    assert [tick.label for tick in chart.y_ticks] == ["$0", "$1"]


@given(st.floats(min_value=0, max_value=1e12), st.floats(min_value=0, max_value=1e12))
def test_split_bar_fills_the_bar(prefill: float, decode: float) -> None:
    parts = split_bar(prefill, decode)
    if prefill + decode:
        assert sum(part.width for part in parts) == pytest.approx(100, abs=0.011)


def test_a_small_part_is_visible() -> None:
    assert plain_bar(1e-9)[0].width > 0
    assert plain_bar(0) == ()


@given(st.lists(st.floats(min_value=1e-3, max_value=1e12), min_size=1))
def test_log_limits_hold_every_value(values: list[float]) -> None:
    low, high = log_limits(values)
    assert low <= min(values) * 1.0001
    assert high >= max(values) * 0.9999
    assert high / low >= 9.99


def test_zero_lands_in_its_own_band() -> None:
    axis = LogAxis(low=1, high=1000, start=300, end=0, zero_band=24)
    assert axis.at(0) == 288
    assert axis.at(1) == 276
    assert axis.at(1000) == pytest.approx(0)
    assert axis.ticks()[0].label == "0"


def test_thin_keeps_labels_apart() -> None:
    ticks = [Tick(at=i * 7.0, label="1 Oct") for i in range(100)]
    labels_apart(thin(ticks, left=0, right=500), 500)


@given(
    st.lists(st.tuples(st.floats(0, 600), st.floats(0, 400), st.text(min_size=1, max_size=24)), max_size=8)
)
def test_placed_labels_never_touch(points: list[tuple[float, float, str]]) -> None:
    frame = Box(x=0, y=0, width=600, height=400)
    boxes = [label_box(label) for label in place_labels(points, frame, []) if label]
    for index, box in enumerate(boxes):
        assert box.inside(frame)
        assert not any(box.touches(other) for other in boxes[index + 1 :])


def cell(x: float, y: float, requests: int, series: int = 0) -> Cell:
    return Cell(x_low=x, x_high=x * 1.3, y_low=y, y_high=y * 1.3, series=series, label="w", requests=requests)


@given(
    st.lists(st.tuples(st.floats(1, 1e6), st.floats(1, 1e5), st.integers(1, 10**9)), min_size=1, max_size=60),
    st.one_of(st.none(), st.floats(0.01, 1000)),
)
def test_phase_map_stays_inside(points: list[tuple[float, float, int]], ratio: float | None) -> None:
    cells = [cell(*point) for point in points]
    chart = phase_map(
        cells, [Centre(x=c.x_low, y=c.y_low, series=0, label="w") for c in cells[:5]], ratio, (980, 520)
    )
    assert 0 < chart.shown <= chart.requests == sum(c.requests for c in cells)
    assert chart.shown >= chart.requests * 0.99
    inside_map(chart)


def inside_map(chart: PhaseMap) -> None:
    right, bottom = chart.plot.x + chart.plot.width, chart.plot.y + chart.plot.height
    for line in chart.lines:
        for x, y in ((line.x1, line.y1), (line.x2, line.y2)):
            assert chart.plot.x - 0.1 <= x <= right + 0.1
            assert chart.plot.y - 0.1 <= y <= bottom + 0.1
    for hover in chart.hovers:
        assert hover.box.x >= chart.plot.x - 0.1
        assert hover.box.x + hover.box.width <= right + 0.1
    for region in chart.regions:
        assert label_box(region).inside(Box(x=0, y=0, width=chart.width, height=chart.height))
    labels_apart(chart.x_ticks, chart.width)


def test_line_of_equal_cost_is_where_the_prices_say() -> None:
    chart = phase_map([cell(10, 10, 1), cell(1e5, 1e4, 1)], [], 5.0, (980, 520))
    main = next(line for line in chart.lines if line.main)
    x, y = axes(chart)
    assert y(x.invert(main.x2)) == pytest.approx(main.y2, abs=0.2)
    assert main.label is not None
    assert "output = input / 5.0" in main.label.text


class _Inverse:
    def __init__(self, chart: PhaseMap) -> None:
        low, high = chart.x_ticks[0], chart.x_ticks[-1]
        self.slope = (high.at - low.at) / (_power(high.label) - _power(low.label))
        self.offset = low.at - self.slope * _power(low.label)

    def invert(self, at: float) -> float:
        return 10 ** ((at - self.offset) / self.slope)


def _power(label: str) -> float:
    scale = {"k": 1e3, "M": 1e6}.get(label[-1], 1)
    return math.log10(float(label.rstrip("kM")) * scale)


def axes(chart: PhaseMap):  # noqa: ANN201
    low, high = chart.y_ticks[0], chart.y_ticks[-1]
    slope = (high.at - low.at) / (_power(high.label) - _power(low.label))
    return _Inverse(chart), lambda size_in: low.at + slope * (math.log10(size_in / 5.0) - _power(low.label))


def test_zero_sizes_are_drawn() -> None:
    view = build_view(report_factory.zero_sizes())
    chart = view.phase_map.wide
    assert chart is not None
    assert chart.y_ticks[0].label == "0"
    assert chart.x_ticks[0].label == "0"


def test_labels_of_the_demo_do_not_collide(demo: Analysis) -> None:
    view = build_view(demo)
    for chart in (view.phase_map.wide, view.phase_map.narrow):
        assert chart is not None
        boxes = [label_box(mark.label) for mark in chart.marks if mark.label] + [
            label_box(r) for r in chart.regions
        ]
        for index, box in enumerate(boxes):
            assert box.inside(chart.plot)
            assert not any(box.touches(other) for other in boxes[index + 1 :])
    for days in (view.days.wide, view.days.narrow):
        assert isinstance(days, StackedColumns)
        labels_apart(days.x_ticks, days.width)
