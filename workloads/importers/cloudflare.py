"""Cloudflare AI Gateway: log rows.

Where it comes from: rows of the gateway's log API, saved as JSON, JSONL or CSV, or its pages as they come
(``{"result": [...]}``); the ``ai_gateway_events`` of Logpush.

One row is: a request as the gateway saw it; failures and answers from its own cache (``cached``) among them.

Token fields: ``tokens_in`` and ``tokens_out``, as the provider counted. Whether cached tokens are in ``tokens_in`` is the
provider's custom, and how many there were is not told. Two zeros mean that nothing was measured.

Time zone: UTC.

What it cannot tell: tokens, in Logpush (its bodies are encrypted): such a request is one of unknown size, with the cost
that the gateway noted. A cost of 0 means that no price was found, unless the row has a price of its own.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from pricing.units import MILLISECONDS_PER_SECOND
from workloads.accounting import NEGATIVE_COUNT, NO_WHOLE_COUNT, is_negative, zero
from workloads.expressions import NO_TEXT, first_label, is_true
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.schema import Schema
from workloads.table import Table

_HTTP_ERROR: Final = 400
_TRUE: Final = ("true", "1", "yes")
_FALSE: Final = ("false", "0", "no")

_METRICS: Final[Schema] = {"cost": "VARCHAR", "durationMs": "DOUBLE"}
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "environment": ("environment", "env"),
    "team": ("team", "team_id", "teamId"),
    "project": ("project", "project_id", "projectId"),
    "session": ("session_id", "sessionId", "conversation_id"),
    "user": ("user", "user_id", "userId"),
}
"""Ledger column -> keys of the metadata that tell it, best first."""
_LABELS: Final[Schema] = {name: "VARCHAR" for names in _NAMES.values() for name in names}


class CloudflareGateway(TableImporter):
    """Log rows of the API and of Logpush."""

    name = "cloudflare"
    title = "Cloudflare AI Gateway logs (JSON, JSONL, CSV; Logpush)"
    keys = ("cost", "custom_cost", "metadata", "cached", "success", "status_code")

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        if {"tokens_in", "tokens_out", "cached", "provider", "model"} <= names:
            return True
        return {"gateway", "metrics", "rate_limited", "provider", "model"} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        text = table.text
        prompt, output = table.count("tokens_in"), table.count("tokens_out")
        metrics, metadata = table.object("metrics", _METRICS), table.object("metadata", _LABELS)
        unused = zero(prompt) + zero(output) == 0
        own_cache = _is(table, "cached", _TRUE)
        refused = _is(table, "rate_limited", _TRUE)
        error = is_true(table.number("status_code") >= _HTTP_ERROR) | _is(table, "success", _FALSE)
        failed = unused & error
        negative = is_negative(prompt, output)
        unreadable = table.unreadable("tokens_in") | table.unreadable("tokens_out")
        own_price = _is(table, "custom_cost", _TRUE)
        cost = ibis.coalesce(table.number("cost"), metrics["cost"].try_cast("decimal(38, 12)"))
        milliseconds = ibis.coalesce(table.number("duration").cast("float64"), metrics["durationMs"])
        return {
            "fate": ibis.cases(
                (own_cache | refused | failed, IGNORED), (negative | unreadable, SKIPPED), else_=RECORD
            ),
            "reason": ibis.cases(
                (own_cache, "answered from the gateway's own cache"),
                (refused, "refused by the gateway's rate limit"),
                (failed, "failed call without usage"),
                (negative, NEGATIVE_COUNT),
                (unreadable, NO_WHOLE_COUNT),
                else_=NO_TEXT,
            ),
            **(table.time("created_at") or table.time("timestamp")),
            "provider": text("provider"),
            "model": ibis.coalesce(text("model"), text("requested_model")),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": ibis.cases((~unused, prompt)),
            "output": ibis.cases((~unused, output)),
            "application": text("gateway"),
            "endpoint": ibis.coalesce(text("path"), text("endpoint")),
            **{column: first_label(metadata, *names) for column, names in _NAMES.items()},
            "status": text("status_code"),
            "duration_seconds": milliseconds / MILLISECONDS_PER_SECOND,
            "recorded_cost_usd": ibis.cases((own_price, cost), else_=cost.nullif(0)),
            "dedup_group": text("id"),
            "dedup_size": zero(prompt) + zero(output),
        }


def _is(table: Table, name: str, words: tuple[str, ...]) -> Any:
    return is_true(table.text(name).lower().isin(words))


IMPORTERS: Final[tuple[Importer, ...]] = (CloudflareGateway(),)
