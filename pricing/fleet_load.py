"""What a fleet is asked to do: tokens by minute, and what a percentile of the busy minutes asks of a deployment.

A deployment works off a minute in so many seconds for each computed, cached and written token, so what a minute asks of it
is a sum with three weights. Percentiles of such sums are tabulated once by the ratio of the weights, which lets a search
look up thousands of deployments instead of sorting every minute for each.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pricing.deployment import Floats, Load
from pricing.errors import PricingError
from pricing.units import SECONDS_PER_HOUR, SECONDS_PER_MINUTE

MINUTES_PER_HOUR: Final = SECONDS_PER_HOUR // SECONDS_PER_MINUTE
_NO_REQUEST: Final = 1e-9
_RATIOS: Final = 61
"""Ratios of weights in a table, evenly on a circle's quarter: a percentile between two of them is off by far under 1 %."""


class EmptyLoadError(PricingError):
    """Raised when there is nothing to serve: no minute has a request with tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSeries:
    """Load by minute; minutes without requests are left out.

    Attributes:
        minutes: Minutes since the epoch, ascending, each once.
        requests: That started in each minute.
        computed_tokens: Of their prompts, what no cache had.
        cached_tokens: Of their prompts, what a cache had.
        output_tokens: Of their answers.
        spread: Whether some of it was reported by the hour or day and spread evenly: real peaks are higher.
    """

    minutes: NDArray[np.int64]
    requests: Floats
    computed_tokens: Floats
    cached_tokens: Floats
    output_tokens: Floats
    spread: bool = False

    def __post_init__(self) -> None:
        """Refuse a load of nothing."""
        if not len(self.minutes) or not self.total_requests or not self.input_tokens + self.written_tokens:
            raise EmptyLoadError(
                "No minute has a request with tokens: without times and token counts there is no load to serve."
            )

    @property
    def total_requests(self) -> float:
        """Of the whole period."""
        return float(self.requests.sum())

    @property
    def input_tokens(self) -> float:
        """Of all prompts, cached or not."""
        return float(self.computed_tokens.sum() + self.cached_tokens.sum())

    @property
    def written_tokens(self) -> float:
        """Of all answers."""
        return float(self.output_tokens.sum())

    @property
    def hours(self) -> int:
        """Whole hours from the first minute's to the last one's: what is paid."""
        return int(self.minutes[-1] // MINUTES_PER_HOUR - self.minutes[0] // MINUTES_PER_HOUR) + 1

    def mean_request(self, concurrency: float = float("inf")) -> Load:
        """The request that all are on average; at least one token is computed and one written."""
        count = self.total_requests
        return Load(
            input_tokens=max(float(self.computed_tokens.sum()) / count, 1.0),
            output_tokens=max(self.written_tokens / count, 1.0),
            cached_tokens=float(self.cached_tokens.sum()) / count,
            concurrency=concurrency,
        )

    def scaled(
        self, *, computed: float = 1.0, cached: float = 1.0, output: float = 1.0, requests: float = 1.0
    ) -> "LoadSeries":
        """The same minutes with so many times the tokens and requests."""
        return LoadSeries(
            minutes=self.minutes,
            requests=self.requests * requests,
            computed_tokens=self.computed_tokens * computed,
            cached_tokens=self.cached_tokens * cached,
            output_tokens=self.output_tokens * output,
            spread=self.spread,
        )

    def over(self, length: int) -> "LoadSeries":
        """The same load with every minute's work done in the ``length`` minutes from it on, as long answers are."""
        if length <= 1:
            return self
        at = self.minutes - self.minutes[0]
        kernel = np.full(length, 1 / length)

        def spread(values: Floats) -> Floats:
            dense = np.zeros(int(at[-1]) + 1)
            dense[at] = values
            done: Floats = np.convolve(dense, kernel)
            return done

        requests = spread(self.requests)
        busy = np.flatnonzero(requests > _NO_REQUEST)
        return LoadSeries(
            minutes=busy + self.minutes[0],
            requests=requests[busy],
            computed_tokens=spread(self.computed_tokens)[busy],
            cached_tokens=spread(self.cached_tokens)[busy],
            output_tokens=spread(self.output_tokens)[busy],
            spread=self.spread,
        )

    def work_seconds(self, computed: float, cached: float, output: float) -> Floats:
        """What each minute asks of one replica that takes so many seconds for a token of each kind."""
        found: Floats = (
            self.computed_tokens * computed + self.cached_tokens * cached + self.output_tokens * output
        )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTable:
    """A percentile of what minutes ask, by the ratio of the weights of computed and written tokens."""

    angles: Floats
    values: Floats
    scale: float

    def at(self, computed_seconds: Floats, output_seconds: Floats) -> Floats:
        """The percentile, in seconds of work a minute, for deployments with these seconds a token."""
        weighted = computed_seconds * self.scale
        size = np.hypot(weighted, output_seconds)
        found: Floats = size * np.interp(np.arctan2(weighted, output_seconds), self.angles, self.values)
        return found


def work_table(series: LoadSeries, percentile: float) -> WorkTable:
    """Tabulate a percentile of the busy minutes; cached tokens are left to whoever looks at one deployment.

    Args:
        series: The load.
        percentile: 0 to 100; 100 is the busiest minute.
    """
    # Weights differ by orders of magnitude; tokens of both kinds are brought to one size so that angles spread.
    scale = max(float(series.computed_tokens.sum()), 1.0) / max(series.written_tokens, 1.0)
    angles = np.linspace(0.0, np.pi / 2, _RATIOS)
    values = [
        percentile_of(
            series.computed_tokens / scale * np.sin(angle) + series.output_tokens * np.cos(angle), percentile
        )
        for angle in angles
    ]
    return WorkTable(angles=angles, values=np.asarray(values), scale=scale)


def percentile_of(values: Floats, percentile: float) -> float:
    """The smallest value that so many percent of the values do not exceed: a minute that was really there."""
    return float(np.percentile(values, percentile, method="inverted_cdf"))
