"""Geometry of the phase map: requests by prompt and answer size, with the lines where the phases cost the same."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from advisor.charts import Label, boxes_path, label_box, place_labels
from advisor.phase_lines import Line, line_boxes, phase_lines, phase_regions
from advisor.scales import Box, LogAxis, Tick, log_limits, thin

_LEFT: Final = 56.0
_TOP: Final = 14.0
_RIGHT: Final = 14.0
_BOTTOM: Final = 46.0
_ZERO_BAND: Final = 24.0
_LARGEST: Final = 60.0
_NAMED_WIDTH: Final = 600.0
"""Narrower maps leave the names of medians to the legend."""
_SMALLEST: Final = 1.5
_SHOWN_CELLS: Final = 1_500
_SHOWN_PART: Final = 0.995
"""Requests drawn; the emptiest cells of the tail say nothing and stretch the axes."""
_HOVER_CELLS: Final = 250


_Place: TypeAlias = tuple[float, float, float, float]
"""Lower and upper bound on x, then on y."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Requests of one series whose sizes fall between the bounds."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float
    series: int
    label: str
    requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Centre:
    """The median request of a workload."""

    x: float
    y: float
    series: int
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A median, and its name where it fits."""

    x: float
    y: float
    series: int
    label: Label | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hover:
    """An area that answers to the pointer."""

    box: Box
    tip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseMap:
    """The whole chart."""

    width: float
    height: float
    plot: Box
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    layers: tuple[tuple[int, str], ...]
    """Series and path; tiles never overlap."""
    lines: tuple[Line, ...]
    regions: tuple[Label, ...]
    marks: tuple[Mark, ...]
    hovers: tuple[Hover, ...]
    shown: int
    """Requests drawn."""
    requests: int


def phase_map(
    cells: Sequence[Cell], centres: Sequence[Centre], ratio: float | None, size: tuple[float, float]
) -> PhaseMap:
    """The phase map.

    Args:
        cells: Bins, any order.
        centres: Medians to mark, most important first.
        ratio: Output price over input price; None draws no lines.
        size: Width and height in pixels.

    Returns:
        The geometry; the cells with the fewest requests are left out of an overfull map, and counted.
    """
    drawn = _fullest(cells)
    x, y, plot = _axes(drawn, size)
    lines = phase_lines(x, y, plot, ratio)
    regions = phase_regions(x, y, plot, ratio)
    taken = [
        *(label_box(region) for region in regions),
        *(box for line in lines for box in line_boxes(line)),
    ]
    points = [(x.at(c.x), y.at(c.y), c.label) for c in centres]
    names = place_labels(points, plot, taken) if size[0] >= _NAMED_WIDTH else (None,) * len(points)
    return PhaseMap(
        width=size[0],
        height=size[1],
        plot=plot,
        x_ticks=thin(x.ticks(), left=0, right=size[0]),
        y_ticks=y.ticks(),
        layers=_layers(drawn, x, y),
        lines=lines,
        regions=regions,
        marks=tuple(
            Mark(x=round(px, 1), y=round(py, 1), series=centre.series, label=name)
            for (px, py, _), centre, name in zip(points, centres, names, strict=True)
        ),
        hovers=_hovers(drawn, x, y),
        shown=sum(cell.requests for cell in drawn),
        requests=sum(cell.requests for cell in cells),
    )


def _fullest(cells: Sequence[Cell]) -> list[Cell]:
    """The cells that hold nearly all requests, fullest first."""
    ranked = sorted(cells, key=lambda c: (-c.requests, c.x_low, c.y_low, c.series))
    enough = _SHOWN_PART * sum(cell.requests for cell in cells)
    kept: list[Cell] = []
    held = 0
    for cell in ranked[:_SHOWN_CELLS]:
        if held >= enough:
            break
        kept.append(cell)
        held += cell.requests
    return kept


def _axes(cells: Sequence[Cell], size: tuple[float, float]) -> tuple[LogAxis, LogAxis, Box]:
    width, height = size
    plot = Box(x=_LEFT, y=_TOP, width=width - _LEFT - _RIGHT, height=height - _TOP - _BOTTOM)
    x_low, x_high = log_limits([edge for c in cells if c.x_low > 0 for edge in (c.x_low, c.x_high)])
    y_low, y_high = log_limits([edge for c in cells if c.y_low > 0 for edge in (c.y_low, c.y_high)])
    x_zero = _ZERO_BAND if any(c.x_low <= 0 for c in cells) else 0.0
    y_zero = _ZERO_BAND if any(c.y_low <= 0 for c in cells) else 0.0
    x = LogAxis(low=x_low, high=x_high, start=plot.x, end=plot.x + plot.width, zero_band=x_zero)
    y = LogAxis(low=y_low, high=y_high, start=plot.y + plot.height, end=plot.y, zero_band=y_zero)
    return x, y, plot


def _extent(low: float, high: float, axis: LogAxis) -> tuple[float, float]:
    """Centre and length in pixels of ``[low, high)``."""
    if low <= 0:
        return axis.at(0), axis.zero_band
    a, b = axis.at(low), axis.at(high)
    return (a + b) / 2, abs(b - a)


def _by_place(cells: Sequence[Cell]) -> list[tuple[_Place, list[Cell]]]:
    """Cells at the same place together, the fullest place first."""
    places: dict[_Place, list[Cell]] = defaultdict(list)
    for cell in cells:
        places[cell.x_low, cell.x_high, cell.y_low, cell.y_high].append(cell)
    return sorted(places.items(), key=lambda item: (-sum(c.requests for c in item[1]), item[0]))


def _layers(cells: Sequence[Cell], x: LogAxis, y: LogAxis) -> tuple[tuple[int, str], ...]:
    """One path a series: at each place a tile for all requests, in the colour of the series with most of them."""
    places = _by_place(cells)
    most = max((sum(c.requests for c in group) for _, group in places), default=1)
    boxes: dict[int, list[Box]] = defaultdict(list)
    for place, group in places:
        boxes[group[0].series].append(_tile(place, sum(c.requests for c in group) / most, x, y))
    return tuple((series, boxes_path(parts)) for series, parts in sorted(boxes.items()))


def _tile(place: _Place, part: float, x: LogAxis, y: LogAxis) -> Box:
    x_low, x_high, y_low, y_high = place
    cx, wide = _extent(x_low, x_high, x)
    cy, tall = _extent(y_low, y_high, y)
    scale = part**0.25 * 0.92
    width, height = (max(min(full, _LARGEST) * scale, min(_SMALLEST, full)) for full in (wide, tall))
    return Box(x=cx - width / 2, y=cy - height / 2, width=width, height=height)


def _hovers(cells: Sequence[Cell], x: LogAxis, y: LogAxis) -> tuple[Hover, ...]:
    hovers: list[Hover] = []
    for (x_low, x_high, y_low, y_high), group in _by_place(cells)[:_HOVER_CELLS]:
        cx, wide = _extent(x_low, x_high, x)
        cy, tall = _extent(y_low, y_high, y)
        sizes = f"{x_low:,.0f}\N{EN DASH}{x_high:,.0f} in, {y_low:,.0f}\N{EN DASH}{y_high:,.0f} out"
        who = [f"{cell.label}: {cell.requests:,d}" for cell in group[:4]]
        box = Box(x=cx - wide / 2, y=cy - tall / 2, width=wide, height=tall)
        hovers.append(Hover(box=box, tip="\n".join((sizes, *who))))
    return tuple(hovers)
