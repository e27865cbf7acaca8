"""The comparison in words and lines: what a terminal shows, and the sentences that a report quotes."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.hosting import Answer, Comparison, SelfHosting, ServedLoad, Way
from pricing.fleet_money import UTILISATIONS, BreakEven, FleetCost, PhasePrices
from pricing.gpu_prices import GpuPrice
from pricing.replica import Targets
from pricing.units import MILLISECONDS_PER_SECOND

_LEAST_HOURS: Final = 24
_MOST_VOLUME: Final = 100.0
_KINDS: Final = {
    "on_demand": "on demand", "spot": "spot", "reserved_1y": "reserved for a year", "given": "at your price",
    "owned": "owned",
}  # fmt: skip


_WORDS: Final = {
    Answer.HOST: "cheaper", Answer.STAY: "dearer", Answer.STRADDLES: "undecided", Answer.UNKNOWN: "-",
}  # fmt: skip
_MOST_REFUSED: Final = 8


class Span:
    """The period that amounts are stated for: a month, or the log's own hours where they are under a day."""

    def __init__(self, load: ServedLoad) -> None:
        """Take a month where a day or more was seen."""
        self.is_month = load.hours >= _LEAST_HOURS
        self.factor = load.month_factor if self.is_month else Decimal(1)
        self.words = "a month" if self.is_month else f"for the log's {load.hours} h"

    def amount(self, usd: Decimal | None) -> str:
        """An amount of the log's period, in this one; a dash where it is not known."""
        return "?" if usd is None else numbers.money_about(usd * self.factor, "USD")


def verdict(found: SelfHosting) -> str:
    """Return the answer in a sentence or two."""
    left = found.left
    if left is None:
        return f"Nothing can be compared: {found.why_not[:1].lower()}{found.why_not[1:]}"
    best, span = left.best, Span(left.load)
    if best is None:
        return "Stay on the API: nothing that has a price hosts this load under these targets."
    bill = span.amount(left.bill_usd)
    way = f"{best.model} on {best.cost.gpus} x {best.hosted.fleet.deployment.accelerator.name}"
    costs = f"{span.amount(best.cost.usd)} {span.words} ({span.amount(best.low_usd)} to {_high(best, span)})"
    if left.answer is Answer.HOST:
        unsure = left.ways[0]
        other = (
            f" The cheapest on paper, {unsure.model} at {span.amount(unsure.cost.usd)}, is undecided."
            if left.sure
            else ""
        )
        return f"Own accelerators would be cheaper: {way} costs {costs}, the API {bill} after its own levers. {_left(best)}{other}"
    if left.answer is Answer.STAY:
        return f"Stay on the API: the cheapest way, {way}, costs {costs}, the API {bill} after its own levers. {_left(best)}"
    if left.answer is Answer.STRADDLES:
        return (
            f"Undecided: {way} costs {costs}, and the API's {bill} after its own levers lies within that band. Measure one "
            f"replica with your own requests before you decide. {_left(best)}"
        )
    return f"There is no API bill to compare with; the cheapest way, {way}, costs {costs}."


def _left(best: Way) -> str:
    """What would turn the answer, or how far it is from turning."""
    even = best.even
    parts: list[str] = []
    if even.volume_ratio is None or even.volume_ratio > _MOST_VOLUME:
        parts.append("at no realistic volume would accelerators be cheaper for good")
    elif even.volume_ratio > 1:
        parts.append(f"from {even.volume_ratio:,.1f} times this volume on they are never dearer")
    else:
        parts.append(f"from {numbers.share(even.volume_ratio)} of this volume on they are never dearer")
    if even.utilisation_ratio is not None:
        now = numbers.share(best.cost.utilisation_ratio)
        if even.utilisation_ratio > 1:
            parts.append(f"not even full accelerators would be (now {now} of their paid time is work)")
        else:
            parts.append(f"and they meet at {numbers.share(even.utilisation_ratio)} utilisation (now {now})")
    text = ", ".join(parts)
    return text[:1].upper() + text[1:] + "."


