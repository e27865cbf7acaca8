"""Geometry of a waterfall that lies down: a bill, what each step takes off it, and what is left."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from advisor.charts import Label
from advisor.scales import Box, text_width

TOTAL: Final = "total"
_TITLE_SIZE: Final = 13.0
_NOTE_SIZE: Final = 12.0
_GAP: Final = 14.0
_THINNEST: Final = 1.0
_NARROW: Final = 560.0
"""Below this width, labels stand above their bars instead of beside them."""
_LABELS_PART: Final = 0.36
_WIDE_ROW: Final = 44.0
_WIDE_BAR: Final = 22.0
_NARROW_ROW: Final = 62.0
_NARROW_BAR: Final = 14.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """What one bar shows: the money between two levels.

    Attributes:
        label: Its name.
        note: A quieter second line.
        amount: The money in words.
        before_usd: Where the bar starts; for a total, zero.
        after_usd: Where it ends.
        kind: What it is painted as: ``total``, or the risk of a step.
        tip: What is said when a pointer rests on it.
    """

    label: str
    note: str
    amount: str
    before_usd: Decimal
    after_usd: Decimal
    kind: str
    tip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PaintedRung:
    """A bar with its texts, the line to the next bar, and the area that answers to the pointer."""

    hit: Box
    bar: Box
    title: Label
    note: Label | None
    amount: Label
    kind: str
    tip: str
    join: Box | None
    """From the level that it leaves down to the next bar; without width. None under the last bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waterfall:
    """The chart."""

    width: float
    height: float
    rungs: tuple[PaintedRung, ...]


def waterfall(rungs: Sequence[Rung], width: float) -> Waterfall:
    """Return the chart.

    Args:
        rungs: From top to bottom: a total, the steps, a total. Levels are not negative.
        width: In pixels; the height follows from the number of bars.
    """
    stacked = width < _NARROW
    row = _NARROW_ROW if stacked else _WIDE_ROW
    amounts = max((text_width(rung.amount, _TITLE_SIZE) for rung in rungs), default=0.0)
    left = 0.0 if stacked else round(width * _LABELS_PART)
    plot = Box(x=left, y=0, width=width - left - (0 if stacked else amounts + _GAP), height=row * len(rungs))
    top = max((max(rung.before_usd, rung.after_usd) for rung in rungs), default=Decimal(0))
    scale = plot.width / float(top) if top > 0 else 0.0
    hits = [Box(x=0, y=row * index, width=width, height=row) for index in range(len(rungs))]
    painted = [_painted(rung, hit, plot, scale, amounts) for rung, hit in zip(rungs, hits, strict=True)]
    return Waterfall(
        width=width,
        height=plot.height,
        rungs=(*painted[:-1], *(replace(last, join=None) for last in painted[-1:])),
    )


def _painted(rung: Rung, hit: Box, plot: Box, scale: float, amounts: float) -> PaintedRung:
    stacked = hit.width < _NARROW
    thick = _NARROW_BAR if stacked else _WIDE_BAR
    low, high = sorted((rung.before_usd, rung.after_usd))
    bar = Box(
        x=plot.x + float(low) * scale,
        y=hit.y + (hit.height - thick - 6 if stacked else (hit.height - thick) / 2),
        width=max(float(high - low) * scale, _THINNEST),
        height=thick,
    )
    room = hit.width - amounts - _GAP if stacked else plot.x - _GAP
    title_y, note_y = (hit.y + 15, hit.y + 32) if stacked else (hit.y + 19, hit.y + 35)
    if not rung.note:
        title_y = hit.y + 32 if stacked else hit.y + hit.height / 2 + 4.5
    level = plot.x + float(rung.after_usd) * scale
    end = bar.y + thick
    return PaintedRung(
        hit=hit,
        bar=bar,
        title=Label(x=0, y=title_y, text=fitted(rung.label, room, _TITLE_SIZE)),
        note=Label(x=0, y=note_y, text=fitted(rung.note, room, _NOTE_SIZE)) if rung.note else None,
        amount=Label(
            x=hit.width,
            y=title_y if stacked else hit.y + hit.height / 2 + 4.5,
            text=rung.amount,
            anchor="end",
        ),
        kind=rung.kind,
        tip=rung.tip,
        join=Box(x=level, y=end, width=0, height=hit.height - thick),
    )


def fitted(text: str, width: float, size: float) -> str:
    """Return the text, or its start and an ellipsis where it is wider than ``width`` pixels."""
    if text_width(text, size) <= width:
        return text
    kept = max(int(width / text_width("0", size)) - 1, 1)
    return text[:kept].rstrip() + "…"
