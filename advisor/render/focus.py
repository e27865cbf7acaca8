"""The bill as a FOCUS 1.2 file, CSV or Parquet: checked row by row before a byte of it is written."""

import csv
import io
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any, Final

from advisor.analysis import Analysis
from advisor.render.focus_checks import faults
from advisor.render.focus_columns import COLUMNS, NUMBER, TIME
from advisor.render.focus_rows import Row, decimal, focus_rows
from advisor.wording import clean, plural
from pricing.charges import exact_sum

_SHOWN_FAULTS: Final = 3
_NARROW_DIGITS: Final = 38


class FocusError(Exception):
    """An analysis that FOCUS has no rows for; the message says why and what to do."""


def checked_rows(analysis: Analysis) -> list[Row]:
    """Return the rows of an analysis, after every check.

    Raises:
        FocusError: There is nothing to export, or what would be written is not right.
    """
    if analysis.cost_lines is None:
        raise FocusError("the bill is not there line by line")
    if analysis.cost.basis == "recorded":
        raise FocusError(
            "the log holds money only (it is a cost export): FOCUS rows are made from usage, so give the usage log"
        )
    rows = list(focus_rows(analysis))
    if not rows:
        raise FocusError("nothing of the log has a price, and no row of FOCUS is without one")
    found = list(islice(faults(rows), _SHOWN_FAULTS))
    billed = exact_sum(Decimal(row["BilledCost"]) for row in rows)
    if billed != analysis.cost.total:
        found.append(
            f"BilledCost adds up to {decimal(billed)}, and the total is {decimal(analysis.cost.total)}"
        )
    if found:
        raise FocusError(
            f"what would be written is not right, which is a defect of advisor: {'; '.join(found)}"
        )
    return rows


def render_focus(analysis: Analysis) -> str:
    """Return the export as CSV.

    Raises:
        FocusError: See ``checked_rows``.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, list(COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(checked_rows(analysis))
    return text.getvalue()


def render_focus_parquet(analysis: Analysis) -> bytes:
    """Return the export as Parquet: decimals, UTC timestamps and texts.

    Raises:
        FocusError: See ``checked_rows``.
    """
    import pyarrow as pa  # noqa: PLC0415  (it comes with the engine)
    import pyarrow.parquet as pq  # noqa: PLC0415

    rows = checked_rows(analysis)
    columns = {name: _array(pa, kind, [row[name] for row in rows]) for name, kind in COLUMNS.items()}
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    made: bytes = sink.getvalue().to_pybytes()
    return made


def _array(pa: Any, kind: str, cells: Sequence[str]) -> Any:
    if kind == NUMBER:
        numbers = [Decimal(cell) if cell else None for cell in cells]
        scale = max((-int(one.as_tuple().exponent) for one in numbers if one is not None), default=1)
        digits = max((one.adjusted() + 1 for one in numbers if one), default=1) + scale
        wide = digits > _NARROW_DIGITS
        return pa.array(numbers, pa.decimal256(76, scale) if wide else pa.decimal128(_NARROW_DIGITS, scale))
    texts = [cell or None for cell in cells]
    if kind == TIME:
        return pa.array(texts, pa.string()).cast(pa.timestamp("us", tz="UTC"))
    return pa.array(texts, pa.string())


def left_out(analysis: Analysis) -> Iterator[str]:
    """Yield what a reader of the file does not see in it, a sentence each."""
    cost, lines = analysis.cost, analysis.cost_lines
    if cost.unpriced:
        names = ", ".join(dict.fromkeys(clean(item.model) for item in cost.unpriced[:5]))
        requests = plural(sum(item.requests for item in cost.unpriced), "request")
        yield f"FOCUS: {requests} without a price are in no row ({names}); x_ReportComplete is false."
    if cost.conversion is not None and cost.conversion.unconverted:
        usd = exact_sum(cost.conversion.unconverted.values())
        yield f"FOCUS: ${usd:,.2f} of days without an exchange rate are in no row; x_ReportComplete is false."
    if lines is not None and any(line.day is None for line in lines.lines):
        yield "FOCUS: usage without a time is on the day of the report; its x_ChargePeriodBasis is assumed."
    if lines is not None and lines.owed:
        yield "FOCUS: commitments are Adjustment rows with an effective and no billed cost."
