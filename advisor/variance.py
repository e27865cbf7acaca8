"""Why a bill changed from one period to the next: a bridge whose terms add up to the change to the last digit.

A cost is requests x share of a model x share of a service tier x tokens a request x share of a kind of token x price of it,
for each workload, model, tier and meter. The change of each such product is split by the log-mean Divisia method (Ang 2005,
LMDI-I): each factor gets the logarithmic mean of both costs times the logarithm of its own change. The order of factors does
not matter, and the terms add up. Where a factor is zero on one side its term is the limit: the whole change belongs to the
first factor, in the order above, that is zero. A workload that one side does not have is a term of its own.

Terms are rounded to 12 decimals; what that leaves goes to the largest term of its workload, so that sums are exact.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from enum import StrEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from advisor import slices as cut
from pricing.charges import exact_sum
from pricing.frame import PricedCube
from pricing.meters import INPUT_METERS, OUTPUT_METERS, Meter

Array = npt.NDArray[Any]

_PLACES: Final = Decimal("1e-12")
_WIDE: Final = Context(prec=400)
_ZERO: Final = Decimal(0)
_STANDARD: Final = "standard"
MOST_WORKLOADS: Final = 100
"""Workloads that are told one by one."""
OTHERS: Final = "(other workloads)"
_KEYS: Final = ("workload", "provider_resolved", "model_resolved", "tier")


class Driver(StrEnum):
    """What a bill changes by."""

    VOLUME = "volume"
    MODEL_MIX = "model_mix"
    TIER = "service_tier"
    TOKENS = "tokens_per_request"
    CACHE = "cache_share"
    PRICE = "price"
    NEW = "new_workloads"
    ENDED = "ended_workloads"


FACTORS: Final = tuple(Driver)[:6]
"""In the order in which a zero is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """What a change is made of.

    Attributes:
        name: Of the workload; empty for all of them.
        before: Cost of the earlier period, of what has a price.
        after: Of the later one.
        terms: Every driver; they add up to the change exactly.
    """

    name: str
    before: Decimal
    after: Decimal
    terms: Mapping[Driver, Decimal]

    @property
    def change(self) -> Decimal:
        """After less before."""
        return exact_sum((self.after, -self.before))


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


@dataclass(frozen=True, slots=True)
class _Cells:
    """Both periods as arrays: ``[side, group]`` and ``[side, group, meter]``; a group is a workload, model and tier."""

    workload: Array
    model: Array
    requests: Array
    units: Array
    costs: Array


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
    tiers = rows["service_tier"].fillna(_STANDARD).replace({"default": _STANDARD, "": _STANDARD})
    keyed = rows.assign(tier=tiers)
    groups, labels = _codes(keyed, _KEYS)
    names = labels["workload"].astype(str)
    workload, workloads = pd.factorize(names)
    model = _codes(labels, _KEYS[:3])[0]
    cells = _cells(keyed, (side, groups), (workload, model), meters, float(10**priced.exponent))
    counted = not (rows["requests"].isna().any() or bool(((cells.requests == 0) & cells.costs.any(2)).any()))
    if not counted:
        tokens = [place for place, meter in enumerate(meters) if meter.is_tokens]
        cells = _Cells(
            workload, model, np.maximum(cells.units[:, :, tokens].sum(2), 1e-9), cells.units, cells.costs
        )
    terms = _by_workload(_terms(cells, meters), workload, len(workloads))
    exact = _exact_costs(keyed, side, workload[groups], len(workloads), meters)
    made = [
        _bridge(name, priced.to_usd(before), priced.to_usd(after), own)
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


def total(name: str, parts: Sequence[Bridge]) -> Bridge:
    """Return the sum of bridges, term by term."""
    return Bridge(
        name=name,
        before=exact_sum(one.before for one in parts),
        after=exact_sum(one.after for one in parts),
        terms={driver: exact_sum(one.terms[driver] for one in parts) for driver in Driver},
    )


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
) -> _Cells:
    size = (2, len(names[0]))
    requests = np.zeros(size)
    np.add.at(requests, at, rows["requests"].fillna(0).to_numpy(dtype=float))
    units, costs = np.zeros((*size, len(meters))), np.zeros((*size, len(meters)))
    for place, meter in enumerate(meters):
        np.add.at(units[:, :, place], at, rows[str(meter)].fillna(0).to_numpy(dtype=float))
        np.add.at(costs[:, :, place], at, rows[f"cost_{meter}"].to_numpy(dtype=float) / scale)
    return _Cells(names[0], names[1], requests, units, costs)


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


