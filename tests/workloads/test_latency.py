"""Latency as two numbers: lines through sums find what the times were made of."""

from collections.abc import Sequence
from typing import Any

import ibis
import pytest

from workloads.cube_columns import with_sizes
from workloads.grouping import Grouping
from workloads.latency import FEWEST, LatencyFit, latency_fits, latency_sums

BY_APPLICATION = Grouping(("application",), "")
KINDS = {
    "bucket_seconds": "int64",
    "application": "string",
    "status": "string",
    "input_uncached": "int64",
    "cache_read": "int64",
    "output": "int64",
    "ttft_seconds": "float64",
    "duration_seconds": "float64",
}


def fits(engine: Any, rows: Sequence[dict[str, Any]]) -> tuple[LatencyFit, ...]:
    full = [{"application": "a", **row} for row in rows]
    names = [name for name in KINDS if any(name in row for row in full)]
    data = [{name: row.get(name) for name in names} for row in full]
    ledger = with_sizes(ibis.memtable(data, schema={name: KINDS[name] for name in names}))
    return latency_fits(latency_sums(engine, ledger, BY_APPLICATION))


def request(number: int, *, first: bool = True, whole: bool = True, **given: Any) -> dict[str, Any]:
    """300 ms, 50 us for each computed prompt token, 20 ms for each answer token after the first."""
    read, written = 1_000 + number * 97 % 4_000, 50 + number * 31 % 300
    until = 0.3 + read * 50e-6
    row: dict[str, Any] = {"input_uncached": read, "cache_read": 500 * (number % 7), "output": written}
    row |= {"ttft_seconds": until} if first else {}
    row |= {"duration_seconds": until + 0.02 * (written - 1)} if whole else {}
    return row | given


def test_what_times_are_made_of_is_found(engine: Any) -> None:
    (fit,) = fits(engine, [request(number) for number in range(200)])
    assert (fit.basis, fit.requests) == ("ttft", 200)
    assert fit.wait_seconds == pytest.approx(0.3)
    assert fit.read_seconds_per_token == pytest.approx(50e-6)
    assert fit.write_seconds_per_token == pytest.approx(0.02)
    assert fit.explained == pytest.approx(1.0)
    assert fit.read_seconds == pytest.approx(50e-6 * fit.computed_tokens)
    assert fit.write_seconds == pytest.approx(0.02 * (fit.output_tokens - 1))


def test_durations_alone_tell_both(engine: Any) -> None:
    (fit,) = fits(engine, [request(number, first=False) for number in range(200)])
    assert fit.basis == "duration"
    assert fit.read_seconds_per_token == pytest.approx(50e-6)
    assert fit.write_seconds_per_token == pytest.approx(0.02)
    assert fit.wait_seconds == pytest.approx(
        0.3 - 0.02
    )  # the first token is written too, and nothing tells it apart


def test_first_tokens_alone_tell_nothing_of_the_answer(engine: Any) -> None:
    (fit,) = fits(engine, [request(number, whole=False) for number in range(60)])
    assert fit.write_seconds_per_token is None
    assert fit.write_seconds == 0


def test_a_wait_that_does_not_grow_with_the_prompt_is_no_reading(engine: Any) -> None:
    rows = [request(number, ttft_seconds=2.0 + (number % 5) * 0.1) for number in range(200)]
    (fit,) = fits(engine, rows)
    assert fit.read_seconds_per_token is None
    assert fit.wait_seconds == pytest.approx(2.2)


def test_prompts_of_one_size_tell_no_slope(engine: Any) -> None:
    rows = [request(number, input_uncached=2_000, cache_read=0, ttft_seconds=0.4) for number in range(50)]
    (fit,) = fits(engine, rows)
    assert (fit.read_seconds_per_token, fit.wait_seconds) == (None, pytest.approx(0.4))


def test_workloads_are_told_apart_and_few_requests_tell_nothing(engine: Any) -> None:
    rows = [request(number, application="b") for number in range(FEWEST)]
    rows += [request(number, application="few") for number in range(FEWEST - 1)]
    assert [fit.workload for fit in fits(engine, rows)] == ["b"]


def test_failures_buckets_and_nonsense_are_left_out(engine: Any) -> None:
    sound = [request(number) for number in range(100)]
    worse = [
        request(1, status="503", ttft_seconds=59.0),
        request(2, bucket_seconds=3_600, ttft_seconds=50.0),
        request(3, ttft_seconds=-1.0, duration_seconds=None),
        request(4, ttft_seconds=90_000.0, duration_seconds=90_001.0),
        request(5, ttft_seconds=None, duration_seconds=None),
        request(6, output=0),
    ]
    (fit,) = fits(engine, [*sound, *worse])
    assert fit.requests == 100
    assert fit.wait_seconds == pytest.approx(0.3)


def test_a_log_without_times_has_no_sums(engine: Any) -> None:
    rows = [request(number, first=False, whole=False) for number in range(50)]
    assert fits(engine, rows) == ()
