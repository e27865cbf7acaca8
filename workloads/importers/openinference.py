"""Phoenix and other users of the OpenInference conventions: spans of model calls.

Where it comes from: Phoenix' span dataframes as CSV, Parquet or JSON rows (``attributes.llm.token_count.prompt``, ...),
spans of its REST API as JSON objects, and spans with such attributes that other tools print.

One row is: a span. Spans of kind ``LLM`` are calls, and so are ``EMBEDDING`` spans that carry usage; chains, agents, tools
and retrievers are not. The ``cumulative_`` columns are sums over the spans below and are not read.

Token fields: ``llm.token_count.prompt`` INCLUDES ``prompt_details.cache_read`` and ``cache_write`` (the official
instrumentations add them where the provider does not), completion includes reasoning. Other instrumentations may leave
the cached part out: a row with more cached than prompt tokens, or whose total says so, has it beside.

Time zone: UTC, with or without offset.

What it cannot tell: the service tier, and how long cache writes live. A cost of 0 means that no price was found.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.flat_spans import FLAT_SPAN, flat_span_ledger, flat_span_steps
from workloads.importers import Columns, Importer, JsonImporter, TableImporter
from workloads.raw import Envelope, Node
from workloads.spans import NAMES, counts_of, fields_of, has_failed, span_ledger
from workloads.table import Table
from workloads.vocabulary import normal

_PREFIX: Final = "attributes."
_COUNTS: Final = frozenset(
    normal(f"{_PREFIX}llm.token_count.{side}") for side in ("prompt", "completion", "total")
)


class PhoenixTable(TableImporter):
    """Rows of a span dataframe."""

    name = "phoenix"
    title = "Phoenix (OpenInference) span dataframes (CSV, Parquet, JSON rows)"
    keys = tuple(
        _PREFIX + name for name in NAMES if name.startswith(("llm.", "openinference.", "session.", "user."))
    )

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return bool(_COUNTS & names)

    def steps(self, table: Table) -> Columns:
        """See ``TableImporter.steps``."""
        if table.has_step("prompt"):
            return counts_of(table.step)
        found = fields_of(lambda name: table.text(normal(_PREFIX + name)))
        found["kind"] = ibis.coalesce(table.text("span_kind"), found["kind"])
        return found

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        never = {"started_at": ibis.null("timestamp")}
        return span_ledger(
            table.step,
            {
                "trace_id": table.text("context_trace_id"),
                "span_id": ibis.coalesce(table.text("context_span_id"), table.text("span_id")),
                "started_at": (table.time("start_time") or never)["started_at"],
                "ended_at": (table.time("end_time") or never)["started_at"],
                "failed": has_failed(table.text("status_code")),
            },
        )


class PhoenixSpans(JsonImporter):
    """Spans as JSON objects."""

    name = "phoenix-span"
    title = "Phoenix (OpenInference) spans as JSON objects"
    core = FLAT_SPAN

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a span of these conventions, and not the AI SDK's."""
        names = obj.get("attributes")
        if not isinstance(names, Mapping) or any(name.startswith("ai.") for name in names):
            return False
        if any(name.startswith(("openinference.", "llm.token_count.")) for name in names):
            return True
        return "span_kind" in obj and isinstance(obj.get("context"), Mapping)

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        attributes = node.get("attributes")
        kind = ibis.coalesce(node.get("span_kind"), attributes["openinference.span.kind"])
        mine = kind.notnull() | attributes["llm.token_count.prompt"].notnull()
        return attributes.notnull() & mine & attributes["ai.operationId"].isnull()

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``."""
        return flat_span_steps(node, self.name)

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        return flat_span_ledger(node, envelope, self.name)


IMPORTERS: Final[tuple[Importer, ...]] = (PhoenixTable(), PhoenixSpans())
