"""What is read of the JSON of LangSmith runs: counts at the places where clients and servers put them, and labels."""

from collections.abc import Mapping
from typing import Final

from workloads.schema import Schema

_BIG: Final = "BIGINT"
_LIFETIMES: Final = ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
INPUT_DETAILS: Final[Schema] = dict.fromkeys(("cache_read", "cache_creation", "audio", *_LIFETIMES), _BIG)
OUTPUT_DETAILS: Final[Schema] = dict.fromkeys(("reasoning", "audio"), _BIG)
_USAGE: Final[Schema] = {
    "usage_metadata": {
        **dict.fromkeys(("input_tokens", "output_tokens", "total_tokens"), _BIG),
        "input_token_details": INPUT_DETAILS,
        "output_token_details": OUTPUT_DETAILS,
    }
}
_RAW_USAGE: Final[Schema] = {
    **dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), _BIG),
    "prompt_tokens_details": dict.fromkeys(
        ("cached_tokens", "cache_write_tokens", "audio_tokens", *_LIFETIMES), _BIG
    ),
    "completion_tokens_details": dict.fromkeys(("reasoning_tokens", "audio_tokens"), _BIG),
}
_MODEL: Final[Schema] = {"model": "VARCHAR", "model_name": "VARCHAR"}
_REASON: Final[Schema] = {"finish_reason": "VARCHAR"}
SAID: Final[Mapping[str, tuple[str, ...]]] = {
    "model": ("ls_model_name",),
    "provider": ("ls_provider",),
    "application": ("application", "app", "service"),
    "environment": ("environment", "env"),
    "session": ("session_id", "thread_id", "conversation_id"),
    "user": ("user_id", "user"),
}
"""Ledger column -> keys of a run's metadata that tell it, best first."""
OBJECTS: Final[Mapping[str, Schema]] = {
    "inputs": {"model": "VARCHAR"},
    "outputs": {
        **_MODEL,
        **_USAGE,
        "service_tier": "VARCHAR",
        "usage": _RAW_USAGE,
        "llm_output": {**_MODEL, "token_usage": _RAW_USAGE},
        "message": _USAGE,
        "choices": [_REASON],
        "generations": [[{"message": {**_USAGE, "kwargs": _USAGE}, "generation_info": _REASON}]],
    },
    "extra": {
        "metadata": {
            **dict.fromkeys((name for names in SAID.values() for name in names), "VARCHAR"),
            **_USAGE,
        },
        "invocation_params": _MODEL,
    },
}
"""What is read of a run's JSON."""
