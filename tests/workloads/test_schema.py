"""Schemas of JSON records: merged, widened and written for the engine; values in the types that a format declares."""

from pathlib import Path
from typing import Any

import ibis
import pytest

from workloads.declared import as_declared
from workloads.ledger import RECORD, SKIPPED
from workloads.load import LoadOptions, load
from workloads.relations import connect
from workloads.schema import element, other_spelling, spellings, widened


def test_names_that_differ_in_case_only_are_read_apart() -> None:
    schema = {"sessionId": "VARCHAR", "sessionID": "BIGINT", "id": "VARCHAR", "ID": "VARCHAR"}
    assert spellings(schema) == [
        {"sessionId": "VARCHAR", "id": "VARCHAR"},
        {"sessionID": "BIGINT", "ID": "VARCHAR"},
    ]
    assert other_spelling("sessionID") != other_spelling("sessionId")


def test_elements_of_arrays() -> None:
    schema = {"data": {"rows": [{"id": "VARCHAR"}], "by_name": {"*": "BIGINT"}}}
    assert element(schema, ("data", "rows")) == {"id": "VARCHAR"}
    assert element(schema, ("data", "by_name")) is None


def test_counts_are_widened_wherever_they_stand() -> None:
    schema = {"a": "BIGINT", "b": [{"c": "BIGINT", "d": "DOUBLE"}], "e": {"f": ["BIGINT"]}}
    assert widened(schema) == {
        "a": "HUGEINT",
        "b": [{"c": "HUGEINT", "d": "DOUBLE"}],
        "e": {"f": ["HUGEINT"]},
    }


@pytest.mark.parametrize("largest", [2**63 - 1, 2**64, 10**25])
def test_counts_that_overflow_sums_cost_their_own_row_only(tmp_path: Path, largest: int) -> None:
    good = '{"id": "b", "object": "chat.completion", "model": "m", "usage": {"prompt_tokens": 10, "completion_tokens": 20}}'
    path = tmp_path / "log.jsonl"
    path.write_text(f"{good.replace('10', str(largest)).replace('20', str(largest))}\n{good}\n", "utf-8")
    connection = connect()
    loaded = load(connection, [str(path)], LoadOptions())
    assert (loaded.report.rows(RECORD), loaded.report.rows(SKIPPED)) == (1, 1)
    assert connection.execute(loaded.ledger.output.sum()) == 20


@pytest.mark.parametrize(
    ("read", "value", "kind", "expected"),
    [
        ("json", "12", "BIGINT", 12),
        ("json", '"12"', "VARCHAR", "12"),
        ("json", "[1, 2]", ["BIGINT"], [1, 2]),
        ("json", '{"a": 1}', {"a": "BIGINT"}, {"a": 1}),
        ("json", '{"a": 1}', "JSON", '{"a": 1}'),
        ("string", "1.5", "DOUBLE", 1.5),
        ("string", "x", "DOUBLE", None),
        ("string", "x", "VARCHAR", "x"),
        ("string", "x", None, "x"),
    ],
)
def test_values_are_read_as_their_format_declares_them(
    engine: Any, read: str, value: str, kind: Any, expected: Any
) -> None:
    table = ibis.memtable({"text": [value]}).mutate(value=ibis._.text.cast(read))
    found = engine.to_pyarrow(table.select(found=as_declared(table.value, kind))).to_pylist()
    assert found == [{"found": expected}]


def test_a_struct_with_a_wider_field_inside_is_read_again(engine: Any) -> None:
    text = ibis.memtable({"text": ['{"a": "7", "b": [{"c": "8"}]}']}).text
    wide = text.cast("json").cast("struct<a: string, b: array<struct<c: string>>>")
    found = as_declared(wide, {"a": "BIGINT", "b": [{"c": "BIGINT"}]})
    assert engine.execute(found.a.max()) == 7
    assert engine.execute(found.b[0].c.max()) == 8
    same = {"a": "VARCHAR", "b": [{"c": "VARCHAR"}]}
    assert as_declared(wide, same) is wide
