"""Amazon Bedrock: responses of the Converse API, as an application or proxy logged them.

Where it comes from: bodies of ``Converse`` calls and the ``metadata`` event of ``ConverseStream``, bare or inside any envelope.

One row is: a response.

Token fields: ``inputTokens`` EXCLUDES cache reads and writes; the total is the sum of the four. The cache counts whose names
end with ``TokenCount`` repeat the others. ``cacheDetails`` splits the writes by lifetime. Output includes thinking.

Time zone: a body carries no time, so the envelope's counts.

What it cannot tell: the model, which only the envelope names; without ``cacheDetails``, a write's lifetime (taken as 5
minutes, the default).
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from pricing.units import MILLISECONDS_PER_SECOND
from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT, at_most, not_negative, unless_among
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import Schema

_BIG: Final = "BIGINT"
STANDARD_TIERS: Final = ("default", "standard", "on_demand")
_FOREIGN: Final = (
    "inputTokenDetails",
    "outputTokenDetails",
    "cachedInputTokens",
    "reasoningTokens",
    "promptTokens",
    "raw",
    "cacheCreationInputTokens",
)
"""Keys of usage objects of the Vercel AI SDK and of agents, which share the names of input and output."""
_FOREIGN_RESULT: Final = ("finishReason", "providerMetadata", "sdk")

CACHE_DETAILS: Final[list[Schema]] = [{"ttl": "VARCHAR", "inputTokens": _BIG}]
_USAGE: Final[Schema] = {
    "inputTokens": _BIG,
    "outputTokens": _BIG,
    "totalTokens": _BIG,
    "cacheReadInputTokens": _BIG,
    "cacheWriteInputTokens": _BIG,
    "cacheReadInputTokenCount": _BIG,
    "cacheWriteInputTokenCount": _BIG,
    "cacheDetails": CACHE_DETAILS,
}
_CONVERSE: Final[Schema] = {
    "usage": {**_USAGE, **dict.fromkeys(_FOREIGN, "JSON")},
    "stopReason": "VARCHAR",
    "finishReason": "JSON",
    "providerMetadata": "JSON",
    "sdk": "JSON",
    "serviceTier": {"type": "VARCHAR"},
    "metrics": {"latencyMs": "DOUBLE"},
    "ResponseMetadata": {"RequestId": "VARCHAR"},
    "$metadata": {"requestId": "VARCHAR"},
}


class BedrockConverse(JsonImporter):
    """Bodies of the Converse API, and the last event of its streams."""

    name = "bedrock"
    title = "Amazon Bedrock Converse responses"
    core = _CONVERSE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object has a usage object of the Converse API."""
        usage = obj.get("usage")
        if not isinstance(usage, Mapping) or any(obj.get(key) is not None for key in _FOREIGN_RESULT):
            return False
        return isinstance(usage.get("inputTokens"), int) and not any(key in usage for key in _FOREIGN)

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        usage = node.get("usage")
        foreign = ibis.coalesce(
            *[usage[key] for key in _FOREIGN], *[node.get(key) for key in _FOREIGN_RESULT]
        )
        return (usage["inputTokens"].notnull() | usage["outputTokens"].notnull()) & foreign.isnull()

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        usage = node.get("usage")
        written_1h = lifetime(usage["cacheDetails"], "1h")
        written = ibis.coalesce(
            usage["cacheWriteInputTokens"],
            usage["cacheWriteInputTokenCount"],
            sum_of(lifetime(usage["cacheDetails"], "5m"), written_1h),
        )
        counts = {
            "prompt": usage["inputTokens"],
            "output": usage["outputTokens"],
            "cached": ibis.coalesce(usage["cacheReadInputTokens"], usage["cacheReadInputTokenCount"]),
            "written": written,
            "written_1h": written_1h,
            "total": usage["totalTokens"],
        }
        tier = ibis.coalesce(node.get("serviceTier", "type"), envelope.get("service_tier"))
        latency = node.get("metrics", "latencyMs") / MILLISECONDS_PER_SECOND
        columns = columns_of(counts)
        return {
            **envelope.labels(),
            **envelope.started_at(NO_TEXT),
            **columns,
            "provider": ibis.coalesce(envelope.get("provider"), "aws"),
            "model": envelope.get("model"),
            "service_tier": unless_among(tier, STANDARD_TIERS),
            "stop_reason": ibis.coalesce(node.get("stopReason"), envelope.get("stop_reason")),
            "duration_seconds": ibis.coalesce(latency, envelope.get("duration_seconds", "float64")),
            "dedup_group": ibis.coalesce(
                node.get("ResponseMetadata", "RequestId"), node.get("$metadata", "requestId")
            ),
        }


def lifetime(details: Any, ttl: str) -> Any:
    """Return the cache writes of one lifetime; null where the details name none."""

    def named(entry: Any) -> Any:
        return entry["ttl"] == ttl

    def tokens(entry: Any) -> Any:
        # In floats, since the engine adds up whole numbers in a wider type than the library knows of.
        return entry["inputTokens"].cast("float64")

    return details.filter(named).map(tokens).sums().cast("int64")


def sum_of(first: Any, second: Any) -> Any:
    """Return the sum of two counts of which either may be absent; null when both are."""
    return ibis.coalesce(first + second, first, second)


def columns_of(counts: Mapping[str, Any]) -> Columns:
    """Return the columns that follow from the counts, by the rule of all of Bedrock.

    Args:
        counts: ``prompt, output, cached, written, written_1h, total``, as reported.
    """
    prompt, output, cached = counts["prompt"], counts["output"], counts["cached"]
    written, written_1h = counts["written"], at_most(counts["written_1h"], counts["written"])
    negative = is_negative(*counts.values())
    uncached, reads, problem = split_input(
        prompt, cached=cached, written=written, output=output, total=counts["total"], additive=True
    )
    return {
        "fate": ibis.cases((negative, SKIPPED), else_=RECORD),
        "reason": ibis.cases((negative, NEGATIVE_COUNT), else_=NO_TEXT),
        "problem": problem,
        "requests": ibis.literal(1, type="int64"),
        "input_uncached": uncached,
        "cache_read": reads,
        "cache_write_5m": not_negative(written - zero(written_1h)),
        "cache_write_1h": written_1h,
        "output": output,
        "dedup_size": zero(prompt) + zero(cached) + zero(written) + zero(output),
    }


IMPORTERS: Final[tuple[Importer, ...]] = (BedrockConverse(),)
