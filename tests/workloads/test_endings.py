"""How requests end, and the pauses between them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import ibis
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workloads.arrivals import arrivals
from workloads.cube_columns import with_sizes
from workloads.endings import CUT_OFF, FAILED, endings
from workloads.grouping import Grouping

START = datetime(2026, 6, 15, 12)  # noqa: DTZ001  (the ledger's instants are naive UTC)
BY_APPLICATION = Grouping(("application",), "")
KINDS = {
    "started_at": "timestamp",
    "bucket_seconds": "int64",
    "provider": "string",
    "model": "string",
    "application": "string",
    "status": "string",
    "stop_reason": "string",
    "input_uncached": "int64",
    "output": "int64",
}


def ledger(rows: Sequence[dict[str, Any]]) -> Any:
    base = {"started_at": START, "model": "m", "application": "a", "input_uncached": 100, "output": 10}
    full = [{**base, **row} for row in rows]
    names = [name for name in KINDS if any(name in row for row in full)]
    data = [{name: row.get(name) for name in names} for row in full]
    return with_sizes(ibis.memtable(data, schema={name: KINDS[name] for name in names}))


def found(engine: Any, rows: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    frame = endings(engine, ledger(rows), BY_APPLICATION)
    assert frame is not None
    names = ["workload", "ending", "requests", "input_uncached", "output"]
    return sorted(tuple(row) for row in frame[names].itertuples(index=False, name=None))


@pytest.mark.parametrize(
    "status",
    [
        "500",
        "429",
        "error",
        "Failed",
        "FAILURE",
        "timeout",
        "RateLimitError",
        "ModelTimeoutException",
        "timed out",
    ],
)
def test_what_failed_is_found(engine: Any, status: str) -> None:
    assert found(engine, [{"status": status}, {"status": "200"}]) == [("a", FAILED, 1, 100, 10)]


@pytest.mark.parametrize(
    "status", [None, "200", "success", "completed", "cancelled", "incomplete", "-1", "no errors"]
)
def test_what_did_not_fail_is_not(engine: Any, status: str | None) -> None:
    assert found(engine, [{"status": status}]) == []


def test_sums_are_by_ending_and_failures_are_not_cut_off_as_well(engine: Any) -> None:
    rows = [
        {"status": "504", "stop_reason": "length", "output": 7},
        {"stop_reason": "MAX_TOKENS"},
        {"stop_reason": "length", "output": 5},
        {"stop_reason": "stop"},
        {"stop_reason": "length", "bucket_seconds": 60},
        {"status": "504", "application": "b", "output": 1},
        {"status": "504", "input_uncached": None, "output": None},
    ]
    assert found(engine, rows) == [
        ("a", CUT_OFF, 2, 200, 15),
        ("a", FAILED, 1, 100, 7),
        ("b", FAILED, 1, 100, 1),
    ]


def test_a_log_that_does_not_say_is_not_one_without_failures(engine: Any) -> None:
    assert endings(engine, ledger([{}]), BY_APPLICATION) is None


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seconds=st.lists(st.sampled_from((0, 1, 299, 300, 301, 3_599, 3_600, 3_601, 90_000)), max_size=20))
def test_pauses_are_those_between_starts(engine: Any, seconds: list[int]) -> None:
    starts, at = [START], START
    for pause in seconds:
        at += timedelta(seconds=pause)
        starts.append(at)
    rows = [{"started_at": start} for start in reversed(starts)]
    # Another workload in between changes nothing.
    rows += [{"started_at": START + timedelta(seconds=150), "application": "b"}]
    frame = arrivals(engine, ledger(rows), BY_APPLICATION).set_index("workload")
    assert int(frame.loc["a", "pauses_300"]) == sum(pause > 300 for pause in seconds)
    assert int(frame.loc["a", "pauses_3600"]) == sum(pause > 3_600 for pause in seconds)
    assert int(frame.loc["b", "pauses_300"]) == 0
