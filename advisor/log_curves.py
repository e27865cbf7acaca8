"""Geometry of a chart of amounts by an ordered scale, on a logarithmic axis: a flat line and one that rises by factors."""

import math
from collections.abc import Callable, Sequence

from advisor.charts import Series
from advisor.curves import Curves, Dot, PaintedLine, Place
from advisor.scales import Box, LogAxis, Tick, log_limits, text_width, thin

_TOP = 14.0
_AXIS = 40.0
_EDGE = 16.0


def log_curves(
    lines: Sequence[tuple[Series, Sequence[float]]],
    labels: Sequence[str],
    tips: Sequence[str],
    size: tuple[float, float],
    say: Callable[[float], str],
    *,
    marked: int | None = None,
) -> Curves:
    """Return the geometry.

    Args:
        lines: Each with a positive value a label.
        labels: Of the places of the scale, which are equally far apart.
        tips: What is said at each place.
        size: Width and height in pixels.
        say: What the axis says at a power of ten.
        marked: A place that stands out on every line.
    """
    width, height = size
    low, high = log_limits([value for _, values in lines for value in values])
    powers = [
        10.0**power
        for power in range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
    ]
    left = max((text_width(say(power)) for power in powers), default=0.0) + 12
    plot = Box(x=left, y=_TOP, width=width - left - _EDGE, height=height - _TOP - _AXIS)
    axis = LogAxis(low=low, high=high, start=plot.y + plot.height, end=plot.y)
    slot = plot.width / len(labels)
    at = [plot.x + slot * (place + 0.5) for place in range(len(labels))]
    return Curves(
        width=width,
        height=height,
        plot=plot,
        y_ticks=tuple(Tick(at=round(axis.at(power), 1), label=say(power)) for power in powers),
        x_ticks=thin(
            [Tick(at=round(x, 1), label=label) for x, label in zip(at, labels, strict=True)],
            left=0,
            right=width,
        ),
        lines=tuple(
            _painted(series, at, [axis.at(value) for value in values], marked) for series, values in lines
        ),
        places=tuple(
            Place(hit=Box(x=x - slot / 2, y=plot.y, width=slot, height=plot.height), tip=tip)
            for x, tip in zip(at, tips, strict=True)
        ),
    )


def _painted(series: Series, at: Sequence[float], levels: Sequence[float], marked: int | None) -> PaintedLine:
    points = [(round(x, 1), round(y, 1)) for x, y in zip(at, levels, strict=True)]
    return PaintedLine(
        series=series.index,
        path="M" + "L".join(f"{x} {y}" for x, y in points),
        dots=tuple(Dot(x=x, y=y, marked=place == marked) for place, (x, y) in enumerate(points)),
    )
