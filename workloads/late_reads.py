"""What was read from a cache later than a short lifetime would have allowed: what a shorter one would have to write again."""

from typing import Any, Final

import ibis
import pandas as pd

from workloads.cube_columns import column
from workloads.expressions import is_true
from workloads.grouping import Grouping

Expr = Any
Connection = Any

LATE_SECONDS: Final = 300
"""The short lifetime; each read starts it anew."""


def late_reads(connection: Connection, records: Expr, grouping: Grouping) -> pd.DataFrame:
    """Return one row a workload, provider and model: tokens that its single requests with a time read late from a cache.

    A read is late when its request started more than ``LATE_SECONDS`` after the one before it in its session or, where the
    log names none, of the same workload, provider and model.

    Columns: ``workload, provider, model`` (as logged), ``late_tokens``, ``first_tokens`` (read by the first request of a
    session, so that the log does not tell), ``without_session`` (requests that name none).
    """
    single = records.filter(
        column(records, "bucket_seconds").isnull() & column(records, "started_at").notnull()
    )
    keys = ["workload", "provider", "model"]
    cells = single.select(
        workload=grouping.name_of(single),
        provider=column(single, "provider"),
        model=column(single, "model"),
        session=column(single, "session"),
        second=column(single, "started_at").epoch_seconds(),
        tokens=ibis.coalesce(column(single, "cache_read"), 0),
    )
    before = cells.second.lag().over(ibis.window(group_by=[*keys, "session"], order_by="second"))
    cells = cells.mutate(pause=cells.second - before)
    late, first = is_true(cells.pause > LATE_SECONDS), cells.pause.isnull()
    frame: pd.DataFrame = connection.execute(
        cells.group_by(keys).agg(
            late_tokens=ibis.cases((late, cells.tokens), else_=0).sum(),
            first_tokens=ibis.cases((first, cells.tokens), else_=0).sum(),
            without_session=cells.session.isnull().cast("int64").sum(),
        )
    )
    return frame
