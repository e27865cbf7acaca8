"""What is asked of the cells of a part of the cube beside its sums of tokens and money: in one pass, however many parts."""

from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from advisor import slices as cut
from advisor.analysis import Slice
from workloads.phase_mix import FEW_REQUESTS

_NOTABLE_SHARE: Final = 0.05
"""Share of tokens without a price from which a class by cost is in doubt."""
_SUMMED: Final = ("lost_tokens", "tokens", "cache_input_known", "cache_read_known", "cache_records")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts of a part of the cube.

    Attributes:
        bucketed: Whether some of it is buckets.
        lost_tokens: Tokens without a price.
        tokens: All of them.
        cache_input_known: Prompt tokens of records that report a cache count.
        cache_read_known: Of these, read from a cache.
        cache_records: How many records do.
        first: Instant of its first request; NaT without times.
        last: Of its last one.
    """

    bucketed: bool
    lost_tokens: float
    tokens: float
    cache_input_known: float
    cache_read_known: float
    cache_records: float
    first: Any
    last: Any


def facts(frame: pd.DataFrame, key: str) -> dict[Any, Facts]:
    """Return the facts of every value of a column.

    Args:
        frame: A priced cube.
        key: The column.
    """
    counts = [frame[str(meter)].astype("float64").fillna(0) for meter in cut.meters_in(frame)]
    tokens = sum(counts, pd.Series(0.0, index=frame.index))
    table = pd.DataFrame(
        {
            "bucketed": frame["bucketed"].astype(bool),
            "tokens": tokens,
            "lost_tokens": tokens.where(frame["sheet"] == cut.UNPRICED, 0.0),
            **{name: frame[name].astype("float64").fillna(0) for name in _SUMMED[2:]},
            "first": frame["price_at"],
            "last": frame["last_at"],
        }
    )
    found = table.groupby(frame[key], dropna=False, sort=False, observed=True).agg(
        {"bucketed": "max", **dict.fromkeys(_SUMMED, "sum"), "first": "min", "last": "max"}
    )
    rows: dict[Any, dict[Any, Any]] = found.to_dict("index")
    return {name: Facts(**{str(field): value for field, value in row.items()}) for name, row in rows.items()}


def weakness(part: Slice, known: Facts) -> str | None:
    """Return why the class of a part is not to be trusted, or None."""
    reasons: list[str] = []
    if known.bucketed:
        reasons.append("made of buckets: sizes of single requests are not known")
    elif part.requests < FEW_REQUESTS:
        reasons.append(f"only {part.requests} request{'s' if part.requests != 1 else ''}")
    if known.lost_tokens > _NOTABLE_SHARE * known.tokens:
        reasons.append("part of it could not be priced")
    return "; ".join(reasons) or None


def of_all(frame: pd.DataFrame) -> Facts:
    """Return the facts of a whole cube, which is not empty."""
    return next(iter(facts(frame.assign(all_of_it=0), "all_of_it").values()))
