"""Load over time: tokens and requests by minute and model, which is what a machine would have to serve."""

from typing import Any, Final

import ibis
import pandas as pd

from pricing.meters import CACHE_READ_METERS
from pricing.units import MINUTES_PER_DAY, SECONDS_PER_MINUTE
from workloads.cube_columns import column, total
from workloads.expressions import is_true

Expr = Any
Connection = Any

LONGEST_PERCENTILE: Final = 0.99


def minutes(connection: Connection, records: Expr) -> pd.DataFrame:
    """Return the load of records that have a time and tokens, by the minute in which they started.

    A bucket is one row for its whole length, from its first minute on.

    Args:
        connection: The engine that holds the records.
        records: Records of the asked days, see ``workloads.cube.prepare``.

    Columns: ``minute`` (since the epoch), ``bucket_minutes`` (1 for single requests), ``provider, model`` (as logged; may be
    null), ``requests`` (a bucket that does not say how many it holds counts as 0), ``computed_tokens`` (of prompts, what no
    cache had), ``cached_tokens``, ``output_tokens`` and ``silent`` (records whose cache reads are not reported). Ascending.
    """
    served = records.filter(
        ~is_true(column(records, "charge_only"))
        & (records.input_tokens.notnull() | records.output_tokens.notnull())
    )
    started, cached = column(served, "started_at"), total(served, CACHE_READ_METERS)
    day = column(served, "usage_date").cast("timestamp")
    bucket = (column(served, "bucket_seconds") // SECONDS_PER_MINUTE).cast("int64")
    # A trace without a calendar counts from its start.
    elapsed = column(served, "elapsed_seconds").cast("float64")
    at = ibis.coalesce(started.epoch_seconds().cast("float64"), elapsed, day.epoch_seconds().cast("float64"))
    rows = served.select(
        minute=(at // SECONDS_PER_MINUTE).cast("int64"),
        bucket_minutes=ibis.cases(
            (started.isnull() & elapsed.isnull(), MINUTES_PER_DAY),
            else_=ibis.greatest(ibis.coalesce(bucket, 1), 1),
        ),
        provider=column(served, "provider"),
        model=column(served, "model"),
        requests=ibis.coalesce(column(served, "requests"), 0),
        computed_tokens=ibis.coalesce(served.input_tokens, 0) - ibis.coalesce(cached, 0),
        cached_tokens=ibis.coalesce(cached, 0),
        output_tokens=ibis.coalesce(served.output_tokens, 0),
        silent=cached.isnull().cast("int64"),
    )
    rows = rows.filter(rows.minute.notnull())
    keys = ["minute", "bucket_minutes", "provider", "model"]
    sums = ("requests", "computed_tokens", "cached_tokens", "output_tokens", "silent")
    grouped = rows.group_by(keys).agg(**{name: rows[name].sum().cast("float64") for name in sums})
    frame: pd.DataFrame = connection.execute(grouped.order_by(keys))
    return frame


def longest_tokens(connection: Connection, records: Expr) -> float:
    """Return the size that 99 % of the requests do not exceed, prompt and answer together; 0 where no size is known."""
    single = records.filter(column(records, "bucket_seconds").isnull())
    size = (ibis.coalesce(single.input_tokens, 0) + ibis.coalesce(single.output_tokens, 0)).cast("float64")
    found = connection.execute(single.agg(longest=size.quantile(LONGEST_PERCENTILE)))["longest"].iloc[0]
    return 0.0 if pd.isna(found) else float(found)
