"""OpenCode: message files of the client, and the usage export of its console.

Where it comes from: ``storage/message/<session>/<message>.json`` of the client, or the ``data`` column of its database's
``message`` table, as JSON or JSONL; the console's "Export usage" CSV.

One row is: a message; in the export a UTC day x member x provider x model, with a count of requests. The row of the day
the export was made on grew later: of two exports the larger row counts.

Token fields: ``tokens.input`` EXCLUDES ``cache.read`` and ``cache.write``. ``output`` holds ``reasoning`` in older versions and not
in newer ones: the row's ``total`` decides, and without one the version is an older one.

Time zone: epochs in milliseconds, UTC; the export's days are UTC days.

What it cannot tell: a write's lifetime (taken as 5 minutes); what a message cost that the client had no price for (it
writes 0).
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import ibis

from pricing.units import MILLISECONDS_PER_SECOND, SECONDS_PER_DAY
from workloads.accounting import NEGATIVE_COUNT, NO_WHOLE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT, is_true, text_of
from workloads.importers import Columns, Importer, JsonImporter, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node, time_columns
from workloads.schema import Schema
from workloads.table import Table

_BIG: Final = "BIGINT"
_MICRO_CENT: Final = ibis.literal(Decimal("0.00000001"), type="decimal(9, 8)")

_CORE: Final[Schema] = {
    "id": "VARCHAR",
    "sessionID": "VARCHAR",
    "messageID": "VARCHAR",
    "projectID": "VARCHAR",
    "role": "VARCHAR",
    "modelID": "VARCHAR",
    "providerID": "VARCHAR",
    "agent": "VARCHAR",
    "finish": "VARCHAR",
    "cost": "DECIMAL(38, 12)",
    "time": {"created": _BIG, "completed": _BIG},
    "path": {"cwd": "VARCHAR"},
    "error": {"name": "VARCHAR"},
    "tokens": {
        "total": _BIG,
        "input": _BIG,
        "output": _BIG,
        "reasoning": _BIG,
        "cache": {"read": _BIG, "write": _BIG},
    },
}


class OpenCodeMessage(JsonImporter):
    """Messages of the client."""

    name = "opencode"
    title = "OpenCode messages (JSON, JSONL)"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a message, a part of one, or a session."""
        tokens = obj.get("tokens")
        if isinstance(tokens, Mapping) and isinstance(tokens.get("cache"), Mapping):
            return "modelID" in obj or "sessionID" in obj
        if "sessionID" in obj:
            return "messageID" in obj or (isinstance(obj.get("time"), Mapping) and "role" in obj)
        return "projectID" in obj and isinstance(obj.get("time"), Mapping)

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        cached = node.get("tokens", "cache").notnull()
        named = node.get("modelID").notnull() | node.get("sessionID").notnull()
        timed = node.get("time").notnull()
        message = node.get("sessionID").notnull() & (
            node.get("messageID").notnull() | (timed & node.get("role").notnull())
        )
        return (cached & named) | message | (node.get("projectID").notnull() & timed)

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        tokens, created, error = node.get("tokens"), node.get("time", "created"), node.get("error", "name")
        counts = [tokens["input"], _output(tokens), tokens["cache"]["read"], tokens["cache"]["write"]]
        negative = is_negative(*counts, tokens["reasoning"])
        # A message is first written with zeros; they stay when its answer was cut off or never came.
        empty = sum((zero(count) for count in counts[1:]), zero(counts[0])) == 0
        prompt, output, cached, written = [ibis.cases((empty, ibis.null("int64")), else_=c) for c in counts]
        uncached, reads, problem = split_input(
            prompt, cached=cached, written=written, output=output, total=tokens["total"], additive=True
        )
        no_answer = is_true(node.get("role") != "assistant") | node.get("messageID").notnull()
        no_answer |= tokens.isnull() & node.get("modelID").isnull()
        failed = empty & is_true(~error.contains("Abort"))
        return {
            "fate": ibis.cases((no_answer | failed, IGNORED), (negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (no_answer, "no model's answer, or a part of one"),
                (failed, "failed call without usage"),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            "problem": problem,
            **time_columns(created.cast("string")),
            "provider": node.get("providerID"),
            "model": node.get("modelID"),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": uncached,
            "cache_read": reads,
            "cache_write_5m": written,
            "output": output,
            "reasoning": ibis.cases((empty, ibis.null("int64")), else_=tokens["reasoning"]),
            "project": node.get("path", "cwd"),
            "application": node.get("agent"),
            "session": ibis.coalesce(node.get("sessionID"), envelope.get("session")),
            "stop_reason": node.get("finish"),
            "status": error,
            "duration_seconds": (node.get("time", "completed") - created).cast("float64")
            / MILLISECONDS_PER_SECOND,
            "recorded_cost_usd": node.get("cost").nullif(0),
            "dedup_group": node.get("id").nullif(""),
            "dedup_size": zero(prompt) + zero(cached) + zero(written) + zero(output),
        }


def _output(tokens: Any) -> Any:
    """Return the output with its reasoning, which newer versions keep apart."""
    output, reasoning = tokens["output"], tokens["reasoning"]
    apart = tokens["input"] + output + zero(tokens["cache"]["read"]) + zero(tokens["cache"]["write"])
    outside = is_true(tokens["total"] == apart + reasoning) | is_true(reasoning > output)
    return ibis.cases((outside, output + zero(reasoning)), else_=output)


class OpenCodeConsoleCsv(TableImporter):
    """The console's usage export."""

    name = "opencode-console-csv"
    title = "OpenCode console: usage CSV (UTC days)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"day", "model", "input_tokens", "output_tokens", "cost_micro_cents"} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        count, text = table.count, table.text
        names = ("input_tokens", "output_tokens", "cache_read_tokens")
        writes = ("cache_write_5m_tokens", "cache_write_1h_tokens")
        counts = [count(name) for name in (*names, *writes)]
        blank = text("day").isnull()
        unreadable = table.unreadable("input_tokens") | table.unreadable("output_tokens")
        negative = is_negative(*counts)
        who = [text_of(text(name)) + "|" for name in ("day", "user_type", "user_id", "provider")]
        return {
            "fate": ibis.cases((blank, IGNORED), (unreadable | negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (blank, "row without a date"),
                (unreadable, NO_WHOLE_COUNT),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            **table.time("day"),
            "bucket_seconds": ibis.literal(SECONDS_PER_DAY, type="int64"),
            "provider": text("provider"),
            "model": text("model"),
            "requests": count("requests"),
            "input_uncached": counts[0],
            "cache_read": counts[2],
            "cache_write_5m": counts[3],
            "cache_write_1h": counts[4],
            "output": counts[1],
            "user": ibis.coalesce(text("user_name"), text("user_id")),
            "recorded_cost_usd": ibis.coalesce(
                count("cost_micro_cents") * _MICRO_CENT, table.number("cost_usd")
            ),
            "dedup_group": who[0] + who[1] + who[2] + who[3] + text_of(text("model")),
            "dedup_size": zero(count("requests")) + sum((zero(c) for c in counts[1:]), zero(counts[0])),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (OpenCodeMessage(), OpenCodeConsoleCsv())
