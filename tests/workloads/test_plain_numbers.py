"""Numbers of a CSV are read as numbers at first: what they come to is the same as when every cell is read as a text."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workloads.accounting import NEGATIVE_COUNT, NO_WHOLE_COUNT
from workloads.batches import ReadOptions, make_table_batches
from workloads.count_texts import TRUTH_COUNT
from workloads.load import inspect_all
from workloads.numbers import NumberStyle, is_plain_count, is_plain_decimal
from workloads.relations import connect

Read = Callable[..., Any]

_ROWS = 30_000
"""Far more than are looked at before the file is read."""


def table(path: Path, odd: str, *, last: bool, column: int = 1) -> Path:
    """Write a table in which one cell is another than the rest, in the first row or in the last."""
    row = ["2026-06-01T00:00:00Z", "100", "10", "0.5"]
    rows = [row] * _ROWS
    at = -1 if last else 0
    rows[at] = [odd if number == column else cell for number, cell in enumerate(row)]
    head = "timestamp,input_tokens,output_tokens,cost_usd"
    path.write_text("\n".join([head, *(",".join(cells) for cells in rows), ""]), encoding="utf-8")
    return path


def read_numbers(path: Path) -> dict[str, str]:
    """Return the columns that are read as numbers at first."""
    files, _ = inspect_all([str(path)])
    (batch,), _ = make_table_batches(files, ReadOptions())
    assert batch.careful is not None
    schema = batch.raw(connect(), files).schema()
    return {name: str(kind) for name, kind in schema.items() if not kind.is_string()}


def test_plain_counts_and_money_are_read_as_numbers(tmp_path: Path) -> None:
    found = read_numbers(table(tmp_path / "log.csv", "100", last=True))
    assert found == {"input_tokens": "int64", "output_tokens": "int64", "cost_usd": "decimal(38, 12)"}


@pytest.mark.parametrize(
    ("odd", "added", "reason"),
    [
        ("", 0, None),
        (" 7 ", 7, None),
        ("7.0", 7, None),
        ("1e3", 1_000, None),
        ("+5", 5, None),
        ('"1,000"', 1_000, None),
        ("9007199254740993", 0, NEGATIVE_COUNT),
        ("1.5", 0, NO_WHOLE_COUNT),
        ("nan", 0, NO_WHOLE_COUNT),
        ("many", 0, NO_WHOLE_COUNT),
        ("true", 0, TRUTH_COUNT),
        ("-3", 0, NEGATIVE_COUNT),
    ],
)
@pytest.mark.parametrize("last", [False, True], ids=["in the first row", "in the last row"])
def test_an_odd_cell_means_the_same_wherever_it_is(
    tmp_path: Path, read: Read, odd: str, added: int, reason: str | None, *, last: bool
) -> None:
    loaded = read(table(tmp_path / "log.csv", odd, last=last))
    assert sum(row.get("input_uncached", 0) for row in loaded.rows) == 100 * (_ROWS - 1) + added
    assert [(row.line, row.reason) for row in loaded.report.skipped] == (
        [] if reason is None else [(_ROWS + 1 if last else 2, reason)]
    )


@pytest.mark.parametrize(("odd", "cents"), [("$1.25", 125), ("1e-2", 1), ("", 0), ("(0.5)", -50)])
def test_odd_money_in_the_last_row(tmp_path: Path, read: Read, odd: str, cents: int) -> None:
    loaded = read(table(tmp_path / "log.csv", odd, last=True, column=3))
    total = sum(float(row.get("recorded_cost_usd", 0)) for row in loaded.rows)
    assert round(total * 100) == 50 * (_ROWS - 1) + cents


def test_a_broken_row_far_down_costs_itself_alone(tmp_path: Path, read: Read) -> None:
    path = table(tmp_path / "log.csv", "100", last=True)
    with path.open("a", encoding="utf-8") as log:
        log.write("2026-06-01T00:00:00Z,1\n")
    loaded = read(path)
    assert len(loaded.rows) == _ROWS
    assert [row.line for row in loaded.report.skipped] == [_ROWS + 2]


@pytest.mark.parametrize(
    ("cell", "count", "decimal"),
    [("12", True, True), ("", True, True), ("12.0", True, True), ("1.5", False, True), ("-1", False, True),
     ("1,000", False, False), ("0x1F", False, False), ("nan", False, False), ("1e5", False, True)],
)  # fmt: skip
def test_what_looks_plain(cell: str, *, count: bool, decimal: bool) -> None:
    assert is_plain_count(cell, None) is count
    assert is_plain_decimal(cell, None) is decimal


def test_a_dot_that_groups_is_not_plain() -> None:
    assert not is_plain_count("1.000", NumberStyle(",", ".", decided=False))
    assert is_plain_decimal("1.000", NumberStyle(",", ".", decided=False))
    assert not is_plain_decimal("1.000", NumberStyle(",", "."))
