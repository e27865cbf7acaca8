"""Helicone: exported requests.

Where it comes from: the export tool's CSV, or JSONL of its request objects; answers of its request query, a request a
line.

One row is: a request as the proxy saw it; failures and answers from its own cache among them.

Token fields: ADDITIVE. ``prompt_tokens`` leaves out ``prompt_cache_read_tokens``, ``prompt_cache_write_tokens`` and
audio. ``completion_tokens`` includes ``reasoning_tokens`` unless the row's ``total_tokens`` (prompt, completion and
reasoning, never the cache) counts them once more, as newer versions do. Two zeros mean that nothing was measured.

Time zone: UTC, with or without offset.

What it cannot tell: how long cache writes live. Status codes below zero are Helicone's own (timed out, pending,
cancelled): such a request may have been billed. ``costUSD`` is dollars; ``cost`` is dollars or, straight from the
database, billionths, told apart by size. A cost of 0 means that no price was found. Thumbs up or down
(``helicone-score-feedback`` in ``scores``) is whether the answer was accepted; other scores say nothing about that.
"""

from collections.abc import Callable
from typing import Any, Final

import ibis

from pricing.units import GIGA, MILLISECONDS_PER_SECOND, TOKENS_PER_MTOK
from workloads.accounting import NEGATIVE_COUNT, NO_WHOLE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT, first_text, is_true
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.outcomes import accepted
from workloads.prefix_texts import text_step, told_by_text
from workloads.table import Table
from workloads.times import seconds_between

_HTTP_ERROR: Final = 400
_NO_CACHE: Final = "00000000-0000-0000-0000-000000000000"
_USD_PER_MTOK_BELOW: Final = 1_000
"""No model costs as much: an amount above is in billionths of a dollar."""
_FEWEST_TOKENS: Final = 1_000
_COUNTS: Final = (
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "prompt_cache_read_tokens",
    "prompt_cache_write_tokens",
    "prompt_audio_tokens",
    "completion_audio_tokens",
    "reasoning_tokens",
)


class HeliconeRequests(TableImporter):
    """Requests."""

    name = "helicone"
    title = "Helicone requests (CSV of the export tool, JSONL)"
    keys = (
        *_COUNTS,
        "costUSD",
        "request_user_id",
        "request_properties",
        "time_to_first_token",
        "cache_reference_id",
    )

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"response_id", "request_created_at", "prompt_tokens", "completion_tokens"} <= names

    def steps(self, table: Table) -> Columns:
        """See ``TableImporter.steps``."""
        return {name: table.count(name) for name in _COUNTS} | text_step(table, "request_body")

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        text = table.text
        negative, meters = _meters(table.step)
        unreadable = table.unreadable("prompt_tokens") | table.unreadable("completion_tokens")
        unused = meters["dedup_size"] == 0
        status = table.number("response_status")
        failed = unused & is_true(status >= _HTTP_ERROR)
        own_cache = is_true(~text("cache_reference_id").isin((_NO_CACHE,)))
        properties = table.json(table.first(("request_properties", "properties")) or "")
        milliseconds = ibis.coalesce(table.number("delay_ms"), table.number("latency")).cast("float64")
        start, end = table.time("request_created_at"), table.time("response_created_at")
        between = seconds_between(start["started_at"], end["started_at"]) if end else ibis.null("float64")
        columns = {
            "fate": ibis.cases((own_cache | failed, IGNORED), (negative | unreadable, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (own_cache, "answered from the gateway's own cache"),
                (failed, "failed call without usage"),
                (negative, NEGATIVE_COUNT),
                (unreadable, NO_WHOLE_COUNT),
                else_=NO_TEXT,
            ),
            **meters,
            **start,
            "provider": text("provider").lower(),
            "model": ibis.coalesce(
                text("response_model"), text("model"), text("model_override"), text("request_model")
            ),
            "requests": ibis.literal(1, type="int64"),
            "application": first_text(properties, "App", "app", "Application", "application"),
            "environment": first_text(properties, "Environment", "environment"),
            "endpoint": text("request_path"),
            "session": first_text(properties, "Helicone-Session-Id", "session_id"),
            "user": text("request_user_id"),
            "status": text("response_status"),
            "ttft_seconds": table.number("time_to_first_token").cast("float64") / MILLISECONDS_PER_SECOND,
            "duration_seconds": ibis.coalesce(milliseconds / MILLISECONDS_PER_SECOND, between),
            "recorded_cost_usd": _cost(table, meters["dedup_size"]),
            "dedup_group": ibis.coalesce(text("request_id"), text("response_id")),
        }
        if table.has("scores"):
            # 1: thumbs up, 0: thumbs down; other scores are the user's own and of any scale.
            feedback = first_text(table.json("scores"), "helicone-score-feedback")
            columns["accepted"] = accepted(feedback, columns["requests"])
        return columns | told_by_text(table, "request_body", columns)


def _meters(count: Callable[[str], Any]) -> tuple[Any, Columns]:
    """Return whether a count is negative, and the token columns with the problem and the size."""
    prompt, output = count("prompt_tokens"), count("completion_tokens")
    cached, written = count("prompt_cache_read_tokens"), count("prompt_cache_write_tokens")
    reasoning = count("reasoning_tokens")
    apart = is_true((reasoning > 0) & (count("total_tokens") == prompt + output + reasoning))
    apart = apart | is_true(reasoning > output)
    size = zero(prompt) + zero(cached) + zero(written) + zero(output)
    audio_in, audio_out = count("prompt_audio_tokens"), count("completion_audio_tokens")
    measured = size + zero(audio_in) + zero(audio_out) != 0
    uncached, reads, problem = split_input(
        prompt, cached=cached, written=written, output=output, total=None, additive=True
    )
    columns = {
        "input_uncached": uncached,
        "cache_read": reads,
        "cache_write_5m": written,
        "audio_input": audio_in.nullif(0),
        "output": ibis.cases((apart, output + reasoning), else_=output),
        "audio_output": audio_out.nullif(0),
        "reasoning": reasoning,
    }
    columns = {name: ibis.cases((measured, value)) for name, value in columns.items()}
    return is_negative(*(count(name) for name in _COUNTS)), {
        **columns,
        "problem": problem,
        "dedup_size": size,
    }


def _cost(table: Table, tokens: Any) -> Any:
    """Return the cost in dollars; null when there is none, or no price was found."""
    stored = table.number("cost").cast("float64")
    most = ibis.cases((tokens < _FEWEST_TOKENS, _FEWEST_TOKENS), else_=tokens) * _USD_PER_MTOK_BELOW
    dollars = ibis.cases((stored * TOKENS_PER_MTOK > most, stored / GIGA), else_=stored)
    return ibis.coalesce(table.number("cost_usd"), dollars.try_cast("decimal(38, 12)")).nullif(0)


IMPORTERS: Final[tuple[Importer, ...]] = (HeliconeRequests(),)
