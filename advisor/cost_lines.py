"""The bill line by line: what a day, model, meter, tier and workload cost, exact; exports are made from it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from advisor import slices as cut
from advisor.analysis import Analysis, PriceRow
from advisor.options import AnalyseOptions
from pricing.frame import PricedCube
from pricing.meters import Meter
from pricing.rules import EXACT

if TYPE_CHECKING:
    from advisor.terms import Settled, Terms
    from pricing.currency import FxRates

_ONE: Final = Decimal(1)
_MICRO: Final = Decimal("0.000001")
_PLACES: Final = {meter: place for place, meter in enumerate(Meter)}
_Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """Usage of one day, model, meter, tier and workload at one price.

    ``list_cost == quantity x usd_per_unit x fx_rate`` (a million units where the price is for a million), and
    ``cost == list_cost x multiplier``, both exactly.

    Attributes:
        day: In the report's zone; None without a time.
        provider: Who is paid; None where neither log nor price says.
        model: Name of the price card.
        meter: None: money that the log states, without usage.
        service_tier: Whose price counts.
        region: As logged, where the price depends on it.
        workload: Name.
        quantity: Units of the meter.
        price: Which of ``Analysis.prices``; None where the log states money.
        multiplier: Contracted cost / list cost.
        fx_rate: Units of the report's currency per USD.
        list_cost: At the published price.
        cost: Contracted.
    """

    day: date | None
    provider: str | None
    model: str
    meter: Meter | None
    service_tier: str
    region: str | None
    workload: str
    quantity: int | None
    price: int | None
    multiplier: Decimal
    fx_rate: Decimal
    list_cost: Decimal
    cost: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """What a commitment makes of the cost of some days: effective less contracted cost."""

    name: str
    first: date
    last: date
    amount: Decimal
    """In the report's currency."""
    amount_usd: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLines:
    """All lines: their costs add up to the total of the analysis, and with what is owed to its effective total.

    Attributes:
        lines: By day, provider, model, meter and workload; usage without a price or an exchange rate is in none.
        owed: By commitment and month.
        label_keys: What workloads are named by, as ``--group-by`` calls it; empty: by something else than labels.
    """

    lines: tuple[CostLine, ...]
    owed: tuple[Owed, ...]
    label_keys: tuple[str, ...]


def with_cost_lines(
    analysis: Analysis,
    listed: PricedCube,
    settled: "Settled",
    label_keys: Sequence[str],
    terms: "Terms",
    options: AnalyseOptions,
) -> Analysis:
    """Return the analysis with its lines, where the options ask for them.

    Args:
        analysis: Its prices are what lines refer to.
        listed: The cube at list prices in USD.
        settled: The same after the user's terms.
        label_keys: What workloads are named by.
        terms: The exchange rates.
        options: Whether lines are asked for; the moment of the report, whose rate counts for usage without a day.
    """
    if not options.cost_lines:
        return analysis
    fx = terms.fx if settled.conversion is not None and settled.conversion.currency != "USD" else None
    untimed = options.as_of.astimezone(ZoneInfo(options.period.timezone)).date()
    sums: dict[_Key, list[int]] = {}
    for key, (quantity, listed_cost, net) in _cells(listed, settled.usd, analysis.prices):
        entry = sums.setdefault(key, [0, 0, 0])
        entry[0] += quantity
        entry[1] += listed_cost
        entry[2] += net
    if options.most_cost_lines is not None and len(sums) > options.most_cost_lines:
        return analysis
    lines = [
        line
        for key, (quantity, listed_cost, net) in sums.items()
        if (rate := _rate(fx, key[0], untimed)) is not None
        for line in [_line(key, quantity, listed.to_usd(listed_cost), settled.usd.to_usd(net), rate)]
    ]
    lines += _stated(settled.shown)
    made = CostLines(
        lines=tuple(sorted(lines, key=_order)),
        owed=tuple(_owed(settled, fx)),
        label_keys=tuple(label_keys),
    )
    return replace(analysis, cost_lines=made)


