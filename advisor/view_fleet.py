"""The log's load on own accelerators, in the report: the answer, the ways, and cost against volume and utilisation."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.charts import Series
from advisor.hosting import Answer, Comparison, SelfHosting, Way
from advisor.hosting_words import Span, price_words, targets_words, token_words, verdict
from advisor.log_curves import log_curves
from advisor.view_hosting_model import FleetView, VolumeChart
from advisor.view_model import Cell, Table, TableColumn
from pricing.fleet_money import UTILISATIONS
from pricing.units import MILLISECONDS_PER_SECOND

_WIDE: Final = (700.0, 300.0)
_NARROW: Final = (342.0, 260.0)
_API: Final = Series(index=0, label="API, after its own levers")
_OWN: Final = Series(index=2, label="Own accelerators, whole replicas")
_AGAINST: Final = {
    Answer.HOST: "cheaper", Answer.STAY: "dearer", Answer.STRADDLES: "undecided", Answer.UNKNOWN: "-",
}  # fmt: skip


def fleet_view(found: SelfHosting) -> FleetView:
    """Return the view of a comparison."""
    left = found.left
    if left is None or left.best is None:
        return FleetView(
            verdict=verdict(found), notes=found.assumptions, ways=None, chart=None, utilisation=None
        )
    span = Span(left.load)
    return FleetView(
        verdict=verdict(found),
        notes=tuple(_notes(found, left, left.best)),
        ways=_ways(left, span),
        chart=_chart(left, left.best, span),
        utilisation=_utilisation(left.best),
    )


def _notes(found: SelfHosting, left: Comparison, best: Way) -> Iterator[str]:
    yield f"Targets: {targets_words(found.options.targets)}."
    yield f"GPU-hours: {price_words(best.hosted.price)}."
    yield token_words(best.prices)
    if found.chosen_by != "named":
        yield f"Looked at: {found.chosen_by}."
    yield f"{left.looked_at:,} deployments fit, {left.feasible:,} of them meet the targets at a price."
    yield from found.assumptions


def _ways(left: Comparison, span: Span) -> Table:
    return Table(
        slug="fleet",
        caption="The cheapest way to host each model",
        columns=(
            TableColumn(key="model", title="Model"),
            TableColumn(key="fleet", title="Fleet"),
            TableColumn(key="usd", title=span.words.capitalize(), number=True),
            TableColumn(key="band", title="80 % band", number=True),
            TableColumn(key="work", title="Utilisation", number=True),
            TableColumn(key="ttft", title="TTFT", number=True),
            TableColumn(key="tpot", title="TPOT", number=True),
            TableColumn(key="answer", title="Against the API"),
        ),
        rows=tuple(_row(way, span) for way in left.ways),
    )


def _row(way: Way, span: Span) -> tuple[Cell, ...]:
    fleet, deployment = way.hosted.fleet, way.hosted.fleet.deployment
    high = "no upper end" if way.high_usd is None else span.amount(way.high_usd)
    return (
        Cell(text=way.model.rpartition("/")[2], exact=way.model),
        Cell(
            text=f"{way.cost.gpus} x {deployment.accelerator.name}",
            note=f"{fleet.replicas} x {deployment.layout.words}, {deployment.precision}",
        ),
        Cell(text=span.amount(way.cost.usd), value=f"{way.cost.usd:f}"),
        Cell(text=f"{span.amount(way.low_usd)} to {high}", value=f"{way.low_usd:f}"),
        Cell(text=numbers.share(way.cost.utilisation_ratio), value=f"{way.cost.utilisation_ratio:.9f}"),
        _milliseconds(fleet.ttft_seconds),
        _milliseconds(fleet.tpot_seconds),
        Cell(text=_AGAINST[way.answer]),
    )


def _milliseconds(seconds: float) -> Cell:
    return Cell(text=f"{seconds * MILLISECONDS_PER_SECOND:,.0f} ms", value=f"{seconds:.9f}")


def _chart(left: Comparison, best: Way, span: Span) -> VolumeChart | None:
    """Both sides by volume; None where there is no bill to draw."""
    if left.bill_usd <= 0 or not best.by_volume:
        return None
    volumes = [volume for volume, _ in best.by_volume]
    own = [usd * span.factor for _, usd in best.by_volume]
    api = [left.bill_usd * Decimal(str(volume)) * span.factor for volume in volumes]
    labels = [f"{volume:g}" for volume in volumes]
    tips = [
        f"{label} x this volume\nAPI {_short(there)} {span.words}\nOwn {_short(here)} {span.words}"
        for label, there, here in zip(labels, api, own, strict=True)
    ]
    lines = ((_API, [float(usd) for usd in api]), (_OWN, [float(usd) for usd in own]))
    now = volumes.index(1.0)

    def say(value: float) -> str:
        return _short(Decimal(str(value)))

    return VolumeChart(
        title=f"Cost {span.words} by volume",
        legend=(_API, _OWN),
        wide=log_curves(lines, labels, tips, _WIDE, say, marked=now),
        narrow=log_curves(lines, labels, tips, _NARROW, say, marked=now),
        description=f"At this volume the API costs {_short(api[now])} and own accelerators {_short(own[now])} {span.words}; at "
        f"{labels[-1]} times of it {_short(api[-1])} and {_short(own[-1])}.",
        caption="Ringed: this log. The API costs in proportion; accelerators come in whole replicas and are paid when idle too.",
    )


def _short(usd: Decimal) -> str:
    return numbers.money_short(usd, "USD")


def _utilisation(best: Way) -> Table:
    prices = best.prices
    kinds = [
        ("in", "$/M computed input", prices.computed_busy),
        ("cached", "$/M cached input", prices.cached_busy),
        ("out", "$/M output", prices.output_busy),
    ]
    known = [(key, title, usd) for key, title, usd in kinds if usd is not None]
    return Table(
        slug="utilisation",
        caption=f"What tokens of {best.model.rpartition('/')[2]} would cost, were its accelerators busier",
        columns=(
            TableColumn(key="ratio", title="Utilisation", number=True),
            *(TableColumn(key=key, title=title, number=True) for key, title, _ in known),
        ),
        rows=tuple(
            (
                Cell(text=numbers.share(ratio), value=f"{ratio}"),
                *(
                    Cell(text=numbers.money(usd / ratio, "USD"), value=f"{usd / ratio:.9f}")
                    for _, _, usd in known
                ),
            )
            for ratio in UTILISATIONS
        ),
        note=f"Now {numbers.share(best.cost.utilisation_ratio)} of the paid time is work. By the time that each kind of token keeps "
        "the accelerators busy; overheads are not in it.",
    )
