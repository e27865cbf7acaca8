"""A daily series continued: robust level and trend times a weekday profile, and how wrong that was on days held back.

Everything here is plain numbers of any unit; nothing knows of money or calendars but for the weekday of the first day.

1. Trend: the median of all changes over whole weeks, a day (Theil-Sen over equal weekdays, so that the profile does not
   disturb it). Carried on damped: each day adds 0.98 of what the day before added.
2. Level: the median of each weekday with the trend taken out, averaged over the weekdays.
3. Profile: for each weekday, the median of the days over the level; its mean is 1.

Several memories are tried, with and without a trend; whichever erred least on days held back is used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

LEAST_DAYS: Final = 14
"""Whole days under which nothing is forecast."""
RANGE_SHARE: Final = 0.8
"""Part of outcomes that the range is meant to hold."""

_WEEK: Final = 7
_DAMPING: Final = 0.98
_WIDENING: Final = 0.4
"""Power of the horizon that the range grows with: 0.5 were the level a random walk, 0 were all errors noise that stays."""
_MOST_ORIGINS: Final = 28
_COMPARED_DAYS: Final = 7
_MARGIN: Final = 0.95
"""A model with more to it is only used where it errs less than this part of the plainer one's error."""


@dataclass(frozen=True, slots=True)
class Model:
    """What a forecast is made by.

    Attributes:
        memory_days: Days that it looks back at most.
        trend: Whether it has a trend.
    """

    memory_days: int
    trend: bool


MODELS: Final = (
    Model(56, trend=False),
    Model(28, trend=False),
    Model(14, trend=False),
    Model(56, trend=True),
)
"""Plainest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backtest:
    """How wrong the model was about days that it was not shown.

    Attributes:
        horizon_days: Days whose sum was forecast.
        origins: How many times.
        error_ratio: Mean of the errors' sizes, each as a part of its forecast.
    """

    horizon_days: int
    origins: int
    error_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A series continued.

    Attributes:
        model: What it is made by.
        days: The days after the series, expected.
        backtest: Of sums of a week, or of as many days as could be tried.
        tried_days: The longest horizon that could be tried on days that overlap little.
        spread_ratio: Half of the range of a sum over ``tried_days``, as a part of what is expected.
        short_ratios: The same of each shorter horizon, from one day on.
    """

    model: Model
    days: Array
    backtest: Backtest
    tried_days: int
    spread_ratio: float
    short_ratios: tuple[float, ...]

    def half_range(self, last_day: int) -> float:
        """Return half of the range of sums that end ``last_day`` days after the series, as a part of what is expected.

        Beyond what could be tried it widens with a power of the horizon: levels wander.
        """
        if last_day <= 0:
            return 0.0
        if last_day <= self.tried_days:
            return self.short_ratios[last_day - 1]
        return self.spread_ratio * float((last_day / self.tried_days) ** _WIDENING)


