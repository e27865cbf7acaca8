"""What a short lifetime would not have found in the cache."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import ibis

from workloads.cube_columns import with_sizes
from workloads.grouping import Grouping
from workloads.late_reads import late_reads

START = datetime(2026, 6, 15, 12)  # noqa: DTZ001  (the ledger's instants are naive UTC)
KINDS = {
    "started_at": "timestamp",
    "bucket_seconds": "int64",
    "model": "string",
    "application": "string",
    "session": "string",
    "input_uncached": "int64",
    "cache_read": "int64",
    "output": "int64",
}


def found(engine: Any, rows: Sequence[tuple[int, str | None, int | None]]) -> tuple[int, int, int]:
    data = [
        {
            **dict.fromkeys(KINDS),
            "started_at": START + timedelta(seconds=at),
            "model": "m",
            "application": "a",
            "session": session,
            "cache_read": tokens,
        }
        for at, session, tokens in rows
    ]
    ledger = with_sizes(ibis.memtable(data, schema=KINDS))
    (row,) = late_reads(engine, ledger, Grouping(("application",), "")).to_dict("records")
    return int(row["late_tokens"]), int(row["first_tokens"]), int(row["without_session"])


def test_each_session_has_pauses_of_its_own(engine: Any) -> None:
    rows = [
        (0, "x", 1),
        (400, "x", 10),
        (700, "x", 100),
        (1_001, "x", 1_000),
        (350, "y", 10_000),
        (500, "y", None),
    ]
    assert found(engine, rows) == (1_010, 10_001, 0)


def test_without_sessions_the_workload_has(engine: Any) -> None:
    assert found(engine, [(0, None, 1), (301, None, 10), (350, None, 100), (9_000, None, None)]) == (10, 1, 4)
