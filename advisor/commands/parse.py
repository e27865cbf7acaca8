"""Texts of options to values, with messages that say what was seen and what is allowed."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from workloads.batches import ReadOptions
from workloads.engines import is_spark
from workloads.grouping import GROUP_KEYS
from workloads.importers import importers
from workloads.importers.generic import TARGETS
from workloads.load import LoadOptions

_WHOLE_PERCENT = 100
_CURRENCY = re.compile(r"[A-Z]{3}")


def day(option: str, text: str | None) -> date | None:
    """Return a calendar day."""
    if text is None:
        return None
    try:
        return date.fromisoformat(str(text))
    except ValueError:
        raise click.UsageError(f"{option} {text!r} is no day; write it as 2026-06-30") from None


def instant(option: str, text: str | None) -> datetime:
    """Return an instant in UTC; now when none is given, UTC when it has no offset."""
    if text is None:
        return datetime.now(UTC)
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        raise click.UsageError(
            f"{option} {text!r} is no time; write it as 2026-06-30 or 2026-06-30T12:00:00Z"
        ) from None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def model_names(pairs: Sequence[str]) -> dict[str, str]:
    """Return what names of the log stand for, of texts like ``my-deployment=gpt-4o``."""
    names: dict[str, str] = {}
    for pair in pairs:
        name, mark, model = pair.partition("=")
        if not (mark and name.strip() and model.strip()):
            raise click.UsageError(f"--map-model {pair!r} is not NAME=MODEL, such as my-deployment=gpt-4o")
        names[name.strip()] = model.strip()
    return names


def zone(text: str) -> str:
    """Return the name of a time zone that exists."""
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise click.UsageError(
            f"--timezone {text!r} is unknown; use a name like UTC or Europe/Berlin"
        ) from None
    return text


def engine(text: str | None) -> str | None:
    """Return the name of an engine that there is."""
    if text in (None, "duckdb") or is_spark(text):
        return text
    raise click.UsageError(
        f"--engine {text!r} is unknown; use duckdb, spark-local, spark (as spark-submit says) or spark://HOST:PORT"
    )


def percent(option: str, text: str | float) -> Decimal:
    """Return a percentage as a ratio: ``1`` and ``1%`` are 0.01."""
    try:
        number = Decimal(str(text).strip().removesuffix("%").strip())
    except ArithmeticError:
        number = Decimal(-1)
    if not number.is_finite() or not 0 <= number <= _WHOLE_PERCENT:
        raise click.UsageError(
            f"{option} {text!r} is no percentage; write a number from 0 to 100, such as 1.5"
        )
    return number / _WHOLE_PERCENT


def currency(text: str, fx_file: Path | None) -> str:
    """Return the code of ``--currency``, in capitals; any but USD needs a file of rates."""
    code = text.strip().upper()
    if not _CURRENCY.fullmatch(code):
        raise click.UsageError(f"--currency {text!r} is no currency code; write three letters, such as EUR")
    if code != "USD" and fx_file is None:
        raise click.UsageError(
            f"--currency {code} needs --fx FILE: a CSV or JSON file with the rate of each month or day ({code} per USD)"
        )
    if code == "USD" and fx_file is not None:
        raise click.UsageError(
            f"--fx {fx_file} is given and --currency is not: name the currency of its rates"
        )
    return code


def group_keys(text: str | None) -> tuple[str, ...]:
    """Return the keys of ``--group-by``."""
    keys = tuple(key.strip().lower().replace("-", "_") for key in (text or "").split(",") if key.strip())
    for key in keys:
        if key not in GROUP_KEYS:
            raise click.UsageError(f"--group-by {key!r} is unknown; allowed are {', '.join(GROUP_KEYS)}")
    return keys


def load_options(
    *, format_name: str | None, model: str | None, provider: str | None, mapping: Sequence[str]
) -> LoadOptions:
    """Return how the input is to be read."""
    names = [importer.name for importer in importers()]
    if format_name is not None and format_name not in names:
        raise click.UsageError(f"--format {format_name!r} is unknown; allowed are {', '.join(names)}")
    columns: dict[str, str] = {}
    for item in mapping:
        target, mark, column = item.partition("=")
        target = _TARGET_NAMES.get(target.strip().lower(), target.strip().lower())
        if not mark or not column.strip():
            raise click.UsageError(f"--map {item!r} is not of the form target=column")
        if target not in TARGETS:
            raise click.UsageError(f"--map target {target!r} is unknown; allowed are {', '.join(TARGETS)}")
        columns[target] = column.strip()
    return LoadOptions(read=ReadOptions(format=format_name, mapping=columns), provider=provider, model=model)


_TARGET_NAMES = {
    "input": "prompt",
    "input_tokens": "prompt",
    "timestamp": "time",
    "started_at": "time",
    "cost": "recorded_cost_usd",
}
"""Words that people try first."""
