"""The workloads section: what each costs, which phase dominates it and how sure that is."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.analysis import Analysis, Distribution, PhaseClass, PhaseMix, Slice, Workload
from advisor.charts import split_bar
from advisor.view_costs import kept_in_usd
from advisor.view_model import Cell, ClassNote, Table, TableColumn, WorkloadSection
from advisor.wording import (
    CLASS_KINDS,
    CLASS_LEVERS,
    CLASS_MEANINGS,
    CLASS_NAMES,
    TEXT_LIMIT,
    clean,
    name_cell,
    plural,
    sentence,
)

SHOWN: Final = 50
"""Rows of a long table before the rest becomes one row."""

_COLUMNS: Final = (
    TableColumn(key="name", title="Workload"),
    TableColumn(
        key="cost", title="Cost", number=True, hint="Money of the period, and its share of the spend"
    ),
    TableColumn(
        key="mix",
        title="Prefill / decode of cost",
        hint="Money spent on reading prompts against writing answers",
    ),
    TableColumn(
        key="time",
        title="GPU time",
        quiet=True,
        hint="Modelled prefill / decode time; no bill is made from it",
    ),
    TableColumn(key="requests", title="Requests", number=True),
    TableColumn(
        key="input", title="Input tokens", number=True, hint="Per request: mean, median and 90th percentile"
    ),
    TableColumn(
        key="output", title="Output tokens", number=True, hint="Per request: mean, median and 90th percentile"
    ),
    TableColumn(
        key="cache", title="Cache reads", number=True, hint="Part of the prompt that was read from a cache"
    ),
    TableColumn(key="ratio", title="Out : in", number=True, hint="Output price over input price"),
)


def workload_section(analysis: Analysis) -> WorkloadSection:
    """The workloads of the analysis, dearest first, the tail as one row."""
    ratios = _ratios(analysis)
    shown, rest = analysis.workloads[:SHOWN], analysis.workloads[SHOWN:]
    total = analysis.cost.total
    table = Table(
        slug="workloads",
        caption="Workloads by cost",
        columns=_COLUMNS,
        rows=tuple(_row(workload, total, ratios) for workload in shown),
        rest=_rest_row(rest, total) if rest else None,
        note=_left_out(rest, total),
    )
    return WorkloadSection(
        table=table,
        reasons=_reasons(shown),
        classes=tuple(_class_note(kind, analysis) for kind in PhaseClass if _members(kind, analysis)),
        rule=sentence(analysis.workload_rule),
    )


def is_unlabelled(workload: Workload) -> bool:
    """Whether no label tells what the workload is."""
    return not any(workload.labels.values())


def _left_out(rest: Sequence[Workload], total: Decimal) -> str:
    if not rest:
        return ""
    amount = sum((w.whole.total for w in rest), Decimal(0))
    return f"The {SHOWN} dearest are listed; {plural(len(rest), 'more workload')} cost {numbers.money(amount)} ({_part(amount, total)})."


def _part(amount: Decimal, total: Decimal) -> str:
    return numbers.share(amount / total) if total else numbers.MISSING


def _no_mix(part: Slice) -> str:
    if part.in_usd is not None:
        return "not converted"
    if part.charged is not None:
        return "no tokens in the log"
    return "costs nothing" if part.is_priced else "no priced usage"


def _row(workload: Workload, total: Decimal, ratios: Mapping[str, Sequence[float]]) -> tuple[Cell, ...]:
    models = [clean(model, 32) for model in workload.models]
    note = ", ".join(models[:2]) + (f" + {len(models) - 2} more" if len(models) > 2 else "")  # noqa: PLR2004
    slice_ = workload.whole
    partial = slice_.priced_requests < slice_.requests
    priced = slice_.is_priced
    missing = f"{slice_.requests - slice_.priced_requests:,d} unpriced" if partial else ""
    return (
        name_cell(workload.name, note=note),
        kept_in_usd(slice_) or _money(slice_.total, total, missing)
        if priced
        else Cell(text=numbers.MISSING, value="-1", warning=missing),
        _mix_cell(workload.cost_mix, _no_mix(slice_)),
        _time_cell(workload.time_mix),
        _count(slice_.requests),
        _sizes(workload.input_tokens),
        _sizes(workload.output_tokens),
        _cache_cell(workload),
        _ratio_cell(workload, ratios),
    )


def _rest_row(rest: Sequence[Workload], total: Decimal) -> tuple[Cell, ...]:
    amount = sum((w.whole.total for w in rest), Decimal(0))
    head = (Cell(text=plural(len(rest), "other workload")), _money(amount, total))
    middle = _count(sum(w.whole.requests for w in rest))
    blank = Cell(text="")
    return tuple(
        {"name": head[0], "cost": head[1], "requests": middle}.get(column.key, blank) for column in _COLUMNS
    )


def _count(number: int) -> Cell:
    return Cell(text=numbers.count(number), value=str(number))


def _money(amount: Decimal, total: Decimal, warning: str = "") -> Cell:
    return Cell(
        text=numbers.money(amount),
        exact=numbers.money_exact(amount),
        value=f"{amount:.6f}",
        note=_part(amount, total),
        warning=warning,
    )


def _mix_cell(mix: PhaseMix | None, absent: str) -> Cell:
    if mix is None:
        return Cell(text=numbers.MISSING, value="-1", note=absent)
    text = f"{numbers.share(mix.prefill_share)} / {numbers.share(mix.decode_share)}"
    return Cell(
        text=text,
        exact=clean(mix.explanation, TEXT_LIMIT),
        value=f"{mix.prefill_share:.6f}",
        note=CLASS_NAMES[mix.phase_class],
        warning=clean(f"uncertain: {mix.weak}", TEXT_LIMIT) if mix.weak else "",
        bar=split_bar(mix.prefill_share, mix.decode_share),
    )


def _time_cell(mix: PhaseMix | None) -> Cell:
    if mix is None:
        return Cell(text=numbers.MISSING, value="-1")
    text = f"{numbers.share(mix.prefill_share)} / {numbers.share(mix.decode_share)}"
    exact = clean(mix.explanation, TEXT_LIMIT)
    return Cell(text=text, exact=exact, value=f"{mix.prefill_share:.6f}", note=CLASS_NAMES[mix.phase_class])


def _sizes(sizes: Distribution | None) -> Cell:
    if sizes is None:
        return Cell(text=numbers.MISSING, value="-1", exact="Not known per request")
    return Cell(
        text=numbers.tokens(sizes.mean),
        exact=f"mean {sizes.mean:,.1f}, p50 {sizes.p50:,.1f}, p90 {sizes.p90:,.1f}, p99 {sizes.p99:,.1f}",
        value=f"{sizes.mean:.3f}",
        note=f"p50 {numbers.tokens(sizes.p50)}\np90 {numbers.tokens(sizes.p90)}",
    )


def _cache_cell(workload: Workload) -> Cell:
    if workload.cache_read_ratio is None:
        return Cell(text=numbers.MISSING, value="-1", exact="No record reports a cache count")
    covered = workload.cache_coverage
    note = "" if covered >= 1 else f"of {numbers.share(covered)} of records"
    return Cell(
        text=numbers.share(workload.cache_read_ratio), value=f"{workload.cache_read_ratio:.6f}", note=note
    )


def _ratios(analysis: Analysis) -> dict[str, list[float]]:
    ratios: dict[str, list[float]] = {}
    for row in analysis.by_model:
        if row.price_ratio is not None:
            ratios.setdefault(row.model, []).append(row.price_ratio)
    return ratios


def _ratio_cell(workload: Workload, ratios: Mapping[str, Sequence[float]]) -> Cell:
    found = [value for model in workload.models for value in ratios.get(model, ())]
    if not found:
        return Cell(text=numbers.MISSING, value="-1", exact="No price known")
    low, high = numbers.ratio(min(found)), numbers.ratio(max(found))
    return Cell(text=low if low == high else f"{low}\N{EN DASH}{high}", value=f"{min(found):.4f}")


def _members(kind: PhaseClass, analysis: Analysis) -> list[Workload]:
    return [w for w in analysis.workloads if w.cost_mix is not None and w.cost_mix.phase_class is kind]


def _class_note(kind: PhaseClass, analysis: Analysis) -> ClassNote:
    members = _members(kind, analysis)
    amount = sum((w.whole.total for w in members), Decimal(0))
    tally = f"{plural(len(members), 'workload')} · {numbers.money_short(amount)} · {_part(amount, analysis.cost.total)} of spend"
    return ClassNote(
        kind=CLASS_KINDS[kind],
        name=CLASS_NAMES[kind],
        tally=tally,
        meaning=CLASS_MEANINGS[kind],
        levers=CLASS_LEVERS[kind],
    )


def _reasons(shown: Sequence[Workload]) -> Table:
    timed = any(w.ttft_seconds or w.duration_seconds for w in shown)
    columns = (
        TableColumn(key="name", title="Workload"),
        TableColumn(key="why", title="What decided the class"),
        TableColumn(key="distance", title="Distance to the next class", number=True),
        TableColumn(key="time", title="On GPU time", quiet=True),
    )
    extra = (
        TableColumn(key="ttft", title="TTFT p50 / p90", number=True),
        TableColumn(key="duration", title="Duration p50 / p90", number=True),
    )
    rows = tuple(_reason_row(w, timed=timed) for w in shown)
    return Table(
        slug="reasons",
        caption="What decided each class",
        columns=columns + (extra if timed else ()),
        rows=rows,
    )


def _reason_row(workload: Workload, *, timed: bool) -> tuple[Cell, ...]:
    mix, time = workload.cost_mix, workload.time_mix
    head = (
        name_cell(workload.name, limit=32, brief=True),
        Cell(text=clean(mix.explanation, TEXT_LIMIT) if mix else "No money to split: see the table above."),
        Cell(text=numbers.share(mix.distance), value=f"{mix.distance:.6f}")
        if mix
        else Cell(text=numbers.MISSING, value="-1"),
        Cell(text=clean(time.explanation, TEXT_LIMIT) if time else "Token counts are missing."),
    )
    return (*head, _latency(workload.ttft_seconds), _latency(workload.duration_seconds)) if timed else head


def _latency(sizes: Distribution | None) -> Cell:
    if sizes is None:
        return Cell(text=numbers.MISSING, value="-1")
    return Cell(text=f"{numbers.seconds(sizes.p50)} / {numbers.seconds(sizes.p90)}", value=f"{sizes.p50:.6f}")
