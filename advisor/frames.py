"""Parts of the JSON document as pandas frames: a column a key, money as Decimal, counts as nullable integers.

What is not known is missing (``None``, ``<NA>`` or ``NaT``) and never 0. Every call makes a new frame.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, cast

import pandas as pd
from pydantic import BaseModel

from pricing.meters import Meter

REASONING: Final = "reasoning"
_METERS: Final = (*map(str, Meter), REASONING)
_Columns = Mapping[str, Callable[[Sequence[Any]], Any]]


def _as_they_are(values: Sequence[Any]) -> Any:
    return pd.Series(list(values), dtype=object)


def _money(values: Sequence[Any]) -> Any:
    return _as_they_are([None if value is None else Decimal(value) for value in values])


def _counts(values: Sequence[Any]) -> Any:
    try:
        return pd.Series(pd.array(list(values), dtype="Int64"))
    except OverflowError:  # above 2**63, which Python's integers hold
        return _as_they_are(values)


def _ratios(values: Sequence[Any]) -> Any:
    return pd.Series(pd.array(list(values), dtype="Float64"))


def _days(values: Sequence[Any]) -> Any:
    return pd.Series(pd.to_datetime(list(values)))


def _instants(values: Sequence[Any]) -> Any:
    return pd.Series(pd.to_datetime(list(values), utc=True))


def _sizes(name: str) -> _Columns:
    return {f"{name}.{part}": _ratios for part in ("mean", "p50", "p90", "p99")}


DAYS: Final[_Columns] = {"day": _days, "requests": _counts, "tokens": _counts, "cost": _money}
MODELS: Final[_Columns] = {
    "provider": _as_they_are,
    "model": _as_they_are,
    "requests": _counts,
    "tokens": _counts,
    **dict.fromkeys(("cost", "list_cost", "input_usd_per_mtok", "output_usd_per_mtok"), _money),
    "output_input_price_ratio": _ratios,
}
WORKLOADS: Final[_Columns] = {
    "name": _as_they_are,
    "requests": _counts,
    "tokens": _counts,
    "cost": _money,
    "list_cost": _money,
    "class": _as_they_are,
    "basis": _as_they_are,
    "prefill_share": _ratios,
    "decode_share": _ratios,
    **_sizes("input_tokens"),
    **_sizes("output_tokens"),
    "cache.read_ratio": _ratios,
    **_sizes("latency.ttft_seconds"),
    **_sizes("latency.duration_seconds"),
}
RECOMMENDATIONS: Final[_Columns] = {
    **dict.fromkeys(("lever", "workload", "title", "phase"), _as_they_are),
    **{f"saving.{level}": _money for level in ("low", "expected", "high")},
    **{f"saving_per_month.{level}": _money for level in ("low", "expected", "high")},
    "touched_usd": _money,
    **dict.fromkeys(("confidence", "effort", "risk", "fits"), _as_they_are),
}
STEPS: Final[_Columns] = {
    **dict.fromkeys(("lever", "workload", "title", "risk"), _as_they_are),
    **dict.fromkeys(("saving", "alone", "after"), _money),
}
UNPRICED: Final[_Columns] = {
    "provider": _as_they_are,
    "model": _as_they_are,
    "requests": _counts,
    "tokens": _counts,
    "reason": _as_they_are,
}
PRICES: Final[_Columns] = {
    "provider": _as_they_are,
    "model": _as_they_are,
    "meter": _as_they_are,
    "usd_per_mtok": _money,
    "rule": _as_they_are,
    "valid_from": _instants,
    "valid_until": _instants,
    "source": _as_they_are,
    "retrieved": _days,
}
PROBLEMS: Final[_Columns] = {
    "code": _as_they_are,
    "severity": _as_they_are,
    "message": _as_they_are,
    "rows": _counts,
    "amount_usd": _money,
}


def frame_of(rows: Iterable[BaseModel], columns: _Columns) -> pd.DataFrame:
    """Return rows of the document as a frame.

    Args:
        rows: Of one kind.
        columns: Key of a row -> how its values become a column. A dot leads into an object and is ``_`` in the
            column's name; ``tokens`` becomes a column for each meter that any of the rows reports.
    """
    found = [row.model_dump(by_alias=True) for row in rows]
    made: dict[str, Any] = {}
    for key, convert in columns.items():
        if key == "tokens":
            reported = {meter for row in found for meter in row["tokens"]}
            for meter in (meter for meter in _METERS if meter in reported):
                made[meter] = convert([row["tokens"].get(meter) for row in found])
        else:
            made[key.replace(".", "_")] = convert([_value(row, key) for row in found])
    return pd.DataFrame(made)


def _value(row: Mapping[str, Any], key: str) -> Any:
    first, _, rest = key.partition(".")
    inner = row[first]
    return inner if inner is None or not rest else _value(cast("Mapping[str, Any]", inner), rest)
