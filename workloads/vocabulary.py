"""The names that logs use for what the ledger calls by one name.

Names are compared in a normal form (lower case, words joined by ``_``), so ``Prompt Tokens``, ``promptTokens`` and
``prompt_tokens`` are one. Order matters: the first name that a log has wins.
"""

import re
from collections.abc import Mapping
from typing import Final


def normal(name: str) -> str:
    """Return a column or key name in normal form.

    >>> normal("Prompt Tokens"), normal("cacheReadInputTokens"), normal(" input-tokens "), normal("Cost (USD)")
    ('prompt_tokens', 'cache_read_input_tokens', 'input_tokens', 'cost_usd')
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip().lstrip("\ufeff"))
    return re.sub(r"[^0-9a-zA-Z]+", "_", spaced).strip("_").lower()


TIME_NAMES: Final = (
    "timestamp", "ts", "time", "datetime", "started_at", "start_time", "request_time", "request_created_at",
    "created_at", "created", "event_time", "logged_at", "date_time", "date", "day", "usage_date",
)  # fmt: skip

LABELS: Final[Mapping[str, tuple[str, ...]]] = {
    "provider": ("provider", "vendor", "llm_provider", "custom_llm_provider", "provider_name"),
    "model": ("model", "model_name", "model_id", "response_model", "request_model", "deployment"),
    "service_tier": ("service_tier", "processing_tier", "tier"),
    "region": ("region", "inference_geo", "inference_region"),
    "project": (
        "project", "project_name", "project_id", "workspace", "workspace_name", "workspace_id", "cwd",
    ),
    "team": ("team", "team_name", "team_alias", "team_id", "department", "cost_center"),
    "application": (
        "application", "app", "app_name", "application_name", "service", "service_name", "feature", "use_case",
        "workflow", "agent", "agent_name",
    ),
    "endpoint": ("endpoint", "route", "request_path", "path", "operation"),
    "api_key": ("api_key_alias", "api_key_name", "api_key_id", "api_key", "key_alias", "key_name", "key_id"),
    "environment": ("environment", "env"),
    "session": ("session_id", "session", "conversation_id", "thread_id", "chat_id"),
    "user": ("user_id", "user", "end_user", "customer_id", "customer"),
    "stop_reason": ("stop_reason", "finish_reason"),
    "status": ("status_code", "http_status", "response_status", "status"),
}  # fmt: skip
"""Text columns of the ledger and what logs call them."""

DURATIONS: Final[Mapping[str, tuple[tuple[str, float], ...]]] = {
    "ttft_seconds": (
        ("ttft_ms", 1000.0), ("time_to_first_token_ms", 1000.0), ("ttft_seconds", 1.0), ("ttft_s", 1.0), ("ttft", 1.0),
        ("time_to_first_token", 1.0),
    ),
    "duration_seconds": (
        ("duration_ms", 1000.0), ("latency_ms", 1000.0), ("response_time_ms", 1000.0), ("request_duration_ms", 1000.0),
        ("generation_time_ms", 1000.0), ("duration_seconds", 1.0), ("latency_seconds", 1.0), ("duration_s", 1.0),
        ("latency_s", 1.0), ("elapsed_seconds", 1.0), ("latency", 1.0), ("duration", 1.0),
    ),
}  # fmt: skip
"""Time columns of the ledger: what logs call them, and how many of their units make a second."""


def duration_of(name: str) -> tuple[str, float] | None:
    """Return the time column that a log calls by this name, with how many of its units make a second; None: no such."""
    return next(
        (
            (column, per_second)
            for column, names in DURATIONS.items()
            for known, per_second in names
            if known == name
        ),
        None,
    )


STREAMING_NAMES: Final = ("streaming", "stream", "streamed", "is_stream")
COST_NAMES: Final = ("cost_usd", "total_cost_usd", "total_cost", "cost", "spend", "spend_usd", "price_usd")
REQUESTS_NAMES: Final = (
    "requests", "num_requests", "request_count", "n_requests", "num_model_requests", "api_requests", "calls",
)  # fmt: skip

COUNTS: Final[Mapping[str, tuple[str, ...]]] = {
    "prompt": (
        "input_tokens", "prompt_tokens", "tokens_in", "tokens_prompt", "prompt_token_count", "input_token_count",
        "num_prefill_tokens", "num_input_tokens", "num_prompt_tokens", "n_prompt_tokens", "context_tokens",
        "request_tokens", "input_length", "prompt_length", "prompt_len", "input_len", "isl", "prompt_toks",
        "input_toks", "input", "prompt",
    ),
    "input_uncached": (
        "input_uncached", "input_uncached_tokens", "uncached_input_tokens", "input_tokens_uncached",
        "input_tokens_no_cache", "no_cache_tokens", "fresh_input_tokens",
    ),
    "cache_read": (
        "cache_read", "cache_read_tokens", "cache_read_input_tokens", "cached_input_tokens", "input_cached_tokens",
        "cached_tokens", "tokens_cached", "cache_hit_tokens", "cached_prompt_tokens",
    ),
    "cache_write": (
        "cache_write", "cache_write_tokens", "cache_creation_input_tokens", "cache_creation_tokens",
        "cache_write_input_tokens", "input_cache_write_tokens",
    ),
    "cache_write_5m": ("cache_write_5m", "cache_write_5m_tokens", "ephemeral_5m_input_tokens"),
    "cache_write_30m": ("cache_write_30m", "cache_write_30m_tokens", "input_cache_write_30m_tokens"),
    "cache_write_1h": ("cache_write_1h", "cache_write_1h_tokens", "ephemeral_1h_input_tokens"),
    "cache_write_12h": ("cache_write_12h", "cache_write_12h_tokens", "input_cache_write_12h_tokens"),
    "output": (
        "output_tokens", "completion_tokens", "tokens_out", "tokens_completion", "generated_tokens",
        "completion_token_count", "output_token_count", "num_decode_tokens", "num_output_tokens", "response_tokens",
        "output_length", "completion_length", "output_len", "osl", "output_toks", "completion_toks", "output",
        "completion",
    ),
    "reasoning": ("reasoning", "reasoning_tokens", "tokens_reasoning", "reasoning_output_tokens", "thinking_tokens"),
    "audio_input": ("audio_input", "audio_input_tokens", "input_audio_tokens"),
    "audio_output": ("audio_output", "audio_output_tokens", "output_audio_tokens"),
    "image_input": ("image_input", "image_input_tokens", "input_image_tokens"),
    "image_output": ("image_output", "image_output_tokens", "output_image_tokens"),
    "web_search_calls": ("web_search_calls", "web_search_requests", "web_search_count"),
    "total": ("total_tokens", "num_total_tokens", "tokens_total", "total"),
}  # fmt: skip
"""Token counts as tables name them. ``prompt`` may or may not hold the cached part: see ``workloads.accounting``."""

ADDITIVE_NAMES: Final = ("cache_creation_input_tokens", "cache_read_input_tokens")
"""Cache columns of Anthropic's convention: beside ``input_tokens`` they are not part of it."""
