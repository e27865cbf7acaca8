"""Tags and labels that people put on requests and resources: free words, of which the common ones are understood."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import ibis

from workloads.attributes import lookup

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
    # As a map, since reaching into JSON parses it, and there are dozens of names to look for.
    given = tags.try_cast("map<string, string>")
    tag = lookup(given.keys(), given.values().map(_unless_nested))
    return {
        column: ibis.coalesce(
            *[
                tag(prefix + spelt)
                for name in names
                for prefix in prefixes
                for spelt in (name, name.capitalize())
            ]
        )
        for column, names in TAGS.items()
    }


def _unless_nested(text: Expr) -> Expr:
    return ibis.cases((~text.left(1).isin(("{", "[")), text))
