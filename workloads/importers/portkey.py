"""Portkey: exported logs.

Where it comes from: the log export of the gateway, JSONL only.

One row is: a request as the gateway saw it; failures and answers from its own cache among them.

Token fields: ``req_units`` and ``res_units``, as the provider counted: whether cached tokens are in them is the
provider's custom. Where the response's body was exported its ``usage`` is read instead: Chat Completions and Responses
usage INCLUDES the cached part, Messages usage leaves it out (also when the gateway has translated it, which its names
show), and the total decides where there is one.

Time zone: UTC, with or without offset.

What it cannot tell: the cached part, when bodies were not exported. ``cost`` is in CENTS; 0 means that no price was
found.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import ibis

from pricing.units import CENTS_PER_USD, MILLISECONDS_PER_SECOND
from workloads.accounting import NEGATIVE_COUNT, NO_WHOLE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT, first_label, is_true, text_of, unless_among
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.schema import Schema
from workloads.table import Table

_HTTP_ERROR: Final = 400
_STANDARD: Final = ("auto", "default", "standard", "on_demand")

_BIG: Final = "BIGINT"
_INPUT: Final[Schema] = {"cached_tokens": _BIG, "cache_write_tokens": _BIG}
_OUTPUT: Final[Schema] = {"reasoning_tokens": _BIG}
_COUNTS: Final = (
    "prompt_tokens",
    "completion_tokens",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
_BODY: Final[Schema] = {
    **dict.fromkeys(("id", "model", "service_tier", "stop_reason"), "VARCHAR"),
    "choices": [{"finish_reason": "VARCHAR"}],
    "usage": {
        **dict.fromkeys(_COUNTS, _BIG),
        "prompt_tokens_details": _INPUT,
        "input_tokens_details": _INPUT,
        "completion_tokens_details": _OUTPUT,
        "output_tokens_details": _OUTPUT,
        "cache_creation": {"ephemeral_1h_input_tokens": _BIG},
    },
}
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "environment": ("_environment", "environment", "env"),
    "application": ("application", "app", "service", "feature"),
    "team": ("team", "team_id"),
    "project": ("project", "project_id"),
    "session": ("session_id", "conversation_id", "thread_id"),
    "user": ("_user", "user", "user_id"),
}
"""Ledger column -> keys of the metadata that tell it, best first."""
_LABELS: Final[Schema] = {name: "VARCHAR" for names in _NAMES.values() for name in names}


class PortkeyLogs(TableImporter):
    """Log lines."""

    name = "portkey"
    title = "Portkey log export (JSONL)"
    keys = ("cost", "cost_currency", "cache_status", "response.body", "metadata", "trace_id", "total_units")

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"ai_org", "ai_model", "req_units", "res_units"} <= names

    def steps(self, table: Table) -> Columns:
        """See ``TableImporter.steps``."""
        return _counts(table)

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        text = table.text
        body, metadata = table.object("response_body", _BODY), table.object("metadata", _LABELS)
        negative, unused, meters = _meters(table.step)
        own_cache = is_true(text("cache_status").upper().endswith("HIT"))
        status = table.number("response_status_code")
        success = text("is_success").lower()
        failed = unused & (is_true(success.isin(("0", "false"))) | is_true(status >= _HTTP_ERROR))
        unreadable = table.unreadable("req_units") | table.unreadable("res_units")
        cents = ibis.cases((text("cost_currency").upper().fill_null("USD") == "USD", table.number("cost")))
        labels = {column: first_label(metadata, *names) for column, names in _NAMES.items()}
        answer = body["id"].nullif("")
        return {
            "fate": ibis.cases((own_cache | failed, IGNORED), (negative | unreadable, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (own_cache, "answered from the gateway's own cache"),
                (failed, "failed call without usage"),
                (negative, NEGATIVE_COUNT),
                (unreadable, NO_WHOLE_COUNT),
                else_=NO_TEXT,
            ),
            **meters,
            **table.time("created_at"),
            "provider": text("ai_org"),
            "model": ibis.coalesce(body["model"].nullif(""), text("ai_model")),
            "service_tier": unless_among(body["service_tier"], _STANDARD),
            "requests": ibis.literal(1, type="int64"),
            "endpoint": text("request_url"),
            **labels,
            "session": ibis.coalesce(labels["session"], text("trace_id")),
            "stop_reason": ibis.coalesce(body["choices"][0]["finish_reason"], body["stop_reason"]),
            "status": text("response_status_code"),
            "streaming": text("stream_mode").lower().isin(("true", "1", "yes")),
            "duration_seconds": table.number("response_time").cast("float64") / MILLISECONDS_PER_SECOND,
            "recorded_cost_usd": (cents.cast("float64") / CENTS_PER_USD)
            .try_cast("decimal(38, 12)")
            .nullif(0),
            "dedup_group": ibis.coalesce(text("id"), answer),
            # Some compatible servers answer every call with one id.
            "dedup_key": text("created_at")
            + "|"
            + text_of(table.step("prompt"))
            + "|"
            + text_of(table.step("output")),
            "dedup_size": zero(table.step("prompt")) + zero(table.step("output")),
        }


def _counts(table: Table) -> Columns:
    """Return the counts of a row by name: those of the response's usage, else the gateway's units."""
    usage = table.object("response_body", _BODY)["usage"]
    chat_in, chat_out = usage["prompt_tokens_details"], usage["completion_tokens_details"]
    in_detail, out_detail = usage["input_tokens_details"], usage["output_tokens_details"]
    chat = ibis.coalesce(usage["prompt_tokens"], usage["completion_tokens"]).notnull()
    told = chat | usage["input_tokens"].notnull()
    inside = ibis.coalesce(chat_in["cached_tokens"], in_detail["cached_tokens"])
    beside = usage["cache_read_input_tokens"]
    return {
        "prompt": ibis.coalesce(usage["prompt_tokens"], usage["input_tokens"], table.count("req_units")),
        "output": ibis.coalesce(usage["completion_tokens"], usage["output_tokens"], table.count("res_units")),
        "total": ibis.cases((told, usage["total_tokens"]), else_=table.count("total_units")),
        "cached": ibis.coalesce(inside, beside),
        "written": ibis.coalesce(
            chat_in["cache_write_tokens"],
            in_detail["cache_write_tokens"],
            usage["cache_creation_input_tokens"],
        ),
        "written_1h": usage["cache_creation"]["ephemeral_1h_input_tokens"],
        "reasoning": ibis.coalesce(chat_out["reasoning_tokens"], out_detail["reasoning_tokens"]),
        # Messages usage, and the gateway's translation of it, name the cached part beside the prompt.
        "additive": inside.isnull() & (beside.notnull() | is_true(~chat & in_detail.isnull() & told)),
    }


def _meters(count: Callable[[str], Any]) -> tuple[Any, Any, Columns]:
    """Return whether a count is negative, whether nothing was used, and the token columns with the problem."""
    prompt, output, cached, written = (count(name) for name in ("prompt", "output", "cached", "written"))
    uncached, reads, problem = split_input(
        prompt,
        cached=cached,
        written=written,
        output=output,
        total=count("total"),
        additive=count("additive"),
    )
    used = zero(prompt) + zero(output) + zero(cached) + zero(written) != 0
    columns = {
        "input_uncached": uncached,
        "cache_read": reads,
        "cache_write_5m": written - zero(count("written_1h")),
        "cache_write_1h": count("written_1h"),
        "output": output,
        "reasoning": count("reasoning"),
    }
    columns = {name: ibis.cases((used, value)) for name, value in columns.items()}
    return is_negative(prompt, output, cached, written), ~used, {**columns, "problem": problem}


IMPORTERS: Final[tuple[Importer, ...]] = (PortkeyLogs(),)
