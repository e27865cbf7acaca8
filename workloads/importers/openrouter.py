"""OpenRouter: the activity exports and the generation API.

Where it comes from: the activity page's log export (a row a generation, two orders of columns are in use), its daily
export (``Date,Slug,Usage,BYOK Usage,Requests,...``), and saved answers of ``/api/v1/generation?id=``.

One row is: a generation, cancelled ones among them; in the daily export a day x model with a count of requests.

Token fields: ``tokens_prompt`` INCLUDES ``tokens_cached``; ``tokens_completion`` includes ``tokens_reasoning``. In the
generation API the ``native_`` counts are the billed ones; the others are a common tokenizer's.

Time zone: UTC; the daily export's dates have no zone and are taken as UTC days.

What it cannot tell: cache writes. ``cost_total``, ``total_cost`` and ``Usage`` are dollars that OpenRouter charged; what
a key of one's own (BYOK) cost at the provider is beside them and is never added.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from pricing.units import MILLISECONDS_PER_SECOND, SECONDS_PER_DAY
from workloads.accounting import NEGATIVE_COUNT, NO_WHOLE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT, is_true
from workloads.importers import Columns, Importer, JsonImporter, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import Schema
from workloads.table import Table

_BIG: Final = "BIGINT"
_MONEY: Final = "DECIMAL(38, 12)"
_STANDARD: Final = ("standard", "default", "auto")
_UNBILLED: Final = "cancelled before anything was billed"
_TRUE: Final = ("true", "1", "yes")


class OpenRouterActivity(TableImporter):
    """The log export: a row a generation."""

    name = "openrouter"
    title = "OpenRouter activity CSV (a row a generation)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"generation_id", "cost_total", "tokens_prompt", "tokens_completion"} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        text = table.text
        variant = text("variant").lower()
        model = text("model_permaslug")
        # A variant is another price: ":free" costs nothing.
        named = is_true(variant.notnull() & ~variant.isin(_STANDARD)) & ~is_true(model.contains(":"))
        unreadable = table.unreadable("tokens_prompt") | table.unreadable("tokens_completion")
        return {
            **_generation(
                prompt=table.count("tokens_prompt"),
                output=table.count("tokens_completion"),
                cached=table.count("tokens_cached"),
                reasoning=table.count("tokens_reasoning"),
                cancelled=text("cancelled").lower().isin(_TRUE),
                cost=table.number("cost_total"),
                own_key=table.number("byok_usage_inference") > 0,
                unreadable=unreadable,
            ),
            **table.time("created_at"),
            "provider": text("provider_name"),
            "model": ibis.cases((named, model + ":" + variant), else_=model),
            "application": text("app_name"),
            "api_key": text("api_key_name"),
            "user": text("user"),
            "stop_reason": ibis.coalesce(text("finish_reason_normalized"), text("finish_reason_raw")),
            "streaming": text("streamed").lower().isin(_TRUE),
            "ttft_seconds": _seconds(table.number("time_to_first_token_ms")),
            "duration_seconds": _seconds(table.number("generation_time_ms")),
            "dedup_group": text("generation_id"),
        }


def _generation(
    *,
    prompt: Any,
    output: Any,
    cached: Any,
    reasoning: Any,
    cancelled: Any,
    cost: Any,
    own_key: Any,
    unreadable: Any,
) -> Columns:
    """Return the columns that both descriptions of a generation have: fate, tokens, money, size."""
    negative = is_negative(prompt, output, cached, reasoning)
    unused = zero(prompt) + zero(output) == 0
    stopped = is_true(cancelled) & unused
    unbilled = stopped & is_true(cost == 0) & ~is_true(own_key)
    # What a cancelled generation used is not known when it says nothing, or zero and a charge.
    prompt, output = (ibis.cases((stopped, ibis.null("int64")), else_=count) for count in (prompt, output))
    uncached, reads, problem = split_input(
        prompt, cached=cached, written=ibis.null("int64"), output=output, total=None, additive=False
    )
    bad = unreadable | negative
    return {
        "fate": ibis.cases((bad, SKIPPED), (unbilled, IGNORED), else_=RECORD),
        "reason": ibis.cases(
            (unreadable, NO_WHOLE_COUNT), (negative, NEGATIVE_COUNT), (unbilled, _UNBILLED), else_=NO_TEXT
        ),
        "problem": problem,
        "requests": ibis.literal(1, type="int64"),
        "input_uncached": uncached,
        "cache_read": ibis.cases((stopped, ibis.null("int64")), else_=reads),
        "output": output,
        "reasoning": ibis.cases((stopped, ibis.null("int64")), else_=reasoning),
        "status": ibis.cases((cancelled, "cancelled"), else_=NO_TEXT),
        # With a key of one's own, nothing charged here does not mean that it cost nothing.
        "recorded_cost_usd": ibis.cases((is_true(own_key), cost.nullif(0)), else_=cost),
        "dedup_size": zero(prompt) + zero(output),
    }


def _seconds(milliseconds: Any) -> Any:
    return milliseconds.cast("float64") / MILLISECONDS_PER_SECOND


class OpenRouterDaily(TableImporter):
    """The daily export: a day x model."""

    name = "openrouter-activity"
    title = "OpenRouter activity CSV (a row a day and model)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"date", "slug", "usage", "byok_usage", "requests"} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        count = table.count
        prompt, output, requests = count("prompt_tokens"), count("completion_tokens"), count("requests")
        reasoning = count("reasoning_tokens")
        cost, own_key = table.number("usage"), table.number("byok_usage")
        negative = is_negative(prompt, output, reasoning, requests)
        unreadable = table.unreadable("prompt_tokens") | table.unreadable("completion_tokens")
        money = zero(cost) + zero(own_key)
        idle = (zero(prompt) + zero(output) + zero(requests) == 0) & (money == 0)
        times = table.time("date")
        return {
            "fate": ibis.cases((unreadable | negative, SKIPPED), (idle, IGNORED), else_=RECORD),
            "reason": ibis.cases(
                (unreadable, NO_WHOLE_COUNT), (negative, NEGATIVE_COUNT), (idle, "idle bucket"), else_=NO_TEXT
            ),
            **times,
            "usage_date": times["started_at"].date(),
            "bucket_seconds": ibis.literal(SECONDS_PER_DAY, type="int64"),
            "model": table.text("slug"),
            "requests": requests,
            "input_uncached": prompt,
            "output": output,
            "reasoning": reasoning,
            "recorded_cost_usd": ibis.cases((own_key > 0, cost.nullif(0)), else_=cost),
        }


_CORE: Final[Schema] = {
    "id": "VARCHAR",
    "created_at": "VARCHAR",
    "model": "VARCHAR",
    "provider_name": "VARCHAR",
    "streamed": "BOOLEAN",
    "cancelled": "BOOLEAN",
    "is_byok": "BOOLEAN",
    "latency": "DOUBLE",
    "generation_time": "DOUBLE",
    "finish_reason": "VARCHAR",
    "tokens_prompt": _BIG,
    "tokens_completion": _BIG,
    "native_tokens_prompt": _BIG,
    "native_tokens_completion": _BIG,
    "native_tokens_reasoning": _BIG,
    "native_tokens_cached": _BIG,
    "native_tokens_completion_images": _BIG,
    "total_cost": _MONEY,
    "app_id": "VARCHAR",
    "external_user": "VARCHAR",
    "service_tier": "VARCHAR",
    "data_region": "VARCHAR",
}


class OpenRouterGeneration(JsonImporter):
    """Answers of the generation API, bare or inside ``data``."""

    name = "openrouter-generation"
    title = "OpenRouter generation API (JSON)"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object has counts of the provider's own tokenizer."""
        return "native_tokens_prompt" in obj and "total_cost" in obj

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return node.get("native_tokens_prompt").notnull() | (
            node.get("total_cost").notnull() & node.get("tokens_prompt").notnull()
        )

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        get = node.get
        output = ibis.coalesce(get("native_tokens_completion"), get("tokens_completion"))
        columns = dict(
            _generation(
                prompt=ibis.coalesce(get("native_tokens_prompt"), get("tokens_prompt")),
                output=output,
                cached=get("native_tokens_cached"),
                reasoning=get("native_tokens_reasoning"),
                cancelled=get("cancelled"),
                cost=get("total_cost"),
                own_key=get("is_byok"),
                unreadable=ibis.literal(value=False),
            )
        )
        images = get("native_tokens_completion_images").nullif(0)
        tier = get("service_tier").lower()
        return {
            **envelope.labels(),
            **columns,
            **envelope.started_at(get("created_at")),
            "provider": get("provider_name"),
            "model": get("model"),
            "service_tier": ibis.cases((tier.isin(_STANDARD), NO_TEXT), else_=tier),
            "region": get("data_region").nullif("global"),
            "output": columns["output"] - zero(images),
            "image_output": images,
            "application": get("app_id"),
            "user": get("external_user"),
            "stop_reason": get("finish_reason"),
            "streaming": get("streamed"),
            "duration_seconds": get("generation_time") / MILLISECONDS_PER_SECOND,
            "dedup_group": get("id").nullif(""),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (OpenRouterActivity(), OpenRouterDaily(), OpenRouterGeneration())
