"""The comparison: the log's minutes on every deployment that fits, against its API bill before and after the API's levers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any, Final

import numpy as np

from advisor.analysis import Analysis
from advisor.hosting import VOLUMES, Answer, Comparison, HostingOptions, SelfHosting, Way
from advisor.hosting_assumptions import assumptions
from advisor.hosting_choice import accelerators_of, is_quantised, models_of, ownership, prices_of
from advisor.hosting_load import TextRatio, after_levers, loads, served_load
from pricing.accelerators import Accelerator
from pricing.calibration import Calibration, calibration, engine_of
from pricing.fleet_load import EmptyLoadError, LoadSeries
from pricing.fleet_money import FleetCost, break_even, fleet_cost, phase_prices, usd_at
from pricing.fleet_search import Hosted, Search, search
from pricing.gpu_prices import GpuPrice, gpu_price
from pricing.offers import PRICE_KINDS
from pricing.open_model import OpenModel

Frame = Any
_MOST_WAYS: Final = 12


def study(
    frame: Frame,
    longest: float,
    analysis: Analysis,
    options: HostingOptions,
    as_of: date,
    bills: tuple[Decimal, Decimal],
    fitted: Calibration | None = None,
) -> SelfHosting:
    """Compare.

    Args:
        frame: The log's minutes, see ``workloads.minutes.minutes``.
        longest: Tokens that 99 % of the requests do not exceed.
        analysis: What is known of the log; the tokens that its plan leaves.
        options: What is asked.
        as_of: Day whose offers count.
        bills: USD of the period, as it is and after the levers on the API.
        fitted: Factors of the phase model; None for the built-in ones.

    Raises:
        PricingError: When a name is not known, a file is malformed, or no price is.
    """
    factors = calibration() if fitted is None else fitted
    frame = _priced_part(frame, analysis)
    models, words = models_of(options, analysis, longest, as_of)
    chips = accelerators_of(options)
    prices = prices_of(options, chips, as_of)
    if not prices:
        why = f"no accelerator has a listed price by {as_of}; give one with --gpu and --gpu-usd-per-hour."
        return SelfHosting(options=options, why_not=why, chosen_by=words)
    market = _Market(models, chips, prices, options, factors, as_of)
    left_frame = after_levers(frame, None if analysis.advice is None else analysis.advice.plan.left)
    try:
        searched = market.search(frame)
        today = market.compare(frame, searched, longest, bills[0])
        searched = searched if left_frame is frame else market.search(left_frame)
        left = market.compare(left_frame, searched, longest, bills[1])
    except EmptyLoadError as error:
        return SelfHosting(options=options, why_not=str(error), chosen_by=words)
    return SelfHosting(
        options=options,
        today=today,
        left=left,
        chosen_by=words,
        assumptions=tuple(assumptions(left, analysis, options)),
    )


_Searched = tuple[Search, dict[str, LoadSeries], dict[str, TextRatio]]
"""What was found, and each model's load and tokens for one of the log."""


@dataclass(frozen=True, slots=True)
class _Market:
    """What can be hosted on what, at which prices."""

    models: Sequence[OpenModel]
    chips: Sequence[Accelerator]
    prices: Mapping[str, GpuPrice]
    options: HostingOptions
    factors: Calibration
    as_of: date

    def search(self, frame: Frame) -> _Searched:
        """Find what hosts a load."""
        by_model, ratios = loads(frame, self.models)
        options = self.options
        found = search(
            self.models,
            self.chips,
            self.prices,
            by_model,
            options.targets,
            self.factors,
            precision=options.precision,
            engine=engine_of(options.engine) if options.engine else None,
        )
        return found, by_model, ratios

    def compare(self, frame: Frame, searched: _Searched, longest: float, bill_usd: Decimal) -> Comparison:
        """Hold what hosts a load against its bill."""
        found, by_model, ratios = searched
        options = self.options

        def way(hosted: Hosted) -> Way:
            model = hosted.fleet.deployment.model.id
            return _way(hosted, by_model[model], ratios[model], options, bill_usd, self.as_of)

        cheapest: dict[str, Hosted] = {}
        for one in found.hosted:
            cheapest.setdefault(one.fleet.deployment.model.id, one)
        ways = tuple(way(one) for one in list(cheapest.values())[:_MOST_WAYS])
        sure = None
        if ways and ways[0].answer is Answer.STRADDLES:
            sure = next((one for one in found.hosted if _is_sure(one, options, bill_usd)), None)
        return Comparison(
            bill_usd=bill_usd,
            load=served_load(frame, options.targets.percentile, longest),
            ways=ways,
            sure=None if sure is None else way(sure),
            fastest=tuple(way(one) for one in _not_beaten(found.hosted)),
            refused=found.refused,
            looked_at=found.looked_at,
            feasible=found.feasible,
        )


