"""Geometry of the report's charts: pure functions from labelled values to pixels; templates only paint."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.scales import FONT_SIZE, Box, Tick, day_labels, nice_ticks, text_width, thin

_TOP: Final = 12.0
_AXIS: Final = 26.0
_EDGE: Final = 8.0
_BAR_FILL: Final = 0.78
_WIDEST_BAR: Final = 72.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BarPart:
    """A stretch of a bar of width 100."""

    x: float
    width: float
    kind: str
    """What it is painted as: ``prefill``, ``decode``, ``fee`` or ``plain``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One colour of a chart."""

    index: int
    """Palette entry, from 0; -1 for grey (other, unlabelled)."""
    label: str
    full: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What a stacked column shows: one value a series, bottom first; None in ``values`` of a column without data."""

    start: date
    values: tuple[Decimal, ...] | None
    tip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A painted rectangle of a series."""

    box: Box
    series: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PaintedColumn:
    """A column with its blocks and the full-height area that answers to the pointer."""

    hit: Box
    blocks: tuple[Block, ...]
    tip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StackedColumns:
    """Spend over time."""

    width: float
    height: float
    plot: Box
    y_ticks: tuple[Tick, ...]
    x_ticks: tuple[Tick, ...]
    columns: tuple[PaintedColumn, ...]
    gaps: tuple[Box, ...]
    """Stretches of the axis for which the log holds nothing."""


def split_bar(prefill: float, decode: float) -> tuple[BarPart, ...]:
    """Prefill and decode as two stretches of a bar of width 100, with a hair of room between them."""
    whole = prefill + decode
    if whole <= 0:
        return ()
    cut = round(100 * min(max(prefill / whole, 0.0), 1.0), 2)
    parts = (
        BarPart(x=0.0, width=cut, kind="prefill"),
        BarPart(x=cut, width=round(100 - cut, 2), kind="decode"),
    )
    return tuple(part for part in parts if part.width > 0)


def plain_bar(part: float, kind: str = "plain") -> tuple[BarPart, ...]:
    """One stretch from the left of a bar of width 100; a value above zero is never invisible."""
    if part <= 0:
        return ()
    return (BarPart(x=0.0, width=round(min(max(100 * part, 0.4), 100.0), 2), kind=kind),)


def stacked_columns(
    columns: Sequence[Column], order: Sequence[int], grain: str, size: tuple[float, float]
) -> StackedColumns:
    """Stacked columns over time.

    Args:
        columns: Every slot of the axis, in order, those without data included.
        order: Palette entry of each value of a column.
        grain: ``day``, ``week`` or ``month``: what a slot is.
        size: Width and height in pixels.

    Returns:
        The geometry. Amounts below zero (credits) are left out of the stack; totals in words keep them.
    """
    width, height = size
    stacks = [tuple(max(value, Decimal(0)) for value in column.values or ()) for column in columns]
    top = max((sum(stack, Decimal(0)) for stack in stacks), default=Decimal(0))
    levels = nice_ticks(top, 5)
    labels = numbers.axis_money(levels)
    left = max(text_width(label) for label in labels) + 14
    plot = Box(x=left, y=_TOP, width=width - left - _EDGE, height=height - _TOP - _AXIS)
    slot = plot.width / max(len(columns), 1)
    scale = plot.height / float(levels[-1])
    return StackedColumns(
        width=width,
        height=height,
        plot=plot,
        y_ticks=tuple(
            Tick(at=round(plot.y + plot.height - float(level) * scale, 1), label=label)
            for level, label in zip(levels, labels, strict=True)
        ),
        x_ticks=_time_ticks([column.start for column in columns], grain, plot, width),
        columns=tuple(
            _painted(
                column,
                stack,
                order,
                Box(x=plot.x + slot * i, y=plot.y, width=slot, height=plot.height),
                scale,
            )
            for i, (column, stack) in enumerate(zip(columns, stacks, strict=True))
        ),
        gaps=_gaps(columns, plot, slot),
    )


def _time_ticks(starts: Sequence[date], grain: str, plot: Box, width: float) -> tuple[Tick, ...]:
    slot = plot.width / max(len(starts), 1)
    wanted = day_labels(starts, grain)
    every = [Tick(at=round(plot.x + slot * (index + 0.5), 1), label=label) for index, label in wanted]
    kept = thin(every, left=0, right=width)
    for step in range(2, len(every)):
        if len(kept) == len(every[:: step - 1]):
            break
        kept = thin(every[::step], left=0, right=width)
    return kept


def _painted(
    column: Column, stack: Sequence[Decimal], order: Sequence[int], hit: Box, scale: float
) -> PaintedColumn:
    wide = min(hit.width * _BAR_FILL, _WIDEST_BAR)
    x = hit.x + (hit.width - wide) / 2
    floor, blocks, level = hit.y + hit.height, list[Block](), Decimal(0)
    for value, series in zip(stack, order, strict=False):
        if value <= 0:
            continue
        bottom = floor - float(level) * scale
        level += value
        top = floor - float(level) * scale
        blocks.append(Block(box=Box(x=x, y=top, width=wide, height=bottom - top), series=series))
    return PaintedColumn(hit=hit, blocks=tuple(blocks), tip=column.tip)


def _gaps(columns: Sequence[Column], plot: Box, slot: float) -> tuple[Box, ...]:
    gaps: list[Box] = []
    start: int | None = None
    for index, column in enumerate([*columns, None]):
        empty = column is not None and column.values is None
        if empty and start is None:
            start = index
        elif not empty and start is not None:
            gaps.append(
                Box(x=plot.x + slot * start, y=plot.y, width=slot * (index - start), height=plot.height)
            )
            start = None
    return tuple(gaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A text at a place."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    angle: float = 0.0
    """Degrees, as SVG's rotate() takes them."""


