"""The split of a change: each cost is a product, and each factor of it gets its part.

A cost is requests x share of a model x share of a service tier x tokens a request x share of a kind of token x price of it,
for each workload, model, tier and meter. The change of each such product is split by the log-mean Divisia method (Ang 2005,
LMDI-I): each factor gets the logarithmic mean of both costs times the logarithm of its own change. The order of factors does
not matter, and the terms add up. Where a factor is zero on one side its term is the limit: the whole change belongs to the
first factor, in the order above, that is zero. A workload that one side does not have is a term of its own.

Terms are rounded to 12 decimals; what that leaves goes to the largest term of its workload, so that sums are exact.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from enum import StrEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pricing.charges import exact_sum
from pricing.meters import INPUT_METERS, OUTPUT_METERS, Meter

Array = npt.NDArray[Any]

_PLACES: Final = Decimal("1e-12")
_WIDE: Final = Context(prec=400)
_ZERO: Final = Decimal(0)


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


@dataclass(frozen=True, slots=True)
class Cells:
    """Both periods as arrays: ``[side, group]`` and ``[side, group, meter]``; a group is a workload, model and tier."""

    workload: Array
    model: Array
    requests: Array
    units: Array
    costs: Array


def total(name: str, parts: Sequence[Bridge]) -> Bridge:
    """Return the sum of bridges, term by term."""
    return Bridge(
        name=name,
        before=exact_sum(one.before for one in parts),
        after=exact_sum(one.after for one in parts),
        terms={driver: exact_sum(one.terms[driver] for one in parts) for driver in Driver},
    )


def by_tokens(cells: Cells, meters: list[Meter]) -> Cells:
    """Return cells whose volume is tokens, for logs that do not count requests."""
    tokens = [place for place, meter in enumerate(meters) if meter.is_tokens]
    volume = np.maximum(cells.units[:, :, tokens].sum(2), 1e-9)
    return Cells(cells.workload, cells.model, volume, cells.units, cells.costs)


def terms_of(cells: Cells, meters: list[Meter]) -> Array:
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


def exact_bridge(name: str, before: Decimal, after: Decimal, terms: Array) -> Bridge:
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
