"""From the priced cube to slices: sums of tokens and money by day, model and workload, exact to the last digit."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from advisor.analysis import PhaseMix, Slice, Unpriced
from pricing.cards import STANDARD, STANDARD_NAMES
from pricing.currency import UNCONVERTED_USD
from pricing.discounts import LIST_COST
from pricing.frame import PricedCube
from pricing.meters import CACHE_READ_METERS, INPUT_METERS, OUTPUT_METERS, Meter, Phase
from pricing.reference_point import reference_point
from workloads.phase_mix import phase_mix

Frame = pd.DataFrame
UNPRICED = -1
"""``sheet`` of rows without a price."""
CHARGED = -2
"""``sheet`` of rows that are money already."""
_TERMS = (LIST_COST, UNCONVERTED_USD)
"""Columns of a cube that the user's own terms were applied to."""
Array = npt.NDArray[Any]


def meters_in(frame: Frame) -> list[Meter]:
    """Return the meters that a cube has columns for."""
    return [meter for meter in Meter if str(meter) in frame.columns]


def of_charges(priced: PricedCube, charges: Frame) -> PricedCube:
    """Return the cube of a log that is money only (a cost export): its rows have no price and need none.

    Args:
        priced: A priced cube without rows, for its shape.
        charges: The cube rows that are money already.
    """
    frame = charges.assign(
        provider_resolved=charges["provider"],
        model_resolved=charges["model"],
        sheet=CHARGED,
        unpriced_reason=None,
    )
    return replace(priced, frame=frame)


def slices(priced: PricedCube, keys: Sequence[str]) -> dict[Hashable, Slice]:
    """Return a slice for every value of the key columns; a key of several columns is a tuple, a missing one None.

    Args:
        priced: The priced cube.
        keys: Columns to group by.
    """
    frame = priced.frame
    if frame.empty:
        return {}
    groups = frame.groupby(list(keys), dropna=False, sort=True)
    codes = groups.ngroup().to_numpy()
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(codes[order]) != 0])
    sums = {name: _group_sums(values, order, starts) for name, values in _summable(priced.frame).items()}
    labels = frame[list(keys)].iloc[order[starts]]
    return {
        _key(label): _slice({name: column[position] for name, column in sums.items()}, priced)
        for position, label in enumerate(labels.itertuples(index=False, name=None))
    }


def standard_tiers(tiers: pd.Series) -> pd.Series:
    """Return service tiers, with one name for the standard one."""
    named = tiers.astype(object).fillna("").str.lower()
    return named.where(~named.isin(list(STANDARD_NAMES)), STANDARD)


def _exact(total: Any) -> Any:
    """Return a sum as a Python number: money stays Decimal, counts become integers."""
    return total if isinstance(total, Decimal) else int(total)


def _group_sums(values: pd.Series, order: Array, starts: Array) -> list[Any]:
    """Return the exact sum of each run of rows, as Python integers; None where nothing is known."""
    known = values.notna().to_numpy()[order]
    numbers = values.fillna(0).to_numpy(dtype=object)[order]
    counts = np.add.reduceat(known, starts, dtype=np.int64)
    totals = np.add.reduceat(numbers, starts)
    return [_exact(total) if count else None for total, count in zip(totals, counts, strict=True)]


def whole(priced: PricedCube) -> Slice:
    """Return the slice of everything."""
    return _slice({name: _sum(values) for name, values in _summable(priced.frame).items()}, priced)


def _summable(frame: Frame) -> dict[str, pd.Series]:
    counts = [str(meter) for meter in meters_in(frame)] + (
        ["reasoning"] if "reasoning" in frame.columns else []
    )
    costs = [name for name in frame.columns if name.startswith("cost_")]
    calls = _calls(frame)
    return {
        **{name: frame[name] for name in ("records", *counts, *costs)},
        "counted_requests": calls,
        "priced_requests": calls.where(frame["sheet"] >= 0, 0),
        "priced_records": frame["records"].where(frame["sheet"] >= 0, 0),
        "charged": frame["recorded_cost_usd"].where(frame["charge_only"]),
        **{name: frame[name] for name in _TERMS if name in frame.columns},
    }


def _calls(frame: Frame) -> pd.Series:
    """Return the requests of each cell, 0 where a bucket does not say."""
    return frame["requests"].fillna(0)