def label_box(label: Label, size: float = FONT_SIZE) -> Box:
    """The room an unrotated label takes; y is its baseline."""
    wide = text_width(label.text, size)
    x = label.x - {"start": 0.0, "middle": wide / 2, "end": wide}[label.anchor]
    return Box(x=x, y=label.y - size, width=wide, height=size * 1.3)


def place_labels(
    points: Sequence[tuple[float, float, str]], frame: Box, taken: Sequence[Box]
) -> tuple[Label | None, ...]:
    """A place beside each point that collides with nothing and stays in the frame, or None when there is none.

    Earlier points choose first.
    """
    boxes = [*taken, *(Box(x=x - 6, y=y - 6, width=12, height=12) for x, y, _ in points)]
    own = len(taken)
    placed: list[Label | None] = []
    for index, (x, y, text) in enumerate(points):
        options = [
            Label(x=x + dx, y=y + dy, text=text, anchor=anchor)
            for reach in (0, 10, 22)
            for dx, dy, anchor in (
                (11 + reach / 2, 4, "start"),
                (-11 - reach / 2, 4, "end"),
                (0, -12 - reach, "middle"),
                (0, 22 + reach, "middle"),
                (9, 17 + reach, "start"),
                (9, -10 - reach, "start"),
                (-9, 17 + reach, "end"),
                (-9, -10 - reach, "end"),
            )
        ]
        others = boxes[: own + index] + boxes[own + index + 1 :]
        free = (
            o
            for o in options
            if label_box(o).inside(frame) and not any(label_box(o).touches(b) for b in others)
        )
        choice = next(free, None)
        placed.append(choice)
        if choice is not None:
            boxes.append(label_box(choice))
    return tuple(placed)


def boxes_path(boxes: Sequence[Box]) -> str:
    """One path for many rectangles: a third of the size of as many elements."""
    return "".join(
        f"M{box.x:.1f} {box.y:.1f}h{box.width:.1f}v{box.height:.1f}h-{box.width:.1f}z" for box in boxes
    )
