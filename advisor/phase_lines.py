"""The lines of the phase map where the phases cost the same, and the names of the regions between them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from advisor import numbers
from advisor.charts import Label
from advisor.scales import Box, LogAxis, text_width

_LABEL_ROOM: Final = 20.0
"""Pixels between two lines that a label needs."""
_LABELLED: Final = 0.7
"""Part of a line that its label may cover."""
_SHARES: Final = ((1 / 3, "decode ⅓"), (1 / 2, "decode ½ of cost"), (2 / 3, "decode ⅔"))
_BALANCE: Final = (1 / 3, 2 / 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Where decode takes the stated share of the cost, clipped to the plot."""

    x1: float
    y1: float
    x2: float
    y2: float
    label: Label | None
    main: bool
    """Whether it is the line of equal cost."""


def phase_lines(x: LogAxis, y: LogAxis, plot: Box, ratio: float | None) -> tuple[Line, ...]:
    """Return the lines of a plot where decode takes a third, half and two thirds of the cost; none without a ratio."""
    if ratio is None or ratio <= 0:
        return ()
    step = math.log10(2)
    spacing = step * abs(x.per_decade * y.per_decade) / math.hypot(x.per_decade, y.per_decade)
    lines: list[Line] = []
    for part, name in _SHARES:
        factor = part / (1 - part) / ratio
        low, high = max(x.low, y.low / factor), min(x.high, y.high / factor)
        if high / low < 1.05:  # noqa: PLR2004
            continue
        ends = (x.at(low), y.at(low * factor), x.at(high), y.at(high * factor))
        is_main = part == 1 / 2
        by = (
            f"input / {numbers.ratio(ratio)}"
            if ratio >= 1
            else f"input \N{MULTIPLICATION SIGN} {numbers.ratio(1 / ratio)}"
        )
        text = f"{name} at output = {by}" if is_main else name
        lines.append(_line(ends, (text, name), plot, spacing, main=is_main))
    return tuple(lines)


def _line(
    ends: tuple[float, float, float, float], texts: Sequence[str], plot: Box, spacing: float, *, main: bool
) -> Line:
    x1, y1, x2, y2 = ends
    length = math.hypot(x2 - x1, y2 - y1)
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    room = length if main or spacing >= _LABEL_ROOM else 0.0
    text = next((t for t in texts if text_width(t) + 40 < room * _LABELLED), None)
    label = None
    if text is not None:
        px, py = x2 - dx * 22 + dy * 5, y2 - dy * 22 - dx * 5
        angle = math.degrees(math.atan2(dy, dx))
        if px <= plot.x + plot.width:
            label = Label(x=round(px, 1), y=round(py, 1), text=text, anchor="end", angle=round(angle, 2))
    return Line(x1=round(x1, 1), y1=round(y1, 1), x2=round(x2, 1), y2=round(y2, 1), label=label, main=main)


def line_boxes(line: Line) -> list[Box]:
    """Small boxes along a rotated label, which together cover it."""
    if line.label is None:
        return []
    angle = math.radians(line.label.angle)
    steps = int(text_width(line.label.text) // 8) + 1
    return [
        Box(
            x=line.label.x - math.cos(angle) * 8 * i - 8,
            y=line.label.y - math.sin(angle) * 8 * i - 10,
            width=14,
            height=14,
        )
        for i in range(steps + 1)
    ]


def phase_regions(x: LogAxis, y: LogAxis, plot: Box, ratio: float | None) -> tuple[Label, ...]:
    """Return the names of the regions, in the two corners that are furthest from the lines."""
    if ratio is None or ratio <= 0:
        return ()
    corners = (
        (x.low, y.high, Label(x=plot.x + 10, y=plot.y + 20, text="", anchor="start")),
        (x.high, y.low, Label(x=plot.x + plot.width - 10, y=y.log_start - 12, text="", anchor="end")),
    )
    labels: list[Label] = []
    for size_in, size_out, where in corners:
        part = size_out * ratio / (size_in + size_out * ratio)
        name = "Balanced"
        if part > _BALANCE[1]:
            name = "Decode-dominated"
        elif part < _BALANCE[0]:
            name = "Prefill-dominated"
        labels.append(Label(x=where.x, y=where.y, text=name, anchor=where.anchor))
    return tuple(labels)
