"""Amazon Bedrock: model invocation logs.

Where it comes from: model invocation logging to S3 (``.json.gz``: JSON lines or documents) or to CloudWatch (an export of Logs
Insights as CSV or JSON, with the log in ``@message``).

One row is: a request. Failed ones carry an error code and no counts.

Token fields: ``inputTokenCount`` EXCLUDES cache reads and writes. The logged body, where there is one, says which lifetime
the writes had, in the words of the model's maker or in Converse's ``cacheDetails``. Output includes thinking.

Time zone: UTC.

What it cannot tell: which model is behind an application inference profile (its ARN is kept as it is); the lifetimes of
cache writes, when the body was not logged or too large for the log (taken as 5 minutes).
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from pricing.units import MILLISECONDS_PER_SECOND
from workloads.count_texts import ODD, odd_within
from workloads.declared import as_declared
from workloads.expressions import is_true, unless_among
from workloads.importers import Columns, Importer, JsonImporter, TableImporter
from workloads.importers.bedrock import CACHE_DETAILS, STANDARD_TIERS, columns_of, lifetime
from workloads.ledger import IGNORED, SKIPPED
from workloads.raw import Envelope, Node, time_columns
from workloads.schema import Schema
from workloads.table import Table
from workloads.tags import tag_columns

_BIG: Final = "BIGINT"
_TYPE: Final = "ModelInvocationLog"
_INVOCATION_METRICS: Final = "amazon-bedrock-invocationMetrics"
_USAGE: Final[Schema] = {
    "cache_read_input_tokens": _BIG,
    "cache_creation_input_tokens": _BIG,
    "cache_creation": {"ephemeral_1h_input_tokens": _BIG},
    "cacheReadInputTokens": _BIG,
    "cacheWriteInputTokens": _BIG,
    "totalTokens": _BIG,
    "cacheDetails": CACHE_DETAILS,
}
_METRICS: Final[Schema] = {"latencyMs": "DOUBLE"}
_BODY: Final[Schema] = {
    "usage": _USAGE,
    "stop_reason": "VARCHAR",
    "stopReason": "VARCHAR",
    "serviceTier": {"type": "VARCHAR"},
    "metrics": _METRICS,
}
_EVENT: Final[Schema] = {
    "message": {"usage": _USAGE},
    "metadata": {"usage": _USAGE, "metrics": _METRICS},
    _INVOCATION_METRICS: {"invocationLatency": "DOUBLE", "firstByteLatency": "DOUBLE"},
}
_PARTS: Final[Mapping[str, Schema]] = {"body": _BODY, "first": _EVENT, "last": _EVENT}
_INVOCATION: Final[Schema] = {
    "schemaType": "VARCHAR",
    "timestamp": "VARCHAR",
    "accountId": "VARCHAR",
    "identity": "JSON",  # an object, or a list of them
    "region": "VARCHAR",
    "requestId": "VARCHAR",
    "operation": "VARCHAR",
    "modelId": "VARCHAR",
    "errorCode": "VARCHAR",
    "serviceTier": "VARCHAR",
    "requestMetadata": "JSON",
    "input": {
        "inputTokenCount": _BIG,
        "cacheReadInputTokenCount": _BIG,
        "cacheWriteInputTokenCount": _BIG,
    },
    "output": {"outputTokenCount": _BIG, "outputBodyJson": "JSON"},
}


class BedrockLog(JsonImporter):
    """Records of model invocation logging."""

    name = "bedrock-log"
    title = "Amazon Bedrock model invocation logs (JSON, JSONL)"
    core = _INVOCATION

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a record of the log."""
        return obj.get("schemaType") == _TYPE

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return node.get("schemaType") == _TYPE

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``."""
        parts = _parts(node)
        return {f"bedrock_{name}": as_declared(parts[name], schema) for name, schema in _PARTS.items()}

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        del envelope
        body, last = node.step("bedrock_body"), node.step("bedrock_last")
        counts = _counts(node)
        failed = is_true(
            node.get("errorCode").notnull() & counts["prompt"].isnull() & counts["output"].isnull()
        )
        columns = columns_of(counts)
        tier = ibis.coalesce(node.get("serviceTier"), body["serviceTier"]["type"])
        latency = ibis.coalesce(
            body["metrics"]["latencyMs"],
            last["metadata"]["metrics"]["latencyMs"],
            last[_INVOCATION_METRICS]["invocationLatency"],
        )
        identity, given = node.get("identity"), tag_columns(node.get("requestMetadata"))
        arn = ibis.coalesce(identity["arn"].str, identity[0]["arn"].str)
        return {
            **columns,
            "fate": ibis.cases((failed, IGNORED), else_=columns["fate"]),
            "reason": ibis.cases((failed, "failed call without usage"), else_=columns["reason"]),
            ODD: ibis.coalesce(*(odd_within(_parts(node)[name], schema) for name, schema in _PARTS.items())),
            **time_columns(node.get("timestamp")),
            "provider": ibis.literal("aws"),
            "model": node.get("modelId"),
            "service_tier": unless_among(tier, STANDARD_TIERS),
            "region": node.get("region"),
            "endpoint": node.get("operation"),
            **given,
            "project": ibis.coalesce(given["project"], node.get("accountId")),
            "user": ibis.coalesce(given["user"], arn),
            "stop_reason": ibis.coalesce(body["stop_reason"], body["stopReason"]),
            "status": node.get("errorCode"),
            "ttft_seconds": last[_INVOCATION_METRICS]["firstByteLatency"] / MILLISECONDS_PER_SECOND,
            "duration_seconds": latency / MILLISECONDS_PER_SECOND,
            "streaming": node.get("operation").lower().contains("stream"),
            "dedup_group": node.get("requestId").nullif(""),
        }


def _parts(node: Node) -> Columns:
    """Return the answer's body and, of a streamed one, which is logged as the array of its events, the first and the last."""
    body = node.get("output", "outputBodyJson")
    return {"body": body, "first": body[0], "last": body[-1]}


