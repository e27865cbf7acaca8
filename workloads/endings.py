"""Requests whose answer is of no use to whoever asked, and what they used: those that failed, and those cut off at a limit."""

from typing import Any, Final

import ibis
import pandas as pd

from workloads.cube_columns import column, present_meters
from workloads.expressions import FALSE, NO_TEXT, is_true
from workloads.grouping import Grouping

Expr = Any
Connection = Any

FAILED: Final = "failed"
CUT_OFF: Final = "cut_off"
CUT_OFF_WORDS: Final = ("length", "max_tokens", "max_output_tokens")
"""How providers call the reason for which an answer stops at its limit, in lower case."""
_FAILED_WORDS: Final = r"(error|exception|failed|failure|timeout|timed[ _]?out)$"
"""How statuses of failures end: words of their own, and names of exceptions. What a user cancelled is none."""
_WELL: Final = ("200", "success", "completed", "ok")
_HTTP_ERROR: Final = 400


def endings(connection: Connection, records: Expr, grouping: Grouping) -> pd.DataFrame | None:
    """Return one row a workload, provider, model and ending, of single requests that ended badly and used tokens.

    Columns: ``workload, provider, model`` (as logged), ``ending`` (``FAILED`` or ``CUT_OFF``; a request that failed is
    not cut off as well), ``requests`` and one a meter (NA: not reported). None where the log does not say how requests end.
    """
    if not {"status", "stop_reason"} & set(records.columns):
        return None
    single = records.filter(
        column(records, "bucket_seconds").isnull()
        & (records.input_tokens.notnull() | records.output_tokens.notnull())
    )
    status, stop = column(single, "status"), column(single, "stop_reason").lower()
    failed = is_true(status.lower().re_search(_FAILED_WORDS)) | is_true(
        status.try_cast("int64") >= _HTTP_ERROR
    )
    # Patterns are dear; nearly all requests have one of a few words.
    failed = ibis.cases((status.isnull() | status.isin(_WELL), FALSE), else_=failed)
    ending = ibis.cases((failed, FAILED), (is_true(stop.isin(CUT_OFF_WORDS)), CUT_OFF), else_=NO_TEXT)
    meters = [str(meter) for meter in present_meters(single)]
    cells = single.select(
        workload=grouping.name_of(single),
        provider=column(single, "provider"),
        model=column(single, "model"),
        ending=ending,
        **{meter: single[meter] for meter in meters},
    )
    cells = cells.filter(cells.ending.notnull())
    frame: pd.DataFrame = connection.execute(
        cells.group_by(["workload", "provider", "model", "ending"]).agg(
            requests=cells.count(), **{meter: cells[meter].sum() for meter in meters}
        )
    )
    return frame
