"""What engines spell otherwise than the library does: everything that differs by dialect stands here.

The expressions of the scan are the same for every engine. These compilers only add what the library lacks, and give the
operations below the embedded engine's meaning: an epoch keeps its fraction, a duration counts whole milliseconds of either
end, and a text that is no number becomes null instead of an error.
"""

from typing import Any, Final

import sqlglot as sg
from ibis.backends.sql.compilers.duckdb import DuckDBCompiler
from ibis.backends.sql.compilers.postgres import PostgresCompiler
from ibis.backends.sql.compilers.pyspark import PySparkCompiler
from sqlglot import expressions as sge

_WHOLE: Final = r"^\s*[+-]?\d{1,18}(\.\d*)?\s*$"
_DECIMAL: Final = r"^\s*[+-]?(\d{1,24}(\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?\s*$"
_INSTANT: Final = (
    r"^\s*\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
    r"([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?\s*(Z|[+-]\d{2}(:?\d{2})?)?)?\s*$"
)
_TRUTH: Final = r"^\s*(true|false|t|f|yes|no|y|n|1|0)\s*$"
_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000}
_MILLISECONDS: Final = {"millisecond": 1_000, "second": 1}


class DuckDB(DuckDBCompiler):  # type: ignore[misc]  # the library's types are hidden
    """The embedded engine, whose sessions are in UTC."""

    __slots__ = ()

    def visit_Cast(self, op: Any, *, arg: Any, to: Any) -> Any:  # noqa: N802  (the library's names)
        """An instant loses its zone without a look into the calendar, which takes longer than to read it from text."""
        given = op.arg.dtype
        if given.is_timestamp() and given.timezone == "UTC" and to.is_timestamp() and to.timezone is None:
            return self.f.make_timestamp(self.f.epoch_us(arg))
        return super().visit_Cast(op, arg=arg, to=to)

    def visit_LastValue(self, op: Any, *, arg: Any) -> Any:  # noqa: N802, ARG002
        """Of those that are not null, as it is outside of a window."""
        return sge.IgnoreNulls(this=sge.LastValue(this=arg))


class Postgres(PostgresCompiler):  # type: ignore[misc]
    """PostgreSQL 12 and newer."""

    __slots__ = ()

    def visit_Cast(self, op: Any, *, arg: Any, to: Any) -> Any:  # noqa: N802
        """A truth value becomes a number by way of the one kind of number that the server makes of it."""
        if op.arg.dtype.is_boolean() and to.is_numeric():
            arg = sg.cast(arg, "int")
        return super().visit_Cast(op, arg=arg, to=to)

    def visit_TryCast(self, op: Any, *, arg: Any, to: Any) -> Any:  # noqa: N802
        """The server has no cast that fails softly: a pattern keeps what it would refuse from it."""
        if not op.arg.dtype.is_string() or to.is_string():
            return self.visit_Cast(op, arg=arg, to=to)
        if to.is_integer():
            # By way of a decimal, for ``1.5`` is rounded and not refused.
            return self._where(_WHOLE, arg, sg.cast(sg.cast(arg, "numeric"), self.type_mapper.from_ibis(to)))
        if to.is_numeric():
            return self._where(_DECIMAL, arg, self.cast(arg, to))
        if to.is_timestamp() or to.is_date():
            return self._where(_INSTANT, arg, self.cast(arg, to))
        if to.is_boolean():
            return self._where(_TRUTH, self.f.lower(arg), self.cast(arg, to))
        return self.visit_Cast(op, arg=arg, to=to)

    def _where(self, pattern: str, text: Any, cast: Any) -> Any:
        return self.if_(sge.RegexpLike(this=text, expression=sge.convert(pattern)), cast, sge.Null())

    def visit_TimestampDelta(self, op: Any, *, part: Any, left: Any, right: Any) -> Any:  # noqa: N802
        """Whole units of the later end, less those of the earlier."""
        units = _MILLISECONDS[part.this]
        whole = [self.f.floor(self.f.extract("epoch", side) * units) for side in (left, right)]
        return sge.paren(self.cast(whole[0] - whole[1], op.dtype), copy=False)

    def visit_TimestampFromUNIX(self, op: Any, *, arg: Any, unit: Any) -> Any:  # noqa: N802, ARG002
        """In UTC."""
        seconds = sg.cast(arg, "numeric") / sge.convert(_PER_SECOND[unit.short])
        return self.f.timezone("UTC", self.f.anon.to_timestamp(sg.cast(seconds, "double precision")))

    def visit_HexDigest(self, op: Any, *, arg: Any, how: str) -> Any:  # noqa: N802, ARG002
        """Of the bytes in UTF-8."""
        if how == "md5":
            return self.f.md5(arg)
        return self.f.encode(self.f.anon.sha256(self.f.anon.convert_to(arg, "UTF8")), "hex")

    def visit_InMemoryTable(self, op: Any, *, name: str, schema: Any, data: Any) -> Any:  # noqa: N802
        """A small table of ours travels inside the query: the session creates none."""
        del op, name
        rows = [
            sge.Tuple(
                expressions=[
                    self.visit_Literal(None, value=value, dtype=kind)
                    for value, kind in zip(row.values(), schema.types, strict=True)
                ]
            )
            for row in data.to_pyarrow(schema).to_pylist()
        ]
        places = [sg.to_identifier(f"c{at}") for at in range(len(schema))]
        columns = [
            self.cast(sge.Column(this=place), kind).as_(column, quoted=True)
            for place, (column, kind) in zip(places, schema.items(), strict=True)
        ]
        alias = sge.TableAlias(this=sg.to_identifier("given"), columns=places)
        return sg.select(*columns).from_(sge.Values(expressions=rows, alias=alias)).subquery()


class Spark(PySparkCompiler):  # type: ignore[misc]
    """Spark 4."""

    __slots__ = ()

    def visit_ExtractEpochSeconds(self, op: Any, *, arg: Any) -> Any:  # noqa: N802, ARG002
        """With its fraction."""
        return self._micros(arg) / sge.convert(1e6)

    def visit_ExtractMicrosecond(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        """Of the second."""
        return self.cast(self.f.anon.pmod(self._micros(arg), sge.convert(1_000_000)), op.dtype)

    def visit_TimestampDelta(self, op: Any, *, part: Any, left: Any, right: Any) -> Any:  # noqa: N802
        """Whole units of the later end, less those of the earlier."""
        size = sge.convert(1_000_000 // _MILLISECONDS[part.this])
        whole = [self.f.floor(self._micros(side) / size) for side in (left, right)]
        return self.cast(sge.paren(whole[0] - whole[1], copy=False), op.dtype)

    def visit_Greatest(self, op: Any, *, arg: Any) -> Any:  # noqa: N802, ARG002
        """Of one alone, itself."""
        return self.f.greatest(*arg) if len(arg) > 1 else arg[0]

    def visit_Least(self, op: Any, *, arg: Any) -> Any:  # noqa: N802, ARG002
        """Of one alone, itself."""
        return self.f.least(*arg) if len(arg) > 1 else arg[0]

    def visit_ArrayIndex(self, op: Any, *, arg: Any, index: Any) -> Any:  # noqa: N802, ARG002
        """Null beyond the end, and from the end where it is negative."""
        place = self.if_(index < 0, self.f.size(arg) + index, index)
        return self.f.anon.get(arg, place)

    def _micros(self, instant: Any) -> Any:
        return self.f.anon.unix_micros(sg.cast(instant, "timestamp"))
