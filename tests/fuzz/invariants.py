"""What must hold for any input whatever: rows add up, nothing is negative, nothing is lost without a word."""

import gzip
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from pricing.meters import Meter
from workloads.batches import ReadOptions
from workloads.importers import json_importers
from workloads.ledger import DUPLICATE, IGNORED, RECORD, SKIPPED
from workloads.load import LoadOptions, LoadReport, load
from workloads.relations import connect
from workloads.sniff import inspect
from workloads.sources import InputFile, Kind, SourceError

METERS: Final = tuple(str(meter) for meter in Meter)
COUNTS: Final = (*METERS, "reasoning", "requests", "bucket_seconds")
_MOST_LOCATED: Final = 1_000
UNFOLDING: Final = frozenset(importer.name for importer in json_importers() if importer.chains != ((),))
"""Formats whose rows lie in arrays inside the records."""
ORDERED: Final = frozenset(importer.name for importer in json_importers() if importer.ordered)
"""Formats whose lines mean something only after the ones before."""


@dataclass(frozen=True)
class Reading:
    """What reading some files gave: an account and the records, or the tool's own refusal."""

    report: LoadReport
    records: tuple[dict[str, Any], ...]
    refusal: str = ""


def read(paths: Sequence[Path], **how: Any) -> Reading:
    """Read files; an error that is not the tool's own goes through."""
    connection = connect()
    try:
        loaded = load(connection, [str(path) for path in paths], LoadOptions(read=ReadOptions(**how)))
        return Reading(loaded.report, tuple(connection.to_pyarrow(loaded.ledger).to_pylist()))
    except SourceError as error:
        nothing = LoadReport(counts=(), skipped=(), unreadable=())
        return Reading(getattr(error, "report", nothing), (), str(error))
    finally:
        connection.disconnect()


def faults(reading: Reading, paths: Sequence[Path]) -> list[str]:
    """Return what does not hold of a reading; nothing when all is well."""
    report = reading.report
    if reading.refusal.startswith("--map"):  # the user named columns that no file has
        return []
    found = []
    fates = {fate: report.rows(fate) for fate in (RECORD, SKIPPED, IGNORED, DUPLICATE)}
    if report.rows() != sum(fates.values()):
        found.append(f"{report.rows()} rows are not {fates}")
    if not reading.refusal and fates[RECORD] != len(reading.records):
        found.append(f"{fates[RECORD]} records counted, {len(reading.records)} in the ledger")
    found += _negatives(reading.records)
    found += _unlocated(report)
    if reading.refusal and not (report.unreadable or report.rows() or reading.refusal.startswith("--map")):
        found.append(f"refused without a reason: {reading.refusal}")
    for path in paths:
        found += _lost(report, path)
    return found


def _negatives(records: Sequence[dict[str, Any]]) -> list[str]:
    found = []
    for row in records:
        found += [f"{name} is {row[name]}" for name in COUNTS if (row.get(name) or 0) < 0]
        if row.get("output") is not None and (row.get("reasoning") or 0) > row["output"] + (
            row.get("audio_output") or 0
        ):
            found.append(f"reasoning {row['reasoning']} exceeds output {row.get('output')}")
        found += [
            f"{name} is {row[name]}"
            for name in ("ttft_seconds", "duration_seconds")
            if not 0 <= (row.get(name) or 0) < 1e12
        ]
    return found


def _unlocated(report: LoadReport) -> list[str]:
    """Return the skipped rows that nobody could find again."""
    found = [f"skipped without a reason: {row}" for row in report.skipped if not row.reason or not row.file]
    counts: Counter[str] = Counter()
    for count in report.counts:
        if count.fate == SKIPPED:
            counts[count.file] += count.rows
    located: Counter[str] = Counter()
    for row in report.skipped:
        located[row.file] += row.rows
    found += [
        f"{file}: {rows} skipped, {located[file]} located"
        for file, rows in counts.items()
        if located[file] != min(rows, _MOST_LOCATED) and rows < _MOST_LOCATED
    ]
    return found


def _lost(report: LoadReport, path: Path) -> list[str]:
    """Return whether rows of a file are in no account."""
    if any(item.shown == str(path) for item in report.unreadable):
        return []
    counts = [count for count in report.counts if count.file == str(path)]
    looked = inspect(str(path), path)
    if (
        not isinstance(looked, InputFile)
        or path.suffix == ".json"
        or {count.format for count in counts} & UNFOLDING
    ):
        return []
    rows = sum(count.rows for count in counts)
    content = (
        (gzip.open if looked.path.suffix == ".gz" else open)(looked.path, "rb")
        .read()
        .removeprefix(b"\xef\xbb\xbf")
    )
    blank = b"" if looked.dialect is None else b"\r\n"  # a row of spaces is a row
    lines = sum(1 for line in content.replace(b"\r", b"\n").split(b"\n") if line.strip(blank or None))
    if looked.dialect is not None:
        lines -= 1 + looked.dialect.skip_lines
        wrong = rows > lines if b'"' in content else rows != lines
    elif looked.kind is Kind.JSON_LINES:
        wrong = rows != lines
    else:
        return []
    found = [f"{path.name}: {lines} lines, {rows} rows"] if wrong else []
    lineless = [row for row in report.skipped if row.file == str(path) and row.line is None]
    return found + [f"{path.name}: skipped without a line: {row.reason}" for row in lineless]


def totals(reading: Reading) -> dict[str, Decimal]:
    """Return what a run adds up to: meters, requests and recorded money by format and model."""
    sums: dict[str, Decimal] = {}
    for row in reading.records:
        for name in (*METERS, "reasoning", "requests", "recorded_cost_usd"):
            if row.get(name) is not None:
                key = f"{row.get('format')} {row.get('model')} {name}"
                sums[key] = sums.get(key, Decimal(0)) + Decimal(row[name])
    return sums