def _cells(
    listed: PricedCube, net: PricedCube, prices: Sequence[PriceRow]
) -> Iterator[tuple[_Key, tuple[int, int, int]]]:
    """Yield what is added up, for every cell and meter with a price: quantity, list cost and contracted cost."""
    frame = listed.frame
    index = {_price_key(row): position for position, row in enumerate(prices)}
    digits = 10 ** (net.exponent - listed.exponent)
    for meter in cut.meters_in(frame):
        used: Any = (frame["sheet"] >= 0) & (frame[str(meter)].fillna(0) != 0)
        rows = np.flatnonzero(used.to_numpy(dtype=bool))
        if not len(rows):
            continue
        numbers = {
            number: index.get((sheet.provider, sheet.model, meter, sheet.rates[meter], sheet.rule_for(meter), sheet.valid_from))
            for number in sorted(set(frame["sheet"].iloc[rows]))
            for sheet in [listed.sheets[number]]
        }  # fmt: skip
        names = ["day", "provider", "provider_resolved", "model_resolved", "region", "workload", "sheet"]
        counts = frame[str(meter)].to_numpy(dtype=object)[rows]
        costs = frame[f"cost_{meter}"].to_numpy(dtype=object)[rows]
        nets = net.frame[f"cost_{meter}"].to_numpy(dtype=object)[rows]
        cells = frame.reindex(columns=names).iloc[rows].itertuples(index=False, name=None)
        for (day, logged, resolved, model, region, workload, number), count, cost, paid in zip(
            cells, counts, costs, nets, strict=True
        ):
            full = int(cost) * digits
            factor = _ONE if paid == full else Decimal(int(paid)) / full
            key = (
                _day(day),
                _text(resolved) or _text(logged),
                _text(model) or "(no model)",
                meter,
                listed.sheets[number].service_tier_applied,
                _text(region),
                str(workload),
                numbers[number],
                factor,
            )
            yield key, (int(count), int(cost), int(paid))


def _price_key(row: PriceRow) -> _Key:
    return row.provider, row.model, row.meter, row.usd_per_unit, row.rule, row.valid_from


def _line(key: _Key, quantity: int, listed: Decimal, net: Decimal, rate: Decimal) -> CostLine:
    day, provider, model, meter, tier, region, workload, price, multiplier = key
    return CostLine(
        day=day,
        provider=provider,
        model=model,
        meter=meter,
        service_tier=tier,
        region=region,
        workload=workload,
        quantity=quantity,
        price=price,
        multiplier=multiplier,
        fx_rate=rate,
        list_cost=EXACT.multiply(listed, rate),
        cost=EXACT.multiply(net, rate),
    )


def _stated(shown: PricedCube) -> Iterator[CostLine]:
    """Yield the money of a cost export; it is in the report's currency already."""
    frame = shown.frame
    if frame.empty or not frame["charge_only"].all():
        return
    sums: dict[_Key, Decimal] = {}
    names = ["day", "provider", "model", "service_tier", "region", "workload", "recorded_cost_usd"]
    for day, provider, model, tier, region, workload, money in frame[names].itertuples(
        index=False, name=None
    ):
        if not pd.isna(money):
            key = (
                _day(day),
                _text(provider),
                _text(model) or "(no model)",
                _text(tier) or "standard",
                _text(region),
                str(workload),
            )
            sums[key] = EXACT.add(sums.get(key, Decimal(0)), Decimal(str(money)))
    for (day, provider, model, tier, region, workload), amount in sums.items():
        yield CostLine(
            day=day,
            provider=provider,
            model=model,
            meter=None,
            service_tier=tier,
            region=region,
            workload=workload,
            quantity=None,
            price=None,
            multiplier=_ONE,
            fx_rate=_ONE,
            list_cost=amount,
            cost=amount,
        )


def _owed(settled: "Settled", fx: "FxRates | None") -> Iterator[Owed]:
    from pricing.currency import mean_rate  # noqa: PLC0415  (only by runs with commitments)

    for use in settled.uses:
        amount: Decimal | None = use.difference_usd
        if fx is not None:
            rate = mean_rate(fx, use.first, use.last)
            amount = None if rate is None else (use.difference_usd * rate).quantize(_MICRO)
        if amount is not None:
            yield Owed(
                name=use.commitment.name,
                first=use.first,
                last=use.last,
                amount=amount,
                amount_usd=use.difference_usd,
            )


def _rate(fx: "FxRates | None", day: date | None, untimed: date) -> Decimal | None:
    """The exchange rate of a day; None where it has none."""
    if fx is None:
        return _ONE
    key = fx.key(day or untimed)
    return None if key is None else fx.rates[key]


def _order(line: CostLine) -> _Key:
    return (
        line.day or date.max,
        line.provider or "",
        line.model,
        -1 if line.meter is None else _PLACES[line.meter],
        line.workload,
        line.service_tier,
        line.region or "",
        -1 if line.price is None else line.price,
        line.multiplier,
    )


@lru_cache(1 << 12)
def _day(value: Any) -> date | None:
    return None if value is None or pd.isna(value) else pd.Timestamp(value).date()


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
