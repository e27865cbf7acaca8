"""What every prompt carries: a bound, of what is paid in full."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from lever_cubes import cube, evidence, row, usd

from advisor.analysis import Distribution
from advisor.evidence import Evidence
from advisor.levers import static_overhead
from advisor.recommendation import Confidence, Level
from pricing.meters import Phase

LONG = Distribution(mean=4_000.0, p50=4_000.0, p90=4_500.0, p99=5_000.0)


def seen(shortest: int, inputs: Distribution | None = LONG, **more: Any) -> Evidence:
    frame = cube([row(input_uncached=400_000, **more)])
    return replace(evidence(frame, inputs=inputs), shortest={"app": shortest})


def test_a_quarter_of_what_is_paid_in_full_may_go() -> None:
    # A hundred prompts of 3,000 tokens at least, 100,000 of which are read from a cache: 200,000 are paid in full.
    told = seen(3_000, cache_read=100_000)
    (one,) = static_overhead.find(told)
    assert (one.phase, one.confidence) == (Phase.PREFILL, Confidence.ASSUMED)
    saved = [usd(told.cube) - usd(one.change(told.cube, level)) for level in Level]
    assert saved == [0, 0, Decimal("0.05")]
    facts = {fact.label: fact.value for fact in one.evidence}
    assert facts["Of all prompt text, and paid in full"] == "200 k tokens, 50 % of what is not cached"
    once = one.change(told.cube, Level.HIGH)
    assert usd(one.change(once, Level.HIGH)) == usd(once)


@pytest.mark.parametrize(
    "told",
    [
        seen(999),
        seen(1_999),
        seen(3_000, cache_read=300_000),
        seen(3_000, None),
        seen(3_000, requests=29, records=29),
        seen(3_000, bucketed=True),
    ],
    ids=["short", "of unequal prompts", "cached", "no sizes", "few", "buckets"],
)
def test_nothing_is_proposed(told: Evidence) -> None:
    assert not list(static_overhead.find(told))
