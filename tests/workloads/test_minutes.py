"""Load over time: whole prompts split into computed and cached, buckets as they are, traces without a calendar from 0."""

from datetime import date, datetime, timedelta
from typing import Any

import ibis
import pyarrow as pa

from workloads.cube import prepare
from workloads.minutes import longest_tokens, minutes
from workloads.period import Period
from workloads.relations import connect

KINDS = {
    "started_at": pa.timestamp("us"),
    "usage_date": pa.date32(),
    "elapsed_seconds": pa.float64(),
    "bucket_seconds": pa.int64(),
    "provider": pa.string(),
    "model": pa.string(),
    "requests": pa.int64(),
    "input_uncached": pa.int64(),
    "cache_read": pa.int64(),
    "cache_write_5m": pa.int64(),
    "output": pa.int64(),
    "charge_only": pa.bool_(),
}
NOON = datetime(2026, 6, 15, 12)  # noqa: DTZ001  (the ledger's instants are naive UTC)
MINUTE = int((NOON - datetime(1970, 1, 1)).total_seconds()) // 60  # noqa: DTZ001


def row(**given: Any) -> dict[str, Any]:
    return {"started_at": NOON, "model": "m", "requests": 1, "input_uncached": 100, "output": 10, **given}


def load(*rows: dict[str, Any]) -> tuple[list[dict[str, Any]], float]:
    columns = {name: pa.array([one.get(name) for one in rows], kind) for name, kind in KINDS.items()}
    connection = connect()
    records = prepare(connection, ibis.memtable(pa.table(columns)), Period())
    found = minutes(connection, records)
    return found.to_dict("records"), longest_tokens(connection, records)


def test_a_minute_adds_up_by_model() -> None:
    found, longest = load(
        row(),
        row(started_at=NOON + timedelta(seconds=59), cache_read=900, cache_write_5m=50),
        row(model="n", cache_read=0),
        row(started_at=NOON + timedelta(seconds=60)),
    )
    assert [(one["minute"] - MINUTE, one["model"], one["requests"]) for one in found] == [
        (0, "m", 2), (0, "n", 1), (1, "m", 1),
    ]  # fmt: skip
    assert found[0]["computed_tokens"] == 100 + 150
    assert found[0]["cached_tokens"] == 900
    assert found[0]["output_tokens"] == 20
    assert (found[0]["silent"], found[1]["silent"]) == (1, 0)
    assert all(one["bucket_minutes"] == 1 for one in found)
    assert 110 < longest <= 1_060


def test_buckets_and_days_keep_their_length() -> None:
    found, longest = load(
        row(bucket_seconds=3_600, requests=40),
        row(started_at=None, usage_date=date(2026, 6, 15), bucket_seconds=86_400, requests=None),
    )
    assert [(one["minute"] - MINUTE, one["bucket_minutes"], one["requests"]) for one in found] == [
        (-720, 1_440, 0), (0, 60, 40),
    ]  # fmt: skip
    assert longest == 0


def test_a_trace_counts_from_its_start_and_charges_are_no_load() -> None:
    found, _ = load(
        row(started_at=None, elapsed_seconds=125.0),
        row(charge_only=True),
        row(input_uncached=None, output=None),
        row(started_at=None),
    )
    assert [(one["minute"], one["requests"]) for one in found] == [(2, 1)]