def lines(found: SelfHosting) -> Iterator[str]:
    """Yield what a terminal shows."""
    yield verdict(found)
    today, left = found.today, found.left
    if today is None or left is None:
        return
    span = Span(left.load)
    yield ""
    yield f"Targets: {targets_words(found.options.targets)}."
    yield from _side_lines("Today", today, found, span)
    yield from _side_lines("After the API's levers", left, found, span)
    if left.best is not None:
        yield ""
        yield from _best_lines(left.best, span)
        yield ""
        yield "Ways:" if found.chosen_by == "named" else f"Cheapest of each model ({found.chosen_by}):"
        yield from _table(_ways(left.ways, span))
        if len(left.fastest) > 1:
            yield ""
            yield "What faster answers cost (nothing cheaper is as fast):"
            yield from _table(_ways(left.fastest, span))
    yield from (f"refused {one.model}: {one.reason}" for one in left.refused[:_MOST_REFUSED])
    if len(left.refused) > _MOST_REFUSED:
        yield f"... and {len(left.refused) - _MOST_REFUSED} more"
    yield ""
    yield f"{left.looked_at:,} deployments fit, {left.feasible:,} of them meet the targets at a price."
    yield from (f"- {text}" for text in found.assumptions)


def targets_words(targets: Targets) -> str:
    """Return what is promised."""
    parts = [
        f"{name} {value:,.0f} ms"
        for name, value in (("TTFT", targets.ttft_ms), ("TPOT", targets.tpot_ms))
        if value is not None
    ]
    spare = f", {targets.redundancy} spare" if targets.redundancy else ""
    return f"{' and '.join(parts) or 'no latency'} in {targets.percentile:g} % of the busy minutes{spare}"


def _side_lines(name: str, side: Comparison, found: SelfHosting, span: Span) -> Iterator[str]:
    """What is served, what the API asks for it, and what the cheapest way would."""
    load = side.load
    prompts = load.computed_tokens + load.cached_tokens
    cached = (
        f", {numbers.share(load.cached_tokens / prompts)} of them cached"
        if prompts and load.cached_tokens
        else ""
    )
    yield (
        f"{name}: {load.requests:,} requests in {load.hours:,} h ({load.busy_minutes:,} busy minutes; "
        f"{load.percentile_requests:,.0f} in the one at P{found.options.targets.percentile:g}, {load.peak_requests:,.0f} in the "
        f"busiest), {numbers.tokens(prompts)} prompt tokens{cached}, {numbers.tokens(load.output_tokens)} written."
    )
    best = side.best
    own = (
        "nothing hosts it"
        if best is None
        else f"own accelerators {span.amount(best.cost.usd)} ({_WORDS[best.answer]})"
    )
    yield f"  API {span.amount(side.bill_usd)} {span.words}; {own}."


def _best_lines(best: Way, span: Span) -> Iterator[str]:
    fleet, cost = best.hosted.fleet, best.cost
    deployment = fleet.deployment
    spare = f" + {fleet.redundancy} spare" if fleet.redundancy else ""
    yield (
        f"Best: {best.model} in {deployment.precision}{' (narrower than published)' if best.quantised else ''}, "
        f"{fleet.replicas}{spare} x {deployment.layout.words} on {cost.gpus} x {deployment.accelerator.name} paid for; "
        f"{fleet.peak_replicas} for the busiest minute."
    )
    yield (
        f"  {span.amount(cost.usd)} {span.words} always on, {_KINDS[cost.kind]}; {span.amount(best.low_usd)} to "
        f"{_high(best, span)} with the model's error (80 %), {span.amount(best.cheap_usd)} to {span.amount(best.dear_usd)} "
        f"with the prices of {price_words(best.hosted.price)}."
    )
    for other in best.costs:
        yield f"  {span.amount(other.usd)} {cost_words(other)}."
    yield f"  Work fills {numbers.share(cost.utilisation_ratio)} of the paid time, {numbers.share(fleet.prefill_share)} of it prefill."
    yield f"  {token_words(best.prices)}"
    yield f"  Never dearer than the API from here on: {even_words(best.even)}."
    yield f"  At other utilisations: {', '.join(utilisation_words(best))}."
    yield (
        f"  TTFT {fleet.ttft_seconds * MILLISECONDS_PER_SECOND:,.0f} ms, TPOT "
        f"{fleet.tpot_seconds * MILLISECONDS_PER_SECOND:,.1f} ms with {fleet.concurrency:,.0f} requests in flight a replica; "
        f"{numbers.share(fleet.late_ratio)} of the requests start in busier minutes than are served so."
    )
    if best.hosted.band.missed_ratio:
        yield f"  In {numbers.share(best.hosted.band.missed_ratio)} of the band the targets are met by no count."


