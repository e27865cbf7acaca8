"""Vertex AI: request-response logs.

Where it comes from: the BigQuery table that request-response logging of a model or endpoint writes, exported as JSONL,
CSV or Parquet.

One row is: a request. Logging has a sampling rate, so the rows may be a SAMPLE of the requests. The response is null
where it was too large or the call gave none: such a call may have been billed, so it is a request of unknown size.

Token fields: as the body, which is Gemini's (cached inside the prompt, thoughts beside the output) or Claude's (cache
reads and writes beside ``input_tokens``). Bodies are JSON texts or objects.

Time zone: UTC.

What it cannot tell: the sampling rate; the service tier, for Claude.
"""

from typing import Any, Final

import ibis

from pricing.units import MILLISECONDS_PER_SECOND
from workloads.count_texts import ODD, odd_within
from workloads.declared import as_declared
from workloads.expressions import NO_TEXT, is_true
from workloads.importers import Columns, Importer, TableImporter
from workloads.importers.anthropic import AnthropicMessage
from workloads.importers.gemini import GeminiResponse
from workloads.ledger import COLUMNS, IGNORED
from workloads.raw import Envelope, Node
from workloads.schema import Schema, merge
from workloads.table import Table
from workloads.tags import tag_columns

_PROJECT: Final = r"^projects/([^/]+)/"
_CLAUDE: Final = AnthropicMessage()
_GEMINI: Final = GeminiResponse()
_REQUEST: Final[Schema] = {"labels": "JSON", "metadata": {"user_id": "VARCHAR"}}
_RESPONSE: Final[Schema] = {
    **merge(_CLAUDE.core, _GEMINI.core),
    "error": {"code": "VARCHAR", "status": "VARCHAR"},
}
_METADATA: Final[Schema] = {"request_latency": "DOUBLE"}


class VertexLog(TableImporter):
    """The table of request-response logging."""

    name = "vertex-log"
    title = "Vertex AI request-response log (BigQuery export: JSONL, CSV, Parquet)"
    keys = ("request_id", "model", "full_request", "full_response", "metadata", "api_method", "endpoint")

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"logging_time", "full_response"} <= names

    def steps(self, table: Table) -> Columns:
        """See ``TableImporter.steps``."""
        if not table.has_step("last"):
            whole = table.json("full_response")
            # A streamed answer is the array of its chunks: the last one has the final counts.
            last = ibis.coalesce(whole[-1], whole)
            return {
                "last": last,
                "request": table.object("full_request", _REQUEST),
                "metadata": table.object("metadata", _METADATA),
            }
        if not table.has_step("response"):
            return {"response": as_declared(table.step("last"), _RESPONSE)}
        return _GEMINI.steps(table.node("response"))

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        text = table.text
        response, request = table.node("response"), table.node("request")
        error = ibis.coalesce(response.get("error", "status"), response.get("error", "code"))
        failed = error.notnull()
        claude = is_true(response.get("usage").notnull() & _CLAUDE.owns(response))
        envelope = Envelope({"model": text("model").re_extract(r"([^/]+)$", 1).nullif("")})
        labels = tag_columns(request.get("labels"))
        body = _body(claude, response, envelope)
        return {
            **body,
            "fate": ibis.cases((failed, IGNORED), else_=body["fate"]),
            "reason": ibis.cases((failed, "failed call without usage"), else_=body["reason"]),
            ODD: odd_within(table.step("last"), _RESPONSE),
            **table.time("logging_time"),
            "provider": ibis.literal("google"),
            "region": text("model").re_extract(r"/locations/([^/]+)/", 1).nullif(""),
            **labels,
            "project": ibis.coalesce(labels["project"], text("model").re_extract(_PROJECT, 1).nullif("")),
            "user": ibis.coalesce(labels["user"], request.get("metadata", "user_id")),
            "endpoint": text("api_method"),
            "status": error,
            "streaming": text("api_method").lower().contains("stream"),
            "duration_seconds": table.node("metadata").get("request_latency") / MILLISECONDS_PER_SECOND,
            "dedup_group": text("request_id"),
            "dedup_key": NO_TEXT,
        }


def _body(claude: Any, response: Node, envelope: Envelope) -> dict[str, Any]:
    """Return the columns that the response's own format gives."""
    anthropic, gemini = (dict(body.ledger(response, envelope)) for body in (_CLAUDE, _GEMINI))
    columns: dict[str, Any] = {}
    for name in {**anthropic, **gemini}:
        null = ibis.null(COLUMNS[name])
        columns[name] = ibis.cases((claude, anthropic.get(name, null)), else_=gemini.get(name, null))
    return columns


IMPORTERS: Final[tuple[Importer, ...]] = (VertexLog(),)
