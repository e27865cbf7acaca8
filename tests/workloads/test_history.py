"""How long conversations grow, worked by hand."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import ibis
import pytest

from workloads.cube_columns import with_sizes
from workloads.grouping import Grouping
from workloads.history import history

START = datetime(2026, 6, 15, 12)  # noqa: DTZ001  (the ledger's instants are naive UTC)
KINDS = {
    "started_at": "timestamp",
    "bucket_seconds": "int64",
    "provider": "string",
    "model": "string",
    "application": "string",
    "session": "string",
    "input_uncached": "int64",
    "cache_read": "int64",
    "output": "int64",
    "reasoning": "int64",
}
Turn = tuple[int, int, int]
"""Plain and cached tokens of a prompt, tokens of its answer."""


def seen(engine: Any, sessions: Sequence[Sequence[Turn]], **more: Any) -> Any:
    data = [
        {
            **dict.fromkeys(KINDS),
            "started_at": START + timedelta(minutes=minute),
            "model": "m",
            "application": "a",
            "session": f"s{number}",
            "input_uncached": plain,
            "cache_read": cached,
            "output": answer,
            **more,
        }
        for number, turns in enumerate(sessions)
        for minute, (plain, cached, answer) in enumerate(turns)
    ]
    ledger = with_sizes(ibis.memtable(data, schema=KINDS))
    frame = history(engine, ledger, Grouping(("application",), ""))
    if frame is None:
        return None
    (row,) = frame.to_dict("records")
    return row


def growing(turns: int, *, cached: bool = False) -> list[Turn]:
    """Each turn adds 100 tokens: a question of 60 and the answer of 40 before it."""
    return [((100, 100 * turn, 40) if cached else (100 + 100 * turn, 0, 40)) for turn in range(turns)]


def test_old_text_above_an_earlier_prompt(engine: Any) -> None:
    found = seen(engine, [growing(12), growing(10)])
    assert found is not None
    # Only the session of twelve turns is long. At the 10th its prompt has 1,000 tokens, so the two after have 100 and 200 more.
    assert (found["turns"], found["grown"], found["later"], found["fifths"]) == (11, 11, 2, 1)
    assert (found["first_tokens"], found["later_tokens"]) == (500, 2_300)
    assert (found["above_10"], found["above_20"], found["cached_tokens"]) == (300, 0, 0)
    assert found["above_5"] == sum(100 * more for more in range(1, 8))


def test_what_a_cache_has_is_not_paid_in_full(engine: Any) -> None:
    found = seen(engine, [growing(12, cached=True)])
    assert found is not None
    assert (found["above_5"], found["above_10"], found["cached_tokens"]) == (0, 0, 300)


def test_prompts_that_do_not_grow_have_no_history(engine: Any) -> None:
    """The next prompt is as long as the one before, so that there is no room for the answer."""
    found = seen(engine, [[(1_000 + turn, 0, 40) for turn in range(15)]])
    assert found is not None
    assert (found["turns"], found["grown"], found["above_5"]) == (14, 0, 0)


def test_a_prompt_that_was_cut_is_history_from_there_on(engine: Any) -> None:
    turns = [*growing(11), (300, 0, 40), (400, 0, 40)]
    found = seen(engine, [turns])
    assert found is not None
    assert (found["grown"], found["above_10"]) == (11, 100)


def test_reasoning_is_not_sent_back(engine: Any) -> None:
    """An answer of 40 tokens of which 30 are reasoning needs room for 10."""
    turns = [(100 + 20 * turn, 0, 40) for turn in range(12)]
    found = seen(engine, [turns], reasoning=30)
    assert found is not None
    assert found["grown"] == 11


@pytest.mark.parametrize("more", [{"session": None}, {"started_at": None}, {"bucket_seconds": 3_600}])
def test_nothing_is_long_without_sessions_times_or_single_requests(engine: Any, more: dict[str, Any]) -> None:
    assert seen(engine, [growing(12)], **more) is None
