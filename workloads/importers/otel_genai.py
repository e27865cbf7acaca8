"""OpenTelemetry GenAI: spans of model calls.

Where it comes from: OTLP/JSON as the collector's file exporter writes it, an export request a line (``resourceSpans``,
or ``resource_spans``); spans as single JSON objects with an ``attributes`` object, as SDKs print them.

One row is: a span. Only inference spans are calls (``chat``, ``text_completion``, ``generate_content``, ``embeddings``,
or whatever else carries usage); spans of agents, workflows and tools repeat the sums of those below them. Spans of other
libraries in the same trace are no calls.

Token fields: ``gen_ai.usage.input_tokens`` INCLUDES cache reads and writes, as the conventions say since 1.40;
``output_tokens`` includes reasoning. Instrumentations before that often passed on what the provider said: a row with more
cached than input tokens, or whose total says so, has them beside. Names of all versions are read, from
``prompt_tokens`` on, and those of OpenLLMetry, OpenInference and others.

Time zone: UTC; nanoseconds as text, ISO 8601, or a pair of seconds and nanoseconds.

What it cannot tell: how long cache writes live; whether an old instrumentation that cached little left it out of the
input. Counts of all versions come as numbers or as text. Sampled traces are not all traces.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.attributes import ATTRIBUTES, keys_of, lookup, texts_of
from workloads.flat_spans import FLAT_SPAN, flat_span_ledger, flat_span_steps
from workloads.importers import Columns, Importer, JsonImporter
from workloads.raw import Envelope, Node, time_columns
from workloads.schema import Schema
from workloads.spans import (
    RESOURCE_FIELDS,
    counts_of,
    fields_of,
    has_failed,
    instant_text,
    span_ledger,
)

_SPAN: Final[Schema] = {
    "traceId": "VARCHAR",
    "trace_id": "VARCHAR",
    "spanId": "VARCHAR",
    "span_id": "VARCHAR",
    "startTimeUnixNano": "VARCHAR",
    "start_time_unix_nano": "VARCHAR",
    "endTimeUnixNano": "VARCHAR",
    "end_time_unix_nano": "VARCHAR",
    "status": "VARCHAR",
    "attributes": ATTRIBUTES,
}


def _envelope(outer: str, inner: str) -> Schema:
    return {outer: [{"resource": {"attributes": ATTRIBUTES}, inner: [{"spans": [_SPAN]}]}]}


_OTLP: Final[Schema] = {
    **_envelope("resourceSpans", "scopeSpans"),
    **_envelope("resource_spans", "scope_spans"),
}


class OtlpSpans(JsonImporter):
    """Export requests."""

    name = "otel-genai"
    title = "OpenTelemetry GenAI spans in OTLP/JSON"
    core = _OTLP
    chains = (
        (("resourceSpans",), ("scopeSpans",), ("spans",)),
        (("resource_spans",), ("scope_spans",), ("spans",)),
    )

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is an export request of spans."""
        return isinstance(obj.get("resourceSpans", obj.get("resource_spans")), list)

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return node.get("resourceSpans").notnull() | node.get("resource_spans").notnull()

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``."""
        if node.has_step("otel_prompt"):
            counts = counts_of(lambda name: node.step(f"otel_{name}"))
            return {f"otel_{name}": value for name, value in counts.items()}
        if node.has_step("otel_keys"):
            span = lookup(node.step("otel_keys"), node.step("otel_values"))
            resource = lookup(node.step("otel_resource_keys"), node.step("otel_resource_values"))
            found = {**fields_of(span), **fields_of(resource, RESOURCE_FIELDS)}
            return {f"otel_{name}": value for name, value in found.items()}
        scope = node.parent
        holder = scope.parent if scope else None
        assert holder is not None  # noqa: S101  (a span lies in a scope in a resource)
        attributes, resource = node.get("attributes"), holder.get("resource", "attributes")
        return {
            "otel_keys": keys_of(attributes),
            "otel_values": texts_of(attributes),
            "otel_resource_keys": keys_of(resource),
            "otel_resource_values": texts_of(resource),
        }

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        del envelope

        def field(name: str) -> Any:
            return node.step(f"otel_{name}")

        columns = span_ledger(field, _span(node, "TimeUnixNano", "_time_unix_nano"))
        return {
            **columns,
            "project": field("project"),
            "application": ibis.coalesce(field("service"), columns["application"]),
            "environment": field("environment"),
        }


def _span(node: Node, camel: str, snake: str) -> dict[str, Any]:
    """Return what a span says of itself, besides its attributes."""

    def time(name: str) -> Any:
        text = ibis.coalesce(node.get(name + camel), node.get(name + snake))
        return time_columns(instant_text(text))["started_at"]

    return {
        "trace_id": ibis.coalesce(node.get("traceId"), node.get("trace_id")).nullif(""),
        "span_id": ibis.coalesce(node.get("spanId"), node.get("span_id")).nullif(""),
        "started_at": time("start"),
        "ended_at": time("end"),
        "failed": has_failed(node.get("status")),
    }


class OtelSpans(JsonImporter):
    """Spans as single objects."""

    name = "otel-genai-span"
    title = "OpenTelemetry GenAI spans as JSON objects"
    core = FLAT_SPAN

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a span with attributes of the conventions, and of no other tool's."""
        names = obj.get("attributes")
        if not isinstance(names, Mapping) or "span_kind" in obj:
            return False
        other = any(name.startswith(("ai.", "openinference.", "llm.token_count.")) for name in names)
        return not other and any(name.startswith(("gen_ai.", "llm.usage.", "llm.request.")) for name in names)

    def owns(self, node: Node) -> Any:
        """Return whether the object is a span; also one without such attributes, which is no call."""
        attributes = node.get("attributes")
        other = attributes["ai.operationId"].notnull() | attributes["openinference.span.kind"].notnull()
        other |= attributes["llm.token_count.prompt"].notnull() | node.get("span_kind").notnull()
        holders = ((), ("context",), ("spanContext",))
        named = [node.get(*holder, name) for holder in holders for name in ("spanId", "span_id")]
        return ibis.coalesce(*named).notnull() & attributes.notnull() & ~other

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``."""
        return flat_span_steps(node, self.name)

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        return flat_span_ledger(node, envelope, self.name)


IMPORTERS: Final[tuple[Importer, ...]] = (OtlpSpans(), OtelSpans())
