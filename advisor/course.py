"""Geometry of months adding up: what is spent by each day as a line, what is expected with its range, limits across."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.charts import Label, label_box
from advisor.scales import Box, Tick, nice_ticks, text_width, thin

_TOP: Final = 26.0
_AXIS: Final = 26.0
_EDGE: Final = 10.0
_LIFT: Final = 9.0
"""Pixels from a line's end up to the baseline of its label."""
_FAR: Final = Decimal(2)
"""A limit so many times above everything else is not drawn: it would press the rest flat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """What a month has come to by the end of a day; all three are the same where it is spent already."""

    day: date
    low: Decimal
    expected: Decimal
    high: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """A month to draw.

    Attributes:
        first: Its first day, or the first that the log holds.
        last: Its last day.
        spent: Whole days of the log, ascending.
        ahead: Days to come, ascending.
        label: What its end is called.
    """

    first: date
    last: date
    spent: tuple[Level, ...]
    ahead: tuple[Level, ...]
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tip:
    """What is said of some days."""

    first: date
    last: date
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A full-height area that answers to the pointer."""

    box: Box
    tip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PaintedMonth:
    """A month as SVG paths; those of what it has nothing of are empty."""

    start: float
    spent: str
    ahead: str
    band: str
    label: Label | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """Months adding up."""

    width: float
    height: float
    plot: Box
    y_ticks: tuple[Tick, ...]
    x_ticks: tuple[Tick, ...]
    months: tuple[PaintedMonth, ...]
    limit: float | None
    """Height of the line across."""
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class _Scale:
    plot: Box
    begin: date
    days: int
    top: float

    def x(self, day: date) -> float:
        """Where a day begins."""
        return self.plot.x + self.plot.width * (day - self.begin).days / self.days

    def end(self, day: date) -> float:
        """Where a day ends."""
        return self.x(day) + self.plot.width / self.days

    def y(self, amount: Decimal) -> float:
        """Height of an amount; less than nothing is drawn as nothing."""
        return self.plot.y + self.plot.height * (1 - max(float(amount), 0.0) / self.top)


def course(
    months: Sequence[Month],
    tips: Sequence[Tip],
    size: tuple[float, float],
    limit: Decimal | None = None,
) -> Course:
    """Return the geometry.

    Args:
        months: One after the other, without days between them.
        tips: What is said at which days.
        size: Width and height in pixels.
        limit: What a month may cost; None: nothing is said.
    """
    width, height = size
    most = max((level.high for month in months for level in (*month.spent, *month.ahead)), default=Decimal(0))
    drawn = limit if limit is not None and limit <= most * _FAR else None
    levels = nice_ticks(max(most, drawn or most), 4)
    labels = numbers.axis_money(levels)
    left = max(text_width(label) for label in labels) + 14
    plot = Box(x=left, y=_TOP, width=width - left - _EDGE, height=height - _TOP - _AXIS)
    begin, end = months[0].first, months[-1].last
    scale = _Scale(plot=plot, begin=begin, days=(end - begin).days + 1, top=float(levels[-1]))
    names = [
        Tick(at=round((scale.x(one.first) + scale.end(one.last)) / 2, 1), label=_name(one)) for one in months
    ]
    return Course(
        width=width,
        height=height,
        plot=plot,
        y_ticks=tuple(
            Tick(at=round(scale.y(level), 1), label=label)
            for level, label in zip(levels, labels, strict=True)
        ),
        x_ticks=thin(names, left=0, right=width, gap=4.0),
        months=tuple(_painted(one, scale) for one in months),
        limit=None if drawn is None else round(scale.y(drawn), 1),
        hits=tuple(
            Hit(
                box=Box(
                    x=scale.x(tip.first),
                    y=plot.y,
                    width=scale.end(tip.last) - scale.x(tip.first),
                    height=plot.height,
                ),
                tip=tip.text,
            )
            for tip in tips
        ),
    )


def _name(month: Month) -> str:
    return f"{numbers.MONTHS[month.last.month - 1]} {month.last.year}"


def _painted(month: Month, scale: _Scale) -> PaintedMonth:
    floor = scale.plot.y + scale.plot.height
    start = (scale.x(month.first), floor)
    spent = [start, *((scale.end(one.day), scale.y(one.expected)) for one in month.spent)]
    joint = spent[-1]
    ahead = [joint, *((scale.end(one.day), scale.y(one.expected)) for one in month.ahead)]
    upper = [(scale.end(one.day), scale.y(one.high)) for one in month.ahead]
    lower = [(scale.end(one.day), scale.y(one.low)) for one in reversed(month.ahead)]
    return PaintedMonth(
        start=round(start[0], 1),
        spent=_path(spent) if month.spent else "",
        ahead=_path(ahead) if month.ahead else "",
        band=f"{_path([joint, *upper, *lower])}z" if month.ahead else "",
        label=_label(month, scale),
    )


def _label(month: Month, scale: _Scale) -> Label | None:
    """Return the label at the end of a month; None where its days have no room for it."""
    levels = (*month.spent, *month.ahead)
    if not levels:
        return None
    label = Label(
        x=round(scale.end(levels[-1].day), 1),
        y=round(scale.y(levels[-1].high) - _LIFT, 1),
        text=month.label,
        anchor="end",
    )
    return label if label_box(label).x >= scale.x(month.first) else None


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
