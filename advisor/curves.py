"""Geometry of a chart of shares by an ordered scale: lines, their points, and what is said at each place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from advisor.charts import Series
from advisor.scales import Box, Tick, text_width, thin

_TOP: Final = 14.0
_AXIS: Final = 26.0
_EDGE: Final = 14.0
_LEVELS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A series of shares from 0 to 1, one a place of the scale; ``marked`` are places that stand out."""

    series: Series
    values: tuple[float, ...]
    marked: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A point of a line."""

    x: float
    y: float
    marked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PaintedLine:
    """A line as an SVG path, with its points."""

    series: int
    path: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A full-height area that answers to the pointer."""

    hit: Box
    tip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """Shares by a scale."""

    width: float
    height: float
    plot: Box
    y_ticks: tuple[Tick, ...]
    x_ticks: tuple[Tick, ...]
    lines: tuple[PaintedLine, ...]
    places: tuple[Place, ...]


def curves(
    lines: Sequence[Line],
    labels: Sequence[str],
    tips: Sequence[str],
    size: tuple[float, float],
    telling: Sequence[int],
) -> Curves:
    """Return the geometry.

    Args:
        lines: Each with a value a label.
        labels: Of the places of the scale, which are equally far apart.
        tips: What is said at each place.
        size: Width and height in pixels.
        telling: Places that are labelled where there is no room for all.
    """
    width, height = size
    left = text_width("100 %") + 12
    plot = Box(x=left, y=_TOP, width=width - left - _EDGE, height=height - _TOP - _AXIS)
    slot = plot.width / len(labels)
    at = [plot.x + slot * (place + 0.5) for place in range(len(labels))]

    def level(value: float) -> float:
        return round(plot.y + plot.height * (1 - min(max(value, 0.0), 1.0)), 1)

    every = [Tick(at=round(x, 1), label=label) for x, label in zip(at, labels, strict=True)]
    kept = thin(every, left=0, right=width)
    if len(kept) < len(every):
        kept = thin([every[place] for place in telling], left=0, right=width)
    return Curves(
        width=width,
        height=height,
        plot=plot,
        y_ticks=tuple(Tick(at=level(value), label=f"{value:.0%}".replace("%", " %")) for value in _LEVELS),
        x_ticks=kept,
        lines=tuple(_painted(line, at, [level(value) for value in line.values]) for line in lines),
        places=tuple(
            Place(hit=Box(x=x - slot / 2, y=plot.y, width=slot, height=plot.height), tip=tip)
            for x, tip in zip(at, tips, strict=True)
        ),
    )


def _painted(line: Line, at: Sequence[float], levels: Sequence[float]) -> PaintedLine:
    points = list(zip(at, levels, strict=True))
    return PaintedLine(
        series=line.series.index,
        path="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points),
        dots=tuple(
            Dot(x=round(x, 1), y=y, marked=place in line.marked) for place, (x, y) in enumerate(points)
        ),
    )
