"""A provider's bill: files of any format that states money, read by the same importers, as lines by day, model and meter.

Only money counts here. Tokens that stand beside it (an activity export, a gateway's spend table) are left alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

import ibis
import pandas as pd

from advisor.reconciliation import Bill, BillError, BillLine
from advisor.wording import plural
from pricing.names import provider_id
from pricing.units import SECONDS_PER_DAY
from workloads import charge_words
from workloads.accounting import FOREIGN_CURRENCY, MORE_PAGES
from workloads.cube import prepare
from workloads.cube_columns import column
from workloads.ledger import RECORD, SKIPPED
from workloads.load import LoadOptions, LoadReport, NothingReadableError, load
from workloads.period import Period
from workloads.relations import connect
from workloads.sources import SourceError

Progress = Callable[[str], None]

_CENT_PLACES: Final = 2
"""Amounts with fewer decimals than cents are no coarser for it."""
_KEYS: Final = ("source_file", "day", "provider", "model", "meter", "kind", "tier", "region")


def read_bill(
    paths: Sequence[str],
    period: Period,
    progress: Progress = lambda _: None,
    *,
    memory_limit: str | None = None,
) -> Bill:
    """Return the bill behind some paths.

    Args:
        paths: Files, folders or globs; several parts of one bill may be given.
        period: Its first and last day count, as UTC days.
        progress: Called with a few words at the start of each step.
        memory_limit: Memory of the engine.

    Raises:
        BillError: When there is no amount in US dollars to compare with.
    """
    connection = connect(memory_limit=memory_limit)
    named = ", ".join(paths)
    try:
        loaded = load(connection, paths, LoadOptions(), progress)
    except NothingReadableError as error:
        raise BillError(_unreadable(named, error)) from error
    except SourceError as error:
        raise BillError(f"the bill {named} cannot be read: {error}") from error
    ledger = loaded.ledger
    formats = sorted(
        {count.format for count in loaded.report.counts if count.format and count.fate == RECORD}
    )
    if "recorded_cost_usd" not in ledger.columns:
        raise BillError(_no_money(named, formats))
    lines = prepare(connection, ledger, replace(period, timezone="UTC"))
    frame = _lines(connection, lines.filter(lines.recorded_cost_usd.notnull()))
    if frame.empty:
        outside = (period.since or period.until) is not None
        raise BillError(
            f"the bill {named} has no amount within the asked days" if outside else _no_money(named, formats)
        )
    return Bill(
        lines=tuple(_bill_lines(frame)),
        sources=tuple(formats),
        notes=tuple(_notes(loaded.report)),
        is_complete=not loaded.report.unreadable and not _has_more_pages(loaded.report),
    )


def _no_money(named: str, formats: Sequence[str]) -> str:
    return (
        f"the bill {named} states no amount of money: it was read as {', '.join(formats)}. "
        "Give a cost export, a cost page, or a log with a cost a row"
    )


def _unreadable(named: str, error: NothingReadableError) -> str:
    foreign = sum(count.rows for count in error.report.counts if count.reason == FOREIGN_CURRENCY)
    if foreign:
        return (
            f"the bill {named} is in another currency than US dollars ({plural(foreign, 'line')}): amounts of two "
            "currencies are not compared. Export it in USD"
        )
    return f"the bill {named} cannot be read: {error}"


def _lines(connection: Any, lines: Any) -> pd.DataFrame:
    """Return the lines added up by ``_KEYS``, with ``amount``, ``rows`` and ``places`` (decimals of the file's amounts)."""
    amount = lines.recorded_cost_usd
    bucket = column(lines, "bucket_seconds")
    kind = column(lines, "charge_kind")
    otherwise = ibis.cases((amount < 0, charge_words.CREDIT), else_=charge_words.USAGE)
    named = lines.select(
        source_file=lines.source_file,
        # What is charged for longer than a day is on no single day.
        day=ibis.cases(
            (ibis.coalesce(bucket, 0) > SECONDS_PER_DAY, ibis.null("date")), else_=lines.day.cast("date")
        ),
        provider=column(lines, "provider"),
        model=column(lines, "model"),
        meter=column(lines, "charge_meter"),
        kind=ibis.coalesce(kind, otherwise),
        tier=column(lines, "service_tier").lower(),
        region=column(lines, "region"),
        amount=amount,
        places=amount.cast("string").re_extract(r"\.(\d*?)0*$", 1).length(),
    )
    frame: pd.DataFrame = connection.execute(
        named.group_by(list(_KEYS)).agg(
            amount=named.amount.sum(), rows=named.count(), places=named.places.max()
        )
    )
    return frame.assign(places=frame.groupby("source_file")["places"].transform("max"))


def _bill_lines(frame: pd.DataFrame) -> Iterator[BillLine]:
    for row in frame.to_dict("records"):
        places = max(int(row["places"]), _CENT_PLACES)
        count = int(row["rows"])
        yield BillLine(
            day=None if pd.isna(row["day"]) else pd.Timestamp(row["day"]).date(),
            provider=provider_id(_text(row["provider"])),
            model=_text(row["model"]),
            meter=_text(row["meter"]),
            kind=str(row["kind"]),
            amount_usd=Decimal(str(row["amount"])),
            rows=count,
            rounding_usd=Decimal(count).scaleb(-places) / 2,
            tier=_text(row["tier"]),
            region=_text(row["region"]),
        )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _notes(report: LoadReport) -> Iterator[str]:
    skipped: dict[str, int] = {}
    for count in report.counts:
        if count.fate == SKIPPED:
            reason = count.reason or "they cannot be read"
            skipped[reason] = skipped.get(reason, 0) + count.rows
    for reason, rows in sorted(skipped.items()):
        yield f"{plural(rows, 'line')} of the bill left out: {reason}."
    if _has_more_pages(report):
        yield "The bill's saved pages say that there are more, and the next ones are not given: it is incomplete."
    for item in report.unreadable:
        yield f"A part of the bill was not read: {item.shown}: {item.reason}."


def _has_more_pages(report: LoadReport) -> bool:
    return any(count.problem == MORE_PAGES for count in report.counts)
