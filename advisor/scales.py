"""Axes: where a value lands in pixels, where the ticks are, and which labels fit without touching."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from advisor import numbers

FONT_SIZE: Final = 12.0
_FEW_TICKS: Final = 3
_WIDTH_EM: Final = 0.58
"""Mean advance of a glyph of a system sans-serif font, generous enough for digits and capitals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A mark on an axis: pixels along it, and its label (empty for an unlabelled grid line)."""

    at: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle in pixels."""

    x: float
    y: float
    width: float
    height: float

    def touches(self, other: "Box") -> bool:
        """Whether the two rectangles overlap."""
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )

    def inside(self, other: "Box") -> bool:
        """Whether this rectangle lies wholly within the other."""
        return (
            self.x >= other.x
            and self.y >= other.y
            and self.x + self.width <= other.x + other.width
            and self.y + self.height <= other.y + other.height
        )


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Estimated width of a label in pixels."""
    return len(text) * size * _WIDTH_EM


def nice_ticks(top: Decimal, target: int = 4) -> tuple[Decimal, ...]:
    """Ticks from zero that cover ``top`` at round steps (1, 2, 2.5, 5 times a power of ten)."""
    if top <= 0:
        return (Decimal(0), Decimal(1))
    rough = top / target
    unit = Decimal(1).scaleb(rough.adjusted())
    step = next(m * unit for m in map(Decimal, ("1", "2", "2.5", "5", "10")) if m * unit >= rough)
    ticks = [Decimal(0)]
    while ticks[-1] < top:
        ticks.append(ticks[-1] + step)
    return tuple(ticks)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAxis:
    """A logarithmic axis from ``low`` to ``high``, with room for zero before it when asked for.

    ``start`` and ``end`` are pixels; an axis that grows upwards has ``end < start``.
    """

    low: float
    high: float
    start: float
    end: float
    zero_band: float = 0.0
    """Pixels before ``start`` of the logarithmic part where values of zero are drawn."""

    @property
    def log_start(self) -> float:
        """Pixel where the logarithmic part begins."""
        return self.start + math.copysign(self.zero_band, self.end - self.start)

    @property
    def per_decade(self) -> float:
        """Pixels in a factor of ten (negative for an axis that grows upwards)."""
        return (self.end - self.log_start) / math.log10(self.high / self.low)

    def at(self, value: float) -> float:
        """Pixel of a value; zero and less land in the middle of the zero band."""
        if value <= 0:
            return (self.start + self.log_start) / 2
        return self.log_start + math.log10(value / self.low) * self.per_decade

    def ticks(self) -> tuple[Tick, ...]:
        """Powers of ten, with 2 and 5 between them on a short axis."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        inside: list[float] = []
        for heads in ((1,), (1, 2, 5)):
            values = [head * 10.0**power for power in range(first, last + 1) for head in heads]
            inside = [value for value in values if self.low * 0.999 <= value <= self.high * 1.001]
            if len(inside) >= _FEW_TICKS:
                break
        marks = [Tick(at=round(self.at(value), 1), label=_token_label(value)) for value in inside]
        zero = [Tick(at=round(self.at(0), 1), label="0")] if self.zero_band else []
        return (*zero, *marks)


def log_limits(values: Iterable[float]) -> tuple[float, float]:
    """Round limits (1, 2 or 5 times a power of ten) around the positive values; at least a decade apart."""
    positive = [value for value in values if value > 0 and math.isfinite(value)]
    if not positive:
        return 1.0, 10.0
    low, high = _round_down(min(positive)), _round_up(max(positive))
    while high / low < 10:  # noqa: PLR2004
        high = _round_up(high * 1.01)
    return low, high


def thin(ticks: Sequence[Tick], *, left: float, right: float, gap: float = 10.0) -> tuple[Tick, ...]:
    """Ticks with the labels that fit: none overlaps the one before, none leaves ``left``..``right``."""
    kept: list[Tick] = []
    edge = left - gap
    for tick in ticks:
        half = text_width(tick.label) / 2
        if tick.at - half >= max(left, edge + gap) and tick.at + half <= right:
            kept.append(tick)
            edge = tick.at + half
    return tuple(kept)


def day_labels(days: Sequence[date], grain: str) -> tuple[tuple[int, str], ...]:
    """Positions and texts worth labelling on an axis of days, weeks or months, before thinning."""
    if grain == "day":
        if len(days) <= 10:  # noqa: PLR2004
            return tuple((i, numbers.day_short(d)) for i, d in enumerate(days))
        return tuple((i, numbers.day_short(d)) for i, d in enumerate(days) if not d.weekday())
    seen: set[tuple[int, int]] = set()
    marks: list[tuple[int, str]] = []
    for index, moment in enumerate(days):
        month = (moment.year, moment.month)
        if month not in seen:
            seen.add(month)
            marks.append((index, f"{numbers.MONTHS[moment.month - 1]} {moment.year}"))
    return tuple(marks)


def _token_label(value: float) -> str:
    for power, suffix in ((9, "B"), (6, "M"), (3, "k")):
        if value >= 10**power * 0.999:
            return f"{value / 10**power:g}{suffix}"
    return f"{value:g}"


def _round_down(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value) + 1e-9)
    return max(head * power for head in (1, 2, 5) if head * power <= value * 1.000001)


def _round_up(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value) + 1e-9)
    return min(head * power for head in (1, 2, 5, 10) if head * power >= value * 0.999999)
