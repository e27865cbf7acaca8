"""Azure OpenAI: diagnostic logs.

Where it comes from: diagnostic settings of the resource, to storage (``insights-logs-requestresponse`` and
``insights-logs-azureopenairequestusage``, hourly ``PT1H.json`` files of one record a line) or to Log Analytics (table
``AzureDiagnostics``, exported as CSV or JSON).

One row is: an entry of one category. A request has TWO: ``AzureOpenAIRequestUsage`` with the tokens and
``RequestResponse``, with the same correlation id; the one with tokens is kept. Other categories are no requests.

Token fields: ``promptTokens`` INCLUDES ``cachedTokens``; ``generatedTokens`` includes reasoning. In the usage category the
counts are arrays. Properties are a JSON text or an object.

Time zone: UTC.

What it cannot tell: whether a deployment is provisioned (its tokens are logged and not billed each); the model, where only
the deployment's free name is logged.
"""

from typing import Any, Final

import ibis

from pricing.units import MILLISECONDS_PER_SECOND
from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.count_texts import ODD, odd_jsons
from workloads.declared import as_declared
from workloads.expressions import NO_TEXT, is_true
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import time_columns
from workloads.schema import Schema
from workloads.table import Table
from workloads.times import month_first

_USAGE: Final = "azureopenairequestusage"
_CATEGORIES: Final = ("requestresponse", _USAGE)
_REJECTED: Final = (400, 401, 403, 404, 405, 413, 415, 422, 424, 429)
"""Status codes of calls that no model worked on."""
_NO_MODEL: Final = r"(?i)(^|_)(list|get|delete|cancel|upload)(_|$)|^(files|models|deployments|fine_?tunes?)_"
"""Operations that run no model."""
_TIMES: Final = ("time", "time_generated", "time_generated_utc")
_COUNTS: Final = ("promptTokens", "generatedTokens", "completionTokens", "cachedTokens")
_PROPERTIES: Final[Schema] = {
    **dict.fromkeys(("modelDeploymentName", "modelName", "objectId", "streamType"), "VARCHAR"),
    **dict.fromkeys(_COUNTS, "JSON"),
    "timeToFirstTokenMs": "DOUBLE",
}


class AzureOpenAILog(TableImporter):
    """Entries of the diagnostic log."""

    name = "azure-openai"
    title = "Azure OpenAI diagnostic logs (storage JSON, Log Analytics CSV)"
    keys = ("resultSignature", "durationMs", "location", "resourceId")

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"category", "correlation_id", "operation_name"} <= names and bool(
            {"properties", "properties_s"} & names
        )

    def steps(self, table: Table) -> Columns:
        """See ``TableImporter.steps``."""
        column = table.first(("properties", "properties_s")) or "properties"
        whole = table.json(column)
        # An object, or a JSON text of an object.
        whole = ibis.coalesce(whole.unwrap_as("string").try_cast("json"), whole)
        time = table.text(table.first(_TIMES) or "time")
        if not table.has_step("properties"):
            return {"properties": as_declared(whole, _PROPERTIES), "time": month_first(time)}
        return {name: _tokens(table.step("properties")[name]) for name in _COUNTS}

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        text, properties = table.text, table.step("properties")
        prompt, cached = table.step("promptTokens"), table.step("cachedTokens")
        output = ibis.coalesce(table.step("generatedTokens"), table.step("completionTokens"))
        uncached, reads, problem = split_input(
            prompt, cached=cached, written=ibis.null("int64"), output=output, total=None, additive=False
        )
        category, status = text("category").lower(), text("result_signature")
        counted = prompt.notnull() | output.notnull()
        other = ~is_true(category.isin(_CATEGORIES)) | is_true(text("operation_name").re_search(_NO_MODEL))
        failed = ~counted & is_true(status.try_cast("int64").isin(_REJECTED))
        negative = is_negative(prompt, output, cached)
        odd = ibis.coalesce(*(odd_jsons(properties[name], table.step(name)) for name in _COUNTS))
        deployment = properties["modelDeploymentName"].nullif("")
        ttft = properties["timeToFirstTokenMs"] / MILLISECONDS_PER_SECOND
        return {
            "fate": ibis.cases((other | failed, IGNORED), (negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (other, "entry that is no call of a model"),
                (failed, "failed call without usage"),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            ODD: odd,
            "problem": problem,
            **time_columns(table.step("time")),
            "provider": ibis.literal("azure"),
            "model": ibis.coalesce(properties["modelName"].nullif(""), deployment),
            "region": text("location"),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": uncached,
            "cache_read": reads,
            "output": output,
            "project": _resource(table),
            "application": deployment,
            "endpoint": text("operation_name"),
            "user": properties["objectId"].nullif(""),
            "status": status,
            "ttft_seconds": ttft,
            "duration_seconds": table.number("duration_ms").cast("float64") / MILLISECONDS_PER_SECOND,
            "streaming": properties["streamType"].lower() == "streaming",
            "dedup_group": text("correlation_id"),
            # The entry with tokens is the larger one, and of two such that of the usage category.
            "dedup_size": (zero(prompt) + zero(output)) * 2 + is_true(category == _USAGE).cast("int64"),
        }


def _tokens(value: Any) -> Any:
    """Return a count that is a number, or an array of the numbers of several answers."""
    several = value.try_cast("array<float64>").sums().cast("int64")
    return ibis.coalesce(value.try_cast("int64"), several)


def _resource(table: Table) -> Any:
    """Return the name of the resource that was called."""
    path = ibis.coalesce(table.text("resource_id"), NO_TEXT)
    return ibis.coalesce(table.text("resource"), path.re_extract(r"([^/]+)$", 1).nullif("")).lower()


IMPORTERS: Final[tuple[Importer, ...]] = (AzureOpenAILog(),)
