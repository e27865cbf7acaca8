"""Files to one ledger: read, quarantine, de-duplicate, and account for every row.

``rows_read == records + skipped + duplicates + ignored`` holds for every run.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workloads.account import (
    FileRows,
    LoadReport,
    NothingReadableError,
    count_rows,
    reject_counts,
    shown_rejects,
    without_rows,
)
from workloads.batches import (
    Batch,
    ForeignTableError,
    ReadOptions,
    make_table_batches,
    make_text_batches,
    mapping_failure,
)
from workloads.beside import beside
from workloads.failures import connection_errors, is_of_the_machine, overflow_errors
from workloads.importers import json_importers
from workloads.json_batches import make_json_batches
from workloads.json_plan import UNRECOGNISED, extend, make_plan
from workloads.ledger import SKIPPED
from workloads.mending import without_broken
from workloads.pages import page_ends
from workloads.places import inspect_all
from workloads.planned import planned_batch
from workloads.prefix_texts import tells_prefixes
from workloads.present import without_empty
from workloads.quarantine import SkippedRow, is_small, located, with_places
from workloads.reading import Reading, settled
from workloads.rejects import rejected_rows
from workloads.room import few_words, make_room, rows_bytes
from workloads.sources import TABLES, InputFile, Kind, MappingError, Unreadable
from workloads.stored.place import apart
from workloads.storing import BrokenBatchError, LedgerTable, columns_of

__all__ = [
    "FileRows",
    "LoadOptions",
    "LoadReport",
    "Loaded",
    "NothingReadableError",
    "inspect_all",
    "load",
    "make_batches",
]

Connection = Any
Expr = Any
Progress = Callable[[str], None]

_MOST_FILES_LOCATED = 50
_MOST_ROUNDS = 4
"""Times that a run may find yet another format further down in its JSON files."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A ledger in the engine, with its account."""

    ledger: Expr
    """One row a record; only the columns that the run's sources give."""
    report: LoadReport


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What the user says about the input, and what to fill in where it is silent."""

    read: ReadOptions = field(default_factory=ReadOptions)
    provider: str | None = None
    model: str | None = None
    prefixes: bool = False
    """Whether rows are stored in the order of their files, for cache replay; always where sources name prefixes."""

    @property
    def filled(self) -> dict[str, str]:
        """Ledger columns to fill in where the input is silent."""
        given = {"provider": self.provider, "model": self.model}
        return {name: value for name, value in given.items() if value}


def make_batches(files: Sequence[InputFile], options: ReadOptions) -> tuple[list[Batch], list[Unreadable]]:
    """Return the batches that read the files, and the files of no known format with the reason."""
    groups: dict[Kind, list[InputFile]] = {}
    for file in files:
        groups.setdefault(file.kind, []).append(file)
    jsons = [*groups.get(Kind.JSON_LINES, []), *groups.get(Kind.JSON_DOCUMENT, [])]
    made = (
        make_json_batches(jsons, options) if jsons else ([], []),
        make_table_batches([file for kind in TABLES for file in groups.get(kind, [])], options),
        make_text_batches(groups.get(Kind.TEXT, []), options),
    )
    return [batch for batches, _ in made for batch in batches], [
        item for _, failed in made for item in failed
    ]


def load(
    connection: Connection,
    paths: Sequence[str],
    options: LoadOptions,
    progress: Progress = lambda _: None,
    meanwhile: Callable[[], None] = lambda: None,
) -> Loaded:
    """Return the ledger of all files behind paths, kept ledgers among them.

    Args:
        connection: The engine.
        paths: Files, folders, globs, kept ledgers or ``-``.
        options: What the user says about the input.
        progress: Called with a few words at the start of each step.
        meanwhile: Called once in a thread of its own when the engine starts to read: for what can get ready then.

    Raises:
        SourceError: When a path leads to no file.
        NothingReadableError: When not one record could be read; the message says why for every file.
    """
    given, kept = apart(paths)
    reading = Reading()
    if given or not kept:
        progress("looking at the files")
        reading = read_files(connection, inspect_all(given), options, progress, meanwhile)
    if kept:
        from workloads.stored.read import with_ledgers  # noqa: PLC0415  (only by runs that have one)

        reading = with_ledgers(connection, reading, kept, options)
    records, report = settled(connection, reading, progress)
    return Loaded(without_empty(connection, records), report)


def read_files(
    connection: Connection,
    looked: tuple[list[InputFile], list[Unreadable]],
    options: LoadOptions,
    progress: Progress = lambda _: None,
    meanwhile: Callable[[], None] = lambda: None,
) -> Reading:
    """Return all rows of inspected files (the readable and the others), repeats too; arguments as in ``load``.

    Raises:
        MappingError: When the user's mapping fits no file.
    """
    files, unreadable = looked
    make_room(connection, rows_bytes(files))
    batches, foreign = make_batches(files, options.read)
    if options.read.mapping and not batches and files:
        raise MappingError(mapping_failure(options.read, files))
    progress(f"reading {len(files):,} file{'s' if len(files) != 1 else ''}")
    ledger, counts, skipped, broken = _read(connection, batches, options, beside(meanwhile))
    unreadable = [*unreadable, *foreign, *broken]
    if ledger is None:
        return Reading(unreadable=unreadable)
    rejected = shown_rejects(rejected_rows(connection), files)
    counts += reject_counts(rejected)
    return Reading(
        rows=ledger,
        counts=counts,
        skipped=[*skipped, *rejected],
        unreadable=[*unreadable, *without_rows(files, counts, unreadable)],
        pages=page_ends(connection, ledger),
    )


def _read(
    connection: Connection, batches: list[Batch], options: LoadOptions, meanwhile: Callable[[], None]
) -> tuple[Expr | None, list[FileRows], list[SkippedRow], list[Unreadable]]:
    """Read all batches into one stored table; again, when lines turn out to be of yet another format."""
    broken: list[Unreadable] = []
    ledger: Expr | None = None
    counts: list[FileRows] = []
    skipped: list[SkippedRow] = []
    for _ in range(_MOST_ROUNDS):
        try:
            ledger, batches, failed = _store(connection, batches, options, meanwhile)
        except overflow_errors():
            # Some count is so large that arithmetic on it fails. Read with more room, so that it can be told apart.
            files = [file for batch in batches for file in batch.files]
            options = replace(options, read=replace(options.read, wide=True))
            batches, _ = make_batches(files, options.read)
            ledger, batches, failed = _store(connection, batches, options, meanwhile)
        broken += failed
        if ledger is None:
            return None, [], [], broken
        counts = count_rows(connection, ledger)
        skips = any(count.fate == SKIPPED for count in counts)
        skipped = located(connection, ledger, batches, _MOST_FILES_LOCATED) if skips else []
        wider = [_widen(batch, skipped) for batch in batches]
        if options.read.format or wider == batches:
            break
        batches = wider
    return ledger, counts, skipped, broken


def _store(
    connection: Connection, batches: list[Batch], options: LoadOptions, meanwhile: Callable[[], None]
) -> tuple[Expr | None, list[Batch], list[Unreadable]]:
    read: list[tuple[Batch, list[Expr]]] = []
    broken: list[Unreadable] = []
    places = is_small(file for batch in batches for file in batch.files)
    for batch in batches:
        try:
            raw = batch.raw(connection, batch.files)
            read.append((batch, batch.ledger(with_places(raw) if places else raw)))
        except ForeignTableError as error:
            broken.append(Unreadable(error.shown, str(error)))
        except connection_errors() as error:  # a file that the engine looks into already now
            if is_of_the_machine(error):
                raise
            others = [other for other in batches if other is not batch]
            return _again(connection, others, (batch, error), options, meanwhile)
    if not read:
        return None, [], broken
    told = options.prefixes or any(
        tells_prefixes(connection, table, batch.files) for batch, tables in read for table in tables
    )
    options = replace(options, prefixes=told)
    names = columns_of([table for _, tables in read for table in tables], options.prefixes, options.filled)
    words = few_words([file for batch, _ in read for file in batch.files])
    target = LedgerTable(
        connection,
        names,
        options.filled,
        prefixes=told,
        words=words,
        meanwhile=meanwhile,
        places=places,
        alone=len(read) == 1,
    )
    done: list[Batch] = []
    # A query a batch: one for all of a mixed folder is too large to be planned fast.
    for place, (batch, tables) in enumerate(read):
        try:
            done.append(target.put(batch, tables))
        except BrokenBatchError as found:
            narrow = isinstance(found.error, overflow_errors()) and not options.read.wide
            if narrow or is_of_the_machine(found.error):
                raise found.error from None
            rest = [other for other, _ in read[place + 1 :]]
            return _again(connection, [*done, *rest], (found.batch, found.error), options, meanwhile)
    return target.rows, done, broken


def _again(
    connection: Connection,
    batches: list[Batch],
    broken: tuple[Batch, Exception],
    options: LoadOptions,
    meanwhile: Callable[[], None],
) -> tuple[Expr | None, list[Batch], list[Unreadable]]:
    parts, failed = without_broken(*broken)
    stored, batches, more = _store(connection, [*batches, *parts], options, meanwhile)
    return stored, batches, failed + more


def _widen(batch: Batch, skipped: Sequence[SkippedRow]) -> Batch:
    """Return the batch with a plan that also reads those of its skipped lines that some importer claims."""
    if batch.plan is None:
        return batch
    shown = {file.shown for file in batch.files}
    texts = [row.text for row in skipped if row.file in shown and row.text and row.reason == UNRECOGNISED]
    plan = extend(batch.plan, make_plan((json.loads(text) for text in texts), json_importers()))
    return (
        batch
        if len(plan.parts) == len(batch.plan.parts)
        else planned_batch(batch.files, plan, wide=batch.wide)
    )
