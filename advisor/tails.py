"""How much of a workload's tokens lies far above its median, of what mean and quantiles tell: never more than is certain.

Half of the requests have at most the median, nine in ten at most the 90th percentile, one in a hundred at least the 99th.
Between these, sizes may be anything, so a share is the smallest one that fits all of them (to within one request: quantiles are interpolated).
"""

from fractions import Fraction
from typing import Final

from advisor.analysis import Distribution
from advisor.recommendation import Level

TYPICAL: Final = 2.0
"""Times the median up to which a size is taken as usual."""
TIGHT: Final = 1.5
"""The same under high assumptions."""
RULE: Final = "mean above 1.3 x median, and the 90th percentile above 2 x or the 99th above 4 x median"
_SKEWED, _FAR = 1.3, 4.0
_TOP_TENTH_BELOW_P99, _TOP_HUNDREDTH = 0.09, 0.01
_DENOMINATOR: Final = 10**6


def has_tail(sizes: Distribution) -> bool:
    """Return whether ``RULE`` holds."""
    median = sizes.p50
    return (
        median > 0
        and sizes.mean > _SKEWED * median
        and (sizes.p90 > TYPICAL * median or sizes.p99 > _FAR * median)
    )


def tail_share(sizes: Distribution, level: Level) -> Fraction:
    """Return the share of the tokens that goes when long requests are cut to a multiple of the median.

    Args:
        sizes: Tokens a request.
        level: Low: only the longest hundredth is cut, to ``TYPICAL`` x median. Expected: all requests are. High: to
            ``TIGHT`` x median.

    Returns:
        A lower bound, 0..1; low <= expected <= high.
    """
    if sizes.mean <= 0:
        return Fraction(0)
    cap = (TIGHT if level is Level.HIGH else TYPICAL) * sizes.p50
    excess = _of_the_longest(sizes, cap) if level is Level.LOW else _excess(sizes, cap)
    return min(Fraction(1), Fraction(excess / sizes.mean).limit_denominator(_DENOMINATOR))


def _of_the_longest(sizes: Distribution, cap: float) -> float:
    """Mean of what the longest hundredth has above a cap: each of them has at least the 99th percentile."""
    return _TOP_HUNDREDTH * max(0.0, sizes.p99 - cap)


def _excess(sizes: Distribution, cap: float) -> float:
    """Mean over requests of what they have above a cap: the larger of two lower bounds.

    By quantiles: 9 % of the requests have at least the 90th percentile, 1 % at least the 99th. By the mean: it is what
    requests have under the cap and above it, and under it half have at most the median, and 40 % the 90th percentile.
    """
    by_quantiles = _TOP_TENTH_BELOW_P99 * max(0.0, sizes.p90 - cap) + _of_the_longest(sizes, cap)
    under = 0.5 * min(sizes.p50, cap) + 0.4 * min(sizes.p90, cap) + 0.1 * cap
    return max(by_quantiles, sizes.mean - under)