def _terms(cells: _Cells, meters: list[Meter]) -> Array:
    """Return the terms by group, in the order of ``Driver``."""
    workload = _summed(cells.requests, cells.workload)
    model = _summed(cells.requests, cells.model)
    each = cells.units / np.maximum(cells.requests, 1e-300)[:, :, None]
    sides = [_side(meter, meters) for meter in meters]
    per_side = np.stack([each[:, :, one].sum(2) for one in sides], axis=2)
    # Of answers, kinds of tokens are part of how many there are; of prompts they are what is cached.
    split = np.array([meter in INPUT_METERS for meter in meters])
    tokens = np.where(split, per_side, each)
    wide = np.ones_like(each)
    factors = np.stack(
        [
            wide * workload[:, :, None],
            wide * _ratio(model, workload)[:, :, None],
            wide * _ratio(cells.requests, model)[:, :, None],
            tokens,
            np.where(split, _ratio(each, per_side), 1.0),
            _ratio(cells.costs, cells.units),
        ]
    )
    before, after = cells.costs
    both = (before > 0) & (after > 0)
    change = after - before
    near = np.isclose(before, after, rtol=1e-9, atol=0.0)
    logs = np.log(np.where(both, after, 1.0)) - np.log(np.where(both, before, 1.0))
    mean = np.where(near, (before + after) / 2, change / np.where(near | (logs == 0), 1.0, logs))
    ratios = np.where(both, factors[:, 1], 1.0) / np.where(both, factors[:, 0], 1.0)
    terms = np.where(both, mean * np.log(ratios), 0.0)
    gone = np.argmax((factors == 0).any(axis=1), axis=0)
    for place in range(len(FACTORS)):
        terms[place] += np.where(~both & (gone == place), change, 0.0)
    found = np.zeros((len(cells.workload), len(Driver)))
    found[:, : len(FACTORS)] = terms.sum(axis=2).T
    for driver, absent in ((Driver.NEW, workload[0] == 0), (Driver.ENDED, workload[1] == 0)):
        found[absent] = 0.0
        found[absent, list(Driver).index(driver)] = change.sum(axis=1)[absent]
    return found


def _side(meter: Meter, meters: list[Meter]) -> list[int]:
    for kinds in (INPUT_METERS, OUTPUT_METERS):
        if meter in kinds:
            return [place for place, other in enumerate(meters) if other in kinds]
    return [meters.index(meter)]


def _summed(requests: Array, codes: Array) -> Array:
    """Return for each group the sum over the groups with its code, on both sides."""
    return np.stack([np.bincount(codes, weights=one)[codes] if len(codes) else one for one in requests])


def _ratio(part: Array, whole: Array) -> Array:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), 0.0)


def _by_workload(terms: Array, workload: Array, count: int) -> Array:
    sums = np.zeros((count, terms.shape[1]))
    np.add.at(sums, workload, terms)
    return sums


def _bridge(name: str, before: Decimal, after: Decimal, terms: Array) -> Bridge:
    """Return a bridge whose terms are decimals and add up exactly."""
    rounded = {
        driver: exact_sum((Decimal(repr(float(term))).quantize(_PLACES, context=_WIDE), _ZERO))
        if term
        else _ZERO
        for driver, term in zip(Driver, terms, strict=True)
    }
    largest = max(rounded, key=lambda driver: abs(rounded[driver]))
    left = exact_sum((after, -before, *(-term for term in rounded.values())))
    rounded[largest] = exact_sum((rounded[largest], left))
    return Bridge(name=name, before=before, after=after, terms=rounded)