def _sum(values: pd.Series) -> Any:
    """Return the exact sum of what is known, as a Python number; None when nothing is."""
    known = values.dropna().to_numpy(dtype=object)
    return sum(map(_exact, known)) if len(known) else None


def _key(label: Any) -> Hashable:
    cleaned = [None if pd.isna(part) else part for part in label]
    return tuple(cleaned) if len(cleaned) > 1 else cleaned[0]


def _slice(row: Mapping[Any, Any], priced: PricedCube) -> Slice:
    tokens = {meter: int(row[meter]) for meter in Meter if row.get(str(meter)) is not None}
    cost = {
        meter: priced.to_usd(row[f"cost_{meter}"]) for meter in Meter if row.get(f"cost_{meter}") is not None
    }
    return Slice(
        records=int(row["records"] or 0),
        requests=int(row["counted_requests"] or 0),
        tokens=tokens,
        reasoning=row.get("reasoning"),
        cost={
            meter: amount
            for meter, amount in cost.items()
            if amount or (meter in tokens and row["priced_records"])
        },
        priced_requests=int(row["priced_requests"] or 0),
        priced_records=int(row["priced_records"] or 0),
        charged=row["charged"],
        list_cost=None if row.get(LIST_COST) is None else priced.to_usd(row[LIST_COST]),
        unconverted_usd=row.get(UNCONVERTED_USD),
    )


def unpriced(priced: PricedCube) -> tuple[Unpriced, ...]:
    """Return what could not be priced, by model and reason, largest first."""
    frame = priced.frame[priced.frame["sheet"] == UNPRICED]
    if frame.empty:
        return ()
    out = []
    for (provider, model, reason), part in frame.groupby(
        ["provider", "model", "unpriced_reason"], dropna=False
    ):
        tokens = {meter: total for meter in meters_in(part) if (total := _sum(part[str(meter)])) is not None}
        out.append(
            Unpriced(
                provider=provider if isinstance(provider, str) else None,
                model=model if isinstance(model, str) else "(no model)",
                requests=_sum(_calls(part)) or 0,
                tokens=tokens,
                reason=str(reason),
            )
        )
    return tuple(sorted(out, key=lambda item: (-sum(item.tokens.values()), item.model)))


def cost_mix(part: Slice, weak: str | None) -> PhaseMix | None:
    """Return the phase mix of a slice's bill; None when nothing of it was priced or it is free."""
    amounts = dict.fromkeys(Phase, Decimal(0))
    for meter, amount in part.cost.items():
        amounts[meter.phase] += amount
    return phase_mix(
        basis="cost", prefill=float(amounts[Phase.PREFILL]), decode=float(amounts[Phase.DECODE]), weak=weak
    )


def phase_work(frame: Frame) -> Frame:
    """Return what each cell of a priced cube asks of accelerators: tokens, and pairs of tokens for attention.

    Columns ``new`` and ``prefill`` (read and not cached), ``written`` and ``decode``. Sums of it go into ``time_mix``.
    """
    meters = meters_in(frame)
    new = [meter for meter in meters if meter in INPUT_METERS and meter not in CACHE_READ_METERS]
    written = [meter for meter in meters if meter in OUTPUT_METERS]
    return pd.DataFrame(
        {
            "new": _total(frame, map(str, new)),
            "written": _total(frame, map(str, written)),
            "prefill": _total(frame, ["prefill_context"]),
            "decode": _total(frame, ["decode_context"]),
        }
    )


def _total(frame: Frame, names: Iterable[str]) -> pd.Series:
    columns = [frame[name].astype("float64").fillna(0) for name in names]
    return sum(columns, pd.Series(0.0, index=frame.index))


def time_mix(work: Mapping[Any, float], weak: str | None) -> PhaseMix | None:
    """Return the phase mix of the GPU time that a part of the cube would take; None without token counts.

    Args:
        work: Sums of ``phase_work``.
        weak: Why the mix is not to be trusted, or None.
    """
    servers = reference_point()
    return phase_mix(
        basis="gpu_time",
        prefill=servers.prefill_seconds(work["new"], work["prefill"]),
        decode=servers.decode_seconds(work["written"], work["decode"]),
        weak=weak,
    )
