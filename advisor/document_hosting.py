"""How the comparison with own accelerators fills the JSON document."""

from decimal import Decimal
from typing import Final

from advisor.document_host import (
    HostComparisonDoc,
    HostCostDoc,
    HostEvenDoc,
    HostPriceDoc,
    HostRefusedDoc,
    HostSideDoc,
    HostTargetsDoc,
    HostTokensDoc,
    HostWayDoc,
)
from advisor.hosting import Answer, Comparison, SelfHosting, Way
from advisor.hosting_words import verdict
from pricing.fleet_money import UTILISATIONS, BreakEven, FleetCost
from pricing.units import MILLISECONDS_PER_SECOND

_MILLIONTH: Final = Decimal("0.000001")
_DIGITS: Final = 6


def hosting_docs(found: SelfHosting) -> list[HostWayDoc]:
    """Return the ways to host what is left: the cheapest of each model, cheapest first, then what is dearer and faster."""
    if found.left is None:
        return []
    ways = found.left.ways
    named = [way.hosted.fleet.deployment for way in ways]
    faster = [one for one in found.left.fastest if one.hosted.fleet.deployment not in named]
    return [_way(one) for one in (*ways, *faster)]


def comparison_doc(found: SelfHosting) -> HostComparisonDoc:
    """Return the comparison."""
    left, targets = found.left, found.options.targets
    return HostComparisonDoc(
        answer=str(Answer.UNKNOWN if left is None else left.answer),
        verdict=verdict(found),
        today=_side(found.today),
        after_levers=_side(left),
        targets=HostTargetsDoc(
            ttft_ms=targets.ttft_ms,
            tpot_ms=targets.tpot_ms,
            percentile=targets.percentile,
            redundancy=targets.redundancy,
        ),
        chosen_by=found.chosen_by,
        workloads=list(found.options.workloads),
        assumptions=list(found.assumptions),
    )


def _side(side: Comparison | None) -> HostSideDoc | None:
    if side is None:
        return None
    load, best = side.load, side.best
    return HostSideDoc(
        api_usd=_usd(side.bill_usd),
        answer=str(side.answer),
        best=None if best is None else _way(best),
        hours=load.hours,
        busy_minutes=load.busy_minutes,
        requests=load.requests,
        computed_tokens=load.computed_tokens,
        cached_tokens=load.cached_tokens,
        output_tokens=load.output_tokens,
        requests_in_busiest_minute=load.peak_requests,
        requests_in_minute_at_percentile=load.percentile_requests,
        spread_evenly=load.spread,
        refused=[HostRefusedDoc(model=one.model, reason=one.reason) for one in side.refused],
        deployments_that_fit=side.looked_at,
        deployments_on_target=side.feasible,
    )


def _way(way: Way) -> HostWayDoc:
    fleet, price, prices = way.hosted.fleet, way.hosted.price, way.prices
    deployment, listed, factor = fleet.deployment, price.listed, way.cost.month_factor
    return HostWayDoc(
        model=way.model,
        accelerator=deployment.accelerator.id,
        layout=deployment.layout.words,
        precision=deployment.precision,
        engine=deployment.variant or deployment.engine,
        narrower_than_published=way.quantised,
        replicas=fleet.replicas,
        redundancy=fleet.redundancy,
        replicas_at_peak=fleet.peak_replicas,
        gpus=way.cost.gpus,
        requests_in_flight=round(fleet.concurrency),
        ttft_ms=_rounded(fleet.ttft_seconds * MILLISECONDS_PER_SECOND),
        tpot_ms=_rounded(fleet.tpot_seconds * MILLISECONDS_PER_SECOND),
        usd={"low": _usd(way.low_usd), "expected": _usd(way.cost.usd), "high": _maybe(way.high_usd)},
        usd_per_month={
            "low": _usd(way.low_usd * factor),
            "expected": _usd(way.cost.usd_per_month),
            "high": _maybe(None if way.high_usd is None else way.high_usd * factor),
        },
        usd_at_prices={"low": _usd(way.cheap_usd), "high": _usd(way.dear_usd)},
        gpu_hour=HostPriceDoc(
            low_usd=_usd(price.low),
            usual_usd=_usd(price.usual),
            high_usd=_usd(price.high),
            segments=[] if listed is None else list(listed.segments),
            providers=[] if listed is None else list(listed.providers),
            oldest=None if listed is None else listed.oldest.isoformat(),
            newest=None if listed is None else listed.newest.isoformat(),
        ),
        utilisation_ratio=_rounded(way.cost.utilisation_ratio),
        prefill_ratio=_rounded(fleet.prefill_share),
        late_request_ratio=_rounded(fleet.late_ratio),
        costs=[_cost(one) for one in (way.cost, *way.costs)],
        usd_per_mtok=HostTokensDoc(
            computed_input=_maybe(prices.computed),
            cached_input=_maybe(prices.cached),
            output=_maybe(prices.output),
            computed_input_busy=_maybe(prices.computed_busy),
            cached_input_busy=_maybe(prices.cached_busy),
            output_busy=_maybe(prices.output_busy),
            blended=_usd(prices.blended),
        ),
        output_usd_per_mtok_at_utilisation={}
        if prices.output_busy is None
        else {f"{ratio}": _usd(prices.output_busy / ratio) for ratio in UTILISATIONS},
        break_even=_even(way.even),
        answer=str(way.answer),
        token_ratio=_rounded(way.token_ratio),
        token_ratio_measured=way.tokens_measured,
    )


def _cost(one: FleetCost) -> HostCostDoc:
    return HostCostDoc(
        kind=one.kind,
        replicas_by_the_hour=one.scaled,
        gpus=one.gpus,
        usd_per_gpu_hour=_maybe(one.usd_per_gpu_hour),
        usd=_usd(one.usd),
        usd_per_month=_usd(one.usd_per_month),
        busy_usd=_usd(one.bill.busy_usd),
        idle_usd=_usd(one.bill.idle_usd),
        overheads_usd={name: _usd(usd) for name, usd in one.bill.overheads_usd},
        utilisation_ratio=_rounded(one.utilisation_ratio),
    )


def _even(even: BreakEven) -> HostEvenDoc:
    return HostEvenDoc(
        volume_ratio=None if even.volume_ratio is None else _rounded(even.volume_ratio),
        utilisation_ratio=None if even.utilisation_ratio is None else _rounded(even.utilisation_ratio),
    )


def _usd(amount: Decimal) -> str:
    """An estimate: millionths of a dollar are exact enough."""
    text = format(amount.quantize(_MILLIONTH), "f")
    return text.rstrip("0").rstrip(".")


def _maybe(amount: Decimal | None) -> str | None:
    return None if amount is None else _usd(amount)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
