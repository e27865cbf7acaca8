"""Why a bill changed from one period to the next: a bridge whose terms add up to the change to the last digit.

How a change is split says ``variance_terms``; here the cube of a log is cut into the cells that it is split by.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from advisor import slices as cut
from advisor.variance_terms import Array, Bridge, Cells, by_tokens, exact_bridge, terms_of, total
from pricing.frame import PricedCube
from pricing.meters import Meter

MOST_WORKLOADS: Final = 100
"""Workloads that are told one by one."""
OTHERS: Final = "(other workloads)"
_KEYS: Final = ("workload", "provider_resolved", "model_resolved", "tier")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridges:
    """A change in all and by workload.

    Attributes:
        whole: Everything.
        workloads: Largest change first, the hundred largest; the others are one, the last. Their terms add up to those of
            the whole.
        counts_requests: Whether volume is requests; else the log does not count them, and it is tokens.
        requests: Of both periods, of what has a price.
        unpriced: Records of both periods that are left out because they have no price.
    """

    whole: Bridge
    workloads: tuple[Bridge, ...]
    counts_requests: bool
    requests: tuple[int, int]
    unpriced: int


def bridges(priced: PricedCube, before: Array, after: Array) -> Bridges:
    """Return what a change is made of.

    Args:
        priced: The cube.
        before: Which of its rows are of the earlier period.
        after: Which are of the later one.
    """
    frame = priced.frame
    known = (frame["sheet"] >= 0).to_numpy()
    sides = (before & known, after & known)
    meters = [meter for meter in cut.meters_in(frame) if f"cost_{meter}" in frame.columns]
    wanted = [
        *_KEYS[:3],
        "service_tier",
        "requests",
        *map(str, meters),
        *(f"cost_{meter}" for meter in meters),
    ]
    rows = frame.loc[sides[0] | sides[1], wanted]
    side = sides[1][sides[0] | sides[1]].astype(int)
    keyed = rows.assign(tier=cut.standard_tiers(rows["service_tier"]))
    groups, labels = _codes(keyed, _KEYS)
    names = labels["workload"].astype(str)
    workload, workloads = pd.factorize(names)
    model = _codes(labels, _KEYS[:3])[0]
    cells = _cells(keyed, (side, groups), (workload, model), meters, float(10**priced.exponent))
    counted = not (rows["requests"].isna().any() or bool(((cells.requests == 0) & cells.costs.any(2)).any()))
    if not counted:
        cells = by_tokens(cells, meters)
    terms = _by_workload(terms_of(cells, meters), workload, len(workloads))
    exact = _exact_costs(keyed, side, workload[groups], len(workloads), meters)
    made = [
        exact_bridge(name, priced.to_usd(before), priced.to_usd(after), own)
        for name, before, after, own in _gathered([str(name) for name in workloads], exact, terms)
    ]
    return Bridges(
        whole=total("", made),
        workloads=tuple(made),
        counts_requests=counted,
        requests=(_requests(rows, side == 0), _requests(rows, side == 1)),
        unpriced=int(frame["records"][(before | after) & ~known].sum()),
    )


def _gathered(
    names: list[str], exact: list[list[int]], terms: Array
) -> Iterator[tuple[str, int, int, Array]]:
    """Yield name, both costs and terms of the workloads that changed most; the others come last, as one."""
    before, after = exact
    order = sorted(range(len(names)), key=lambda place: (-abs(after[place] - before[place]), names[place]))
    for place in order[:MOST_WORKLOADS]:
        yield names[place], before[place], after[place], terms[place]
    rest = order[MOST_WORKLOADS:]
    if rest:
        sums = (sum(side[place] for place in rest) for side in exact)
        yield OTHERS, next(sums), next(sums), terms[rest].sum(axis=0)


def _requests(rows: pd.DataFrame, side: Array) -> int:
    return int(rows["requests"].fillna(0)[side].sum())


def _codes(frame: pd.DataFrame, keys: Sequence[str]) -> tuple[Array, pd.DataFrame]:
    """Return the number of each row's group, and the keys of the groups."""
    codes: Array = np.zeros(len(frame), dtype=np.int64)
    for key in keys:
        values, names = pd.factorize(frame[key], use_na_sentinel=False)
        # Numbered anew after each column, so that the product of the numbers stays small.
        codes = np.unique(codes * max(len(names), 1) + values, return_inverse=True)[1]
    first = np.unique(codes, return_index=True)[1]
    return codes, frame[list(keys)].iloc[first].reset_index(drop=True)


def _cells(
    rows: pd.DataFrame, at: tuple[Array, Array], names: tuple[Array, Array], meters: list[Meter], scale: float
) -> Cells:
    size = (2, len(names[0]))
    requests = np.zeros(size)
    np.add.at(requests, at, rows["requests"].fillna(0).to_numpy(dtype=float))
    units, costs = np.zeros((*size, len(meters))), np.zeros((*size, len(meters)))
    for place, meter in enumerate(meters):
        np.add.at(units[:, :, place], at, rows[str(meter)].fillna(0).to_numpy(dtype=float))
        np.add.at(costs[:, :, place], at, rows[f"cost_{meter}"].to_numpy(dtype=float) / scale)
    return Cells(names[0], names[1], requests, units, costs)


def _exact_costs(
    rows: pd.DataFrame, side: Array, workload: Array, count: int, meters: list[Meter]
) -> list[list[int]]:
    sums = [[0] * count, [0] * count]
    whole: Array = np.zeros(len(rows), dtype=object)
    for meter in meters:
        whole = whole + rows[f"cost_{meter}"].to_numpy(dtype=object)
    for one, place, cost in zip(side, workload, whole, strict=True):
        sums[one][place] += int(cost)
    return sums


def _by_workload(terms: Array, workload: Array, count: int) -> Array:
    sums = np.zeros((count, terms.shape[1]))
    np.add.at(sums, workload, terms)
    return sums
