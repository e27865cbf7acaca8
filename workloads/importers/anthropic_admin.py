"""Anthropic: usage pages of the Admin API and of its analytics.

Where it comes from: saved answers of ``/v1/organizations/usage_report/messages``, ``.../analytics/usage_report``,
``.../analytics/usage`` and ``.../usage_report/claude_code``, one page a file or several.

One row is: a bucket (day, hour or minute) x what the report is grouped by; in the report of Claude Code a day x person x
model. Only the analytics count requests.

Token fields: ``uncached_input_tokens`` EXCLUDES cache reads and writes; writes are nested by lifetime in ``cache_creation``.
Output includes thinking.

Time zone: buckets begin at UTC instants; a bucket of a day is that UTC day in every zone.

What it cannot tell: sizes of single requests; a null model means "not grouped by model", so it has no price. Groups of an
organisation may overlap, so that their sum is more than the total. The money in the report of Claude Code is an estimate.
"""

from abc import abstractmethod
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import ibis

from pricing.units import SECONDS_PER_DAY
from workloads.accounting import MORE_PAGES, NEGATIVE_COUNT, is_negative
from workloads.expressions import NO_TEXT, is_true
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import Schema

_BIG: Final = "BIGINT"
_CENT: Final = ibis.literal(Decimal("0.01"), type="decimal(3, 2)")

OVERLAPPING_GROUPS: Final = "overlapping_groups"
"""Problem of records that are grouped by groups of people, who may be in several."""

_GROUP: Final[Schema] = dict.fromkeys(
    (
        "model",
        "workspace_id",
        "api_key_id",
        "account_id",
        "service_account_id",
        "actor",
        "service_tier",
        "inference_geo",
        "speed",
        "product",
        "session_id",
        "rbac_group_id",
    ),
    "VARCHAR",
)
_USAGE: Final[Schema] = {
    "uncached_input_tokens": _BIG,
    "cache_read_input_tokens": _BIG,
    "cache_creation": {"ephemeral_5m_input_tokens": _BIG, "ephemeral_1h_input_tokens": _BIG},
    "output_tokens": _BIG,
    "requests": _BIG,
    "server_tool_use": {"web_search_requests": _BIG},
}
_TIMES: Final[Schema] = {"starting_at": "VARCHAR", "ending_at": "VARCHAR"}
_USAGE_PAGE: Final[Schema] = {"has_more": "BOOLEAN", "data": [{**_TIMES, "results": [{**_GROUP, **_USAGE}]}]}
_ANALYTICS_PAGE: Final[Schema] = {
    "has_more": "BOOLEAN",
    "data": [{**_TIMES, "group": _GROUP, "usage": _USAGE}],
}
_CLAUDE_CODE_PAGE: Final[Schema] = {
    "has_more": "BOOLEAN",
    "data": [
        {
            "date": "VARCHAR",
            "actor": {"email_address": "VARCHAR", "api_key_name": "VARCHAR"},
            "terminal_type": "VARCHAR",
            "model_breakdown": [
                {
                    "model": "VARCHAR",
                    "tokens": dict.fromkeys(("input", "output", "cache_read", "cache_creation"), _BIG),
                    "estimated_cost": {"amount": "VARCHAR", "currency": "VARCHAR"},
                }
            ],
        }
    ],
}


def items_of(obj: Mapping[str, Any], *, below: str = "") -> list[Mapping[str, Any]]:
    """Return the objects of a sampled page's ``data``, or those of the lists that they hold under a name."""
    data = obj.get("data")
    items = [item for item in data if isinstance(item, Mapping)] if isinstance(data, list) else []
    if not below:
        return items
    lists = [item.get(below) for item in items]
    return [one for found in lists if isinstance(found, list) for one in found if isinstance(one, Mapping)]


def dollars_of(cents: Any) -> Any:
    """Return an amount in cents, as text, in dollars; null where it is no number."""
    return cents.try_cast("decimal(30, 10)") * _CENT


def bucket_columns(bucket: Node) -> Columns:
    """Return the time columns of a bucket with ``starting_at`` and ``ending_at``."""
    start = Envelope({}).started_at(bucket.get("starting_at"))["started_at"]
    end = Envelope({}).started_at(bucket.get("ending_at"))["started_at"]
    seconds = end.delta(start, unit="second")
    day = ibis.coalesce(seconds, SECONDS_PER_DAY) >= SECONDS_PER_DAY
    return {
        "started_at": start,
        "usage_date": ibis.cases((day, start.date()), else_=ibis.null("date")),
        "bucket_seconds": ibis.coalesce(seconds, SECONDS_PER_DAY),
    }


def _bucket_ledger(page: Node, bucket: Node, usage: Any, group: Any) -> Columns:
    split = usage["cache_creation"]
    counts = {
        "input_uncached": usage["uncached_input_tokens"],
        "cache_read": usage["cache_read_input_tokens"],
        "cache_write_5m": split["ephemeral_5m_input_tokens"],
        "cache_write_1h": split["ephemeral_1h_input_tokens"],
        "output": usage["output_tokens"],
    }
    negative = is_negative(*counts.values())
    empty = counts["input_uncached"].isnull() & counts["output"].isnull()
    return {
        "fate": ibis.cases((empty, IGNORED), (negative, SKIPPED), else_=RECORD),
        "reason": ibis.cases((empty, "result without tokens"), (negative, NEGATIVE_COUNT), else_=NO_TEXT),
        "problem": ibis.cases(
            (is_true(page.get("has_more")), MORE_PAGES),
            (group["rbac_group_id"].notnull(), OVERLAPPING_GROUPS),
            else_=NO_TEXT,
        ),
        **bucket_columns(bucket),
        "provider": ibis.literal("anthropic"),
        "model": group["model"],
        "service_tier": ibis.cases((group["speed"] == "fast", "fast"), else_=group["service_tier"]).nullif(
            "standard"
        ),
        "region": group["inference_geo"].nullif("not_available"),
        "requests": usage["requests"],
        **counts,
        "web_search_calls": usage["server_tool_use"]["web_search_requests"].nullif(0),
        "project": group["workspace_id"],
        "team": group["rbac_group_id"],
        "application": group["product"],
        "api_key": group["api_key_id"],
        "user": ibis.coalesce(group["account_id"], group["service_account_id"], group["actor"]),
        "session": group["session_id"],
    }