def price_words(price: GpuPrice) -> str:
    """Return what an accelerator-hour costs, where, and when that was seen."""
    if price.listed is None:
        return f"{numbers.money(price.usual, 'USD')} a GPU-hour"
    listed = price.listed
    stale = ", old: ask again" if listed.is_stale else ""
    return (
        f"{numbers.money(price.low, 'USD')} ({listed.low_provider}) to {numbers.money(price.high, 'USD')} "
        f"({listed.high_provider}) a GPU-hour, {numbers.money(price.usual, 'USD')} in the middle; {', '.join(listed.segments)}, "
        f"{listed.oldest} to {listed.newest}{stale}"
    )


def cost_words(cost: FleetCost) -> str:
    """Return how accelerators are taken."""
    work = f"{numbers.share(cost.utilisation_ratio)} of the paid time is work"
    return f"{_KINDS[cost.kind]}, {'replicas by the hour' if cost.scaled else 'always on'} ({work})"


def token_words(prices: PhasePrices) -> str:
    """Return prices of tokens by phase time, idle hours in them, and without."""
    named = (
        ("computed input", prices.computed, prices.computed_busy),
        ("cached input", prices.cached, prices.cached_busy),
        ("output", prices.output, prices.output_busy),
    )
    parts = [
        f"{name} {numbers.money(usd, 'USD')} (busy time alone {numbers.money(busy, 'USD')})"
        for name, usd, busy in named
        if usd is not None and busy is not None
    ]
    return f"A million tokens by phase time: {', '.join(parts)}."


def even_words(even: BreakEven) -> str:
    """Return where the two sides meet."""
    volume = (
        "at no realistic volume"
        if even.volume_ratio is None or even.volume_ratio > _MOST_VOLUME
        else f"{even.volume_ratio:,.2f} x this volume"
    )
    if even.utilisation_ratio is None:
        return volume
    share = (
        "not even full accelerators"
        if even.utilisation_ratio > 1
        else f"{numbers.share(even.utilisation_ratio)} utilisation"
    )
    return f"{volume}, {share}"


def utilisation_words(way: Way) -> Iterator[str]:
    """Yield what a million output tokens would cost at other utilisations."""
    for ratio in UTILISATIONS:
        if way.prices.output_busy is not None:
            usd = way.prices.output_busy / ratio
            yield f"{numbers.share(ratio)} {numbers.money(usd, 'USD')}/M output"


def _ways(ways: Sequence[Way], span: Span) -> Iterator[tuple[str, ...]]:
    yield ("model", "deployment", "GPUs", span.words, "80 % band", "work", "TPOT ms", "against the API")
    for way in ways:
        fleet, deployment = way.hosted.fleet, way.hosted.fleet.deployment
        yield (
            way.model,
            f"{fleet.replicas} x {deployment.layout.words} {deployment.accelerator.name} {deployment.precision}",
            f"{way.cost.gpus}",
            span.amount(way.cost.usd),
            f"{span.amount(way.low_usd)} to {_high(way, span)}",
            numbers.share(way.cost.utilisation_ratio),
            f"{fleet.tpot_seconds * MILLISECONDS_PER_SECOND:.1f}",
            _WORDS[way.answer],
        )  # fmt: skip


def _table(rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    listed = list(rows)
    widths = [max(len(row[at]) for row in listed) for at in range(len(listed[0]))]
    for row in listed:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _high(way: Way, span: Span) -> str:
    return "no count that meets the targets" if way.high_usd is None else span.amount(way.high_usd)
