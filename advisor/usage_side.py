"""The log's side of a reconciliation: what was used and what it costs, by UTC day, provider, model and service tier."""

from datetime import date
from typing import Any, Final

import pandas as pd

from advisor import slices as cut
from advisor.breakdown import instant
from advisor.reconciliation import Usage, UsageRow
from pricing.frame import PricedCube
from pricing.names import provider_id
from workloads.cube_columns import column
from workloads.expressions import is_true

_HTTP_ERROR: Final = 400
_FAILED: Final = r"(?i)error|fail|exception|time.?out|cancel|abort|exhaust|denied|unavailable|overload"
"""What a status has in it when the call went wrong, where it is no number."""
_KEYS: Final = ("day", "provider", "provider_resolved", "model_resolved", "service_tier", "is_unmeasured")


def failed_records(records: Any) -> Any:
    """Return the records that their log marks as failed or cancelled."""
    status = column(records, "status")
    code = status.try_cast("int64")
    return records.filter(is_true(code >= _HTTP_ERROR) | is_true(code.isnull() & status.re_search(_FAILED)))


def usage_of(priced: PricedCube, failed: PricedCube) -> Usage:
    """Return the log's side.

    Args:
        priced: The cube of all records, on UTC days, in USD.
        failed: The cube of those that failed.
    """
    frame = priced.frame
    # A bucket says when it began, not when its last request was.
    timed = not frame.empty and not frame["bucketed"].any()
    return Usage(
        rows=_rows(priced),
        failed=_rows(failed),
        first=instant(frame["price_at"].min()) if timed else None,
        last=instant(frame["last_at"].max()) if timed else None,
    )


def _rows(priced: PricedCube) -> tuple[UsageRow, ...]:
    frame = priced.frame.assign(is_unmeasured=priced.frame["unmeasured"] > 0)
    rows: list[UsageRow] = []
    for key, part in cut.slices(_with_frame(priced, frame), _KEYS).items():
        day, logged, resolved, model, tier, unmeasured = key if isinstance(key, tuple) else (None,) * 6
        stated = provider_id(_text(logged))
        rows.append(
            UsageRow(
                day=_day(day),
                provider=stated or _text(resolved),
                model=_text(model),
                tier=_text(tier),
                stated=stated is not None,
                cost=part.cost,
                records=part.records,
                unpriced_records=part.records - part.priced_records,
                unmeasured=bool(unmeasured),
            )
        )
    return tuple(rows)


def _with_frame(priced: PricedCube, frame: pd.DataFrame) -> PricedCube:
    return PricedCube(frame=frame, sheets=priced.sheets, unpriced=priced.unpriced, exponent=priced.exponent)


def _day(value: object) -> date | None:
    return None if value is None else pd.Timestamp(str(value)).date()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
