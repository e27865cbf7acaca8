"""From the priced cube to the report's tables: days, models, workloads, shapes, and the rates in use."""

from collections.abc import Hashable, Iterator
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pandas as pd

from advisor import slices as cut
from advisor.analysis import DaySlice, Distribution, ModelSlice, PriceRow, ShapeBin, TierSlice, Workload
from advisor.cell_facts import facts, weakness
from pricing.book import PriceBook
from pricing.errors import PricingError
from pricing.frame import PricedCube
from pricing.meters import Meter
from workloads.cube import BINS_PER_DECADE
from workloads.grouping import Grouping


def days(priced: PricedCube) -> Iterator[DaySlice]:
    """Yield the days, ascending; records without a time come last."""
    by_model: dict[Hashable, dict[str, Decimal]] = {}
    for key, part in cut.slices(priced, ["day", "model_resolved"]).items():
        day, model = key if isinstance(key, tuple) else (key, None)
        if part.is_priced:
            amount = part.total if part.in_usd is None else part.in_usd
            by_model.setdefault(_day(day), {})[str(model or "(no model)")] = amount
    rows = {_day(key): part for key, part in cut.slices(priced, ["day"]).items()}
    for day in sorted(rows, key=lambda value: (value is None, value or date.min)):
        yield DaySlice(day=day, whole=rows[day], by_model=by_model.get(day, {}))


def _day(value: Any) -> date | None:
    return None if value is None or pd.isna(value) else pd.Timestamp(value).date()


def instant(value: Any) -> datetime | None:
    """Return a pandas instant as a datetime in UTC; None for NaT."""
    return None if value is None or pd.isna(value) else pd.Timestamp(value).to_pydatetime()


def models(priced: PricedCube, book: PriceBook, as_of: datetime) -> tuple[ModelSlice, ...]:
    """Return the models, dearest first, with their standard rates at their newest request."""
    out = []
    frame = priced.frame
    newest = frame.groupby(["provider_resolved", "model_resolved"], dropna=False)["price_at"].max()
    latest = dict(zip(map(_pair, newest.index), newest, strict=True))
    for key, part in cut.slices(priced, ["provider_resolved", "model_resolved"]).items():
        provider, model = _pair(key)
        at = latest[provider, model]
        rates = _standard_rates(book, provider, model, as_of if pd.isna(at) else at.to_pydatetime())
        out.append(
            ModelSlice(
                provider=provider,
                model=model or "(no model)",
                whole=part,
                input_usd_per_mtok=rates.get(Meter.INPUT_UNCACHED),
                output_usd_per_mtok=rates.get(Meter.OUTPUT),
            )
        )
    return tuple(sorted(out, key=lambda item: (-item.whole.total, -item.whole.requests, item.model)))


def tiers(priced: PricedCube) -> tuple[TierSlice, ...]:
    """Return what has a price by model and service tier; names of the standard tier are one."""
    frame = priced.frame[priced.frame["sheet"] >= 0]
    if frame.empty:
        return ()
    tier = cut.standard_tiers(frame["service_tier"])
    own = replace(priced, frame=frame.assign(service_tier=tier))
    keys = ["provider_resolved", "model_resolved", "service_tier"]
    counted = frame["requests"].notna().groupby([frame[keys[0]], frame[keys[1]], tier], dropna=False).all()
    labels: list[Any] = list(counted.index)
    known = {(*_pair(key[:2]), str(key[2])): bool(whole) for key, whole in zip(labels, counted, strict=True)}
    found = [
        TierSlice(
            provider=provider,
            model=model or "(no model)",
            service_tier=str(key[2]),
            whole=part,
            counts_requests=known[provider, model, str(key[2])],
        )
        for key, part in cut.slices(own, keys).items()
        if isinstance(key, tuple)
        for provider, model in [_pair(key[:2])]
    ]
    return tuple(sorted(found, key=lambda one: (one.provider or "", one.model, one.service_tier)))


def _pair(key: Any) -> tuple[str | None, str | None]:
    provider, model = key
    return (provider if isinstance(provider, str) else None, model if isinstance(model, str) else None)


def _standard_rates(
    book: PriceBook, provider: str | None, model: str | None, at: datetime
) -> dict[Meter, Decimal]:
    if model is None:
        return {}
    try:
        return dict(book.find(provider, model).resolve(at, None, None).rates)
    except PricingError:
        return {}


