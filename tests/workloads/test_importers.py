"""Golden files of the log formats: ``golden/importers/<importer>/<case>/input*`` beside ``expected.jsonl``.

The first line of an expected file counts the rows by fate and says where skipped ones are; then one line a record.
"""

import csv
import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pricing.meters import Meter
from workloads.importers import (
    Importer,
    JsonImporter,
    TableImporter,
    TextImporter,
    importers,
    json_importers,
    table_importers,
    text_importers,
)
from workloads.importers.generic import GenericTable
from workloads.ledger import COLUMNS, RECORD
from workloads.sniff import inspect
from workloads.sources import InputFile
from workloads.vocabulary import normal

GOLDEN = Path(__file__).parents[1] / "golden" / "importers"
CASES = sorted(path for path in GOLDEN.glob("*/*") if path.is_dir())

KNOWN_DEFECTS: dict[str, str] = {}
"""Cases whose expected file, written by hand, the code does not reach yet."""


def inputs(case: Path) -> list[Path]:
    return sorted(case.glob("input*"))


def options(case: Path) -> dict[str, Any]:
    file = case / "options.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def name_of(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


SOUND = [case for case in CASES if name_of(case) not in KNOWN_DEFECTS]


def cases() -> list[Any]:
    """Return the cases as parameters, those with a known defect expected to fail."""
    return [
        pytest.param(
            case,
            id=name,
            marks=[pytest.mark.xfail(strict=True, reason=KNOWN_DEFECTS[name])]
            if name in KNOWN_DEFECTS
            else [],
        )
        for case in CASES
        for name in [name_of(case)]
    ]


@pytest.fixture(scope="module")
def golden_run(read: Any) -> Callable[[Path], Any]:
    """Reads a case, once for all tests."""
    return cache(lambda case: read(inputs(case), **options(case)))


def canonical(run: Any) -> str:
    head = {"rows_read": run.report.rows(), "fates": run.fates, "skipped": run.skipped}
    order = list(COLUMNS)
    rows = [{name: row[name] for name in order if name in row} for row in run.rows]
    lines = sorted(json.dumps(row, ensure_ascii=False) for row in rows)
    return "\n".join([json.dumps(head, ensure_ascii=False), *lines]) + "\n"


@pytest.mark.parametrize("case", cases())
def test_the_ledger_is_the_golden_one(
    case: Path, read: Any, check_golden: Callable[[Path, str], None]
) -> None:
    run = read(inputs(case), **options(case))
    assert run.adds_up()
    assert {count.format for count in run.report.counts} <= {case.parent.name, ""}
    if name_of(case) in KNOWN_DEFECTS:  # written by hand: never to be replaced by what the code gives
        assert canonical(run) == (case / "expected.jsonl").read_text(encoding="utf-8")
    check_golden(case / "expected.jsonl", canonical(run))


def is_row_by_row(case: Path) -> bool:
    """Return whether every line, CSV row or array element of a case is one row of the ledger's account."""
    unfolds = {i.name for i in json_importers() if i.chains != ((),)}
    suffixes = {path.suffix for path in inputs(case)}
    array = all(
        path.read_text(encoding="utf-8").startswith("[") for path in inputs(case) if path.suffix == ".json"
    )
    return case.parent.name not in unfolds and suffixes <= {".jsonl", ".json", ".csv", ".tsv"} and array


@pytest.mark.parametrize("case", [case for case in SOUND if is_row_by_row(case)], ids=name_of)
def test_every_line_of_the_input_is_accounted_for(case: Path, golden_run: Any) -> None:
    run = golden_run(case)
    assert run.report.rows() == sum(map(physical_rows, inputs(case)))
    assert run.report.rows(RECORD) == len(run.rows)


def physical_rows(path: Path) -> int:
    """Return the rows of a golden input, counted without the tool: lines, CSV rows or array elements."""
    by_hand = path.with_name("rows")
    if by_hand.is_file():  # the rows lie in arrays inside the records
        return int(by_hand.read_text(encoding="utf-8"))
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".jsonl":
        return sum(1 for line in text.split("\n") if line.strip())
    if path.suffix == ".json":
        return len(json.loads(text))
    rows = csv.reader(text.splitlines(keepends=True), delimiter=";" if ";" in text.split("\n")[0] else ",")
    return sum(1 for _ in rows) - 1


