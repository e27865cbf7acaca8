"""The section on reuse: what a cache would have read of each workload's prompts, by how long it keeps an entry."""

from collections.abc import Sequence
from typing import Final

from advisor import numbers
from advisor.analysis import Analysis
from advisor.cache_reuse import UNLIMITED, CurvePoint, Known, WorkloadReuse
from advisor.charts import Series, plain_bar
from advisor.curves import Curves, Line, curves
from advisor.view_model import Cell, Table, TableColumn
from advisor.view_reuse_model import ReuseSection
from advisor.wording import clean, full, name_cell, plural
from pricing.units import SECONDS_PER_DAY, SECONDS_PER_HOUR, SECONDS_PER_MINUTE

_WIDE: Final = (980.0, 300.0)
_NARROW: Final = (342.0, 260.0)
_PALETTE: Final = (0, 2, 4, 1)
"""Those that stand out as lines."""
_MOST_ROWS: Final = 40
_LABEL_LIMIT: Final = 48
_KNOWN: Final = {
    Known.BLOCKS: "names of the prompts' blocks",
    Known.PREFIXES: "names of marked prefixes",
    Known.TEXTS: "the prompts' text, as hashes",
    Known.SESSIONS: "sessions that grow",
}
_ALL: Final = "all"
_TELLING: Final = (10, 300, 3_600, 21_600, UNLIMITED)
"""Lifetimes that are labelled where there is no room for all: those that are sold among them."""


def reuse_section(analysis: Analysis) -> ReuseSection | None:
    """Return the section; None where no workload tells what its prompts have in common."""
    found = analysis.reuse[:_MOST_ROWS]
    if not found:
        return None
    drawn = [one for one in found if one.curve[-1].hit_ratio][: len(_PALETTE)] or found[:1]
    lines = [_line(number, one) for number, one in enumerate(drawn)]
    labels = [_label(point.lifetime_seconds) for point in found[0].curve]
    ages = [point.lifetime_seconds for point in found[0].curve]
    telling = [place for place, age in enumerate(ages) if age in _TELLING]
    tips = [_tip(place, drawn) for place in range(len(labels))]

    def chart(size: tuple[float, float]) -> Curves:
        return curves(lines, labels, tips, size, telling)

    return ReuseSection(
        lead="The part of prompt text that a cache would have read over this log's own arrivals. Below is what is read today, "
        "what could be with the lifetimes that cost least, and how it grows with how long an entry is kept after its last use.",
        now=_now(found),
        legend=tuple(line.series for line in lines),
        wide=chart(_WIDE),
        narrow=chart(_NARROW),
        description=_describe(drawn),
        notes=_notes(found, drawn),
        table=_behind(found, labels),
    )


def _line(number: int, one: WorkloadReuse) -> Line:
    series = Series(index=_PALETTE[number], label=clean(one.workload, _LABEL_LIMIT), full=full(one.workload))
    return Line(
        series=series, values=tuple(point.hit_ratio for point in one.curve), marked=frozenset(_marked(one))
    )


def _marked(one: WorkloadReuse) -> Sequence[int]:
    """Return the places of the curve that read as much as the lifetimes that cost least, where one of them does."""
    if len(one.lifetimes) != 1 or one.achievable_ratio is None:
        return ()
    same = [place for place, point in enumerate(one.curve) if point.hit_ratio == one.achievable_ratio]
    return same[:1]


def _label(seconds: float) -> str:
    if seconds == UNLIMITED:
        return _ALL
    for size, unit in ((SECONDS_PER_DAY, "d"), (SECONDS_PER_HOUR, "h"), (SECONDS_PER_MINUTE, "min")):
        if seconds >= size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"


def _tip(place: int, drawn: Sequence[WorkloadReuse]) -> str:
    seconds = drawn[0].curve[place].lifetime_seconds
    head = "Kept for all of the log" if seconds == UNLIMITED else f"Kept for {_label(seconds)}"
    return "\n".join(
        (
            head,
            *(
                f"{clean(one.workload, _LABEL_LIMIT)}: {numbers.share(one.curve[place].hit_ratio)}"
                for one in drawn
            ),
        )
    )


def _at(one: WorkloadReuse, seconds: float) -> CurvePoint:
    return next(point for point in one.curve if point.lifetime_seconds == seconds)


def _describe(drawn: Sequence[WorkloadReuse]) -> str:
    told = (
        f"{clean(one.workload)}: {numbers.share(_at(one, 300).hit_ratio)} kept for 5 minutes, "
        f"{numbers.share(_at(one, 3_600).hit_ratio)} for an hour, {numbers.share(one.curve[-1].hit_ratio)} for ever"
        for one in drawn
    )
    return f"{'; '.join(told)}."


def _notes(found: Sequence[WorkloadReuse], drawn: Sequence[WorkloadReuse]) -> tuple[str, ...]:
    notes: list[str] = []
    if any(_marked(one) for one in drawn):
        notes.append("A ring marks the lifetime that costs least, writes included.")
    if len(found) > len(drawn):
        notes.append(
            f"Drawn are the dearest {len(drawn)}; all {plural(len(found), 'workload')} are in the numbers."
        )
    if any(one.known_by is Known.SESSIONS for one in found):
        notes.append("By sessions: a prompt with room for the one before it and its answer begins with both.")
    return tuple(notes)


def _now(found: Sequence[WorkloadReuse]) -> Table:
    return Table(
        slug="reuse",
        caption="Read from a cache, of all prompt text",
        columns=(
            TableColumn(key="workload", title="Workload"),
            TableColumn(key="today", title="Today", number=True, hint="As logged"),
            TableColumn(
                key="could", title="Could be", number=True, hint="With the lifetimes that cost least"
            ),
            TableColumn(key="with", title="With"),
            TableColumn(key="requests", title="Requests", number=True, quiet=True),
            TableColumn(key="known", title="Told by", quiet=True),
        ),
        rows=tuple(_row(one) for one in found),
    )


def _row(one: WorkloadReuse) -> tuple[Cell, ...]:
    pays = " or ".join(one.lifetimes)
    if one.achievable_ratio is None:
        pays = "no cache of its models is known"
    return (
        name_cell(one.workload, brief=True),
        _share(one.logged_ratio, "not logged"),
        _share(one.achievable_ratio, numbers.MISSING),
        Cell(text=pays or "no lifetime pays"),
        Cell(text=numbers.count(one.requests), value=str(one.requests)),
        Cell(text=_KNOWN[one.known_by]),
    )


def _share(ratio: float | None, missing: str) -> Cell:
    if ratio is None:
        return Cell(text=missing, value="-1")
    return Cell(text=numbers.share(ratio), exact=f"{ratio:.4%}", value=f"{ratio:.6f}", bar=plain_bar(ratio))


def _behind(found: Sequence[WorkloadReuse], labels: Sequence[str]) -> Table:
    return Table(
        slug="reuse-curve",
        caption="Prompt text read from a cache, by how long an entry is kept after its last use",
        columns=(
            TableColumn(key="workload", title="Workload"),
            *(
                TableColumn(key=f"age-{place}", title=label, number=True)
                for place, label in enumerate(labels)
            ),
        ),
        rows=tuple(
            (name_cell(one.workload, brief=True), *(_plain_share(point.hit_ratio) for point in one.curve))
            for one in found
        ),
    )


def _plain_share(ratio: float) -> Cell:
    return Cell(text=numbers.share(ratio), exact=f"{ratio:.4%}", value=f"{ratio:.6f}")
