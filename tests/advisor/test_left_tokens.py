"""What is left to serve: steps of the plan that change text, not those that change who answers."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pandas as pd
from lever_cubes import cube, row

from advisor.hosting_load import after_levers
from advisor.left_tokens import left_tokens
from advisor.recommendation import (
    Confidence,
    Effort,
    LeftTokens,
    Level,
    Proposal,
    Recommendation,
    Risk,
    Saving,
    Step,
)
from advisor.walk import Changed

NOTHING = Saving(low=Decimal(0), expected=Decimal(0), high=Decimal(0))


def kept(lever: str, workload: str, **changes: Any) -> Recommendation:
    def change(frame: Any, level: Level) -> Any:
        del level
        return frame.assign(**changes)

    return Recommendation(
        proposal=Proposal(
            lever=lever,
            workload=workload,
            title=f"{lever} of {workload}",
            phase=None,
            change=change,
            confidence=Confidence.MODELLED,
            effort=Effort.LOW,
            risk=Risk.NONE,
        ),
        saving=NOTHING,
        saving_per_month=None,
        touched_usd=Decimal(0),
        fits=True,
    )


def step(one: Recommendation) -> Step:
    return Step(
        lever=one.proposal.lever,
        workload=one.proposal.workload,
        title=one.proposal.title,
        risk=one.proposal.risk,
        saving_usd=Decimal(0),
        alone_usd=Decimal(0),
        after_usd=Decimal(0),
    )


def test_only_planned_steps_that_change_text_count() -> None:
    changed = Changed(cube([row(), row("other")]))
    shorter = kept("output_limits", "app", output=5_000)
    cached = kept("prompt_caching", "app", input_uncached=10_000, cache_read=30_000)
    smaller = kept("smaller_model", "other", output=1)
    unplanned = kept("output_limits", "other", output=2)
    found = left_tokens(
        changed, [cached, shorter, smaller, unplanned], [step(shorter), step(cached), step(smaller)]
    )
    assert found.output == (40_000, 25_000)
    assert found.computed == (80_000, 50_000)
    assert found.cached == (0, 30_000)
    assert found.requests == (200, 200)


def test_minutes_keep_their_shape() -> None:
    frame = pd.DataFrame(
        {
            "computed_tokens": [800.0, 200.0],
            "cached_tokens": [0.0, 100.0],
            "output_tokens": [10.0, 30.0],
            "requests": [1.0, 3.0],
        }
    )
    left = LeftTokens(computed=(1_000, 600), cached=(100, 400), output=(40, 20), requests=(4, 4))
    found = after_levers(frame, left)
    assert list(found["computed_tokens"]) == [480.0, 120.0]
    assert list(found["cached_tokens"]) == [240.0, 160.0]
    assert list(found["output_tokens"]) == [5.0, 15.0]
    assert list(found["requests"]) == [1.0, 3.0]
    assert after_levers(frame, None) is frame
    same = replace(left, computed=(5, 5), cached=(5, 5), output=(5, 5))
    assert after_levers(frame, same) is frame
