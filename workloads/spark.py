"""Spark: the ledger to its small tables on a cluster, or on this machine's cores, by the expressions of the scan.

A ledger in Parquet is read where it lies, by Spark's own workers. Other logs are read by the embedded engine first, which
writes their ledger as Parquet; that needs a folder that the workers see, so it is only done for a local session.
"""
# ruff: noqa: S608  (as in ``relations``: every text from outside goes through ``quote``)

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from workloads.copies import copies_folder
from workloads.dialects import Spark
from workloads.ledger import COLUMNS
from workloads.load import Loaded, LoadOptions, load
from workloads.remote import Remote, RemoteError
from workloads.schema import quote
from workloads.sources import SourceError

Connection = Any
Expr = Any

LOCAL: Final = "spark-local"
_NEEDED: Final = {"source_file", "format", "model"}
"""Columns by which a Parquet file is known as a ledger."""
_REMOTE: Final = re.compile(r"[a-z][a-z0-9+.-]+://")
_SHUFFLES: Final = 8
"""Parts of a local shuffle: the default of 200 is made for clusters."""


class SparkEngine(Remote):
    """A Spark session."""

    name = "spark"

    def _fetch(self, query: str, expr: Expr) -> Any:
        from pyspark.errors import PySparkException  # noqa: PLC0415  (an extra)

        try:
            found = self.backend._session.sql(query).toArrow()  # noqa: SLF001  (the library has no other way)
        except PySparkException as error:
            raise RemoteError(f"Spark says: {(str(error).strip().splitlines() or [''])[0][:300]}") from error
        schema = expr.as_table().schema().to_pyarrow()
        return found.rename_columns(schema.names).cast(schema)

    def store(self, name: str, expr: Expr) -> Expr:
        """See ``Remote.store``: kept in the workers' memory, or on their disks."""
        frame = self.backend._session.sql(self.compile(expr)).persist()  # noqa: SLF001
        frame.createOrReplaceTempView(name)
        return self.backend.table(name)


def open_in_spark(
    engine: str, connection: Connection, paths: Sequence[str], options: LoadOptions, progress: Any
) -> tuple[SparkEngine, Loaded]:
    """Return a Spark session and the log behind paths in it.

    Args:
        engine: ``spark-local``, ``spark`` (what spark-submit or Spark's own settings say) or a master's address.
        connection: The embedded engine, for logs that are no ledger yet.
        paths: Parquet ledgers, or logs.
        options: What the user says about the input.
        progress: Called with a few words at the start of each step.

    Raises:
        SourceError: When Spark cannot be had, or its workers could not see a log.
    """
    ledgers = [path for path in paths if _REMOTE.match(path) or _is_ledger(connection, path)]
    if ledgers and len(ledgers) < len(paths):
        other = next(path for path in paths if path not in ledgers)
        raise SourceError(
            f"{other}: Spark reads ledgers alone, or logs alone; this is a log beside {ledgers[0]}"
        )
    if not ledgers and engine != LOCAL:
        raise SourceError(
            f"{paths[0]}: workers of a cluster read Parquet ledgers, in a place that all of them see; make one with "
            "`advisor ledger add PATH... --to FOLDER` and give that, or use --engine spark-local"
        )
    loaded = None if ledgers else load(connection, paths, options, progress)
    progress("starting Spark")
    spark = connect_spark(engine)
    if loaded is not None:
        folder = Path(tempfile.mkdtemp(prefix="ledger-", dir=copies_folder()))
        write_ledger(connection, loaded.ledger, folder)
        return spark, Loaded(read_ledger(spark, [str(folder)]), loaded.report)
    from workloads.remote_load import account_for  # noqa: PLC0415

    return spark, account_for(spark, read_ledger(spark, ledgers))


def _is_ledger(connection: Connection, path: str) -> bool:
    import duckdb  # noqa: PLC0415

    place = Path(path)
    pattern = str(place / "**" / "*.parquet") if place.is_dir() else path
    try:
        rows = connection.raw_sql(
            f"DESCRIBE SELECT * FROM read_parquet({quote(pattern)}, union_by_name = true)"
        )
        return {row[0] for row in rows.fetchall()} >= _NEEDED
    except duckdb.Error:
        return False


def write_ledger(connection: Connection, ledger: Expr, folder: Path) -> None:
    """Write the rows of a ledger as Parquet files into a folder, a file for each of the engine's threads."""
    query = connection.compile(ledger)
    connection.raw_sql(
        f"COPY ({query}) TO {quote(str(folder))} (FORMAT parquet, PER_THREAD_OUTPUT, OVERWRITE_OR_IGNORE)"
    )


def read_ledger(spark: SparkEngine, paths: Sequence[str]) -> Expr:
    """Return the ledger in Parquet files, with the columns and types that it has here.

    Raises:
        SourceError: When the files are no ledger.
    """
    from pyspark.errors import PySparkException  # noqa: PLC0415

    session = spark.backend._session  # noqa: SLF001
    try:
        frame = (
            session.read.option("mergeSchema", "true").option("recursiveFileLookup", "true").parquet(*paths)
        )
    except PySparkException as error:
        raise SourceError(f"{paths[0]}: {(str(error).strip().splitlines() or [''])[0][:300]}") from error
    frame.createOrReplaceTempView("advisor_ledger")
    rows = spark.backend.table("advisor_ledger")
    if not set(rows.columns) >= _NEEDED:
        raise SourceError(
            f"{paths[0]}: no ledger: it lacks {', '.join(sorted(_NEEDED - set(rows.columns)))}; make one with `advisor ledger add`"
        )
    names = [name for name in COLUMNS if name in rows.columns]
    return rows.select(**{name: rows[name].cast(COLUMNS[name]) for name in names})


def connect_spark(engine: str) -> SparkEngine:
    """Return a Spark session.

    Raises:
        SourceError: When PySpark or Java is missing, or the master does not answer.
    """
    try:
        import ibis  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError as error:
        raise SourceError(
            f"--engine {engine} needs PySpark and Java 17: pip install 'token-cost-advisor[spark]' ({error})"
        ) from error
    builder = SparkSession.builder.appName("token-cost-advisor")
    if engine == LOCAL:
        builder = builder.master("local[*]")
        local = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": os.environ.get("SPARK_DRIVER_MEMORY", "2g"),
            "spark.sql.shuffle.partitions": str(_SHUFFLES),
            "spark.log.level": "ERROR",
        }
        for key, value in local.items():
            builder = builder.config(key, value)
    elif engine != "spark":
        builder = builder.master(engine)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        raise SourceError(
            f"--engine {engine}: Spark did not start ({(str(error).strip().splitlines() or [type(error).__name__])[0][:300]}). "
            "It needs Java 17 (JAVA_HOME, or java on the PATH) and, on a cluster, a master that answers"
        ) from error
    backend = ibis.pyspark.connect(session)
    backend.compiler = Spark()
    return SparkEngine(backend)