def _counts(node: Node) -> dict[str, Any]:
    """Return the counts of a record; older logs say only in the body what was cached."""
    body, first, last = (node.step(f"bedrock_{name}") for name in ("body", "first", "last"))
    usages = (body["usage"], first["message"]["usage"], last["metadata"]["usage"])

    def find(*names: str) -> Any:
        return ibis.coalesce(*[usage[name] for usage in usages for name in names])

    written_1h = ibis.coalesce(
        *[usage["cache_creation"]["ephemeral_1h_input_tokens"] for usage in usages],
        *[lifetime(usage["cacheDetails"], "1h") for usage in usages],
    )
    return {
        "prompt": node.get("input", "inputTokenCount"),
        "output": node.get("output", "outputTokenCount"),
        "cached": ibis.coalesce(
            node.get("input", "cacheReadInputTokenCount"),
            find("cache_read_input_tokens", "cacheReadInputTokens"),
        ),
        "written": ibis.coalesce(
            node.get("input", "cacheWriteInputTokenCount"),
            find("cache_creation_input_tokens", "cacheWriteInputTokens"),
        ),
        "written_1h": written_1h,
        "total": find("totalTokens"),
    }


_JSON_LOG: Final = BedrockLog()
_INSIGHTS: Final = frozenset(
    {"timestamp", "message", "log_stream", "log", "log_group", "ptr", "ingestion_time"}
)
"""Columns of an export of CloudWatch Logs Insights, in normal form."""


class BedrockLogCsv(TableImporter):
    """An export of CloudWatch Logs Insights."""

    name = "bedrock-log-csv"
    title = "Amazon Bedrock model invocation logs from CloudWatch Logs Insights (CSV, JSON)"
    keys = ("@timestamp", "@message")

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"timestamp", "message"} <= names <= _INSIGHTS

    def steps(self, table: Table) -> Columns:
        """See ``TableImporter.steps``."""
        if not table.has_step("log"):
            return {"log": as_declared(table.json("message"), _INVOCATION)}
        return _JSON_LOG.steps(table.node("log"))

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        node = table.node("log")
        columns = dict(_JSON_LOG.ledger(node, Envelope({})))
        broken = is_true(table.json("message").isnull() & table.text("message").startswith("{"))
        other = ~is_true(_JSON_LOG.owns(node))
        odd = ibis.coalesce(columns[ODD], odd_within(table.json("message"), _INVOCATION))
        return {
            **columns,
            ODD: odd,
            "fate": ibis.cases((broken, SKIPPED), (other, IGNORED), else_=columns["fate"]),
            "reason": ibis.cases(
                (broken, "the message is no valid JSON"),
                (other, "message that is no record of a model call"),
                else_=columns["reason"],
            ),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (_JSON_LOG, BedrockLogCsv())
