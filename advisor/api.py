"""The Python API: ``advisor.analyse`` and ``advisor.read_report``. Arguments are the options of ``advisor analyze``."""

import atexit
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, TypeAlias

import click
import pandas as pd

from advisor.cli import EXIT_NOTHING, Failure, analyze
from advisor.commands import output
from advisor.commands.analyze import options_of, run_analysis
from advisor.errors import InputError, OptionError
from advisor.report import Report, StrPath
from advisor.saved import SavedError, analysis_of
from pricing.errors import PricingError
from workloads.copies import copies_folder, remove_copies

Log: TypeAlias = StrPath | pd.DataFrame
"""A file, a folder, a glob, or a table with a row a request."""
Progress: TypeAlias = Callable[[str], None]

_OPTION: Final = re.compile(r"--([a-z][a-z-]*)")


def analyse(
    logs: Log | Iterable[Log],
    *,
    format: str | None = None,  # noqa: A002  (the option's name)
    model: str | None = None,
    provider: str | None = None,
    map: Mapping[str, str] | None = None,  # noqa: A002  (the option's name)
    prices: StrPath | Mapping[str, Any] | Iterable[StrPath] = (),
    price_book: StrPath | None = None,
    map_model: Mapping[str, str] | None = None,
    discounts: StrPath | Iterable[StrPath] = (),
    currency: str = "USD",
    fx: StrPath | None = None,
    group_by: str | Iterable[str] = (),
    since: date | str | None = None,
    until: date | str | None = None,
    timezone: str = "UTC",
    as_of: datetime | date | str | None = None,
    bill: StrPath | Iterable[StrPath] = (),
    tolerance: Decimal | float | str = "1",
    self_host: bool = False,
    budget: StrPath | None = None,
    unit_costs: bool = False,
    showback: str | Iterable[str] = (),
    shared_cost: str = "none",
    plan: Mapping[str, Decimal | float | str] | None = None,
    show_users: bool = False,
    memory_limit: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Read logs, price them, and return the report.

    It says what ``advisor analyze`` says with the same options (docs/cli.md), but looks at no configuration file.

    Args:
        logs: Files, folders, globs or frames.
        format: Overrides detection (``advisor formats`` lists the names).
        model: For logs that name none.
        provider: For logs that name none.
        map: For an unknown table: what a column is, such as ``{"prompt": "prompt_toks"}``.
        prices: Own price cards: files, or the content of one, such as ``{"models": {...}}``.
        price_book: An exported book instead of the built-in one.
        map_model: What a name of the log stands for.
        discounts: Files of negotiated discounts and commitments.
        currency: Of the amounts; any but USD needs ``fx``.
        fx: File of exchange rates.
        group_by: What a workload is; empty: the best that the log offers.
        since: First day that counts.
        until: Last day that counts.
        timezone: Zone whose calendar days count.
        as_of: Moment of the report; None: now. Give it to get the same report again.
        bill: A provider's cost export to compare with.
        tolerance: Percent of the bill that may stay unexplained.
        self_host: Whether to compare with own accelerators.
        budget: File of budgets to hold the log against.
        unit_costs: Whether to look at single requests, sessions and users.
        showback: Labels that money is allocated by.
        shared_cost: What becomes of money without a label.
        plan: Flat plans that coding agents are paid by, with their price a month.
        show_users: Whether users appear by name.
        memory_limit: Of the engine, such as ``2GB``.
        progress: Called with a few words at the start of each step.

    Returns:
        The report. A log of which nothing has a price is a report too: its ``total`` is None.

    Raises:
        OptionError: An argument is not allowed, or a file of prices, discounts, rates or budgets is malformed.
        InputError: Nothing could be read.
    """
    asked = {
        "format_name": format,
        "model": model,
        "provider": provider,
        "mapping": _pairs(map),
        "price_files": _price_files(prices),
        "price_book": price_book,
        "map_models": _pairs(map_model),
        "discount_files": _files(discounts),
        "currency": currency,
        "fx_file": fx,
        "group_by": _listed(group_by),
        "since": since,
        "until": until,
        "timezone": timezone,
        "as_of": as_of,
        "bills": _files(bill),
        "tolerance": tolerance,
        "self_host": self_host,
        "budget_file": budget,
        "unit_costs": unit_costs,
        "showback": _listed(showback),
        "shared_cost": shared_cost,
        "plans": _pairs(plan),
        "show_users": show_users,
        "memory_limit": memory_limit,
    }
    atexit.register(remove_copies)
    several = (logs,) if isinstance(logs, str | os.PathLike | pd.DataFrame) else logs
    paths = tuple(_path(log) for log in several)
    if not paths:
        raise OptionError("logs is empty; name at least one file, folder or frame")
    try:
        # What is not asked has the value that it has on the command line.
        options = options_of({**analyze.make_context("analyze", ["--", *paths]).params, **asked})
        options = replace(options, command=f"advisor.analyse({', '.join(paths)})", cost_lines=True)
        return Report(run_analysis(paths, options, _Steps(progress)))
    except Failure as error:
        raise (InputError if error.code == EXIT_NOTHING else OptionError)(_in_python(error)) from error
    except click.UsageError as error:
        raise OptionError(_in_python(error)) from error
    except PricingError as error:
        raise OptionError(str(error)) from error


def read_report(path: StrPath) -> Report:
    """Return the report of a JSON document that ``advisor analyze --json`` or ``Report.to_json`` wrote.

    Raises:
        InputError: There is no such file, or it is no such document, or one of another version.
    """
    try:
        return Report(analysis_of(Path(path).read_text(encoding="utf-8"), os.fspath(path)))
    except SavedError as error:
        raise InputError(str(error)) from error
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"{os.fspath(path)} cannot be read: {reason}") from error


class _Steps(output.Progress):
    """The steps of a run, handed to the caller."""

    def __init__(self, said: Progress | None) -> None:
        super().__init__(wanted=False, quiet=True)
        self._said = said

    def __call__(self, step: str) -> None:
        if self._said is not None:
            self._said(step)


def _in_python(error: click.ClickException) -> str:
    """Return a message of the command line with its options called as the arguments here are."""
    return _OPTION.sub(lambda found: found[1].replace("-", "_"), error.message)


def _path(log: Log) -> str:
    if not isinstance(log, pd.DataFrame):
        return os.fspath(log)
    file = _new_file("frame.parquet")
    log.to_parquet(file, index=False)
    return str(file)


def _price_files(prices: StrPath | Mapping[str, Any] | Iterable[StrPath]) -> tuple[str, ...]:
    if not isinstance(prices, Mapping):
        return _files(prices)
    file = _new_file("prices.json")
    file.write_text(json.dumps(prices, default=str), encoding="utf-8")
    return (str(file),)


def _new_file(name: str) -> Path:
    return Path(mkdtemp(dir=copies_folder())) / name


def _files(given: StrPath | Iterable[StrPath]) -> tuple[str, ...]:
    several = [given] if isinstance(given, str | os.PathLike) else given
    return tuple(os.fspath(path) for path in several)


def _listed(given: str | Iterable[str]) -> str:
    return given if isinstance(given, str) else ",".join(given)


def _pairs(given: Mapping[str, object] | None) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in (given or {}).items())