def workloads(priced: PricedCube, grouping: Grouping, size_table: pd.DataFrame) -> tuple[Workload, ...]:
    """Return the workloads, dearest first.

    Args:
        priced: The priced cube.
        grouping: How workloads are told apart.
        size_table: Their size quantiles, see ``workloads.sizes.size_quantiles``.
    """
    sizes: dict[Any, dict[Any, Any]] = size_table.set_index("workload").to_dict("index")
    known = facts(priced.frame, "workload")
    work: dict[Any, dict[Any, float]] = (
        cut.phase_work(priced.frame).groupby(priced.frame["workload"], dropna=False).sum().to_dict("index")
    )
    models = _models_by_cost(priced.frame)
    out = []
    for name, part in cut.slices(priced, ["workload"]).items():
        mine = known[name]
        weak = weakness(part, mine)
        size = sizes.get(name, {})
        out.append(
            Workload(
                name=str(name),
                labels=dict.fromkeys(grouping.keys, str(name)) if len(grouping.keys) == 1 else {},
                models=models[name],
                whole=part,
                cost_mix=cut.cost_mix(part, weak),
                time_mix=cut.time_mix(work[name], weak),
                input_tokens=_distribution(size, "input_tokens"),
                output_tokens=_distribution(size, "output_tokens"),
                cache_read_ratio=mine.cache_read_known / mine.cache_input_known
                if mine.cache_input_known
                else None,
                cache_coverage=mine.cache_records / max(part.records, 1),
                ttft_seconds=_distribution(size, "ttft_seconds"),
                duration_seconds=_distribution(size, "duration_seconds"),
                first_request=instant(mine.first),
                last_request=instant(mine.last),
            )
        )
    return tuple(sorted(out, key=lambda item: (-item.whole.total, -item.whole.requests, item.name)))


def _models_by_cost(frame: pd.DataFrame) -> dict[Any, tuple[str, ...]]:
    """Return the models of each workload, dearest first."""
    costs = [name for name in frame.columns if name.startswith("cost_")]
    totals: dict[Any, dict[str, int]] = {}
    # Column by column: how many rows a frame without columns has is a matter of the pandas at hand.
    for workload, model, *row in zip(
        frame["workload"], frame["model_resolved"], *(frame[name] for name in costs), strict=True
    ):
        name = model if isinstance(model, str) else "(no model)"
        mine = totals.setdefault(workload, {})
        mine[name] = mine.get(name, 0) + sum(row)
    return {
        workload: tuple(sorted(mine, key=lambda name: (-mine[name], name)))
        for workload, mine in totals.items()
    }


def _distribution(row: dict[Any, Any], name: str) -> Distribution | None:
    values = [row.get(f"{name}_{part}") for part in ("mean", "p50", "p90", "p99")]
    if any(value is None or pd.isna(value) for value in values):
        return None
    mean, p50, p90, p99 = (float(value) for value in values if value is not None)
    return Distribution(mean=mean, p50=p50, p90=p90, p99=p99)


def shape_bins(frame: pd.DataFrame) -> Iterator[ShapeBin]:
    """Yield the cells of the phase map of a shape histogram, see ``workloads.cube.shapes``."""

    def edges(index: int) -> tuple[float, float]:
        return (
            (0.0, 1.0)
            if index < 0
            else (10 ** (index / BINS_PER_DECADE), 10 ** ((index + 1) / BINS_PER_DECADE))
        )

    for row in frame.to_dict("records"):
        input_low, input_high = edges(int(row["input_bin"]))
        output_low, output_high = edges(int(row["output_bin"]))
        yield ShapeBin(
            workload=str(row["workload"]),
            input_low=input_low,
            input_high=input_high,
            output_low=output_low,
            output_high=output_high,
            requests=int(row["requests"]),
        )


def prices(priced: PricedCube) -> tuple[PriceRow, ...]:
    """Return every rate that priced some usage, each once."""
    frame = priced.frame
    rows: dict[tuple[Any, ...], PriceRow] = {}
    for meter in cut.meters_in(frame):
        counts = frame[str(meter)]
        used = frame.loc[counts.notna() & (counts.fillna(0) != 0) & (frame["sheet"] >= 0), "sheet"]
        for index in sorted(set(used)):
            sheet = priced.sheets[index]
            row = PriceRow(
                provider=sheet.provider,
                model=sheet.model,
                meter=meter,
                usd_per_unit=sheet.rates[meter],
                rule=sheet.rule_for(meter),
                valid_from=sheet.valid_from,
                valid_until=sheet.valid_until,
                source=sheet.source,
                retrieved=sheet.retrieved,
            )
            rows.setdefault((row.provider, row.model, meter, row.usd_per_unit, row.rule, row.valid_from), row)
    order = list(Meter)
    return tuple(
        sorted(
            rows.values(), key=lambda row: (row.provider or "", row.model, order.index(row.meter), row.rule)
        )
    )