def continued(values: Sequence[float], first_weekday: int, horizon_days: int) -> Fit:
    """Return a daily series continued.

    Args:
        values: One a day, without gaps, not negative; ``LEAST_DAYS`` at least.
        first_weekday: Of the first value; Monday is 0.
        horizon_days: How many days to continue it by.

    Raises:
        ValueError: There are too few values.
    """
    if len(values) < LEAST_DAYS:
        raise ValueError(f"{len(values)} days are too few to forecast from; {LEAST_DAYS} are needed")
    series = np.asarray(values, dtype=np.float64)
    weekdays = (np.arange(len(series) + horizon_days) + first_weekday) % _WEEK
    origins = range(max(_WEEK, len(series) // 2, len(series) - _MOST_ORIGINS), len(series))
    tried = min(len(origins) // 2, _WEEK, max(horizon_days, 1))
    compared = min(tried, _COMPARED_DAYS)
    chosen, errors = MODELS[0], _errors(series, weekdays, MODELS[0], origins)
    for model in MODELS[1:]:
        others = _errors(series, weekdays, model, origins)
        if _mean_size(others, compared) < _MARGIN * _mean_size(errors, compared):
            chosen, errors = model, others
    ratios = tuple(_quantile(np.abs(_at(errors, days))) for days in range(1, tried + 1))
    widest = tuple(float(width) for width in np.maximum.accumulate(ratios[::-1])[::-1])
    return Fit(
        model=chosen,
        days=_predicted(series, weekdays[: len(series)], weekdays[len(series) :], chosen),
        backtest=Backtest(
            horizon_days=compared,
            origins=len(_at(errors, compared)),
            error_ratio=_mean_size(errors, compared),
        ),
        tried_days=tried,
        spread_ratio=ratios[-1],
        short_ratios=widest,
    )


def trend_of(series: Array, weekdays: npt.NDArray[Any]) -> Array:
    """Return what each day of a series would be on its trend, by the median of its weekday."""
    line = _slope(series) * (np.arange(len(series)) - (len(series) - 1) / 2)
    level = _of_weekdays(series - line, weekdays)
    base = float(np.mean(level[~np.isnan(level)]))
    if base <= 0:
        return np.asarray(np.maximum(level[weekdays], 0.0))
    scale = np.maximum((base + line) / base, 0.05)
    profile = _of_weekdays(series / scale, weekdays)
    return np.asarray(profile[weekdays] * scale)


def _errors(series: Array, weekdays: npt.NDArray[Any], model: Model, origins: range) -> list[Array]:
    """Return for each origin the errors of the sums over its next day, two days ..., as parts of what was forecast."""
    found: list[Array] = []
    for origin in origins:
        ahead = _predicted(series[:origin], weekdays[:origin], weekdays[origin : len(series)], model)
        sums, real = np.cumsum(ahead), np.cumsum(series[origin:])
        # Where nothing was expected, something that came is a whole error.
        found.append(np.where(sums > 0, (real - sums) / np.where(sums > 0, sums, 1.0), np.sign(real)))
    return found


def _at(errors: list[Array], days: int) -> Array:
    return np.array([one[days - 1] for one in errors if len(one) >= days])


def _mean_size(errors: list[Array], days: int) -> float:
    return float(np.mean(np.abs(_at(errors, days))))


def _quantile(sizes: Array) -> float:
    """Return the size that a new error stays within with a chance of ``RANGE_SHARE``, were errors exchangeable.

    The order statistic is that of split-conformal ranges: a step up for the sample that is this small.
    """
    ordered = np.sort(sizes)
    place = min(ceil((len(ordered) + 1) * RANGE_SHARE), len(ordered))
    return float(ordered[place - 1])


def _predicted(series: Array, weekdays: npt.NDArray[Any], ahead: npt.NDArray[Any], model: Model) -> Array:
    """Return the days after a series; ``weekdays`` are those of its days, ``ahead`` those of the days to come."""
    series, weekdays = series[-model.memory_days :], weekdays[-model.memory_days :]
    slope = _slope(series) if model.trend else 0.0
    line = slope * (np.arange(len(series)) - (len(series) - 1))  # 0 on the last day
    level = _of_weekdays(series - line, weekdays)
    base = float(np.mean(level[~np.isnan(level)]))
    if base <= 0:
        return np.zeros(len(ahead))
    profile = _of_weekdays(series / np.maximum(base + line, base * 0.05), weekdays)
    mean = float(np.mean(profile[~np.isnan(profile)]))
    profile = np.where(np.isnan(profile), 1.0, profile / mean) if mean > 0 else np.ones(_WEEK)
    steps = np.cumsum(_DAMPING ** np.arange(1, len(ahead) + 1)) if slope else np.zeros(len(ahead))
    return np.asarray(np.maximum(base + slope * steps, 0.0) * profile[ahead])


def _of_weekdays(values: Array, weekdays: npt.NDArray[Any]) -> Array:
    """Return the median of each weekday; NaN where there is no such day."""
    return np.array([_median(values[weekdays == day]) for day in range(_WEEK)])


def _median(values: Array) -> float:
    # numpy's own takes ten times as long for so few.
    size = len(values)
    if not size:
        return float("nan")
    ordered = np.sort(values)
    return float((ordered[(size - 1) // 2] + ordered[size // 2]) / 2)


def _slope(series: Array) -> float:
    """Return the median change a day, over pairs of days that are whole weeks apart."""
    changes = [(series[lag:] - series[:-lag]) / lag for lag in range(_WEEK, len(series), _WEEK)]
    return _median(np.concatenate(changes)) if changes else 0.0
