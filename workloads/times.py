"""Instants and calendar days as engine expressions.

Everything is UTC inside. A zone's offsets are laid out as a short list of steps, so that any engine can cut calendar
days with one comparison a step and no time-zone support of its own.
"""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import ibis

from pricing.units import MICROSECONDS_PER_SECOND, MILLISECONDS_PER_SECOND, SECONDS_PER_HOUR

Expr = Any

_NOON = 12
_MONTH_FIRST = (
    r"^(\d{1,2})/(\d{1,2})/(\d{4})(?:,?\s+(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s*([AaPp][Mm])?)?$"
)
_EPOCH_SECONDS_BELOW = 1e11
_EPOCH_MILLISECONDS_BELOW = 1e14
_EPOCH_MICROSECONDS_BELOW = 1e17
"""Magnitudes that tell epoch units apart between the years 1973 and 5138."""
_FIRST = ibis.literal(datetime(1970, 1, 1))  # noqa: DTZ001  (instants of the ledger are UTC, and naive)
_AFTER_LAST = ibis.literal(datetime(2200, 1, 1))  # noqa: DTZ001


def parse_instant(text: Expr) -> Expr:
    """Return the UTC instant of a text column: ISO 8601 with or without offset, or an epoch in s, ms, us or ns.

    A text without an offset is taken as UTC; a text that is no time gives null, and so does one before 1970 or after
    2199, which no log was written in. Epochs are kept to the millisecond.
    """
    number = text.try_cast("float64")
    instant = text.try_cast("timestamp('UTC')").cast("timestamp")
    read = ibis.cases(
        # Said first for speed: no number begins so, and trying to read one is dear.
        (begins_with_date(text), instant),
        (number < _EPOCH_SECONDS_BELOW, _of_milliseconds(number * MILLISECONDS_PER_SECOND)),
        (number < _EPOCH_MILLISECONDS_BELOW, _of_milliseconds(number)),
        (number < _EPOCH_MICROSECONDS_BELOW, _of_milliseconds(number / MILLISECONDS_PER_SECOND)),
        (number.notnull(), _of_milliseconds(number / MICROSECONDS_PER_SECOND)),
        else_=instant,
    )
    return ibis.cases(((read >= _FIRST) & (read < _AFTER_LAST), read))


def _of_milliseconds(number: Expr) -> Expr:
    return number.try_cast("int64").as_timestamp("ms")


def epoch(instant: Expr) -> Expr:
    """Return the seconds since 1970 of an instant, with their fraction: every engine's own epoch has it already."""
    return instant.epoch_seconds().cast("float64")


def seconds_between(start: Expr, end: Expr) -> Expr:
    """Return the seconds from one instant to another, to the millisecond; null when the end is before the start."""
    seconds = end.delta(start, unit="millisecond").cast("float64") / MILLISECONDS_PER_SECOND
    return ibis.cases((seconds >= 0, seconds))


def month_first(text: Expr) -> Expr:
    """Return ``8/12/2026`` or ``8/12/2026, 3:04:05.123 PM`` as ISO 8601; any other text as it is."""
    # Year first, with a zero before every month, day and hour; then without those that are one too many.
    filled = text.re_replace(_MONTH_FIRST, r"\3-0\1-0\2T0\4:\5:\6\7")
    turned = filled.re_replace(r"([-T])0(\d\d)", r"\1\2")
    # An array of one, so that it is worked out once and not wherever it is named.
    read = ibis.array([turned]).map(_to_24_hours)[0]
    return ibis.cases((text.like("%/%/____%"), ibis.cases((filled == text, text), else_=read)), else_=text)


def _to_24_hours(text: Expr) -> Expr:
    """Return ``2026-08-12T03:04:05PM`` (``2026-08-12T0::`` without a time) with the hour of the day, and with seconds."""
    hour, half = text.substr(11, 2).try_cast("int64"), text.right(2).lower()
    hour = ibis.cases(
        ((half == "pm") & (hour < _NOON), hour + _NOON), ((half == "am") & (hour == _NOON), 0), else_=hour
    )
    time = "T" + ("0" + hour.cast("string")).right(2)
    rest = text.substr(13).re_replace(r"(?i)[ap]m$", "")
    rest = ibis.cases((rest.length() <= len(":00:"), rest + "00"), else_=rest)
    return text.substr(0, 10) + ibis.coalesce(time + rest, "")


def begins_with_date(text: Expr) -> Expr:
    """Return whether a text column begins as a date does (``2026-06-15``)."""
    return text.like("____-__-__%")


def is_bare_date(text: Expr) -> Expr:
    """Return whether a text column holds a date without a time (``2026-06-15``)."""
    return text.like("____-__-__")


def zone_steps(zone: str, first: datetime, last: datetime) -> list[tuple[datetime, int]]:
    """Return the offsets of a zone over a period: ``(from instant, seconds east of UTC)``, ascending.

    Instants are naive UTC. The first step is at ``first``.

    Raises:
        zoneinfo.ZoneInfoNotFoundError: When there is no such zone.
    """
    tz = ZoneInfo(zone)

    def offset(at: datetime) -> int:
        delta = at.replace(tzinfo=UTC).astimezone(tz).utcoffset()
        return int(delta.total_seconds()) if delta else 0

    steps = [(first, offset(first))]
    at = first
    while at < last:
        # No zone changes twice within a day; bisect to the minute inside the day that holds a change.
        ahead = min(at + timedelta(days=1), last)
        if offset(ahead) != steps[-1][1]:
            low, high = at, ahead
            while high - low > timedelta(seconds=1):
                middle = low + (high - low) / 2
                low, high = (middle, high) if offset(middle) == steps[-1][1] else (low, middle)
            change = high.replace(microsecond=0)
            steps.append((change, offset(ahead)))
        at = ahead
    return steps


def local_time(instant: Expr, steps: list[tuple[datetime, int]]) -> Expr:
    """Return the wall-clock time of an instant column in the zone whose steps are given."""
    if len(steps) == 1:
        return _shift(instant, steps[0][1])
    branches = [
        (instant < ibis.literal(steps[i + 1][0], type="timestamp"), _shift(instant, seconds))
        for i, (_, seconds) in enumerate(steps[:-1])
    ]
    return ibis.cases(*branches, else_=_shift(instant, steps[-1][1]))


def _shift(instant: Expr, seconds: int) -> Expr:
    if seconds == 0:
        return instant
    whole_hours, rest = divmod(abs(seconds), SECONDS_PER_HOUR)
    span = ibis.interval(hours=whole_hours) if rest == 0 else ibis.interval(seconds=abs(seconds))
    return instant + span if seconds > 0 else instant - span