class AnthropicPage(JsonImporter):
    """A page of some report."""

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a page of this report."""
        return "has_more" in obj and self.is_report(obj)

    @abstractmethod
    def is_report(self, obj: Mapping[str, Any]) -> bool:
        """Return whether what a sampled page holds is of this report."""

    @abstractmethod
    def is_row(self, item: Any) -> Any:
        """Return whether an element of ``data`` (as an expression) is of this report."""

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return is_true(node.get("data").filter(self.is_row).length() > 0) & node.get("has_more").notnull()


class AnthropicUsagePage(AnthropicPage):
    """Pages of the usage reports, by bucket."""

    name = "anthropic-usage-api"
    title = "Anthropic Admin API: usage report pages (buckets)"
    core = _USAGE_PAGE
    chains = ((("data",), ("results",)),)

    def is_report(self, obj: Mapping[str, Any]) -> bool:
        """See ``AnthropicPage.is_report``."""
        return any("uncached_input_tokens" in one for one in items_of(obj, below="results"))

    def is_row(self, item: Any) -> Any:
        """See ``AnthropicPage.is_row``."""
        return item["results"].filter(_has_tokens).length() > 0

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        del envelope
        bucket = node.parent
        page = bucket.parent if bucket else None
        assert bucket is not None and page is not None  # noqa: S101, PT018  (a result lies in a bucket in a page)
        return _bucket_ledger(page, bucket, node.get(), node.get())


def _has_tokens(result: Any) -> Any:
    return result["uncached_input_tokens"].notnull() | result["output_tokens"].notnull()


class AnthropicAnalyticsPage(AnthropicPage):
    """Pages of the analytics' usage, by group."""

    name = "anthropic-analytics-api"
    title = "Anthropic analytics API: usage pages (buckets with requests)"
    core = _ANALYTICS_PAGE
    chains = ((("data",),),)

    def is_report(self, obj: Mapping[str, Any]) -> bool:
        """See ``AnthropicPage.is_report``."""
        return any("starting_at" in one and isinstance(one.get("usage"), Mapping) for one in items_of(obj))

    def is_row(self, item: Any) -> Any:
        """See ``AnthropicPage.is_row``."""
        return item["usage"].notnull() & item["starting_at"].notnull()

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        del envelope
        assert node.parent is not None  # noqa: S101  (an item lies in a page)
        return _bucket_ledger(node.parent, node, node.get("usage"), node.get("group"))


class ClaudeCodeAnalyticsPage(AnthropicPage):
    """Pages of the report of Claude Code."""

    name = "claude-code-analytics"
    title = "Claude Code analytics API: pages (days x persons x models)"
    core = _CLAUDE_CODE_PAGE
    chains = ((("data",), ("model_breakdown",)),)

    def is_report(self, obj: Mapping[str, Any]) -> bool:
        """See ``AnthropicPage.is_report``."""
        return any(isinstance(one.get("model_breakdown"), list) for one in items_of(obj))

    def is_row(self, item: Any) -> Any:
        """See ``AnthropicPage.is_row``."""
        return item["model_breakdown"].notnull()

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        del envelope
        day = node.parent
        page = day.parent if day else None
        assert day is not None and page is not None  # noqa: S101, PT018  (a model lies in a day in a page)
        tokens, estimate = node.get("tokens"), node.get("estimated_cost")
        counts = [tokens[name] for name in ("input", "cache_read", "cache_creation", "output")]
        negative = is_negative(*counts)
        start = Envelope({}).started_at(day.get("date"))["started_at"]
        dollars = is_true(ibis.coalesce(estimate["currency"], "USD").upper() == "USD")
        return {
            "fate": ibis.cases((negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases((negative, NEGATIVE_COUNT), else_=NO_TEXT),
            "problem": ibis.cases((is_true(page.get("has_more")), MORE_PAGES), else_=NO_TEXT),
            "started_at": start,
            "usage_date": start.date(),
            "bucket_seconds": ibis.literal(SECONDS_PER_DAY, type="int64"),
            "provider": ibis.literal("anthropic"),
            "model": node.get("model"),
            "requests": ibis.null("int64"),
            "input_uncached": counts[0],
            "cache_read": counts[1],
            "cache_write_5m": counts[2],
            "output": counts[3],
            "application": ibis.literal("claude-code"),
            "user": day.get("actor", "email_address"),
            "api_key": day.get("actor", "api_key_name"),
            "recorded_cost_usd": ibis.cases((dollars, dollars_of(estimate["amount"]))),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (
    AnthropicUsagePage(),
    AnthropicAnalyticsPage(),
    ClaudeCodeAnalyticsPage(),
)
