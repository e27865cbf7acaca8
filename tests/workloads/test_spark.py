"""Spark against the embedded engine: the same tables, to the integer, of every golden log and of a million rows."""

import json
import math
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from engine_parity import answers, assert_same, cube
from generated_spend import write

from advisor.options import AnalyseOptions
from advisor.render.json import render_json
from advisor.run import analyse
from workloads.account import NothingReadableError
from workloads.engines import open_log
from workloads.load import LoadOptions, load
from workloads.rate_cuts import RateCuts
from workloads.relations import connect
from workloads.sources import SourceError

ROOT = Path(__file__).parents[1] / "golden"
CASES = sorted(path.parent for path in (ROOT / "importers").glob("*/*/expected.jsonl"))
EVERY = "SPARK_EVERY_GOLDEN"
"""Set to take the golden logs one by one, all of them: some minutes. Together they are always taken."""
CUTS = RateCuts(
    breakpoints=(datetime(2025, 6, 10, 12, tzinfo=UTC), datetime(2026, 6, 10, 12, tzinfo=UTC)),
    context_thresholds=(1_000,),
    clock_edges=(600, 4_000),
    clocked=frozenset({("openai", "gpt-4o")}),
    regional=frozenset({("openai", "gpt-4o")}),
    per_call=frozenset({("openai", "gpt-4o-mini")}),
)
SMALL = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A session on this machine, for all tests of this module."""
    pytest.importorskip("pyspark", reason="PySpark is missing: pip install 'token-cost-advisor[spark]'")
    if shutil.which("java") is None:
        pytest.skip("no Java here (Debian: apt-get install default-jre-headless)")
    from workloads.spark import connect_spark  # noqa: PLC0415

    session = connect_spark("spark-local")
    yield session
    session.backend.disconnect()


def inputs(case: Path) -> list[str]:
    return sorted(str(path) for path in case.iterdir() if path.name != "expected.jsonl")


@pytest.fixture(scope="module")
def small(spark: Any) -> Any:
    """The session, set for queries over a few rows, which are over before code for them is made."""
    for key, value in SMALL.items():
        spark.backend._session.conf.set(key, value)  # noqa: SLF001
    yield spark
    for key in SMALL:
        spark.backend._session.conf.unset(key)  # noqa: SLF001


def opened(spark: Any, monkeypatch: pytest.MonkeyPatch, paths: list[str]) -> tuple[Any, Any, Any, Any]:
    """Return both engines with the log in each."""
    monkeypatch.setattr("workloads.spark.connect_spark", lambda _: spark)
    local = connect()
    here = load(local, paths, LoadOptions())
    there, loaded = open_log(paths, LoadOptions(), engine="spark-local")
    assert loaded.report.rows() == here.report.rows()
    return local, here.ledger, there, loaded.ledger


def test_the_cube_of_single_golden_logs_is_the_same(small: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # One test, for one session: a session for each process that tests would be too much. The test below has them all.
    unlike = {}
    for case in CASES if os.environ.get(EVERY) else CASES[::16]:
        try:
            local, ledger, there, other = opened(small, monkeypatch, inputs(case))
            # Only models have prices, and so places to cut at.
            cuts = CUTS if "model" in ledger.columns else RateCuts(context_thresholds=CUTS.context_thresholds)
            assert_same({"cube": cube(there, other, cuts)}, {"cube": cube(local, ledger, cuts)})
        except NothingReadableError:  # nothing of it is a record
            continue
        except (AssertionError, SourceError) as error:
            unlike[f"{case.parent.name}/{case.name}"] = str(error)
    assert not unlike


def test_all_golden_logs_together_give_the_same_tables(small: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [path for case in CASES for path in inputs(case)]
    local, ledger, there, other = opened(small, monkeypatch, paths)
    for keys in ((), ("format",), ("user", "model")):
        assert_same(answers(there, other, CUTS, keys), answers(local, ledger, CUTS, keys))


def test_a_whole_report_is_the_same(small: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workloads.spark.connect_spark", lambda _: small)
    parquet, _ = write(connect(), tmp_path, 3_000)
    options = AnalyseOptions(as_of=datetime(2026, 7, 1, tzinfo=UTC), group_by=("team",))
    here = json.loads(render_json(analyse([str(parquet)], options)))
    there = json.loads(render_json(analyse([str(parquet)], replace(options, engine="spark-local"))))
    assert list(unlike(here, there)) == []


def unlike(one: Any, other: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield where two documents differ, but for the last digit of a float."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            yield from unlike(one.get(key), other.get(key), f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from unlike(left, right, f"{path}[{place}]")
    elif one != other and not (
        isinstance(one, float) and isinstance(other, float) and math.isclose(one, other, rel_tol=1e-9)
    ):
        yield path, one, other


def test_a_million_rows_give_the_same_integers(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet, _ = write(connect(), tmp_path, 1_000_000)
    local, ledger, there, other = opened(spark, monkeypatch, [str(parquet)])
    assert_same(answers(there, other, CUTS), answers(local, ledger, CUTS))
