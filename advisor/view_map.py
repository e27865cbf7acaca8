"""The phase map as data: which requests are drawn, in which colour, with which lines."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from advisor import numbers
from advisor.analysis import Analysis
from advisor.charts import Series
from advisor.phase_map import Cell as Tile
from advisor.phase_map import Centre, PhaseMap, phase_map
from advisor.view_model import Cell, MapSection, Table, TableColumn
from advisor.view_workloads import is_unlabelled
from advisor.wording import BRIEF_LIMIT, clean, full, name_cell, plural

TOP_WORKLOADS: Final = 5
_OTHER: Final = -1
_ROWS: Final = 60
_WIDE: Final = (980.0, 590.0)
_NARROW: Final = (342.0, 380.0)


def map_section(analysis: Analysis) -> MapSection:
    """The phase map, or the reason why there is none."""
    if not analysis.shapes:
        why = "The log gives no token counts per request (bucketed or without usage), so requests cannot be placed by size."
        return MapSection(wide=None, narrow=None, legend=(), description="", notes=(), absent=why, table=None)
    ratio = price_ratio(analysis)
    legend, place = _map_series(analysis)
    cells = _map_cells(analysis, legend, place)
    centres = _centres(analysis, legend, place)
    wide = phase_map(cells, centres, ratio, _WIDE)
    narrow = phase_map(cells, centres, ratio, _NARROW)
    return MapSection(
        wide=wide,
        narrow=narrow,
        legend=legend,
        description=(
            "Each tile holds requests of about the same size, coloured by the workload with most of them; "
            "its area grows with the square root of their number. Dots mark median requests."
        ),
        notes=_map_notes(wide, ratio),
        absent="",
        table=_map_table(analysis),
    )


def _map_table(analysis: Analysis) -> Table:
    """The fullest tiles; the rest are counted in one row."""
    bins = sorted(
        analysis.shapes, key=lambda one: (-one.requests, one.workload, one.input_low, one.output_low)
    )
    shown, rest = bins[:_ROWS], bins[_ROWS:]
    return Table(
        slug="map",
        caption="Requests by prompt and answer size, fullest first",
        columns=(
            TableColumn(key="workload", title="Workload"),
            TableColumn(key="input", title="Prompt tokens", number=True),
            TableColumn(key="output", title="Answer tokens", number=True),
            TableColumn(key="requests", title="Requests", number=True),
        ),
        rows=tuple(
            (
                name_cell(one.workload, brief=True),
                _span(one.input_low, one.input_high),
                _span(one.output_low, one.output_high),
                _requests(one.requests),
            )
            for one in shown
        ),
        rest=(
            Cell(text=f"{len(rest):,d} other sizes"),
            Cell(text=""),
            Cell(text=""),
            _requests(sum(one.requests for one in rest)),
        )
        if rest
        else None,
    )


def _span(low: float, high: float) -> Cell:
    return Cell(text=f"{low:,.0f} \N{EN DASH} {high:,.0f}", value=f"{low:.0f}")


def _requests(number: int) -> Cell:
    return Cell(text=numbers.count(number), value=str(number))


def price_ratio(analysis: Analysis) -> float | None:
    """Output price over input price of the log: the models' ratios, weighted by their cost; None when unpriced."""
    known = [(row.price_ratio, float(row.whole.total)) for row in analysis.by_model if row.price_ratio]
    weight = sum(cost for _, cost in known)
    return sum(value * cost for value, cost in known) / weight if weight > 0 else None


def _map_notes(chart: PhaseMap, ratio: float | None) -> tuple[str, ...]:
    notes: list[str] = []
    if ratio is None:
        notes.append("No model has both an input and an output price, so no line of equal cost is drawn.")
    else:
        notes.append(
            f"Lines: where decode is ⅓, ½ and ⅔ of a request's cost, at the log's own price ratio (an output token costs "
            f"{numbers.ratio(ratio)} input tokens, weighted by cost) and without cache discounts; cached prompts move a "
            "request towards decode. Between the dotted lines neither phase dominates."
        )
    left = chart.requests - chart.shown
    if left:
        notes.append(
            f"{plural(left, 'request')} ({numbers.share(left / chart.requests)}) in the emptiest cells are not drawn."
        )
    return tuple(notes)


def _map_series(analysis: Analysis) -> tuple[tuple[Series, ...], Mapping[str, int]]:
    mapped = {shape.workload for shape in analysis.shapes}
    ranked = [w for w in analysis.workloads if w.name in mapped]
    named = [w for w in ranked if not is_unlabelled(w)][:TOP_WORKLOADS] or ranked[:TOP_WORKLOADS]
    place = {w.name: i for i, w in enumerate(named)}
    legend = [
        Series(index=i, label=clean(w.name, 30), full=full(w.name, BRIEF_LIMIT)) for i, w in enumerate(named)
    ]
    rest = len(mapped - set(place))
    if rest:
        legend.append(Series(index=_OTHER, label=plural(rest, "other workload")))
    return tuple(legend), place


def _map_cells(analysis: Analysis, legend: Sequence[Series], place: Mapping[str, int]) -> list[Tile]:
    counts: dict[tuple[float, float, float, float, int], int] = defaultdict(int)
    for s in analysis.shapes:
        counts[s.input_low, s.input_high, s.output_low, s.output_high, place.get(s.workload, _OTHER)] += (
            s.requests
        )
    labels = {series.index: series.label for series in legend}
    return [
        Tile(x_low=x0, x_high=x1, y_low=y0, y_high=y1, series=series, label=labels[series], requests=requests)
        for (x0, x1, y0, y1, series), requests in counts.items()
        if requests > 0
    ]


def _centres(analysis: Analysis, legend: Sequence[Series], place: Mapping[str, int]) -> list[Centre]:
    return [
        Centre(
            x=w.input_tokens.p50,
            y=w.output_tokens.p50,
            series=place[w.name],
            label=legend[place[w.name]].label,
        )
        for w in analysis.workloads
        if w.name in place and w.input_tokens and w.output_tokens
    ]
