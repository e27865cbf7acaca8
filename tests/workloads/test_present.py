"""Columns that say nothing in a run are taken away; the others stay as they are."""

import ibis

from workloads.present import without_empty
from workloads.relations import connect, store


def test_a_column_that_is_null_everywhere_goes() -> None:
    connection = connect()
    rows = ibis.memtable(
        {"source_file": ["a"], "output": [0], "audio_output": [None], "started_at": [None]},
        schema={
            "source_file": "string",
            "output": "int64",
            "audio_output": "int64",
            "started_at": "timestamp",
        },
    )
    stored = store(connection, "some_records", rows)
    # A zero is said; the time stays even when no row has one, since later steps ask for it by name.
    assert list(without_empty(connection, stored).columns) == ["source_file", "output", "started_at"]


def test_a_column_with_one_value_stays() -> None:
    connection = connect()
    rows = ibis.memtable({"cache_read": [None, 7]}, schema={"cache_read": "int64"})
    records = without_empty(connection, store(connection, "some_records", rows))
    assert list(connection.execute(records.order_by("cache_read")).cache_read.dropna()) == [7]


def test_words_are_stored_as_numbers_and_sort_as_text() -> None:
    connection = connect()
    rows = ibis.memtable({"source_file": ["b", "a", "c"]})
    stored = store(connection, "some_rows", rows, words={"source_file": ["c", "b", "a", "unused"]})
    kind = connection.raw_sql(
        "SELECT data_type FROM duckdb_columns() WHERE table_name = 'some_rows'"
    ).fetchone()
    assert kind[0].startswith("ENUM")
    assert list(connection.execute(stored.order_by("source_file")).source_file.astype(str)) == ["a", "b", "c"]
