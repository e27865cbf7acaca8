"""Spans that are one JSON object each, as SDKs print them: where their ids, times and attributes lie."""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.raw import Envelope, Node, time_columns
from workloads.schema import Schema
from workloads.spans import (
    NAMES,
    RESOURCE_FIELDS,
    RESOURCE_NAMES,
    counts_of,
    fields_of,
    has_failed,
    instant_text,
    span_ledger,
)

Columns = Mapping[str, Any]

_IDS: Final[Schema] = {
    "traceId": "VARCHAR",
    "trace_id": "VARCHAR",
    "spanId": "VARCHAR",
    "span_id": "VARCHAR",
}
FLAT_SPAN: Final[Schema] = {
    **_IDS,
    "context": _IDS,
    "spanContext": _IDS,
    "startTime": "VARCHAR",
    "start_time": "VARCHAR",
    "startTimeUnixNano": "VARCHAR",
    "endTime": "VARCHAR",
    "end_time": "VARCHAR",
    "endTimeUnixNano": "VARCHAR",
    "span_kind": "VARCHAR",
    "status": "VARCHAR",
    "status_code": "VARCHAR",
    "attributes": dict.fromkeys(NAMES, "VARCHAR"),
    "resource": {"attributes": dict.fromkeys(RESOURCE_NAMES, "VARCHAR")},
}
"""A span as one JSON object, in the spellings of several SDKs."""


def flat_span_ledger(node: Node, envelope: Envelope, prefix: str) -> Columns:
    """Return the ledger columns of a span that is one JSON object; its steps are ``flat_span_steps`` with the same prefix."""

    def field(name: str) -> Any:
        return node.step(prefix + name)

    def first(*names: str) -> Any:
        return ibis.coalesce(*(node.get(name) for name in names))

    def identity(camel: str, snake: str) -> Any:
        holders = ((), ("context",), ("spanContext",))
        return ibis.coalesce(
            *(node.get(*holder, name) for holder in holders for name in (camel, snake))
        ).nullif("")

    def time(text: Any) -> Any:
        return time_columns(instant_text(text))["started_at"]

    span = {
        "trace_id": identity("traceId", "trace_id"),
        "span_id": identity("spanId", "span_id"),
        "started_at": time(first("startTime", "start_time", "startTimeUnixNano")),
        "ended_at": time(first("endTime", "end_time", "endTimeUnixNano")),
        "failed": has_failed(node.get("status")) | has_failed(node.get("status_code")),
    }
    columns = span_ledger(field, span)
    return {
        **envelope.labels(),
        **columns,
        "project": ibis.coalesce(field("project"), envelope.get("project")),
        "application": ibis.coalesce(field("service"), columns["application"], envelope.get("application")),
        "environment": ibis.coalesce(field("environment"), envelope.get("environment")),
    }


def flat_span_steps(node: Node, prefix: str) -> Columns:
    """Return the fields of a span that is one JSON object, as steps whose names begin with a prefix."""
    if node.has_step(prefix + "prompt"):
        found = counts_of(lambda name: node.step(prefix + name))
    else:
        found = {
            **fields_of(lambda name: node.get("attributes", name).nullif("")),
            **fields_of(lambda name: node.get("resource", "attributes", name).nullif(""), RESOURCE_FIELDS),
        }
        found["kind"] = ibis.coalesce(found["kind"], node.get("span_kind"))
    return {prefix + name: value for name, value in found.items()}
