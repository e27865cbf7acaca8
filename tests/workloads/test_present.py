"""Columns that say nothing in a run are taken away; the others stay as they are."""

from typing import Any

from workloads.present import without_empty
from workloads.relations import connect, store


def rows_of(query: str) -> tuple[Any, Any]:
    connection = connect()
    connection.raw_sql(f"CREATE TABLE some_rows AS {query}")
    return connection, connection.table("some_rows")


def test_a_column_that_is_null_everywhere_goes() -> None:
    connection, rows = rows_of(
        "SELECT 'a' AS source_file, 0::BIGINT AS output, NULL::BIGINT AS audio_output, NULL::TIMESTAMP AS started_at"
    )
    # A zero is said; the time stays even when no row has one, since later steps ask for it by name.
    assert list(without_empty(connection, rows).columns) == ["source_file", "output", "started_at"]


def test_a_column_with_one_value_stays() -> None:
    connection, rows = rows_of("SELECT unnest([NULL, 7, NULL])::BIGINT AS cache_read")
    assert list(connection.execute(without_empty(connection, rows)).cache_read.dropna()) == [7]


def test_words_are_stored_as_numbers_and_sort_as_text() -> None:
    connection, rows = rows_of("SELECT unnest(['b', 'a', 'c']) AS source_file")
    stored = store(connection, "kept", rows, words={"source_file": ["c", "b", "a", "unused"]})
    kind = connection.raw_sql("SELECT data_type FROM duckdb_columns() WHERE table_name = 'kept'").fetchall()
    assert kind[0][0].startswith("ENUM")
    assert list(connection.execute(stored.order_by("source_file")).source_file.astype(str)) == ["a", "b", "c"]
