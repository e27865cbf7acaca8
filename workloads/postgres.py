"""A gateway's table in PostgreSQL: importer and scan run on the server, and only sums come back.

The address is ``postgresql://[user@]host[:port]/database?table=NAME``. Who asks, and with which password, is what libpq finds
in the environment (``PGUSER``, ``PGPASSWORD`` ...), in ``~/.pgpass`` and in ``pg_service.conf``.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from sqlglot import expressions as sge
from sqlglot import parse_one

from workloads.dialects import Postgres
from workloads.places import masked
from workloads.remote import Remote, RemoteError
from workloads.schema import identifier
from workloads.sources import SourceError

Expr = Any

SCHEMES: Final = ("postgresql://", "postgres://")
_TABLE: Final = re.compile(r"[?&]table=([^&]*)")
_KEPT_TABLE: Final = "advisor_ledger"


def is_postgres(path: str) -> bool:
    """Return whether a path is a database's address."""
    return path.startswith(SCHEMES)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a table is."""

    shown: str
    """As the user knows it; it holds no secret."""
    conninfo: str = field(repr=False)
    """What libpq is told."""
    schema: str | None
    table: str


def parse_address(given: str) -> Address:
    """Return the address of a table.

    Raises:
        SourceError: When it names no table, or holds a password.
    """
    if masked(given) != given:
        raise SourceError(
            f"{masked(given)}: a password in an address ends up in histories and reports; "
            "leave it out and set PGPASSWORD, or keep it in ~/.pgpass"
        )
    found = _TABLE.search(given)
    name = _plain(found[1]) if found else ""
    if found is None or not name:
        raise SourceError(f"{given}: which table? Say ...?table=LiteLLM_SpendLogs (or ?table=schema.name)")
    schema, _, table = name.rpartition(".")
    rest = _TABLE.sub("", given)
    if "?" not in rest:
        rest = rest.replace("&", "?", 1)
    return Address(shown=given, conninfo=rest, schema=schema or None, table=table)


def _plain(text: str) -> str:
    """Return a part of an address without its escapes (``%20``)."""
    return re.sub(r"%([0-9A-Fa-f]{2})", lambda found: chr(int(found[1], 16)), text)


class PostgresEngine(Remote):
    """A session with a server. It writes nothing but a temporary table of its own, which goes when it ends."""

    name = "postgres"

    def __del__(self) -> None:
        """Leave the server when nobody asks any more."""
        self.backend.con.close()

    def _fetch(self, query: str, expr: Expr) -> Any:
        import pyarrow as pa  # noqa: PLC0415

        schema = expr.as_table().schema()
        rows = self.ask(query)
        columns = list(zip(*rows, strict=True)) or [() for _ in schema.names]
        arrays = [
            _array(values, kind, pa) for values, kind in zip(columns, schema.to_pyarrow().types, strict=True)
        ]
        return pa.table(arrays, names=list(schema.names))

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query.

        Raises:
            RemoteError: When the server refuses.
        """
        import psycopg  # noqa: PLC0415  (an extra)

        try:
            with self._lock, self.backend.con.cursor() as cursor:
                cursor.execute(query)
                return cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            raise RemoteError(f"the database says: {_first_line(error)}") from error

    def store(self, name: str, expr: Expr) -> Expr:
        """See ``Remote.store``; where no temporary table may be made, every question reads the rows again."""
        query = fenced(self.compile(expr))
        try:
            self.ask(f"DROP TABLE IF EXISTS pg_temp.{identifier(name)}")
            self.ask(f"CREATE TEMPORARY TABLE {identifier(name)} AS {query}")
        except RemoteError as error:
            import psycopg  # noqa: PLC0415

            if isinstance(
                error.__cause__, (psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction)
            ):
                return expr
            raise
        self.ask(f"ANALYZE {identifier(name)}")
        kept = self.backend.table(name)
        return kept.select(**{column: kept[column].cast(kind) for column, kind in expr.schema().items()})


def fenced(query: str) -> str:
    """Return a query whose inner selects stay apart.

    The server melts them into one, and then works out what they share in each place that takes it.
    """
    tree = parse_one(query, dialect="postgres")
    for inner in tree.find_all(sge.Subquery):
        select = inner.this
        if isinstance(select, sge.Select) and not select.args.get("offset"):
            select.offset(0, copy=False)
    return tree.sql(dialect="postgres")


def connect_postgres(address: Address) -> PostgresEngine:
    """Return a session with the server of a table.

    Raises:
        SourceError: When the driver is missing, or the server cannot be reached.
    """
    try:
        import ibis  # noqa: PLC0415
        import psycopg  # noqa: PLC0415
    except ImportError as error:
        raise SourceError(
            f"{address.shown}: reading PostgreSQL needs a driver: pip install 'token-cost-advisor[postgres]' ({error})"
        ) from error
    try:
        session = psycopg.connect(address.conninfo, autocommit=True, application_name="token-cost-advisor")
    except psycopg.Error as error:
        raise SourceError(f"{address.shown}: {_first_line(error)}. {_HINT}") from error
    backend = ibis.postgres.from_connection(session)
    backend.compiler = Postgres()
    return PostgresEngine(backend)


_HINT: Final = "User and password come from PGUSER and PGPASSWORD, ~/.pgpass or pg_service.conf"


def _first_line(error: Exception) -> str:
    return masked((str(error).strip().splitlines() or [type(error).__name__])[0][:300])


def _array(values: Any, kind: Any, pa: Any) -> Any:
    """Return a column of a result; sums come as decimals, whatever is summed."""
    if pa.types.is_integer(kind):
        return pa.array([None if value is None else int(value) for value in values], pa.int64())
    if pa.types.is_floating(kind):
        return pa.array([None if value is None else float(value) for value in values], kind)
    return pa.array(values, kind)