def test_every_importer_has_a_golden_folder_and_every_folder_an_importer() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {importer.name for importer in importers()}


def test_names_are_unique_and_every_importer_says_what_it_reads() -> None:
    names = [importer.name for importer in importers()]
    assert names == sorted(set(names))
    assert all(importer.title for importer in importers())


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_exactly_one_importer_claims_the_input(case: Path) -> None:
    for path in inputs(case):
        file = inspect(path.name, path)
        assert isinstance(file, InputFile)
        assert claims(file, options(case)) == {case.parent.name}


def claims(file: InputFile, how: dict[str, Any]) -> set[str]:
    """Return the importers that say yes to a file; the table of last resort only where no other does."""
    generic = GenericTable({target: normal(column) for target, column in how.get("mapping", {}).items()})
    if file.lines:
        return {importer.name for importer in text_importers() if importer.claims_lines(file.lines)}
    if file.dialect is not None:
        names = frozenset(map(normal, file.dialect.header))
        special = {i.name for i in table_importers() if i.name != generic.name and i.claims_columns(names)}
    else:
        names = frozenset(normal(key) for record in file.records for key in record)
        whole = {i.name for record in file.records for i in json_importers() if i.claims(record)}
        tables = {i.name for i in table_importers() if i.name != generic.name and i.claims_columns(names)}
        # A row of a known table may hold an answer that another importer would read, were it alone.
        special = whole or tables or {name for record in file.records for name in outermost_claims(record)}
        if not special:  # the rows of a page of an API
            pages = [record.get(key) for record in file.records for key in ("data", "result")]
            rows = [row for page in pages if isinstance(page, list) for row in page]
            inner = frozenset(normal(key) for row in rows for key in row)
            special = {
                i.name for i in table_importers() if i.name != generic.name and i.claims_columns(inner)
            }
    return special or ({generic.name} if generic.claims_columns(names) else set())


def outermost_claims(record: dict[str, Any]) -> set[str]:
    """Return every importer that claims the outermost object of a record that any importer claims."""
    level = [record]
    while level:
        for obj in level:
            names = {importer.name for importer in json_importers() if importer.claims(obj)}
            if names:
                return names
        level = [value for obj in level for value in obj.values() if isinstance(value, dict)]
    return set()


@pytest.mark.parametrize("importer", importers(), ids=lambda importer: importer.name)
def test_no_importer_claims_what_is_no_log(importer: Importer) -> None:
    if isinstance(importer, JsonImporter):
        for record in (
            {},
            {"usage": None},
            {"usage": {"cpu": 3}},
            {"type": "user"},
            {"message": "started"},
            {"error": {}},
        ):
            assert not importer.claims(record)
    elif isinstance(importer, TextImporter):
        assert not importer.claims_lines(["started", "2026-01-01 listening on port 80", "bye"])
    elif isinstance(importer, TableImporter):
        for header in ("a,b", "name,price,quantity", "timestamp,level,message", "id,created,amount"):
            assert not importer.claims_columns(frozenset(header.split(",")))


@pytest.mark.parametrize("case", [case for case in SOUND if not options(case)], ids=name_of)
def test_naming_the_format_reads_the_same(case: Path, read: Any, golden_run: Any) -> None:
    assert canonical(read(inputs(case), format=case.parent.name)) == canonical(golden_run(case))


@pytest.mark.parametrize("place", range(4))
def test_all_formats_in_one_run_give_the_sum_of_their_own_runs(
    place: int, read: Any, golden_run: Any
) -> None:
    # One case a format: cases of one format share ids, and would rightly be duplicates of one another. In four runs,
    # since the engine takes long to plan a hundred formats at once.
    firsts = {case.parent.name: case for case in reversed(SOUND) if not options(case)}
    plainly = [firsts[name] for name in sorted(firsts)[place::4]]
    alone = [golden_run(case) for case in plainly]
    together = read([path for case in plainly for path in inputs(case)])
    assert together.adds_up()
    assert together.report.rows() == sum(run.report.rows() for run in alone)
    assert sums(together.rows) == sums([row for run in alone for row in run.rows])


def sums(rows: list[dict[str, Any]]) -> dict[tuple[str, str], int]:
    found: Counter[tuple[str, str]] = Counter()
    for row in rows:
        for meter in Meter:
            found[row["format"], str(meter)] += row.get(str(meter), 0)
    return dict(found)
