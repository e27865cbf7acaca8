"""Tags and labels that people put on requests and resources: free words, of which the common ones are understood."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import ibis

Expr = Any

TAGS: Final[Mapping[str, tuple[str, ...]]] = {
    "project": ("project", "project_name"),
    "team": ("team", "cost_center", "costcenter", "cost-center", "department"),
    "application": ("application", "app", "feature", "service", "adk_agent_name", "agent"),
    "environment": ("environment", "env", "stage"),
    "user": ("user_id", "user"),
    "session": ("session_id", "session"),
}
"""Ledger column -> names of tags, best first; each also with a capital."""


def tag_columns(tags: Expr, *, prefixes: Sequence[str] = ("",)) -> dict[str, Expr]:
    """Return the ledger columns that a JSON object of tags names.

    Args:
        tags: A JSON column: an object of texts.
        prefixes: What a source writes before a tag's name.
    """
    return {
        column: ibis.coalesce(
            *[
                tags[prefix + spelt].str.nullif("")
                for name in names
                for prefix in prefixes
                for spelt in (name, name.capitalize())
            ]
        )
        for column, names in TAGS.items()
    }
