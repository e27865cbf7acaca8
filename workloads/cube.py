"""The scan: ledger to small tables, in the engine. Everything after it is arithmetic on a few thousand rows.

Price is linear in tokens once provider, model, instant of price, context tier and service tier are fixed. So the
scan cuts records into cells within which all of these are constant, and keeps one sum a meter for each cell.
"""

from datetime import timedelta
from typing import Any, Final

import ibis
import pandas as pd

from pricing.meters import CACHE_READ_METERS
from pricing.units import MINUTES_PER_DAY
from workloads.cube_columns import column, present_meters, total, with_sizes
from workloads.expressions import is_true
from workloads.grouping import Grouping
from workloads.period import Period
from workloads.rate_cuts import RateCuts
from workloads.times import local_time, zone_steps

Expr = Any
Connection = Any

BINS_PER_DECADE: Final = 4
"""Cells of the shape histogram on each axis, per factor of ten."""


def prepare(connection: Connection, ledger: Expr, period: Period) -> Expr:
    """Return the records of the period, with day and sizes.

    Adds ``day`` (calendar day in the period's zone; null without a time), ``input_tokens`` and ``output_tokens``.
    """
    ledger = with_sizes(ledger)
    ledger = ledger.mutate(day=_day(connection, ledger, period.timezone))
    if period.since:
        ledger = ledger.filter(ledger.day >= ibis.literal(period.since, type="date"))
    if period.until:
        ledger = ledger.filter(ledger.day <= ibis.literal(period.until, type="date"))
    return ledger


def _day(connection: Connection, ledger: Expr, timezone: str) -> Expr:
    if "started_at" not in ledger.columns:
        return column(ledger, "usage_date")
    if timezone == "UTC":
        return ibis.coalesce(column(ledger, "usage_date"), ledger.started_at.date())
    span = connection.execute(ledger.agg(first=ledger.started_at.min(), last=ledger.started_at.max())).iloc[0]
    if pd.isna(span["first"]):
        return column(ledger, "usage_date")
    first, last = span["first"].to_pydatetime(), span["last"].to_pydatetime()
    steps = zone_steps(timezone, first, last + timedelta(seconds=1))
    return ibis.coalesce(column(ledger, "usage_date"), local_time(ledger.started_at, steps).date())


