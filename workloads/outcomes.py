"""Whether what came of a request was accepted, in the words that logs use; what they do not say stays unknown."""

from typing import Any, Final

import ibis

Expr = Any

ACCEPTED_NAMES: Final = ("accepted", "is_accepted", "outcome_accepted", "accepted_outcomes")
"""Columns that are taken for it; any other is named with ``--map accepted=column``."""
_YES: Final = (
    "true", "t", "yes", "y", "1", "1.0", "accepted", "accept", "success", "successful", "succeeded", "resolved", "solved",
    "approved", "merged", "positive", "good", "up", "thumbs_up", "thumbs-up",
)  # fmt: skip
_NO: Final = (
    "false", "f", "no", "n", "0", "0.0", "rejected", "reject", "failure", "failed", "unresolved", "unsolved", "declined",
    "abandoned", "negative", "bad", "down", "thumbs_down", "thumbs-down",
)  # fmt: skip


def accepted(text: Expr, requests: Expr) -> Expr:
    """Return the outcomes that were accepted: 1 or 0 of a request, the count of a bucket; null where it is not said.

    Args:
        text: What the log says: a word, 0 or 1, and of a bucket a count. Other numbers of a request (a rating) say nothing.
        requests: Requests of the row; null: not known.
    """
    word = text.lower()
    count = text.try_cast("int64")
    return ibis.cases(
        (word.isin(_YES) & (ibis.coalesce(requests, 1) == 1), 1),
        (word.isin(_NO), 0),
        ((requests > 1) & (count >= 0) & (count <= requests), count),
        else_=ibis.null("int64"),
    )
