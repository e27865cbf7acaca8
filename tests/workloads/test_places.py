"""Tables that are no plain files: read in place, and what is missing is said without fetching it."""

from pathlib import Path

import duckdb
import pytest
from generated_spend import write

from workloads.account import LoadReport
from workloads.batches import ReadOptions
from workloads.engines import open_log
from workloads.load import LoadOptions, load
from workloads.relations import connect
from workloads.sources import SourceError

ROWS = 2_000


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same rows as Parquet, and as two tables of a DuckDB file."""
    folder = tmp_path_factory.mktemp("places")
    parquet, _ = write(connect(), folder, ROWS)
    database = folder / "gateway.duckdb"
    with duckdb.connect(str(database)) as engine:
        engine.execute(f"CREATE TABLE spend AS FROM '{parquet}'")
        engine.execute("CREATE SCHEMA ops; CREATE TABLE ops.people (name text)")
        engine.execute("CREATE VIEW recent AS FROM spend WHERE model = 'gpt-4o'")
    return parquet, database


def account(paths: list[str], options: LoadOptions | None = None) -> LoadReport:
    return load(connect(), paths, options or LoadOptions()).report


def fates(report: LoadReport) -> list[tuple[str, str, str, int]]:
    return sorted((count.format, count.fate, count.reason or "", count.rows) for count in report.counts)


@pytest.mark.parametrize(
    "form", ["{0}?table=spend", "duckdb://{0}?table=spend", "duckdb:{0}?table=main.spend"]
)
def test_a_table_of_a_file_is_read_like_its_rows_elsewhere(files: tuple[Path, Path], form: str) -> None:
    parquet, database = files
    found = account([form.format(database)])
    assert fates(found) == fates(account([str(parquet)]))
    assert {count.file for count in found.counts} == {form.format(database)}
    assert [row.line for row in found.skipped] == [row.line for row in account([str(parquet)]).skipped]


def test_a_view_and_a_file_beside_it(files: tuple[Path, Path]) -> None:
    parquet, database = files
    report = account([f"{database}?table=recent", str(parquet)])
    assert ROWS < report.rows() < 2 * ROWS
    assert report.rows("duplicate") > 0  # they are the same calls


def test_the_file_is_opened_for_reading_only(files: tuple[Path, Path]) -> None:
    _, database = files
    before = database.read_bytes()
    account([f"{database}?table=spend"])
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.glob("gateway*")] == ["gateway.duckdb"]


def test_a_table_that_is_not_there_is_named_with_those_that_are(files: tuple[Path, Path]) -> None:
    _, database = files
    with pytest.raises(SourceError, match=r"no table 'calls'; the file has: recent, spend, people"):
        account([f"{database}?table=calls"])
    with pytest.raises(SourceError, match=r"which table\? Say FILE\?table=NAME"):
        account([str(database)])
    with pytest.raises(SourceError, match="no token counts among the columns name"):
        account([f"{database}?table=people"])
    with pytest.raises(SourceError, match="no such file"):
        account(["missing.duckdb?table=calls"])
    with pytest.raises(SourceError, match="no DuckDB file"):
        account([f"{files[0]}?table=calls"])


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("s3://bucket/logs/", "extension 'httpfs', which is not on this machine, and nothing is downloaded"),
        ("gs://bucket/a.parquet", "extension 'httpfs'"),
        ("az://box/a.parquet", "extension 'azure'"),
        ("s3://bucket/a.jsonl.gz", "only Parquet is read from an object store"),
        (
            "https://example.org/log.csv?key=s3cret",
            r"https://example.org/log.csv: https:// is not read; download",
        ),
        ("ftp://example.org/log.csv", "ftp:// is not read"),
    ],
)
def test_addresses_that_need_more(path: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workloads.places._loads", lambda *_: False)
    with pytest.raises(SourceError, match=says) as caught:
        account([path])
    assert "s3cret" not in str(caught.value)


def test_table_folders_ask_for_their_extension(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workloads.places._loads", lambda *_: False)
    (tmp_path / "lake" / "_delta_log").mkdir(parents=True)
    with pytest.raises(SourceError, match="extension 'delta'"):
        account([str(tmp_path / "lake")])
    (tmp_path / "berg" / "metadata").mkdir(parents=True)
    (tmp_path / "berg" / "metadata" / "v1.metadata.json").touch()
    with pytest.raises(SourceError, match="extension 'iceberg'"):
        account([str(tmp_path / "berg")])


def test_columns_are_named_as_for_any_table(files: tuple[Path, Path]) -> None:
    _, database = files
    mapping = LoadOptions(
        read=ReadOptions(mapping={"prompt": "prompt_tokens", "output": "completion_tokens"})
    )
    assert {count.format for count in account([f"{database}?table=spend"], mapping).counts} == {"table"}


def test_other_engines_want_what_they_can_see(files: tuple[Path, Path]) -> None:
    with pytest.raises(SourceError, match="workers of a cluster read ledgers"):
        open_log([str(files[0])], LoadOptions(), engine="spark://nowhere:7077")