def models_of(connection: Connection, records: Expr) -> list[tuple[str | None, str]]:
    """Return the distinct ``(provider, model)`` of the records; records without a model are left out."""
    if "model" not in records.columns:
        return []
    pairs = records.select(provider=column(records, "provider"), model=records.model).distinct()
    frame = connection.execute(pairs.filter(pairs.model.notnull()))
    return sorted(
        ((_text(row.provider), str(row.model)) for row in frame.itertuples()),
        key=lambda pair: (pair[0] or "", pair[1]),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def usage_cube(connection: Connection, records: Expr, grouping: Grouping, cuts: RateCuts) -> pd.DataFrame:
    """Return the usage cube: one row a cell, with exact sums.

    Columns: ``day, workload, provider, model, service_tier`` (keys as logged), ``region`` (as logged; null for models
    whose price does not depend on it), ``api_key`` (only where some has its own price; null for the others); ``price_at`` (an instant of the cell,
    UTC, the first of its records; NaT without times), ``last_at`` (the last), ``context_tokens`` (a prompt size of the cell; NA for buckets, whose requests have no
    known size); ``records, requests`` (NA: some bucket does not say), ``unmeasured`` (records without any count),
    ``cache_records`` (records that report cache reads), ``cache_read_known`` and ``cache_input_known`` (their reads
    and whole prompts), one column a meter and ``reasoning`` (NA: not reported by any record of the cell),
    ``decode_context`` and ``prefill_context`` (token pairs that attention reads, see ``pricing.phases``),
    ``recorded_cost_usd`` and ``recorded`` (money that the log states, and how many records state it), and of logs that say
    what came of requests ``tells_outcome`` (a key) and ``accepted`` (outcomes that were accepted).
    """
    records = _with_request_calls(records, cuts)
    cells = _cells(records, grouping, cuts)
    keys = [
        "day",
        "workload",
        "provider",
        "model",
        "service_tier",
        "region",
        "cell_epoch",
        "cell_context",
        "cell_clock",
        "bucketed",
        "charge_only",
        *(["api_key"] if cuts.api_keys else []),
        *(["tells_outcome"] if "accepted" in records.columns else []),
    ]
    meters = [str(meter) for meter in present_meters(records)]
    sums = {name: cells[name].sum() for name in meters}
    for name in ("reasoning", "accepted"):
        if name in records.columns:
            sums[name] = cells[name].sum()
    grouped = cells.group_by(keys).agg(
        price_at=cells.started_at.min(),
        last_at=cells.started_at.max(),
        context_tokens=cells.context_tokens.max(),
        records=cells.count(),
        requests=cells.requests.sum(),
        requests_unknown=cells.requests.isnull().sum(),
        unmeasured=cells.unmeasured.sum(),
        cache_records=cells.cache_reads.notnull().sum(),
        cache_read_known=cells.cache_reads.sum(),
        cache_input_known=cells.cached_input.sum(),
        decode_context=cells.decode_context.sum(),
        prefill_context=cells.prefill_context.sum(),
        recorded_cost_usd=cells.recorded_cost_usd.sum(),
        recorded=cells.recorded_cost_usd.count(),
        **sums,
    )
    return _fetch(connection, grouped.order_by(keys))


def rate_cells(records: Expr, grouping: Grouping, cuts: RateCuts) -> Expr:
    """Return the records with the keys of their cell beside them, as ``usage_cube`` groups by."""
    return _cells(_with_request_calls(records, cuts), grouping, cuts)


def _cells(records: Expr, grouping: Grouping, cuts: RateCuts) -> Expr:
    bucketed = column(records, "bucket_seconds").notnull()
    started = column(records, "started_at")
    # A bucket is many requests: its size says nothing about any one of them, so it never reaches a context tier.
    context = ibis.cases((bucketed, ibis.null("int64")), else_=records.input_tokens)
    if "accepted" in records.columns:
        records = records.mutate(tells_outcome=records.accepted.notnull())
    reads = total(records, CACHE_READ_METERS)
    epoch = ibis.literal(0)
    for instant in cuts.breakpoints:
        naive = instant.replace(tzinfo=None)
        epoch = epoch + (started >= ibis.literal(naive, type="timestamp")).cast("int64")
    band = ibis.literal(0)
    for threshold in cuts.context_thresholds:
        band = band + is_true(context > threshold).cast("int64")
    return records.mutate(
        workload=grouping.name_of(records),
        provider=column(records, "provider"),
        model=column(records, "model"),
        service_tier=column(records, "service_tier"),
        region=_region(records, cuts),
        api_key=_api_key(records, cuts),
        bucketed=bucketed,
        charge_only=is_true(column(records, "charge_only")),
        context_tokens=context,
        cell_epoch=epoch,
        cell_context=band,
        cell_clock=_clock_cell(records, started, cuts),
        started_at=started,
        requests=column(records, "requests"),
        recorded_cost_usd=column(records, "recorded_cost_usd"),
        cache_reads=reads,
        unmeasured=records.input_tokens.isnull()
        & records.output_tokens.isnull()
        & column(records, "cache_storage_token_hours").isnull()
        & ~is_true(column(records, "charge_only")),
        cached_input=ibis.cases((reads.notnull(), records.input_tokens), else_=ibis.null("int64")),
        decode_context=_decode_context(records),
        prefill_context=_prefill_context(records),
    )


def _with_request_calls(records: Expr, cuts: RateCuts) -> Expr:
    """Return the records with the requests that are charged for, of models that do so."""
    if not cuts.per_call:
        return records
    names = sorted({model for _, model in cuts.per_call})
    charged = ibis.cases((is_true(records.model.isin(names)), column(records, "requests")))
    return records.mutate(request_calls=charged)


def _region(records: Expr, cuts: RateCuts) -> Expr:
    if not cuts.regional or "region" not in records.columns:
        return ibis.null("string")
    names = sorted({model for _, model in cuts.regional})
    return ibis.cases((is_true(records.model.isin(names)), records.region), else_=ibis.null("string"))


def _api_key(records: Expr, cuts: RateCuts) -> Expr:
    if not cuts.api_keys or "api_key" not in records.columns:
        return ibis.null("string")
    key = records.api_key
    return ibis.cases((is_true(key.isin(list(cuts.api_keys))), key), else_=ibis.null("string"))


def _clock_cell(records: Expr, started: Expr, cuts: RateCuts) -> Expr:
    if not cuts.clocked or not cuts.clock_edges:
        return ibis.literal(0)
    minute = started.day_of_week.index() * MINUTES_PER_DAY + started.hour() * 60 + started.minute()
    cell = ibis.literal(0)
    for edge in cuts.clock_edges:
        cell = cell + (minute >= edge).cast("int64")
    clocked = records.model.isin([model for _, model in cuts.clocked])
    return ibis.cases((is_true(clocked), cell), else_=0)


def _decode_context(records: Expr) -> Expr:
    """Token pairs read while decoding: each output token reads the prompt and what was written before it."""
    output = records.output_tokens.cast("float64")
    return output * (ibis.coalesce(records.input_tokens, 0) + output / 2) / _calls(records)


def _prefill_context(records: Expr) -> Expr:
    """Token pairs computed in prefill: each new token looks at all before it, cached or not."""
    cached = ibis.coalesce(total(records, CACHE_READ_METERS), 0)
    new = (records.input_tokens - cached).cast("float64")
    return new * (cached + new / 2) / _calls(records)


def _calls(records: Expr) -> Expr:
    """Return the calls behind a record, as equal shares of its tokens; null when a bucket does not say."""
    return column(records, "requests").nullif(0)


def _fetch(connection: Connection, expr: Expr) -> pd.DataFrame:
    """Return a small result: sums as nullable 64-bit integers, or as Python integers where they do not fit."""
    import pyarrow as pa  # noqa: PLC0415  (it comes with the engine)

    try:
        frame: pd.DataFrame = connection.to_pyarrow(expr).to_pandas(
            types_mapper={pa.int64(): pd.Int64Dtype()}.get, date_as_object=False
        )
    except pa.ArrowInvalid:
        frame = connection.execute(expr)
    for name in ("price_at", "last_at"):
        frame[name] = pd.to_datetime(frame[name], utc=True)
    return frame


def shapes(connection: Connection, records: Expr, grouping: Grouping) -> pd.DataFrame:
    """Return the shape histogram: ``workload, input_bin, output_bin, requests``, log-spaced cells.

    Bin ``b`` holds sizes in ``[10 ** (b / BINS_PER_DECADE), 10 ** ((b + 1) / BINS_PER_DECADE))``; -1 holds zero.
    """
    single = records.filter(column(records, "bucket_seconds").isnull() & records.input_tokens.notnull())
    binned = single.select(
        workload=grouping.name_of(single),
        input_bin=_bin(single.input_tokens),
        output_bin=_bin(ibis.coalesce(single.output_tokens, 0)),
    )
    keys = ["workload", "input_bin", "output_bin"]
    frame: pd.DataFrame = connection.execute(
        binned.group_by(keys).agg(requests=binned.count()).order_by(keys)
    )
    return frame


def _bin(count: Expr) -> Expr:
    # The tiny shift keeps exact powers of ten in the bin that they open, whatever the engine's logarithm rounds to.
    log = (count.cast("float64").log10() * BINS_PER_DECADE + 1e-9).floor().cast("int64")
    return ibis.cases((count >= 1, log), else_=-1)
