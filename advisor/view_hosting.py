"""The section on self-hosting and the two phases: a batch-size sweep, latency as two numbers, and each technique's effect."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.analysis import Analysis
from advisor.charts import Series
from advisor.hosted_phases import Modelled
from advisor.log_curves import log_curves
from advisor.view_hosting_model import FleetView, HostingSection, SweepChart, SweepView
from advisor.view_latency import wait_levers, wait_table
from advisor.view_model import Cell, Table, TableColumn
from advisor.view_techniques import technique_table, times
from pricing.batch_sweep import MOST_TOGETHER, SweepPoint

_WIDE: Final = (478.0, 290.0)
_NARROW: Final = (342.0, 260.0)
_MORE: Final = 1.01
_PREFILL: Final = Series(index=0, label="Prefill")
_DECODE: Final = Series(index=1, label="Decode")


def hosting_section(analysis: Analysis) -> HostingSection | None:
    """Return the section; None where the log tells neither sizes nor times."""
    found, fleet = analysis.hosted, _fleet(analysis)
    if found is None:
        return (
            None
            if fleet is None
            else HostingSection(lead="", sweep=None, techniques=None, waits=None, levers=(), fleet=fleet)
        )
    modelled = found.modelled
    asked = (
        "" if fleet else " what an own fleet would cost against your bill is what advisor selfhost works out."
    )
    return HostingSection(
        lead="Prefill is bound by arithmetic, decode by how fast memory is read, so hardware and techniques that help one do "
        "little for the other. Modelled with published measurements, not measured on your hardware"
        + (f";{asked}" if asked else "."),
        sweep=None if modelled is None else _sweep(modelled),
        techniques=None if modelled is None else technique_table(modelled, analysis.reuse),
        waits=wait_table(found.timed),
        levers=wait_levers(found.timed),
        fleet=fleet,
    )


def _fleet(analysis: Analysis) -> FleetView | None:
    if analysis.self_host is None:
        return None
    from advisor.view_fleet import fleet_view  # noqa: PLC0415  (only where it was asked for)

    return fleet_view(analysis.self_host)


def _sweep(found: Modelled) -> SweepView:
    points = found.points
    first, last = points[0], points[-1]
    load = found.load
    written = last.decode_tokens_per_second / first.decode_tokens_per_second
    read_faster = last.prefill_tokens_per_second / first.prefill_tokens_per_second
    read = f"{numbers.tokens(load.input_tokens)} computed"
    if load.cached_tokens:
        read += f" and {numbers.tokens(load.cached_tokens)} cached"
    return SweepView(
        lead=f"This log's mean request ({read} prompt tokens, {numbers.tokens(load.output_tokens)} of answer) on {found.name}. "
        f"From 1 to {last.batch} sequences together, tokens a second go {times(written)} in decode and "
        f"{times(read_faster) if read_faster >= _MORE else 'stay the same'} in prefill: a step reads the weights once for all sequences, while a prompt keeps the arithmetic busy by itself.",
        charts=tuple(_charts(found)),
        notes=tuple(_notes(found)),
        table=_table(found),
        latency=_latency(found),
    )


def _charts(found: Modelled) -> Sequence[SweepChart]:
    points = found.points
    charts = [
        _chart(
            found,
            "speed",
            "Tokens a second, by batch",
            [point.prefill_tokens_per_second for point in points],
            [point.decode_tokens_per_second for point in points],
            _plain,
        )
    ]
    costs = [_costs(found, point) for point in points]
    read = [float(cost) for cost, _ in costs if cost is not None]
    written = [float(cost) for _, cost in costs if cost is not None]
    if len(read) == len(written) == len(points):
        charts.append(
            _chart(found, "cost", "$ for a million tokens while busy, by batch", read, written, _dollars)
        )
    return charts


def _chart(
    found: Modelled,
    slug: str,
    title: str,
    read: Sequence[float],
    written: Sequence[float],
    say: Callable[[float], str],
) -> SweepChart:
    points = found.points
    tips = [_tip(found, point) for point in points]
    labels = [f"{point.batch}" for point in points]
    lines = ((_PREFILL, read), (_DECODE, written))
    marked = _nearest(found)
    return SweepChart(
        slug=slug,
        title=title,
        wide=log_curves(lines, labels, tips, _WIDE, say, marked=marked),
        narrow=log_curves(lines, labels, tips, _NARROW, say, marked=marked),
        description=f"From a batch of {labels[0]} to {labels[-1]}, prefill goes from {say(read[0])} to {say(read[-1])} and "
        f"decode from {say(written[0])} to {say(written[-1])}.",
    )


def _costs(found: Modelled, point: SweepPoint) -> tuple[Decimal | None, Decimal | None]:
    return (
        found.usd_per_mtok(point.prefill_tokens_per_second),
        found.usd_per_mtok(point.decode_tokens_per_second),
    )


def _tip(found: Modelled, point: SweepPoint) -> str:
    read, written = _costs(found, point)
    costs = (
        ("", "")
        if read is None or written is None
        else (f", {_usd(read)} a million", f", {_usd(written)} a million")
    )
    return (
        f"Batch {point.batch}\nPrefill {_plain(point.prefill_tokens_per_second)} tokens/s{costs[0]}"
        f"\nDecode {_plain(point.decode_tokens_per_second)} tokens/s{costs[1]}"
        f"\n{numbers.seconds(point.tpot_seconds)} a token"
    )


def _nearest(found: Modelled) -> int | None:
    """The place of the batch that the log's mean load would keep busy."""
    busy = found.busy_batch
    if busy is None:
        return None
    return min(range(len(found.points)), key=lambda place: abs(found.points[place].batch - busy))


