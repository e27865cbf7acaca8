"""Which engine reads a log and adds it up: the embedded one, a PostgreSQL server that has the rows, or Spark."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from workloads.load import Loaded, LoadOptions, load
from workloads.relations import connect
from workloads.sources import SourceError

Connection = Any
Progress = Callable[[str], None]

DUCKDB: Final = "duckdb"
SPARK_LOCAL: Final = "spark-local"
POSTGRES_SCHEMES: Final = ("postgresql://", "postgres://")


def is_spark(engine: str | None) -> bool:
    """Return whether an engine's name means Spark: ``spark-local``, ``spark`` or a master's address."""
    return engine in (SPARK_LOCAL, "spark") or (engine or "").startswith("spark://")


def open_log(
    paths: Sequence[str],
    options: LoadOptions,
    *,
    engine: str | None = None,
    memory_limit: str | None = None,
    progress: Progress = lambda _: None,
    meanwhile: Callable[[], None] = lambda: None,
) -> tuple[Connection, Loaded]:
    """Return the engine that holds a log's records, and the log.

    Args:
        paths: Files, folders, globs, ``-``; or one table's address in a database.
        options: What the user says about the input.
        engine: ``duckdb`` (or None), ``spark-local``, ``spark`` or ``spark://host:port``.
        memory_limit: Memory of the embedded engine.
        progress: Called with a few words at the start of each step.
        meanwhile: Called once beside reading, for what can get ready then.

    Raises:
        SourceError: When a path leads to no log, or an engine cannot be had.
        workloads.account.NothingReadableError: When no record could be read.
    """
    if any(path.startswith(POSTGRES_SCHEMES) for path in paths):
        if is_spark(engine):
            raise SourceError("a table in PostgreSQL is added up by its own server: leave --engine out")
        return _from_postgres(paths, options, progress)
    connection = connect(memory_limit=memory_limit)
    if is_spark(engine):
        from workloads.spark import open_in_spark  # noqa: PLC0415  (an extra)

        return open_in_spark(str(engine), connection, paths, options, progress)
    return connection, load(connection, paths, options, progress, meanwhile=meanwhile)


def _from_postgres(
    paths: Sequence[str], options: LoadOptions, progress: Progress
) -> tuple[Connection, Loaded]:
    from workloads.postgres import connect_postgres, parse_address  # noqa: PLC0415  (an extra)
    from workloads.remote_load import load_table  # noqa: PLC0415

    addresses = [parse_address(path) for path in paths if path.startswith(POSTGRES_SCHEMES)]
    if len(paths) > 1:
        raise SourceError(
            f"{addresses[0].shown}: a table in a database is read alone; name it without other paths"
        )
    server = connect_postgres(addresses[0])
    return server, load_table(server, addresses[0], options, progress)
