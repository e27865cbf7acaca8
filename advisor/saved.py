"""An analysis in a saved document, and out of it again."""

import json
from dataclasses import replace
from functools import cache
from importlib import metadata
from typing import Any, cast

from advisor.analysis import Analysis
from advisor.document_model import SCHEMA_VERSION
from advisor.limits import MOST_LINES
from advisor.recommendation import unchanged
from advisor.saved_codec import CodecError, decode, encode


class SavedError(Exception):
    """A document that nothing can be rendered from; the message says why and what to do."""


def kept(analysis: Analysis) -> dict[str, Any] | None:
    """Return an analysis as a document keeps it; None where it holds something that has no such form."""
    lines = analysis.cost_lines
    if lines is not None and len(lines.lines) > MOST_LINES:
        analysis = replace(analysis, cost_lines=None)
    try:
        return cast("dict[str, Any]", encode(analysis))
    except CodecError:
        return None


def analysis_of(text: str, name: str) -> Analysis:
    """Return the analysis of a saved document.

    Args:
        text: The document.
        name: What it is called, for messages.

    Raises:
        SavedError: It is no document of ``advisor analyze``, or of a version that kept other things.
    """
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SavedError(
            f"{name} is not JSON: {error}; give a file that `advisor analyze LOG --json FILE` wrote"
        ) from None
    if not isinstance(document, dict) or "schema_version" not in document:
        raise SavedError(
            f"{name} is no document of advisor; give a file that `advisor analyze LOG --json FILE` wrote"
        )
    found = cast("dict[str, Any]", document)
    if found["schema_version"] != SCHEMA_VERSION:
        raise SavedError(
            f"{name} has schema version {found['schema_version']!r:.20}; this version reads {SCHEMA_VERSION}"
        )
    if not isinstance(found.get("saved"), dict):
        raise SavedError(f"{name} does not hold the whole analysis (`saved`); {_again()}")
    try:
        return cast("Analysis", decode(Analysis, found["saved"], unchanged))
    except (CodecError, RecursionError) as error:
        raise SavedError(
            f"{name} was saved by {_version(found)} and does not fit {_here()} ({error}); {_again()}"
        ) from None


@cache
def _here() -> str:
    return f"version {metadata.version('token-cost-advisor')}"


def _version(document: dict[str, Any]) -> str:
    made: Any = document.get("provenance")
    return f"version {made['version']}" if isinstance(made, dict) and "version" in made else "another version"


def _again() -> str:
    return "analyse the log again with --json"
