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
from workloads.ledger import COLUMNS, LEDGER_ROW, PREFIX_NAMES, RECORD
from workloads.load import Loaded, LoadOptions, load
from workloads.reading import Reading, settled
from workloads.remote import Remote, RemoteError
from workloads.schema import quote
from workloads.sources import SourceError
from workloads.stored.manifest import read_manifest
from workloads.stored.place import apart

Connection = Any
Expr = Any

LOCAL: Final = "spark-local"
_NEEDED: Final = {"source_file", "format"}
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
    logs, kept = apart(paths)
    bare = [path for path in logs if _REMOTE.match(path) or _is_ledger(connection, path)]
    if len(paths) not in (len(logs) - len(bare), len(kept), len(bare)):
        raise SourceError(
            f"{paths[0]}: with --engine {engine}, give logs alone, kept ledgers alone, or Parquet ledgers alone"
        )
    if not kept and not bare:
        return _from_logs(engine, connection, paths, options, progress)
    from workloads.remote_load import account_for  # noqa: PLC0415
    from workloads.stored.read import with_ledgers  # noqa: PLC0415

    progress("starting Spark")
    spark = connect_spark(engine)
    if bare:
        return spark, account_for(spark, read_ledger(spark, bare, options))
    files = [str(folder / file.path) for folder in kept for file in read_manifest(folder).files]
    account = with_ledgers(connection, Reading(), kept, options)
    if not files:
        return spark, Loaded(*settled(connection, account))
    return spark, account_for(spark, read_ledger(spark, files, options), account)


def _from_logs(
    engine: str, connection: Connection, paths: Sequence[str], options: LoadOptions, progress: Any
) -> tuple[SparkEngine, Loaded]:
    if engine != LOCAL:
        raise SourceError(
            f"{paths[0]}: workers of a cluster read ledgers, in a place that all of them see; make one with "
            "`advisor ledger add PATH... --to FOLDER` and give that, or use --engine spark-local"
        )
    loaded = load(connection, paths, options, progress)
    progress("starting Spark")
    spark = connect_spark(engine)
    folder = Path(tempfile.mkdtemp(prefix="ledger-", dir=copies_folder()))
    write_ledger(connection, loaded.ledger, folder)
    return spark, Loaded(read_ledger(spark, [str(folder)], LoadOptions()), loaded.report)


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


def read_ledger(spark: SparkEngine, paths: Sequence[str], options: LoadOptions) -> Expr:
    """Return the ledger in Parquet files, with the columns and types that it has here.

    Raises:
        SourceError: When the files are no ledger.
    """
    import ibis  # noqa: PLC0415
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
    columns = {name: rows[name].cast(kind) for name, kind in COLUMNS.items() if name in rows.columns}
    columns.setdefault("fate", ibis.literal(RECORD))
    if LEDGER_ROW in rows.columns and set(PREFIX_NAMES) & set(columns):
        columns["log_row"] = rows[LEDGER_ROW]
    for name, given in (("provider", options.provider), ("model", options.model)):
        if given:
            columns[name] = ibis.coalesce(columns[name], given) if name in columns else ibis.literal(given)
    return rows.select(**columns)


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
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # nothing listens to the network
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
