"""From the log's minutes to the load that a hosted model would have to serve."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from advisor.hosting import Ratios, ServedLoad
from advisor.recommendation import LeftTokens
from pricing.fleet_load import LoadSeries, percentile_of
from pricing.line_ups import token_ratios
from pricing.open_model import OpenModel
from pricing.units import SECONDS_PER_MINUTE

Frame = Any
"""See ``workloads.minutes.minutes``."""
_USUAL_TPOT_SECONDS: Final = 0.03
"""For how long answers are being written: only answers that take minutes are spread, so it hardly matters."""
_VALUES = ("requests", "computed_tokens", "cached_tokens", "output_tokens")


class TextRatio(NamedTuple):
    """Tokens of a hosted model for one of the log."""

    tokens: float
    measured: bool
    """False where a tokenizer of some of the text was not: that is taken to be counted alike."""


def loads(frame: Frame, models: Sequence[OpenModel]) -> tuple[dict[str, LoadSeries], dict[str, TextRatio]]:
    """Return the load of each model, in its own tokens, and how many of these stand for one of the log.

    Models whose tokenizers count the log's text alike share one load.

    Raises:
        EmptyLoadError: When no minute has a request with tokens.
    """
    logged = list(dict.fromkeys(zip(frame["provider"], frame["model"], strict=True)))
    series: dict[tuple[float, ...], LoadSeries] = {}
    by_model: dict[str, LoadSeries] = {}
    ratios: dict[str, TextRatio] = {}
    before = float(frame[list(_VALUES[1:])].to_numpy().sum())
    for model in models:
        found = {one: token_ratios(str(one[1]), model.id) for one in logged}
        key = tuple(float(one.usual) for one in found.values())
        if key not in series:
            load = load_series(frame, {one: float(ratio.usual) for one, ratio in found.items()})
            series[key] = load.over(
                round(load.mean_request().output_tokens * _USUAL_TPOT_SECONDS / SECONDS_PER_MINUTE)
            )
        load = series[key]
        by_model[model.id] = load
        ratios[model.id] = TextRatio(
            (load.input_tokens + load.written_tokens) / max(before, 1.0),
            all(one.measured for one in found.values()),
        )
    return by_model, ratios


def load_series(frame: Frame, ratios: Ratios) -> LoadSeries:
    """Return a load by minute, with tokens scaled by the model that they were logged for; buckets are spread evenly."""
    factor = np.asarray(
        [ratios.get(one, 1.0) for one in zip(frame["provider"], frame["model"], strict=True)],
        dtype=np.float64,
    )
    lengths = frame["bucket_minutes"].to_numpy(dtype=np.int64)
    first = np.repeat(frame["minute"].to_numpy(dtype=np.int64), lengths)
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    minute = first + np.arange(len(first)) - starts
    distinct, place = np.unique(minute, return_inverse=True)
    columns = {
        name: np.asarray(
            np.bincount(place, np.repeat(_each(frame, name, factor) / lengths, lengths), len(distinct)),
            dtype=np.float64,
        )
        for name in _VALUES
    }
    return LoadSeries(minutes=distinct, spread=bool((lengths > 1).any()), **columns)


def _each(frame: Frame, name: str, factor: Any) -> Any:
    """A column as the hosted model counts it; requests are requests."""
    values = frame[name].to_numpy(dtype=np.float64)
    return values if name == "requests" else values * factor


def after_levers(frame: Frame, left: LeftTokens | None) -> Frame:
    """Return the minutes with what is left of their tokens, in every minute alike; what a cache came to read is not computed."""
    if left is None:
        return frame
    gained = max(left.cached[1] - left.cached[0], 0)
    moved = gained / left.computed[0] if left.computed[0] else 0.0
    if not moved and all(
        before == after for before, after in (left.computed, left.cached, left.output, left.requests)
    ):
        return frame
    return frame.assign(
        computed_tokens=frame["computed_tokens"] * _share(left.computed),
        cached_tokens=frame["cached_tokens"] * min(_share(left.cached), 1.0)
        + frame["computed_tokens"] * moved,
        output_tokens=frame["output_tokens"] * _share(left.output),
        requests=frame["requests"] * _share(left.requests),
    )


def _share(counts: tuple[int, int]) -> float:
    before, after = counts
    return after / before if before else 1.0


def served_load(frame: Frame, percentile: float, longest_tokens: float) -> ServedLoad:
    """Return the load in figures, in the log's tokens."""
    series = load_series(frame, {})
    records = float(frame["requests"].sum())
    return ServedLoad(
        hours=series.hours,
        busy_minutes=len(series.minutes),
        requests=round(series.total_requests),
        computed_tokens=round(float(series.computed_tokens.sum())),
        cached_tokens=round(float(series.cached_tokens.sum())),
        output_tokens=round(series.written_tokens),
        peak_requests=float(series.requests.max()),
        percentile_requests=percentile_of(series.requests, percentile),
        silent_ratio=min(float(frame["silent"].sum()) / max(records, 1.0), 1.0),
        spread=series.spread,
        longest_tokens=longest_tokens,
    )
