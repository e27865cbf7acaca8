"""Turns of a conversation that read less from a cache than the turn before had put there, so soon that it was still alive.

Told by what the log says was read, or, where it names blocks, by what a replay finds: then also where prompts part.
"""

from typing import Any, Final

import ibis

Expr = Any

ALIVE_SECONDS: Final = 300
"""No cache that is sold keeps an entry for less after its last use."""
_KEYS: Final = ("workload", "provider", "model")


def break_sums(rows: Expr, had: Expr, expected: Expr, text_before: Expr) -> dict[str, Expr]:
    """Return sums over turns.

    ``turns``: those soon after the one before and with no shorter prompt; ``broken``: those of them that had less than half of
    what was expected; ``lost_none, lost_half, lost_any``: tokens that were missing where nothing was had, less than half, or
    less at all; ``parted_tokens``: what broken turns had, in sum.

    Args:
        rows: Requests with ``session, text`` and ``gap`` (seconds since the turn before).
        had: Tokens that were read, or could have been.
        expected: Tokens that the turn before had left there.
        text_before: Tokens of its prompt.
    """
    is_turn = rows.session.notnull() & (rows.gap <= ALIVE_SECONDS) & (rows.text >= text_before)
    is_turn &= expected > 0
    lost = ibis.greatest(expected - had, 0)
    broken = is_turn & (had * 2 < expected)

    def tokens(where: Expr) -> Expr:
        return ibis.coalesce(lost.sum(where=where), 0).cast("int64")

    return {
        "turns": ibis.coalesce(is_turn.sum(), 0),
        "broken": ibis.coalesce(broken.sum(), 0),
        "lost_none": tokens(is_turn & (had == 0)),
        "lost_half": tokens(broken),
        "lost_any": tokens(is_turn),
        "parted_tokens": ibis.coalesce(had.sum(where=broken), 0).cast("int64"),
    }


def with_turn_before(rows: Expr) -> Expr:
    """Return requests with ``gap`` (seconds) and ``text_before, cached_before`` of the turn before in their session.

    Args:
        rows: ``workload, provider, model, session, at, text, cached, read`` and what else is wanted.
    """
    order = ibis.window(group_by=[*_KEYS, "session"], order_by=[rows["at"], rows.text, rows.read])
    return rows.mutate(
        gap=rows["at"] - rows["at"].lag().over(order),
        text_before=rows.text.lag().over(order),
        cached_before=rows.cached.lag().over(order),
    )
