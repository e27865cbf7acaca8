"""Rows of large logs lie in a file of the process, and every way into the engine finds them."""

from pathlib import Path
from typing import Any

import pytest

from workloads import room
from workloads.copies import remove_copies
from workloads.cube import prepare
from workloads.grouping import Grouping
from workloads.load import LoadOptions, load
from workloads.period import Period
from workloads.places import inspect_all
from workloads.relations import connect, way_into
from workloads.room import is_large, make_room, rows_bytes
from workloads.survey import begin_survey


def database_of(connection: Any) -> str:
    return str(connection.raw_sql("SELECT current_database()").fetchall()[0][0])


def test_small_logs_stay_in_memory() -> None:
    connection = connect()
    make_room(connection, 1 << 20)
    assert database_of(connection) == "memory"
    assert not is_large(connection)


def test_large_logs_go_to_a_file_that_is_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(room, "_MOST_BYTES", 10)
    log = tmp_path / "log.csv"
    log.write_text("model,input_tokens,output_tokens\ngpt-4o,5,2\ngpt-4o,7,1\n", encoding="utf-8")
    connection = connect()
    loaded = load(connection, [str(log)], LoadOptions())
    assert is_large(connection)
    # So large that one question at a time is asked: the survey is over before anything else begins.
    survey = begin_survey(
        connection, prepare(connection, loaded.ledger, Period()), Grouping(("model",), "model")
    )
    assert survey.sizes.done() and survey.arrivals.done() and survey.latencies.done()  # noqa: PT018
    # Another way in, as the thread of the survey has, finds the same rows.
    assert way_into(connection).execute(loaded.ledger.input_uncached.sum()) == 12
    (file,) = [
        Path(path)
        for (path,) in connection.raw_sql(
            "SELECT path FROM duckdb_databases() WHERE path IS NOT NULL"
        ).fetchall()
    ]
    assert file.exists()
    assert file.parent.stat().st_mode & 0o077 == 0
    remove_copies()
    assert not file.exists()


def test_what_rows_take_is_judged_by_the_kind_of_file(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("model,input_tokens,output_tokens\n" + "gpt-4o,5,2\n" * 100, encoding="utf-8")
    (file,), _ = inspect_all([str(log)])
    assert rows_bytes([file]) == 2 * log.stat().st_size


@pytest.mark.parametrize(
    ("asked", "engine_bytes"), [("2GB", 1_600_000_000), ("500MB", 250_000_000), ("1.5 GiB", 1_210_612_736)]
)
def test_the_engine_gets_what_the_interpreter_leaves(asked: str, engine_bytes: int) -> None:
    connection = connect(memory_limit=asked)
    (shown,) = connection.raw_sql("SELECT current_setting('memory_limit')").fetchall()[0]
    number, unit = shown.split()  # cut off after one decimal
    assert float(number) * 1024 ** " KMG".index(unit[0]) == pytest.approx(engine_bytes, rel=0.08)


def test_what_does_not_fit_goes_to_this_process_s_own_folder() -> None:
    (folder,) = connect().raw_sql("SELECT current_setting('temp_directory')").fetchall()[0]
    assert Path(folder).parent.stat().st_mode & 0o077 == 0
