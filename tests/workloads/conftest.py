"""Fixtures of the ledger's tests: files in, plain Python rows out."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import ibis
import pytest

from workloads.batches import ReadOptions
from workloads.ledger import DUPLICATE, IGNORED, RECORD, SKIPPED
from workloads.load import LoadOptions, LoadReport, load
from workloads.relations import connect

Row = dict[str, Any]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the query library use what its engines call deprecated."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis"))
            # Raised wherever the garbage collector happens to run; test_sources has the test for it.
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@dataclass(frozen=True)
class Run:
    """What one run over some files gave."""

    report: LoadReport
    rows: list[Row]
    """One dictionary a record, without nulls, in a fixed order; files by name only."""

    @property
    def fates(self) -> dict[str, int]:
        """Rows by fate, with the reason where there is one."""
        found: Counter[str] = Counter()
        for count in self.report.counts:
            found[f"{count.fate}: {count.reason}" if count.reason else count.fate] += count.rows
        return dict(sorted(found.items()))

    @property
    def skipped(self) -> list[tuple[str, int | None, str]]:
        """File name, line and reason of every located skipped row."""
        return [(Path(row.file).name, row.line, row.reason) for row in self.report.skipped]

    def adds_up(self) -> bool:
        """Whether the rows of the four fates are all rows."""
        report = self.report
        return report.rows() == sum(report.rows(fate) for fate in (RECORD, SKIPPED, IGNORED, DUPLICATE))


Read = Callable[..., Run]


def plain(value: Any) -> Any:
    """Return a cell of an engine result as text, integer, float or boolean; None for nulls."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        text = format(value, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return value


def rows_of(connection: Any, table: Any) -> list[Row]:
    """Return the rows of an engine table as dictionaries without nulls, in a fixed order."""
    found = [
        {name: plain(value) for name, value in row.items() if value is not None}
        for row in connection.to_pyarrow(table).to_pylist()
    ]
    for row in found:
        if "source_file" in row:
            row["source_file"] = Path(row["source_file"]).name
    return sorted(found, key=lambda row: sorted((name, str(value)) for name, value in row.items()))


@pytest.fixture(scope="session")
def read() -> Read:
    """Loads paths with an engine of its own."""

    def run(paths: Sequence[Path | str] | Path, *, fill: dict[str, str] | None = None, **how: Any) -> Run:
        connection = connect()
        given = [paths] if isinstance(paths, Path) else paths
        options = LoadOptions(read=ReadOptions(**how), **(fill or {}))
        loaded = load(connection, [str(path) for path in given], options)
        outcome = Run(loaded.report, rows_of(connection, loaded.ledger))
        connection.disconnect()
        return outcome

    return run


@pytest.fixture(scope="session")
def engine() -> Any:
    """One engine for expressions that store nothing."""
    return connect()


@pytest.fixture(scope="session")
def evaluate(engine: Any) -> Callable[..., list[Any]]:
    """Evaluates an expression over columns given as lists: ``evaluate(build, {"a": ("int64", [1, None])})``."""

    def run(build: Callable[[Any], Any], columns: dict[str, tuple[str, Sequence[Any]]]) -> list[Any]:
        names = ["row", *columns]
        size = len(next(iter(columns.values()))[1])
        data = [
            dict(zip(names, values, strict=True))
            for values in zip(range(size), *[cells for _, cells in columns.values()], strict=True)
        ]
        schema = {"row": "int64", **{name: kind for name, (kind, _) in columns.items()}}
        table = ibis.memtable(data, schema=schema)
        out = build(table)
        exprs = dict(out) if isinstance(out, dict) else {"out": out}
        result = engine.to_pyarrow(table.select("row", **exprs).order_by("row")).to_pylist()
        if isinstance(out, dict):
            return [{name: row[name] for name in exprs} for row in result]
        return [row["out"] for row in result]

    return run
