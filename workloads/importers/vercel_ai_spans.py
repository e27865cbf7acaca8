"""Vercel AI SDK: telemetry spans with their attributes as a plain object.

Where it comes from: spans of the SDK's ``experimental_telemetry`` as a console or file exporter of the OpenTelemetry SDK for
JavaScript writes them (``startTime`` and ``endTime`` as pairs of seconds and nanoseconds). The same spans in OTLP requests are
read as those.

One row is: a span. ``ai.generateText`` and its kind repeat what the calls below them used; only the spans that end in
``.doGenerate``, ``.doStream`` and ``.doEmbed`` are calls.

Token fields: as the SDK's usage objects: with ``inputTokenDetails`` the input INCLUDES the cached part; before version 6
Anthropic and Bedrock leave it out.

Time zone: UTC.

What it cannot tell: a write's lifetime (taken as 5 minutes); calls that a sampler dropped.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from pricing.units import MILLISECONDS_PER_SECOND
from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT, is_true, unless_among
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import Schema
from workloads.spans import has_failed, instant_text
from workloads.times import parse_instant, seconds_between

_CALL: Final = r"\.do(Generate|Stream|Embed)$"
_ADDITIVE_PROVIDERS: Final = r"(?i)(^|[^a-z])(anthropic|bedrock)"
_SINCE_6: Final = r"^ai/([6-9]|[1-9]\d)\."
_STANDARD_TIERS: Final = ("auto", "default", "standard", "on_demand")
_IN: Final = "ai.usage.inputTokenDetails."
_OUT: Final = "ai.usage.outputTokenDetails."

_COUNTS: Final[Mapping[str, tuple[str, ...]]] = {
    "prompt": (
        "ai.usage.inputTokens", "ai.usage.promptTokens", "gen_ai.usage.input_tokens", "ai.usage.tokens",
    ),
    "output": ("ai.usage.outputTokens", "ai.usage.completionTokens", "gen_ai.usage.output_tokens"),
    "cached": (f"{_IN}cacheReadTokens", "ai.usage.cachedInputTokens"),
    "written": (f"{_IN}cacheWriteTokens",),
    "reasoning": (f"{_OUT}reasoningTokens", "ai.usage.reasoningTokens"),
    "total": ("ai.usage.totalTokens",),
    "new": (f"{_IN}noCacheTokens", f"{_IN}cacheReadTokens", f"{_IN}cacheWriteTokens"),
}  # fmt: skip
"""What is counted, and the attributes that tell it; the first that a span has wins."""
_TEXTS: Final = (
    "ai.operationId",
    "operation.name",
    "ai.telemetry.functionId",
    "ai.telemetry.metadata.sessionId",
    "ai.telemetry.metadata.userId",
    "ai.model.provider",
    "ai.model.id",
    "ai.response.model",
    "ai.response.finishReason",
    "ai.response.providerMetadata",
    "ai.response.msToFirstChunk",
    "ai.request.headers.user-agent",
)
_ATTRIBUTES: Final[Schema] = {
    **dict.fromkeys(_TEXTS, "VARCHAR"),
    **{name: "BIGINT" for names in _COUNTS.values() for name in names},
}
_CORE: Final[Schema] = {
    "name": "VARCHAR",
    "traceId": "VARCHAR",
    "spanId": "VARCHAR",
    "id": "VARCHAR",
    "spanContext": {"traceId": "VARCHAR", "spanId": "VARCHAR"},
    "startTime": "VARCHAR",
    "endTime": "VARCHAR",
    "status": "VARCHAR",
    "attributes": _ATTRIBUTES,
}


class VercelAiSpan(JsonImporter):
    """Spans of the SDK."""

    name = "vercel-ai-spans"
    title = "Vercel AI SDK telemetry: spans with plain attributes"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a span of the SDK."""
        names = obj.get("attributes")
        return isinstance(names, Mapping) and any(name.startswith("ai.") for name in names)

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        attributes = node.get("attributes")
        return attributes["ai.operationId"].notnull() | is_true(
            attributes["operation.name"].startswith("ai.")
        )

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``."""
        attributes = node.get("attributes")
        data = attributes["ai.response.providerMetadata"].try_cast("json")
        counts = {name: ibis.coalesce(*(attributes[key] for key in keys)) for name, keys in _COUNTS.items()}
        counts["cached"] = ibis.coalesce(counts["cached"], data["anthropic"]["cacheReadInputTokens"].int)
        counts["written"] = ibis.coalesce(
            counts["written"],
            data["anthropic"]["cacheCreationInputTokens"].int,
            data["bedrock"]["usage"]["cacheWriteInputTokens"].int,
        )
        return {
            **{f"span_{name}": value for name, value in counts.items()},
            "span_tier": data["openai"]["serviceTier"].str,
            "span_start": parse_instant(instant_text(node.get("startTime"))),
            "span_end": parse_instant(instant_text(node.get("endTime"))),
        }

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        attributes = node.get("attributes")
        names = ("prompt", "output", "cached", "written", "total")
        prompt, output, cached, written, total = (node.step(f"span_{name}") for name in names)
        provider = attributes["ai.model.provider"]
        newer = node.step("span_new").notnull() | is_true(
            attributes["ai.request.headers.user-agent"].re_search(_SINCE_6)
        )
        passed_on = ~newer & is_true(provider.re_search(_ADDITIVE_PROVIDERS))
        beyond = ~newer & is_true(zero(cached) + zero(written) > prompt)
        uncached, reads, problem = split_input(
            prompt,
            cached=cached,
            written=written,
            output=output,
            # A total that is passed on by an older version leaves the cached part out and proves nothing.
            total=ibis.cases((passed_on | beyond, ibis.null("int64")), else_=total),
            additive=passed_on,
        )
        operation = ibis.coalesce(attributes["ai.operationId"], node.get("name"))
        call = is_true(operation.re_search(_CALL))
        bad = has_failed(node.get("status"))
        failed = bad & prompt.isnull() & output.isnull()
        negative = is_negative(prompt, output, cached, written)
        place = node.get("spanContext")
        start, end = node.step("span_start"), node.step("span_end")
        return {
            "fate": ibis.cases((~call | failed, IGNORED), (negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (~call, "span that is no model call, or repeats the calls below it"),
                (failed, "failed call without usage"),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            "problem": problem,
            "started_at": start,
            "provider": provider.split(".")[0],
            "model": ibis.coalesce(attributes["ai.response.model"], attributes["ai.model.id"]),
            "service_tier": unless_among(node.step("span_tier"), _STANDARD_TIERS),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": uncached,
            "cache_read": reads,
            "cache_write_5m": written,
            "output": output,
            "reasoning": node.step("span_reasoning"),
            "application": attributes["ai.telemetry.functionId"],
            "environment": envelope.get("environment"),
            "session": attributes["ai.telemetry.metadata.sessionId"],
            "user": attributes["ai.telemetry.metadata.userId"],
            "stop_reason": attributes["ai.response.finishReason"],
            "status": ibis.cases((bad, "error")),
            "streaming": operation.endswith(".doStream"),
            "ttft_seconds": attributes["ai.response.msToFirstChunk"].try_cast("float64")
            / MILLISECONDS_PER_SECOND,
            "duration_seconds": seconds_between(start, end),
            "dedup_group": ibis.coalesce(place["traceId"], node.get("traceId"), "")
            + "|"
            + ibis.coalesce(place["spanId"], node.get("spanId"), node.get("id")),
            "dedup_size": zero(prompt) + zero(output),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (VercelAiSpan(),)