def _notes(found: Modelled) -> Sequence[str]:
    notes: list[str] = []
    busy = found.busy_batch
    if busy is not None:
        under = "fewer than one request" if busy < 1 else f"about {busy:,.0f} requests"
        where = f" on each of {found.replicas} such deployments" if found.replicas > 1 else ""
        notes.append(
            f"Ringed: the batch nearest to this log's load, which on average keeps {under} in flight{where}; peaks are higher."
        )
    if (price := found.price) is not None:
        stale = ", older than it should be" if price.is_stale else ""
        notes.append(
            f"Dollars: {found.n_gpus} GPUs at {numbers.money(price.median_usd_per_gpu_hour, 'USD')} an hour, the median of "
            f"{len(price.providers)} providers' on-demand prices seen to {numbers.day(price.newest)}{stale} "
            f"({numbers.money(price.low_usd_per_gpu_hour, 'USD')} to {numbers.money(price.high_usd_per_gpu_hour, 'USD')}), while "
            "all of it does the one phase. Idle hours cost as much and come on top."
        )
    last = found.points[-1].batch
    notes.append(
        f"No batch beyond {last}: {'no more of them fit' if last < MOST_TOGETHER else 'engines seldom take more'}."
    )
    return notes


def _latency(found: Modelled) -> str:
    one = found.techniques.now
    ttft, tpot = found.ttft_band, found.tpot_band
    return (
        f"Latency is two numbers. The first token comes after {numbers.seconds(one.ttft_seconds)} if nobody waits (80 % of "
        f"measurements: {numbers.seconds(one.ttft_seconds * ttft.low)} to {numbers.seconds(one.ttft_seconds * ttft.high)}): "
        f"that is prefill, and grows with the prompt. Each further one takes {numbers.seconds(one.tpot_seconds)} with "
        f"{one.batch} sequences together ({numbers.seconds(one.tpot_seconds * tpot.low)} to "
        f"{numbers.seconds(one.tpot_seconds * tpot.high)}): that is decode, and grows with the batch and its contexts."
    )


def _table(found: Modelled) -> Table:
    columns = [
        TableColumn(key="batch", title="Batch", number=True),
        TableColumn(key="prefill", title="Prefill tokens/s", number=True),
        TableColumn(key="decode", title="Decode tokens/s", number=True),
        TableColumn(key="tpot", title="Time per token", number=True),
        TableColumn(key="mixed", title="With prompts between", number=True),
    ]
    if found.price is not None:
        columns += [
            TableColumn(key="in", title="$/M prefill", number=True),
            TableColumn(key="out", title="$/M decode", number=True),
        ]
    return Table(
        slug="sweep",
        caption="The deployment by sequences decoded together",
        columns=tuple(columns),
        rows=tuple(_row(found, point) for point in found.points),
    )


def _row(found: Modelled, point: SweepPoint) -> tuple[Cell, ...]:
    costs = [cost for cost in _costs(found, point) if cost is not None]
    return (
        Cell(text=f"{point.batch}", value=f"{point.batch}"),
        _rate(point.prefill_tokens_per_second),
        _rate(point.decode_tokens_per_second),
        Cell(text=numbers.seconds(point.tpot_seconds), value=f"{point.tpot_seconds:.9f}"),
        Cell(text=numbers.seconds(point.mixed_tpot_seconds), value=f"{point.mixed_tpot_seconds:.9f}"),
        *(Cell(text=_usd(cost), value=f"{cost:.9f}") for cost in costs),
    )


def _rate(value: float) -> Cell:
    return Cell(text=_plain(value), value=f"{value:.3f}")


def _plain(value: float) -> str:
    return f"{float(f'{value:.3g}'):,.0f}"


def _usd(amount: Decimal) -> str:
    return numbers.money(amount.quantize(Decimal("0.01")) if amount >= 1 else amount, "USD")


def _dollars(value: float) -> str:
    return f"${value:,.0f}" if value >= 1 else f"${value:.2f}"
