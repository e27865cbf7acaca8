"""Instants from the texts that logs hold, and calendar days without the engine's time zones."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workloads.raw import time_columns
from workloads.times import is_bare_date, local_time, month_first, parse_instant, zone_steps

Evaluate = Callable[..., list[Any]]
ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/Denver",
    "America/St_Johns",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "America/Sao_Paulo",
    "Africa/Casablanca",
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-01T09:00:00Z", "2026-01-01T09:00:00"),
        ("2026-01-01T09:00:00+01:00", "2026-01-01T08:00:00"),
        ("2026-01-01T09:00:00-05:30", "2026-01-01T14:30:00"),
        ("2026-01-01T23:30:00-05:00", "2026-01-02T04:30:00"),
        ("2026-01-01T09:00:00", "2026-01-01T09:00:00"),
        ("2026-01-01 09:00:00", "2026-01-01T09:00:00"),
        ("2026-01-01 09:00:00+00", "2026-01-01T09:00:00"),
        ("2026-01-01T09:00:00.25Z", "2026-01-01T09:00:00.250000"),
        ("2023-11-16 18:17:03.9799600", "2023-11-16T18:17:03.979960"),
        ("2026-01-01T09:00:00.123456789Z", "2026-01-01T09:00:00.123456"),
        ("2026-06-15", "2026-06-15T00:00:00"),
        ("1767225600", "2026-01-01T00:00:00"),
        ("1767225600.5", "2026-01-01T00:00:00.500000"),
        ("1767225600123", "2026-01-01T00:00:00.123000"),
        ("1767225600123456", "2026-01-01T00:00:00.123000"),
        ("1767225600123456789", "2026-01-01T00:00:00.123000"),
        ("0", "1970-01-01T00:00:00"),
        ("2026-01-01 09:00:00 America/New_York", "2026-01-01T14:00:00"),
        ("2026-09-01T00:00:00-0730", "2026-09-01T07:30:00"),
        ("2199-12-31T23:59:59.999999Z", "2199-12-31T23:59:59.999999"),
        ("2200-01-01", None),
        ("1969-12-31T23:59:59Z", None),
        ("infinity", None),
        ("nan", None),
        ("1e300", None),
        ("-1", None),
        ("yesterday", None),
        ("", None),
        ("2026-13-01", None),
        ("2026-02-30T00:00:00Z", None),
        (None, None),
    ],
)
def test_instants(evaluate: Evaluate, text: str | None, expected: str | None) -> None:
    (got,) = evaluate(lambda table: parse_instant(table.text), {"text": ("string", [text])})
    assert got == (None if expected is None else datetime.fromisoformat(expected))


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e300", "9" * 40])
def test_numbers_that_are_no_epoch_give_null_and_no_error(evaluate: Evaluate, text: str) -> None:
    assert evaluate(lambda table: parse_instant(table.text), {"text": ("string", [text])}) == [None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-06-15", True),
        ("2026-06-15T00:00:00", False),
        ("1767225600", False),
        ("2026-06-1", False),
        ("", False),
    ],
)
def test_bare_dates(evaluate: Evaluate, text: str, expected: bool) -> None:  # noqa: FBT001
    assert evaluate(lambda table: is_bare_date(table.text), {"text": ("string", [text])}) == [expected]


def test_only_a_bare_date_pins_the_day(evaluate: Evaluate) -> None:
    texts = ["2026-06-15", "2026-06-15T00:00:00Z", None]
    got = evaluate(lambda table: time_columns(table.text), {"text": ("string", texts)})
    assert [row["usage_date"] for row in got] == [datetime(2026, 6, 15, tzinfo=UTC).date(), None, None]
    assert [row["started_at"] for row in got] == [datetime(2026, 6, 15), datetime(2026, 6, 15), None]  # noqa: DTZ001


@pytest.mark.parametrize(
    ("zone", "changes"),
    [
        ("UTC", []),
        ("Asia/Kolkata", []),
        ("Europe/Berlin", [("2026-03-29T01:00", 7200), ("2026-10-25T01:00", 3600)]),
        ("America/Denver", [("2026-03-08T09:00", -21600), ("2026-11-01T08:00", -25200)]),
        ("Australia/Lord_Howe", [("2026-04-04T15:00", 37800), ("2026-10-03T15:30", 39600)]),
    ],
)
def test_steps_of_a_year(zone: str, changes: list[tuple[str, int]]) -> None:
    first, last = naive("2026-01-01T00:00"), naive("2027-01-01T00:00")
    steps = zone_steps(zone, first, last)
    assert steps[0] == (first, offset(zone, first))
    assert steps[1:] == [(naive(text), seconds) for text, seconds in changes]


def test_a_zone_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ZoneInfoNotFoundError):
        zone_steps("Mars/Olympus", naive("2026-01-01T00:00"), naive("2026-01-02T00:00"))


@settings(max_examples=60, deadline=None)
@given(
    zone=st.sampled_from(ZONES),
    start=st.datetimes(datetime(1975, 1, 1), datetime(2035, 1, 1)),  # noqa: DTZ001
    days=st.integers(0, 500),
)
def test_steps_ascend_and_hold_the_offset_that_python_knows(zone: str, start: datetime, days: int) -> None:
    steps = zone_steps(zone, start, start + timedelta(days=days))
    assert [at for at, _ in steps] == sorted({at for at, _ in steps})
    assert all(seconds == offset(zone, at) for at, seconds in steps)
    assert all(a != b for (_, a), (_, b) in pairwise(steps))
    for at, seconds in steps[1:]:
        assert offset(zone, at - timedelta(seconds=1)) != seconds


@settings(max_examples=40, deadline=None)
@given(
    zone=st.sampled_from(ZONES),
    start=st.datetimes(datetime(2019, 1, 1), datetime(2028, 1, 1)),  # noqa: DTZ001
    minutes=st.lists(st.integers(0, 400 * 24 * 60), min_size=1, max_size=60),
)
def test_local_time_is_what_python_says(
    evaluate: Evaluate, zone: str, start: datetime, minutes: list[int]
) -> None:
    instants = [start + timedelta(minutes=number) for number in minutes]
    steps = zone_steps(zone, min(instants), max(instants) + timedelta(seconds=1))
    got = evaluate(lambda table: local_time(table.at, steps), {"at": ("timestamp(6)", instants)})
    tz = ZoneInfo(zone)
    assert got == [at.replace(tzinfo=UTC).astimezone(tz).replace(tzinfo=None) for at in instants]


def naive(text: str) -> datetime:
    return datetime.fromisoformat(text)


def offset(zone: str, at: datetime) -> int:
    delta = at.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).utcoffset()
    assert delta is not None
    return int(delta.total_seconds())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8/12/2026", "2026-08-12"),
        ("12/3/2026", "2026-12-03"),
        ("8/12/2026, 3:04:05.123 AM", "2026-08-12T03:04:05.123"),
        ("8/12/2026, 12:04:05.123 AM", "2026-08-12T00:04:05.123"),
        ("8/12/2026, 12:04:05 PM", "2026-08-12T12:04:05"),
        ("11/02/2026 11:59:59 pm", "2026-11-02T23:59:59"),
        ("11/2/2026 1:05 PM", "2026-11-02T13:05:00"),
        ("11/2/2026 13:05", "2026-11-02T13:05:00"),
        ("01/02/2026 00:00:00", "2026-01-02T00:00:00"),
        ("2026-08-12T03:04:05Z", "2026-08-12T03:04:05Z"),
        ("8/12/26", "8/12/26"),
        ("logs/a/2026", "logs/a/2026"),
        ("", ""),
        (None, None),
    ],
)
def test_dates_with_the_month_first(evaluate: Evaluate, text: str | None, expected: str | None) -> None:
    assert evaluate(lambda row: month_first(row.text), {"text": ("string", [text])}) == [expected]
