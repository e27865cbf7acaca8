"""The scan: sums that lose nothing, cut where prices change, and sizes of single requests."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workloads.cube import (
    BINS_PER_DECADE,
    models_of,
    prepare,
    shapes,
    usage_cube,
)
from workloads.grouping import Grouping
from workloads.period import Period
from workloads.rate_cuts import RateCuts
from workloads.sizes import size_quantiles

KINDS = {
    "started_at": pa.timestamp("us"),
    "usage_date": pa.date32(),
    "bucket_seconds": pa.int64(),
    "provider": pa.string(),
    "model": pa.string(),
    "service_tier": pa.string(),
    "requests": pa.int64(),
    "input_uncached": pa.int64(),
    "cache_read": pa.int64(),
    "cache_write_5m": pa.int64(),
    "output": pa.int64(),
    "reasoning": pa.int64(),
    "application": pa.string(),
    "api_key": pa.string(),
    "ttft_seconds": pa.float64(),
    "recorded_cost_usd": pa.decimal128(38, 12),
    "source_file": pa.string(),
}
METERS = ("input_uncached", "cache_read", "cache_write_5m", "output")
BY_APPLICATION = Grouping(("application",), "")
NOON = datetime(2026, 6, 15, 12)  # noqa: DTZ001  (the ledger's instants are naive UTC)


def row(**given: Any) -> dict[str, Any]:
    return {
        "started_at": NOON,
        "model": "m",
        "requests": 1,
        "input_uncached": 100,
        "output": 10,
        "application": "a",
        "source_file": "x",
        **given,
    }


def ledger(rows: Sequence[dict[str, Any]]) -> Any:
    names = [name for name in KINDS if any(name in item for item in rows)]
    columns = {name: pa.array([item.get(name) for item in rows], KINDS[name]) for name in names}
    return ibis.memtable(pa.table(columns))


def cube(
    engine: Any, rows: Sequence[dict[str, Any]], cuts: RateCuts | None = None, **period: Any
) -> pd.DataFrame:
    records = prepare(engine, ledger(rows), Period(**period))
    return usage_cube(engine, records, BY_APPLICATION, cuts or RateCuts())


counts = st.none() | st.integers(0, 3_000_000_000)
record = st.fixed_dictionaries(
    {
        "started_at": st.none() | st.datetimes(datetime(2026, 6, 14), datetime(2026, 6, 17)),  # noqa: DTZ001
        "bucket_seconds": st.sampled_from([None, None, 86_400]),
        "provider": st.sampled_from([None, "openai"]),
        "model": st.sampled_from([None, "m", "n"]),
        "service_tier": st.sampled_from([None, "batch"]),
        "requests": st.sampled_from([1, 1, 7, None]),
        "input_uncached": counts,
        "cache_read": counts,
        "cache_write_5m": counts,
        "output": counts,
        "reasoning": counts,
        "application": st.sampled_from(["a", "b", None]),
        "recorded_cost_usd": st.none() | st.decimals(0, 10, places=6),
        "source_file": st.just("x"),
    }
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(record, min_size=1, max_size=25),
    thresholds=st.lists(st.integers(0, 6_000_000_000), max_size=2),
    breaks=st.lists(st.datetimes(datetime(2026, 6, 14), datetime(2026, 6, 17)), max_size=2),  # noqa: DTZ001
)
def test_the_cube_loses_nothing(
    engine: Any, rows: list[dict[str, Any]], thresholds: list[int], breaks: list[datetime]
) -> None:
    cuts = RateCuts(
        breakpoints=sorted({at.replace(tzinfo=UTC) for at in breaks}),
        context_thresholds=sorted(set(thresholds)),
    )
    frame = cube(engine, rows, cuts)
    names = (*METERS, "reasoning")
    keys = ("model", "provider", "service_tier", "day")
    expected: dict[Any, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for item in rows:
        day = item["started_at"].date() if item["started_at"] else None
        part = expected[item["model"], item["provider"], item["service_tier"], day]
        part["records"] += 1
        part["requests"] += item["requests"] or 0
        for name in names:
            part[name] += item[name] or 0
    got: dict[Any, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for cell in frame.to_dict("records"):
        key = tuple(None if pd.isna(cell[name]) else cell[name] for name in keys[:3])
        day = None if pd.isna(cell["day"]) else pd.Timestamp(cell["day"]).date()
        for name in ("records", "requests", *names):
            got[*key, day][name] += 0 if pd.isna(cell[name]) else int(cell[name])
    assert {key: dict(part) for key, part in got.items()} == {
        (model, provider, tier, day): dict(part) for (model, provider, tier, day), part in expected.items()
    }
    costs = [item["recorded_cost_usd"] for item in rows if item["recorded_cost_usd"] is not None]
    assert int(frame["recorded"].sum()) == len(costs)
    assert sum(frame["recorded_cost_usd"].dropna()) == sum(costs)


def test_what_no_record_reports_stays_unknown(engine: Any) -> None:
    (cell,) = cube(engine, [row(cache_read=None), row(cache_read=None)]).to_dict("records")
    assert pd.isna(cell["cache_read"])
    (cell,) = cube(engine, [row(cache_read=None), row(cache_read=0)]).to_dict("records")
    assert cell["cache_read"] == 0
    assert (cell["cache_records"], cell["cache_input_known"]) == (1, 100)


def test_sums_beyond_64_bits_are_exact(engine: Any) -> None:
    huge = 2**62
    frame = cube(engine, [row(input_uncached=huge), row(input_uncached=huge), row(input_uncached=huge)])
    assert int(frame["input_uncached"].iloc[0]) == 3 * huge


def test_a_record_without_counts_is_unmeasured(engine: Any) -> None:
    (cell,) = cube(engine, [row(), row(input_uncached=None, output=None)]).to_dict("records")
    assert (cell["records"], cell["unmeasured"]) == (2, 1)


def test_an_unknown_number_of_requests_is_unknown(engine: Any) -> None:
    (cell,) = cube(engine, [row(requests=None, bucket_seconds=86_400)]).to_dict("records")
    assert pd.isna(cell["requests"])
    assert cell["requests_unknown"] == 1


# ---- where prices change


def test_a_breakpoint_belongs_to_the_time_after_it(engine: Any) -> None:
    tick = timedelta(microseconds=1)
    rows = [row(started_at=NOON - tick), row(started_at=NOON), row(started_at=NOON + tick)]
    frame = cube(engine, rows, RateCuts(breakpoints=[NOON.replace(tzinfo=UTC)]))
    assert sorted(zip(frame["price_at"].dt.tz_localize(None), frame["records"], strict=True)) == [
        (NOON - tick, 1),
        (NOON, 2),
    ]


def test_a_threshold_is_above_itself(engine: Any) -> None:
    rows = [row(input_uncached=size) for size in (199_999, 200_000, 200_001, 272_000, 272_001)]
    frame = cube(engine, rows, RateCuts(context_thresholds=[200_000, 272_000]))
    assert sorted(zip(frame["context_tokens"], frame["records"], strict=True)) == [
        (200_000, 2),
        (272_000, 2),
        (272_001, 1),
    ]


def test_the_whole_prompt_counts_for_a_threshold(engine: Any) -> None:
    rows = [row(input_uncached=1, cache_read=150_000, cache_write_5m=50_000), row(input_uncached=1)]
    frame = cube(engine, rows, RateCuts(context_thresholds=[200_000]))
    assert sorted(frame["context_tokens"]) == [1, 200_001]


def test_a_bucket_reaches_no_context_tier(engine: Any) -> None:
    rows = [row(input_uncached=9_000_000, bucket_seconds=86_400, requests=100), row(input_uncached=9_000_000)]
    frame = cube(engine, rows, RateCuts(context_thresholds=[200_000]))
    assert frame["context_tokens"].isna().tolist().count(True) == 1
    assert len(frame) == 2


@pytest.mark.parametrize(
    ("at", "inside"),
    [
        ("2026-06-15T00:59:59.999999", False),  # a Monday
        ("2026-06-15T01:00:00", True),
        ("2026-06-15T03:59:59", True),
        ("2026-06-15T04:00:00", False),
        ("2026-06-16T02:00:00", False),
        ("2026-06-21T23:59:00", False),
    ],
)
def test_clock_edges_are_minutes_of_the_utc_week(engine: Any, at: str, inside: bool) -> None:  # noqa: FBT001
    edges = RateCuts(clock_edges=[60, 240], clocked=[(None, "m")])
    probe = datetime(2026, 6, 15, 2)  # noqa: DTZ001
    frame = cube(
        engine, [row(started_at=probe, application="a"), row(started_at=datetime.fromisoformat(at))], edges
    )
    same_day = at.startswith("2026-06-15")
    assert (len(frame) == 1) == (inside and same_day)


def test_the_last_minute_of_the_week_is_before_its_first_edge_again(engine: Any) -> None:
    edges = RateCuts(clock_edges=[10_079], clocked=[(None, "m")])
    sunday = datetime(2026, 6, 21, 23, 58)  # noqa: DTZ001
    rows = [row(started_at=sunday), row(started_at=sunday + timedelta(minutes=1))]
    assert len(cube(engine, rows, edges)) == 2


def test_models_without_hours_are_not_cut_by_the_clock(engine: Any) -> None:
    edges = RateCuts(clock_edges=[720], clocked=[(None, "other")])
    assert len(cube(engine, [row(), row(started_at=NOON - timedelta(hours=1))], edges)) == 1


def test_models_of_the_log(engine: Any) -> None:
    rows = [
        row(provider="p", model="b"),
        row(provider=None, model="a"),
        row(model=None),
        row(provider="p", model="b"),
    ]
    assert models_of(engine, prepare(engine, ledger(rows), Period())) == [(None, "a"), ("p", "b")]


# ---- periods


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/Denver", "Australia/Lord_Howe"])
def test_a_period_holds_its_first_and_last_day_whole(engine: Any, zone: str) -> None:
    tz, tick = ZoneInfo(zone), timedelta(microseconds=1)
    first = datetime(2026, 6, 15, tzinfo=tz).astimezone(UTC).replace(tzinfo=None)
    after = datetime(2026, 6, 17, tzinfo=tz).astimezone(UTC).replace(tzinfo=None)
    instants = [first - tick, first, NOON, after - tick, after]
    rows = [row(started_at=at, output=2**index) for index, at in enumerate(instants)]
    frame = cube(engine, rows, timezone=zone, since=date(2026, 6, 15), until=date(2026, 6, 16))
    assert int(frame["output"].sum()) == 2 + 4 + 8
    assert sorted(pd.Timestamp(day).date() for day in frame["day"].unique()) == [
        date(2026, 6, 15),
        date(2026, 6, 16),
    ]


def test_a_bare_date_is_that_day_in_every_zone(engine: Any) -> None:
    rows = [row(started_at=datetime(2026, 6, 15), usage_date=date(2026, 6, 15))]  # noqa: DTZ001
    frame = cube(engine, rows, timezone="America/Denver", since=date(2026, 6, 15), until=date(2026, 6, 15))
    assert int(frame["records"].sum()) == 1


def test_records_without_a_time_are_on_no_day(engine: Any) -> None:
    rows = [row(started_at=None), row()]
    assert cube(engine, rows)["day"].isna().sum() == 1
    assert int(cube(engine, rows, since=date(2026, 1, 1))["records"].sum()) == 1
    assert cube(engine, [row(started_at=None)], timezone="Europe/Berlin")["day"].isna().all()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    zone=st.sampled_from(["UTC", "Asia/Kolkata", "America/Denver", "Australia/Lord_Howe", "Europe/Berlin"]),
    instants=st.lists(
        st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31)),  # noqa: DTZ001
        min_size=1,
        max_size=20,
    ),
)
def test_days_are_those_of_the_zone(engine: Any, zone: str, instants: list[datetime]) -> None:
    frame = cube(engine, [row(started_at=at) for at in instants], timezone=zone)
    expected: dict[date, int] = defaultdict(int)
    for at in instants:
        expected[at.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).date()] += 1
    got: dict[date, int] = defaultdict(int)
    for day, records in zip(frame["day"], frame["records"], strict=True):
        got[pd.Timestamp(day).date()] += int(records)
    assert got == expected


# ---- sizes and shapes


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sizes=st.lists(st.integers(0, 200_000), min_size=1, max_size=40))
def test_quantiles_interpolate_as_numpy_does(engine: Any, sizes: list[int]) -> None:
    records = prepare(
        engine, ledger([row(input_uncached=size, output=size // 3) for size in sizes]), Period()
    )
    (got,) = size_quantiles(engine, records, BY_APPLICATION).to_dict("records")
    # Of many requests the sizes are counted before they are put in order: the answer is the same.
    (counted,) = size_quantiles(engine, records, BY_APPLICATION, most_ordered=0).to_dict("records")
    assert counted == pytest.approx(got)
    for name, values in (("input_tokens", sizes), ("output_tokens", [size // 3 for size in sizes])):
        assert got[f"{name}_mean"] == pytest.approx(np.mean(values))
        for label, share in (("p50", 50), ("p90", 90), ("p99", 99)):
            assert got[f"{name}_{label}"] == pytest.approx(np.percentile(values, share))
    assert got["requests"] == len(sizes)


def test_quantiles_are_of_single_requests(engine: Any) -> None:
    rows = [row(ttft_seconds=0.5), row(input_uncached=9_999, requests=50, bucket_seconds=86_400)]
    records = prepare(engine, ledger(rows), Period())
    (got,) = size_quantiles(engine, records, BY_APPLICATION).to_dict("records")
    assert (got["input_tokens_p99"], got["ttft_seconds_p50"], got["requests"]) == (100, 0.5, 1)


def test_a_workload_without_an_output_count_has_no_output_size(engine: Any) -> None:
    rows = [row(output=None), row(application="b", output=5)]
    records = prepare(engine, ledger(rows), Period())
    for most_ordered in (1_000, 0):
        got = size_quantiles(engine, records, BY_APPLICATION, most_ordered).set_index("workload")
        assert pd.isna(got.loc["a", "output_tokens_p50"])
        assert got.loc["b", "output_tokens_p50"] == 5


@pytest.mark.parametrize("size", [0, 1, 2, 9, 10, 99, 100, 999, 1_000, 99_999, 100_000, 1_000_000, 10**9])
def test_a_bin_holds_the_sizes_between_its_edges(engine: Any, size: int) -> None:
    records = prepare(engine, ledger([row(input_uncached=size, output=10)]), Period())
    (got,) = shapes(engine, records, BY_APPLICATION).to_dict("records")
    number = got["input_bin"]
    if size == 0:
        assert number == -1
    else:
        low, high = (10 ** (edge / BINS_PER_DECADE) for edge in (number, number + 1))
        assert low * (1 - 1e-9) <= size < high
    assert got["output_bin"] == BINS_PER_DECADE


def test_shapes_count_single_requests_with_a_prompt(engine: Any) -> None:
    rows = [row(), row(), row(output=None), row(input_uncached=None), row(bucket_seconds=60, requests=9)]
    got = shapes(engine, prepare(engine, ledger(rows), Period()), BY_APPLICATION)
    assert got[["output_bin", "requests"]].to_numpy().tolist() == [[-1, 1], [BINS_PER_DECADE, 2]]


def test_only_the_named_api_keys_have_cells_of_their_own(engine: Any) -> None:
    rows = [row(api_key=key) for key in ("k", "k", "l", "m", None)]
    assert "api_key" not in cube(engine, rows).columns
    found = cube(engine, rows, RateCuts(api_keys=("k", "x")))
    cells = {
        None if pd.isna(key) else key: n for key, n in zip(found["api_key"], found["records"], strict=True)
    }
    assert cells == {"k": 2, None: 3}
    assert cube(engine, [row()], RateCuts(api_keys=("k",)))["api_key"].isna().all()
