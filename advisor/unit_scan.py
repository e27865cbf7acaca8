"""What single requests, sessions and users cost, asked of the engine: sums and quantiles, never a row in Python.

A request's cost is its tokens times the mean rates of the cells that it lies in: exact but for an exchange rate that changes
from day to day.
"""

from dataclasses import dataclass
from typing import Any, Final

import ibis
import numpy as np
import pandas as pd

from advisor import slices as cut
from pricing.book import PriceBook
from pricing.frame import PricedCube
from pricing.rules import minute_of_week
from workloads.cube import rate_cells
from workloads.cube_columns import column
from workloads.grouping import Grouping
from workloads.rate_cuts import RateCuts

Connection = Any
Expr = Any

MOST_RECORDS: Final = 1_000_000
"""Records beyond which single requests are not looked at: it would take longer than all the rest."""
_KEYS: Final = ("provider", "model", "service_tier", "region", "cell_epoch", "cell_context", "cell_clock")
_TEXTS: Final = ("provider", "model", "service_tier", "region")
_QUANTILES: Final = (0.5, 0.95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """What one of some kind costs; estimates in floats.

    Attributes:
        count: How many there are.
        mean: Their mean.
        median: Half cost less.
        p95: Nineteen of twenty cost less.
    """

    count: int
    mean: float
    median: float
    p95: float


def spreads(connection: Connection, records: Expr, priced: PricedCube, book: PriceBook) -> dict[str, Spread]:
    """Return the spread of cost by ``request``, ``session`` and ``user``, of those that the log tells apart.

    Args:
        connection: The engine that holds the records.
        records: Records of the asked days.
        priced: Their cube, in the currency of the report.
        book: Prices: where rates change.
    """
    frame = priced.frame
    known = frame[(frame["sheet"] >= 0) & ~frame["bucketed"].astype(bool)]
    if known.empty or int(frame["records"].sum()) > MOST_RECORDS:
        return {}
    cuts = _cuts(known, book)
    rates = _rates(known, cuts, priced.exponent)
    meters = [str(meter) for meter in cut.meters_in(frame) if f"rate_{meter}" in rates.columns]
    costed = _costed(records, cuts, rates, meters)
    kinds = {"request": costed}
    for name in ("session", "user"):
        if name in records.columns:
            own = costed.filter(costed[name].notnull())
            kinds[name] = own.group_by(name).agg(cost=own.cost.sum())
    asked = [
        part.agg(
            kind=ibis.literal(kind),
            number=part.count(),
            mean=part.cost.mean(),
            spread=part.cost.quantile(list(_QUANTILES)),
        )
        for kind, part in kinds.items()
    ]
    found = connection.execute(ibis.union(*asked) if len(asked) > 1 else asked[0])
    return {
        str(row.kind): Spread(
            count=int(row.number), mean=float(row.mean), median=float(row.spread[0]), p95=float(row.spread[1])
        )
        for row in found.itertuples(index=False)
        if row.number
    }


def _cuts(known: pd.DataFrame, book: PriceBook) -> RateCuts:
    named = known[["provider", "model"]].drop_duplicates()
    pairs = [
        (provider if isinstance(provider, str) else None, str(model))
        for provider, model in named.itertuples(index=False, name=None)
    ]
    keys = book.rate_keys(pairs)
    return RateCuts(
        breakpoints=keys.breakpoints,
        context_thresholds=keys.context_thresholds,
        clock_edges=keys.clock_edges,
        clocked=keys.clocked,
        regional=keys.regional,
        per_call=keys.per_call,
        api_keys=(),
    )


def _rates(known: pd.DataFrame, cuts: RateCuts, exponent: int) -> pd.DataFrame:
    """Return the mean rate of each meter by cell; cells of the cube are at least as fine as these."""
    at = known["price_at"]
    epoch = sum(((at >= pd.Timestamp(edge)).astype("int64") for edge in cuts.breakpoints), start=0)
    size = known["context_tokens"].fillna(0)
    band = sum(((size > edge).astype("int64") for edge in cuts.context_thresholds), start=0)
    clocked = {model for _, model in cuts.clocked}
    clock = [
        sum(minute_of_week(one.to_pydatetime()) >= edge for edge in cuts.clock_edges)
        if model in clocked and not pd.isna(one)
        else 0
        for one, model in zip(at, known["model"], strict=True)
    ]
    keyed = pd.DataFrame(
        {
            **{name: known[name].fillna("") for name in _TEXTS},
            "cell_epoch": np.broadcast_to(epoch, len(known)).astype("int64"),
            "cell_context": np.broadcast_to(band, len(known)).astype("int64"),
            "cell_clock": np.array(clock, dtype="int64"),
        }
    )
    meters = [str(meter) for meter in cut.meters_in(known) if f"cost_{meter}" in known.columns]
    for meter in meters:
        keyed[meter] = known[meter].fillna(0).astype(float)
        keyed[f"cost_{meter}"] = known[f"cost_{meter}"].astype(float) * 10.0**-exponent
    sums = keyed.groupby(list(_KEYS), as_index=False).sum()
    for meter in meters:
        sums[f"rate_{meter}"] = (sums[f"cost_{meter}"] / sums[meter]).where(sums[meter] > 0, 0.0)
    return sums[[*_KEYS, *(f"rate_{meter}" for meter in meters)]]


def _costed(records: Expr, cuts: RateCuts, rates: pd.DataFrame, meters: list[str]) -> Expr:
    """Return the single requests that have a price, with what each costs."""
    cells = rate_cells(records, Grouping((), ""), cuts)
    single = cells.filter(~cells.bucketed & ~cells.charge_only)
    renamed = ibis.memtable(rates.rename(columns={key: f"their_{key}" for key in _KEYS}))
    same = [
        (ibis.coalesce(single[key], "") if key in _TEXTS else single[key].cast("int64"))
        == renamed[f"their_{key}"]
        for key in _KEYS
    ]
    joined = single.join(renamed, same)
    cost = ibis.literal(0.0)
    for meter in meters:
        if meter in single.columns:
            cost = cost + ibis.coalesce(joined[meter].cast("float64"), 0.0) * joined[f"rate_{meter}"]
    return joined.select(cost=cost, session=column(joined, "session"), user=column(joined, "user"))
