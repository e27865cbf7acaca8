"""Prefix log: requests with the fingerprint of the prefix that they asked to have cached.

Where it comes from: an application's own log, CSV or JSONL, with ``prefix_sha256``, ``prefix_tokens``,
``suffix_tokens`` and ``output_tokens`` a call.

One row is: a request.

Token fields: the prompt is ``prefix_tokens`` + ``suffix_tokens``. The log has no cache counts; they are worked out, and
every row says so: the prefix is written to the cache for 5 minutes, an entry is there once the call that writes it has
answered (its time plus ``latency_s``), and every call keeps it for 5 minutes more. Calls before that answer are writes,
however many run at one time.

Time zone: times without an offset are UTC.

What it cannot tell: what the provider really read and wrote. Where the latency is not given, an entry counts as there at
once, so reads may be too many.
"""

from typing import Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative, zero
from workloads.expressions import NO_TEXT, is_true, not_negative
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import RECORD, SKIPPED
from workloads.table import Table
from workloads.times import epoch, seconds_between

CACHE_WORKED_OUT: Final = "cache_use_worked_out"
"""Problem of every row: its cache counts follow from fingerprints and times, the log has none."""

_LIFETIME_SECONDS: Final = 300
_ENTRY: Final = ("model", "prefix_sha256")


class PrefixLog(TableImporter):
    """Log rows."""

    name = "prefix-log"
    title = "Request log with prefix fingerprints (CSV, JSONL)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"timestamp", "prefix_sha256", "prefix_tokens", "suffix_tokens", "output_tokens"} <= names

    def steps(self, table: Table) -> Columns:
        """See ``TableImporter.steps``."""
        entry = [table.text(name) for name in _ENTRY]
        if not table.has_step("prefix_gap"):
            at = table.time("timestamp")["started_at"]
            before = at.lag().over(ibis.window(group_by=entry, order_by=at))
            return {
                "prefix_at": at,
                "prefix_gap": is_true(seconds_between(before, at) > _LIFETIME_SECONDS),
                "prefix_latency": zero(not_negative(table.number("latency_s").cast("float64"))),
            }
        at = table.step("prefix_at")
        if not table.has_step("prefix_life"):
            ordered = ibis.window(group_by=entry, order_by=at, following=0)
            return {"prefix_life": table.step("prefix_gap").cast("int64").sum().over(ordered)}
        if not table.has_step("prefix_there"):
            life = ibis.window(group_by=[*entry, table.step("prefix_life")])
            start = epoch(at)
            # The first answer of an entry's life is when it can be read.
            return {
                "prefix_start": start,
                "prefix_there": (start + table.step("prefix_latency")).min().over(life),
            }
        return {}

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        prefix, suffix, output = (
            table.count(name) for name in ("prefix_tokens", "suffix_tokens", "output_tokens")
        )
        missing = suffix.isnull() & output.isnull()
        negative = is_negative(prefix, suffix, output)
        read = is_true(table.step("prefix_start") > table.step("prefix_there"))
        named = table.text("prefix_sha256").notnull()
        return {
            "fate": ibis.cases((missing | negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (missing, "a token count is missing or no whole number"),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            "problem": ibis.cases((named & (prefix > 0), CACHE_WORKED_OUT), else_=NO_TEXT),
            **table.time("timestamp"),
            "model": table.text("model"),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": ibis.cases((named, suffix), else_=suffix + zero(prefix)),
            "cache_read": ibis.cases((named & read, prefix), (named, 0)),
            "cache_write_5m": ibis.cases((named & ~read, prefix), (named, 0)),
            "output": output,
            "prefix_hash": table.text("prefix_sha256"),
            "prefix_tokens": prefix,
            "duration_seconds": table.number("latency_s").cast("float64"),
            "dedup_group": table.text("request_id"),
            "dedup_size": zero(prefix) + zero(suffix) + zero(output),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (PrefixLog(),)
