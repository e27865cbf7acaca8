"""What came of requests, and what they cost: of logs that say whether an outcome was accepted."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from pricing.frame import PricedCube


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Outcomes of what has a price.

    Attributes:
        accepted: Outcomes that were accepted.
        told: Requests that say what came of them.
        requests: All requests of the workloads in which some say it.
        told_cost: Cost of the requests that say it.
        cost: Cost of all of those workloads: a task may take several requests, of which one says what came of it.
    """

    accepted: int
    told: int
    requests: int
    told_cost: Decimal
    cost: Decimal


def outcomes(priced: PricedCube) -> Outcomes | None:
    """Return what came of requests; None where the log does not say, or nothing that has a price was accepted."""
    frame = priced.frame
    if "accepted" not in frame.columns:
        return None
    known = frame[frame["sheet"] >= 0]
    tells: Any = known["accepted"].notna().to_numpy()
    accepted = int(known["accepted"].sum())
    if not accepted:
        return None
    theirs = known["workload"].isin(set(known["workload"][tells])).to_numpy()
    costs = _costs(known)
    requests = known["requests"].fillna(0).to_numpy(dtype="int64")
    return Outcomes(
        accepted=accepted,
        told=int(requests[tells].sum()),
        requests=int(requests[theirs].sum()),
        told_cost=priced.to_usd(int(costs[tells].sum())),
        cost=priced.to_usd(int(costs[theirs].sum())),
    )


def _costs(rows: pd.DataFrame) -> Any:
    whole: Any = np.zeros(len(rows), dtype=object)
    for name in rows.columns:
        if name.startswith("cost_"):
            whole = whole + rows[name].to_numpy(dtype=object)
    return whole
