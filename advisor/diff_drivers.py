"""What a difference between two documents is made of: volume, model mix, tier, tokens a request, cache share and price.

The split of ``variance_terms`` over all usage as one workload: documents keep sums by model and tier, not by workload too.
"""

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np

from advisor.document_bill import TierDoc
from advisor.variance_terms import Bridge, Cells, by_tokens, exact_bridge, terms_of
from pricing.charges import exact_sum
from pricing.meters import Meter

_Key = tuple[str | None, str, str]
_Model = tuple[str | None, str]
_EVERYTHING: Final = ""


def drivers(
    before: Sequence[TierDoc],
    after: Sequence[TierDoc],
    compared: Collection[_Model],
    costs: tuple[Decimal, Decimal],
) -> Bridge | None:
    """Return what the change is made of; None where the documents do not hold what it takes.

    Args:
        before: Tiers of the earlier document.
        after: Of the later one.
        compared: Provider and name of the models whose cost is known on both sides.
        costs: What these cost on both sides.
    """
    sides = [[one for one in side if (one.provider, one.model) in compared] for side in (before, after)]
    if tuple(map(_total, sides)) != costs:
        return None
    keys = list(dict.fromkeys(_key(one) for side in sides for one in side))
    meters = [
        meter for meter in Meter if any(str(meter) in one.cost_by_meter for side in sides for one in side)
    ]
    if not keys or not meters:
        return None
    cells = _cells(sides, keys, meters)
    if ((cells.costs != 0) & (cells.units <= 0)).any():
        return None  # money without units: what a unit costs is not known
    counted = all(
        one.requests is not None and (one.requests or not _total([one])) for side in sides for one in side
    )
    terms = terms_of(cells if counted else by_tokens(cells, meters), meters)
    return exact_bridge(_EVERYTHING, *costs, terms.sum(axis=0))


def _cells(sides: Sequence[Sequence[TierDoc]], keys: Sequence[_Key], meters: Sequence[Meter]) -> Cells:
    places: Mapping[_Key, int] = {key: place for place, key in enumerate(keys)}
    models = list(dict.fromkeys(key[:2] for key in keys))
    shape = (len(sides), len(keys))
    requests: Any = np.zeros(shape)
    units: Any = np.zeros((*shape, len(meters)))
    costs: Any = np.zeros((*shape, len(meters)))
    for side, tiers in enumerate(sides):
        for one in tiers:
            at = side, places[_key(one)]
            requests[at] = one.requests or 0
            units[at] = [one.tokens.get(str(meter), 0) for meter in meters]
            costs[at] = [float(one.cost_by_meter.get(str(meter), "0")) for meter in meters]
    return Cells(
        workload=np.zeros(len(keys), dtype=np.int64),
        model=np.array([models.index(key[:2]) for key in keys]),
        requests=requests,
        units=units,
        costs=costs,
    )


def _key(one: TierDoc) -> _Key:
    return one.provider, one.model, one.service_tier


def _total(tiers: Sequence[TierDoc]) -> Decimal:
    return exact_sum(Decimal(amount) for one in tiers for amount in one.cost_by_meter.values())