def _priced_part(frame: Frame, analysis: Analysis) -> Frame:
    """Only what has a price on the other side too."""
    lost = {(one.provider, one.model) for one in analysis.cost.unpriced}
    pairs = zip(frame["provider"], frame["model"], strict=True)
    kept = [(_text(provider), _text(model)) not in lost for provider, model in pairs]
    return frame.loc[np.asarray(kept, dtype=bool)]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _not_beaten(hosted: Sequence[Hosted]) -> list[Hosted]:
    """Of ways in the order of cost, those that are faster than all before them."""
    kept: list[Hosted] = []
    for one in hosted:
        if not kept or one.fleet.tpot_seconds < kept[-1].fleet.tpot_seconds:
            kept.append(one)
    return kept


def _way(
    hosted: Hosted,
    series: LoadSeries,
    ratio: TextRatio,
    options: HostingOptions,
    bill_usd: Decimal,
    as_of: date,
) -> Way:
    fleet, price = hosted.fleet, hosted.price
    cost = _always_on(hosted, options, fleet.replicas)
    band = hosted.band
    low = _always_on(hosted, options, band.low).usd
    high = None if band.high is None else _always_on(hosted, options, band.high).usd
    deployment = fleet.deployment
    return Way(
        hosted=hosted,
        cost=cost,
        costs=tuple(_other_costs(hosted, options, as_of)),
        low_usd=low,
        high_usd=high,
        cheap_usd=_at(hosted, options, price.low),
        dear_usd=_at(hosted, options, price.high),
        prices=phase_prices(fleet, cost, series),
        even=break_even(fleet, cost, price, bill_usd),
        by_volume=tuple(
            (volume, usd) for volume in VOLUMES if (usd := usd_at(fleet, cost, price, volume)) is not None
        ),
        answer=_answer(low, high, bill_usd),
        token_ratio=ratio.tokens,
        tokens_measured=ratio.measured,
        quantised=is_quantised(deployment.model, deployment.precision),
    )


def _always_on(hosted: Hosted, options: HostingOptions, replicas: int) -> FleetCost:
    """The money of so many replicas, all of them always on."""
    fleet = replace(
        hosted.fleet,
        replicas=replicas,
        replica_hours=float((replicas + hosted.fleet.redundancy) * hosted.fleet.hours),
    )
    if hosted.price.kind == "owned" and options.purchase is not None:
        terms = ownership(fleet.deployment.accelerator, options.purchase)
        owned = fleet_cost(fleet, terms, overheads=options.overheads)
        assert owned is not None  # noqa: S101  (what is owned is held by any machine)
        return owned
    cost = fleet_cost(fleet, hosted.price, overheads=options.overheads)
    if cost is None:  # the search leaves out what no machine holds
        raise AssertionError
    return cost


def _at(hosted: Hosted, options: HostingOptions, usd: Decimal) -> Decimal:
    return _always_on(
        replace(hosted, price=replace(hosted.price, usual=usd)), options, hosted.fleet.replicas
    ).usd


def _other_costs(hosted: Hosted, options: HostingOptions, as_of: date) -> Iterator[FleetCost]:
    """The same fleet taken otherwise, and with replicas by the hour."""
    fleet, chip = hosted.fleet, hosted.fleet.deployment.accelerator
    if hosted.price.scales and (
        scaled := fleet_cost(fleet, hosted.price, scaled=True, overheads=options.overheads)
    ):
        yield scaled
    for kind in PRICE_KINDS:
        if kind == hosted.price.kind or options.usd_per_gpu_hour is not None:
            continue
        other: GpuPrice | None = gpu_price(chip.id, options.segment, kind, as_of=as_of)
        if other is not None and (cost := fleet_cost(fleet, other, overheads=options.overheads)):
            yield cost
    if options.purchase is not None and hosted.price.kind != "owned":
        owned = fleet_cost(fleet, ownership(chip, options.purchase), overheads=options.overheads)
        if owned is not None:
            yield owned


def _is_sure(hosted: Hosted, options: HostingOptions, bill_usd: Decimal) -> bool:
    """Whether even the dear end of the band is below the bill."""
    high = hosted.band.high
    return high is not None and _always_on(hosted, options, high).usd < bill_usd


def _answer(low: Decimal, high: Decimal | None, bill: Decimal) -> Answer:
    if bill <= 0:
        return Answer.UNKNOWN
    if high is not None and high < bill:
        return Answer.HOST
    return Answer.STAY if low >= bill else Answer.STRADDLES
