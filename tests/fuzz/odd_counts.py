"""One count of a golden input, replaced by what is none."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from fuzz.invariants import METERS, Reading

from workloads.ledger import SKIPPED

ODD: Final = (
    "many",
    "12 tokens",
    True,
    False,
    10**20,
    -(10**20),
    1e300,
    -5,
    {},
    [],
    {"count": 5},
    "1e999",
)
_NO_COUNT: Final = re.compile(r"(?i)time|nano|id$|_at$|sequence")
"""Keys of whole numbers that decide when a row was, or which rows are copies."""
_LARGEST: Final = 10**9
_Write = Callable[[Any], str]
"""The whole input with something else at one place."""


def with_odd_count(content: str, suffix: str, random: Random) -> tuple[str, str] | None:
    """Return an input with something odd for one of its whole numbers, and where; None where it has none."""
    places = list(_cells(content) if suffix == ".csv" else _leaves(content, suffix))
    if not places:
        return None
    where, write = random.choice(places)
    odd = random.choice(ODD)
    return write(odd), f"{where}: {odd!r}"


def _leaves(content: str, suffix: str) -> Iterator[tuple[str, _Write]]:
    """Yield the whole numbers of JSON lines, or of a document."""
    lines = [content] if suffix == ".json" else content.split("\n")
    for index, line in enumerate(lines):
        try:
            root = json.loads(line)
        except (ValueError, RecursionError):
            continue
        for parent, key in _whole_numbers(root):

            def write(
                odd: Any, index: int = index, root: Any = root, parent: Any = parent, key: Any = key
            ) -> str:
                kept, parent[key] = parent[key], odd
                made = "\n".join([*lines[:index], json.dumps(root), *lines[index + 1 :]])
                parent[key] = kept
                return made

            yield f"line {index + 1}, {key}", write


def _whole_numbers(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if isinstance(key, str) and _NO_COUNT.search(key):
            continue
        is_number = isinstance(inner, int) and not isinstance(inner, bool)
        if (is_number and 0 < inner < _LARGEST) or (isinstance(inner, str) and inner.isdigit()):
            yield value, key
        yield from _whole_numbers(inner)


def _cells(content: str) -> Iterator[tuple[str, _Write]]:
    """Yield the whole numbers of a table."""
    head = content.split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    rows = list(csv.reader(io.StringIO(content), delimiter=delimiter))
    for index, row in enumerate(rows[1:], 1):
        for column, cell in enumerate(row):
            if not cell.isdigit() or not int(cell):
                continue

            def write(odd: Any, index: int = index, column: int = column) -> str:
                changed = [list(row) for row in rows]
                changed[index][column] = odd if isinstance(odd, str) else json.dumps(odd)
                made = io.StringIO()
                csv.writer(made, delimiter=delimiter).writerows(changed)
                return made.getvalue()

            yield f"row {index}, column {column + 1}", write


def lost_in_silence(before: Reading, after: Reading) -> list[str]:
    """Return the meters that have become less without a word: no further row is skipped, nor has one a problem."""
    said_before, said_after = _said(before), _said(after)
    if any(now > once for once, now in zip(said_before, said_after, strict=True)):
        return []
    sums = [(name, _sum(before, name), _sum(after, name)) for name in METERS]
    return [f"{name}: {once} -> {now}" for name, once, now in sums if now < once]


def _said(reading: Reading) -> tuple[int, ...]:
    problems = sum(1 for row in reading.records if row.get("problem"))
    return reading.report.rows(SKIPPED), problems, len(reading.report.unreadable), int(bool(reading.refusal))


def _sum(reading: Reading, name: str) -> int:
    return sum(int(row.get(name) or 0) for row in reading.records)
