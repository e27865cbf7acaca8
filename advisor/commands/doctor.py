"""``advisor doctor`` and ``advisor formats``: what was recognised, what was not, and what to try."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from advisor.cli import EXIT_NOTHING, EXIT_USAGE, Failure
from advisor.commands import parse
from advisor.commands.say import say
from workloads.batches import ReadOptions
from workloads.importers import importers
from workloads.importers.generic import TARGETS, find_columns
from workloads.ledger import DUPLICATE, IGNORED, RECORD, SKIPPED
from workloads.load import LoadReport, NothingReadableError, inspect_all, load
from workloads.relations import connect
from workloads.sources import InputFile, Kind, MappingError, SourceError
from workloads.vocabulary import normal

_MOST_SHOWN = 12
_LARGEST_PROMPT = 10_000_000
"""Whole numbers from here on are epochs or ids, not token counts."""


def list_formats() -> str:
    """Return the formats, a line each."""
    rows = [(importer.name, importer.title) for importer in importers()]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {title}" for name, title in rows)


def run(paths: tuple[str, ...], **given: Any) -> int:
    """Print the diagnosis and return the exit code: 3 when no record can be read."""
    options = parse.load_options(
        format_name=given["format_name"],
        model=given["model"],
        provider=given["provider"],
        mapping=given["mapping"],
    )
    try:
        report, readable = load(connect(), paths, options).report, True
    except NothingReadableError as error:
        report, readable = error.report, False
    except MappingError as error:
        raise Failure(str(error), EXIT_USAGE) from error
    except SourceError as error:
        raise Failure(str(error), EXIT_NOTHING) from error
    lines = [*_account(report), *_skips(report), *_foreign(report, options.read, paths)]
    say("\n".join(lines))
    return 0 if readable else EXIT_NOTHING


def _account(report: LoadReport) -> Iterator[str]:
    formats: dict[tuple[str, str], dict[str, int]] = {}
    for count in report.counts:
        fates = formats.setdefault((_safe(count.file), count.format or "?"), {})
        fates[count.fate] = fates.get(count.fate, 0) + count.rows
    for (file, name), fates in list(formats.items())[:_MOST_SHOWN]:
        told = ", ".join(f"{rows:,} {_PLURAL[fate]}" for fate, rows in sorted(fates.items()))
        yield f"{file}: {name}: {told}"
    if len(formats) > _MOST_SHOWN:
        yield f"... and {len(formats) - _MOST_SHOWN:,} more"
    if report.counts:
        yield (
            f"\n{report.rows():,} rows read = {report.rows(RECORD):,} records + {report.rows(SKIPPED):,} skipped + "
            f"{report.rows(DUPLICATE):,} duplicates + {report.rows(IGNORED):,} ignored"
        )
    reasons: dict[str, int] = {}
    for count in report.counts:
        if count.fate == IGNORED:
            reasons[count.reason or ""] = reasons.get(count.reason or "", 0) + count.rows
    yield from (f"  ignored: {rows:,} x {reason}" for reason, rows in reasons.items())


_PLURAL = {RECORD: "records", SKIPPED: "skipped", IGNORED: "ignored", DUPLICATE: "duplicates"}


def _skips(report: LoadReport) -> Iterator[str]:
    for row in report.skipped[:_MOST_SHOWN]:
        yield f"  skipped: {_safe(row.file)}:{row.line or '?'}: {row.reason}"
    if len(report.skipped) > _MOST_SHOWN:
        yield f"  ... and {len(report.skipped) - _MOST_SHOWN:,} more"


def _foreign(report: LoadReport, options: ReadOptions, paths: Sequence[str]) -> Iterator[str]:
    files = inspect_all(paths)[0] if report.unreadable else []
    by_name = {file.shown: file for file in files}
    for item in report.unreadable:
        yield f"{_safe(item.shown)}: not read: {_safe(item.reason)}"
        file = by_name.get(item.shown)
        if file is not None:
            yield from _advice(file, options, paths)


def _advice(file: InputFile, options: ReadOptions, paths: Sequence[str]) -> Iterator[str]:
    """Yield the columns of an unrecognised table, the best guesses, and the exact line to try."""
    columns = _columns(file)
    if not columns:
        return
    known = find_columns(frozenset(normal(name) for name in columns), dict(options.mapping))
    yield f"  columns: {', '.join(_safe(name) for name in columns)}"
    if known:
        yield f"  recognised: {', '.join(f'{target} <- {column}' for target, column in known.items())}"
    guesses = _guesses(file, columns, known)
    if not guesses:
        yield "  no column holds whole numbers that could be token counts"
        return
    told = " ".join(f"--map {shlex.quote(f'{target}={column}')}" for target, column in guesses.items())
    yield f"  try: advisor analyze {shlex.join(paths)} {told}"
    yield f"  (targets: {', '.join(TARGETS)})"


def _columns(file: InputFile) -> list[str]:
    if file.dialect is not None:
        return list(file.dialect.header)
    return (
        list(dict.fromkeys(key for record in file.records for key in record))
        if file.kind is not Kind.PARQUET
        else []
    )


def _guesses(file: InputFile, columns: Sequence[str], known: dict[str, str]) -> dict[str, str]:
    """Return the likeliest columns for prompt and output: by a word in the name, else by size of the numbers."""
    guesses: dict[str, str] = {}
    sizes = {name: size for name in columns if (size := _mean(_values(file, name))) is not None}
    for target, words in (("prompt", ("prompt", "input", "in", "prefill", "context", "request")),
                          ("output", ("completion", "output", "out", "generated", "gen", "decode", "response"))):  # fmt: skip
        if target in known:
            continue
        named = [
            name
            for name in sizes
            if set(normal(name).split("_")) & set(words) and name not in guesses.values()
        ]
        if named:
            guesses[target] = named[0]
    rest = sorted((name for name in sizes if name not in guesses.values()), key=lambda name: -sizes[name])
    for target in ("prompt", "output"):
        if target not in guesses and target not in known and rest:
            guesses[target] = rest.pop(0)
    return guesses


def _values(file: InputFile, name: str) -> Iterable[Any]:
    if file.dialect is not None:
        index = file.dialect.header.index(name)
        return (row[index] for row in file.cells)
    return (record.get(name) for record in file.records)


def _mean(values: Iterable[Any]) -> float | None:
    numbers = []
    for value in values:
        text = str(value).strip()
        if text in ("", "None"):
            continue
        if not text.isdigit():
            return None
        numbers.append(int(text))
    return sum(numbers) / len(numbers) if numbers and max(numbers) < _LARGEST_PROMPT else None


def _safe(text: str) -> str:
    """Return a text without characters that a terminal would act on."""
    return "".join(mark if mark.isprintable() else "?" for mark in text)
