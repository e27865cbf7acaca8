"""A gateway's table in a real PostgreSQL: the same integers as from the same rows in a file, and no secret anywhere."""
# ruff: noqa: S608  (statements of our own)

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from engine_parity import answers, assert_same
from generated_spend import DDL, write
from postgres_server import Server, postgres_server

from workloads.account import LoadReport
from workloads.batches import ReadOptions
from workloads.engines import open_log
from workloads.load import Loaded, LoadOptions, load
from workloads.postgres import parse_address
from workloads.rate_cuts import RateCuts
from workloads.relations import connect, store
from workloads.sources import SourceError

GOLDEN = Path(__file__).parents[1] / "golden" / "importers" / "litellm"
TABLE = "LiteLLM_SpendLogs"
CUTS = RateCuts(
    breakpoints=(datetime(2026, 6, 10, 12, tzinfo=UTC),),
    context_thresholds=(8_000,),
    clock_edges=(600, 4_000),
    clocked=frozenset({("openai", "gpt-4o")}),
    per_call=frozenset({("openai", "gpt-4o-mini")}),
)
PLACE = ("source_file",)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    pytest.importorskip("psycopg", reason="the driver is missing: pip install 'token-cost-advisor[postgres]'")
    with postgres_server() as running:
        yield running


@pytest.fixture
def database(server: Server, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """An empty database of the test's own."""
    name = re.sub(r"\W", "_", request.node.name.lower())[:50]
    server.run(f'CREATE DATABASE "{name}"')
    for key, value in server.environment.items():
        monkeypatch.setenv(key, value)
    return name


def address(database: str, table: str = TABLE) -> str:
    return f"postgresql:///{database}?table={table}"


def inserts(rows: list[dict[str, Any]], table: str = TABLE) -> str:
    def cell(value: Any) -> str:
        text = json.dumps(value) if isinstance(value, (dict, list)) else str(value)
        return "NULL" if value is None else "'" + text.replace("'", "''") + "'"

    return "".join(
        f'INSERT INTO "{table}" ({", ".join(f"{chr(34)}{name}{chr(34)}" for name in row)}) '
        f"VALUES ({', '.join(map(cell, row.values()))});\n"
        for row in rows
    )


def jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def golden_rows() -> list[dict[str, Any]]:
    lines = (GOLDEN / "rows" / "input.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def records(connection: Any, loaded: Loaded) -> list[dict[str, Any]]:
    """Return the records without nulls and without where they were read."""
    found = connection.to_pyarrow(loaded.ledger).to_pylist()
    plain = [
        {name: value for name, value in row.items() if value is not None and name not in PLACE}
        for row in found
    ]
    return sorted(plain, key=lambda row: sorted((name, str(value)) for name, value in row.items()))


def fates(report: LoadReport) -> list[tuple[Any, ...]]:
    return sorted((c.format, c.fate, c.reason or "", c.problem or "", c.rows) for c in report.counts)


def same(path: Path | str, place: str, options: LoadOptions | None = None) -> Loaded:
    """Check that a file and a table give the same records and the same account; return the table's."""
    options = options or LoadOptions()
    local = connect()
    here = load(local, [str(path)], options)
    there, loaded = open_log([place], options)
    assert fates(here.report) == fates(loaded.report)
    assert records(local, here) == records(there, loaded)
    assert_same(answers(there, loaded.ledger, CUTS), answers(local, here.ledger, CUTS))
    return loaded


def test_rows_of_the_golden_case_are_the_same_records(server: Server, database: str) -> None:
    server.run(DDL + ";" + inserts(golden_rows()), database)
    same(GOLDEN / "rows" / "input.jsonl", address(database))


def test_metadata_that_is_odd_is_read_as_in_a_file(server: Server, database: str, tmp_path: Path) -> None:
    odd: list[Any] = [
        {},
        None,
        [],
        {"usage_object": {"cache_read_input_tokens": "12"}},
        {"usage_object": {"cache_read_input_tokens": "many"}},
        {"usage_object": {"cache_read_input_tokens": 12.0, "prompt_tokens_details": [1]}},
        {"usage_object": 5, "additional_usage_values": {"cache_read_input_tokens": None}},
        {"usage_object": {"prompt_tokens_details": {"cached_tokens": 30}}, "user_api_key_alias": ""},
        {"usage_object": {"cache_read_input_tokens": 10**20}, "user_api_key_alias": "é '\" \\ 日本"},
        {"user_api_key_team_alias": 7, "error_information": {"error_code": 500}},
    ]
    base = golden_rows()[0]
    rows = [{**base, "request_id": f"r-{number}", "metadata": value} for number, value in enumerate(odd)]
    server.run(DDL + ";" + inserts(rows), database)
    same(jsonl(tmp_path / "odd.jsonl", rows), address(database))


def test_rows_that_come_twice_are_counted_once(server: Server, database: str, tmp_path: Path) -> None:
    rows = golden_rows()
    later = {
        **rows[0],
        "startTime": "2026-01-01T09:59:00.000Z",
        "completion_tokens": 100,
        "total_tokens": 2400,
    }
    twice = [*rows, rows[0], later, rows[4]]
    server.run(DDL.replace("NOT NULL PRIMARY KEY", "NOT NULL") + ";" + inserts(twice), database)
    loaded = same(jsonl(tmp_path / "twice.jsonl", twice), address(database))
    assert loaded.report.rows("duplicate") == 3


def test_daily_table_and_a_table_of_ones_own(server: Server, database: str, tmp_path: Path) -> None:
    daily = [
        {"id": f"d{n}", "date": f"2026-06-0{n}", "api_key": "k", "model": "gpt-4o", "custom_llm_provider": "openai",
         "prompt_tokens": 100 * n, "completion_tokens": 7, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 0,
         "spend": 0.1 * n, "api_requests": n, "successful_requests": n}
        for n in range(1, 6)
    ]  # fmt: skip
    server.run(
        'CREATE TABLE "LiteLLM_DailyUserSpend" (id text, date text, api_key text, model text, custom_llm_provider text, '
        "prompt_tokens bigint, completion_tokens bigint, cache_read_input_tokens bigint, cache_creation_input_tokens bigint, "
        "spend double precision, api_requests bigint, successful_requests bigint);"
        + inserts(daily, "LiteLLM_DailyUserSpend"),
        database,
    )
    same(jsonl(tmp_path / "daily.jsonl", daily), address(database, "LiteLLM_DailyUserSpend"))
    own = [
        {
            "when": "2026-06-01 10:00:00+02",
            "model": "gpt-4o",
            "team": "a",
            "toks": 10 * n,
            "output_tokens": n,
            "cost": 0.5,
        }
        for n in range(1, 4)
    ]
    server.run(
        'CREATE SCHEMA ops; CREATE TABLE ops.calls ("when" timestamptz, model text, team text, toks int, output_tokens '
        f"numeric, cost numeric(10,2)); SET search_path TO ops; {inserts(own, 'calls')}",
        database,
    )
    mapping = LoadOptions(read=ReadOptions(mapping={"prompt": "toks", "time": "when"}))
    same(jsonl(tmp_path / "own.jsonl", own), address(database, "ops.calls"), mapping)


def test_a_million_rows_give_the_same_integers(server: Server, database: str, tmp_path: Path) -> None:
    parquet, csv = write(connect(), tmp_path, 1_000_000)
    names = csv.open(encoding="utf-8").readline().strip()
    quoted = ", ".join(f'"{name.strip(chr(34))}"' for name in names.split(","))
    server.run(f"{DDL};\n\\copy \"{TABLE}\" ({quoted}) FROM '{csv}' CSV HEADER", database)
    local = connect()
    here = load(local, [str(parquet)], LoadOptions())
    there, loaded = open_log([address(database)], LoadOptions())
    assert fates(here.report) == fates(loaded.report)
    assert loaded.report.rows() == 1_000_000
    assert_same(answers(there, loaded.ledger, CUTS), answers(local, here.ledger, CUTS))


def test_what_is_stored_replaces_what_had_its_name(server: Server, database: str) -> None:
    server.run(DDL + ";" + inserts(golden_rows()), database)
    there, loaded = open_log([address(database)], LoadOptions())
    for models in (loaded.ledger.model, loaded.ledger.model.upper()):
        stored = store(there, "labels", models.name("model").as_table().distinct())
        assert set(there.execute(stored)["model"]) == set(there.execute(models))


def test_whoever_may_only_read_gets_the_same(
    server: Server, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.run(DDL + ";" + inserts(golden_rows()), database)
    server.run(
        f'DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN; REVOKE TEMPORARY ON DATABASE "{database}" FROM PUBLIC; '
        f'GRANT SELECT ON "{TABLE}" TO reader;',
        database,
    )
    monkeypatch.setenv("PGUSER", "reader")
    same(GOLDEN / "rows" / "input.jsonl", address(database))


@pytest.mark.parametrize(
    "given",
    [
        "postgresql://me:s3cret@localhost/db?table=t",
        "postgresql://localhost/db?table=t&password=s3cret",
        "postgresql://localhost/db?sslpassword=s3cret&table=t",
        "postgres://me:s3cret@/db?table=t",
    ],
)
def test_a_password_in_the_address_is_refused_and_not_repeated(given: str) -> None:
    with pytest.raises(SourceError, match="PGPASSWORD") as caught:
        open_log([given], LoadOptions())
    assert "s3cret" not in str(caught.value)


def test_an_address_needs_a_table() -> None:
    with pytest.raises(SourceError, match=r"\?table=LiteLLM_SpendLogs"):
        parse_address("postgresql://localhost/db")
    found = parse_address("postgresql://me@host:5433/db?sslmode=require&table=ops.My%20Calls")
    assert (found.schema, found.table) == ("ops", "My Calls")
    assert found.conninfo == "postgresql://me@host:5433/db?sslmode=require"
    assert (
        parse_address("postgresql://h/db?table=t&sslmode=require").conninfo
        == "postgresql://h/db?sslmode=require"
    )


def test_messages_say_what_is_there(
    server: Server, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.run(DDL + "; CREATE TABLE people (name text)", database)
    with pytest.raises(SourceError, match=r"no table 'spend'.*LiteLLM_SpendLogs, people"):
        open_log([address(database, "spend")], LoadOptions())
    with pytest.raises(SourceError, match="no token counts among the columns name"):
        open_log([address(database, "people")], LoadOptions())
    with pytest.raises(SourceError, match="read alone"):
        open_log([address(database), str(tmp_path)], LoadOptions())
    with pytest.raises(SourceError, match="leave --engine out"):
        open_log([address(database)], LoadOptions(), engine="spark-local")
    with pytest.raises(SourceError, match="read by `advisor analyze`"):
        load(connect(), [address(database)], LoadOptions())
    monkeypatch.setenv("PGHOST", str(tmp_path))
    with pytest.raises(SourceError, match="PGUSER and PGPASSWORD"):
        open_log([address(database)], LoadOptions())
