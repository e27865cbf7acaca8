"""What holds for every plan, whatever the log: of cubes with all that levers act on."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from lever_cubes import AS_OF, EVEN, TAIL, cube, evidence, row

from advisor.advise import advise
from advisor.analysis import Distribution
from advisor.evidence import CacheShares, Ended, Evidence, Signals, Split, total_usd
from advisor.levers import levers
from advisor.moves import moves
from advisor.recommendation import Advice, Level, Proposal, Recommendation, Risk, Step
from pricing.book import PriceBook
from pricing.cards import PriceCard
from pricing.frame import price_cube
from pricing.meters import Meter, Phase
from pricing.rules import ContextTier, RatePeriod, ServiceTier

RATES = {
    Meter.INPUT_UNCACHED: Decimal(1),
    Meter.CACHE_READ: Decimal("0.1"),
    Meter.CACHE_WRITE_5M: Decimal("1.25"),
    Meter.OUTPUT: Decimal(10),
}


def own(model: str, factor: str) -> PriceCard:
    rates = {meter: rate * Decimal(factor) for meter, rate in RATES.items()}
    dear = {meter: 2 * rate for meter, rate in rates.items()}
    tiers = tuple(
        ServiceTier(name=name, multiplier=Decimal(of))
        for name, of in {"batch": "0.5", "priority": "2"}.items()
    )
    period = RatePeriod(
        rates=rates, service_tiers=tiers, context_tiers=(ContextTier(above=1_000, rates=dear),)
    )
    return PriceCard(provider="openai", model=model, periods=(period,), source="test")


OWN = PriceBook(builtin=False, user_cards=(own("gpt-5", "1"), own("gpt-5-mini", "0.1")))
AFTER_CUTS = Distribution(mean=150.0, p50=100.0, p90=200.0, p99=200.0)
"""Of sizes like ``TAIL`` when all above twice the median are cut to it."""
_TOKENS = st.integers(0, 10**6)


@st.composite
def logs(draw: st.DrawFn) -> Evidence:
    """The evidence of logs with anything in them: tiers, long prompts, failures, repeats, caches."""
    rows = []
    for _ in range(draw(st.integers(1, 6))):
        output = draw(_TOKENS)
        rows.append(
            row(
                draw(st.sampled_from(("app", "other"))),
                draw(st.sampled_from(("gpt-5", "gpt-5", "gpt-5-mini", "unheard-of"))),
                service_tier=draw(st.sampled_from((None, None, "priority", "batch", "default"))),
                bucketed=draw(st.booleans()) and draw(st.booleans()),
                context_tokens=draw(st.integers(1, 1_200)),
                input_uncached=draw(_TOKENS),
                cache_read=draw(st.none() | _TOKENS),
                output=output,
                reasoning=draw(st.none() | st.integers(0, output)),
                requests=draw(st.integers(1, 500)),
            )
        )
    frame = cube(rows)
    found = seen(frame, draw(st.sampled_from((EVEN, TAIL))), draw(st.sampled_from((EVEN, TAIL))))
    cells = [(name, "openai", "gpt-5") for name in found.workloads]
    used = {
        cell: Ended(
            requests=draw(st.integers(1, 50)),
            tokens={Meter.INPUT_UNCACHED: draw(_TOKENS), Meter.OUTPUT: draw(_TOKENS)},
        )
        for cell in cells
    }
    repeated = draw(st.sampled_from(({}, dict.fromkeys(Level, used))))
    return replace(
        found,
        failed=draw(st.sampled_from(({}, used))),
        cut_off=draw(st.sampled_from(({}, used))),
        repeats=repeated,
        caches={cell: (caching(draw(st.floats(0, 1))),) for cell in cells} if draw(st.booleans()) else {},
        signals={name: Signals(requests=100, streamed=draw(st.integers(0, 100))) for name in found.workloads},
    )


def caching(read_ratio: float) -> CacheShares:
    split = Split(read_ratio, (1 - read_ratio) / 2)
    return CacheShares(
        lifetime="5m", write_meter=Meter.CACHE_WRITE_5M, splits=dict.fromkeys(Level, split), basis="test"
    )


def seen(frame: pd.DataFrame, inputs: Distribution, outputs: Distribution) -> Evidence:
    found = evidence(frame, inputs=inputs, outputs=outputs)
    found = replace(found, book=OWN, priced=price_cube(frame, OWN, as_of=AS_OF))
    return replace(found, moves=tuple(moves(found)))


def advised(found: Evidence) -> Advice:
    return advise(found, [one for lever in levers() for one in lever.find(found)], 30.0)


def costs(found: Evidence, phase: Phase | None) -> Mapping[str, Decimal]:
    """What each workload pays for a phase, or for all."""
    frame = found.priced.frame
    names = [
        f"cost_{meter}"
        for meter in Meter
        if phase in (None, meter.phase) and f"cost_{meter}" in frame.columns
    ]
    return {
        str(name): found.priced.to_usd(sum(int(value) for column in names for value in part[column]))
        for name, part in frame.groupby("workload")
    }


@settings(max_examples=60, deadline=None)
@given(logs())
def test_no_saving_exceeds_what_the_tokens_cost_that_it_touches(found: Evidence) -> None:
    by_phase = {phase: costs(found, phase) for phase in (*Phase, None)}
    for one in advised(found).recommendations:
        touched = by_phase[one.proposal.phase][one.proposal.workload]
        assert one.touched_usd == touched
        assert max(one.saving.low, one.saving.expected, one.saving.high) <= touched


@settings(max_examples=60, deadline=None)
@given(logs())
def test_a_plan_saves_something_between_nothing_and_the_bill(found: Evidence) -> None:
    plan = advised(found).plan
    assert plan.baseline_usd == sum(costs(found, None).values(), Decimal(0))
    assert 0 <= plan.safe_usd <= plan.combined.expected <= plan.ceiling_usd <= plan.baseline_usd
    assert plan.combined.low >= 0
    assert plan.optimised_usd == plan.baseline_usd - plan.combined.expected >= 0
    left = plan.baseline_usd
    for step in plan.steps:
        assert step.saving_usd > 0
        left -= step.saving_usd
        assert step.after_usd == left
    assert left == plan.optimised_usd
    alone = sum((step.alone_usd for step in plan.steps), Decimal(0))
    assert plan.overlap_usd == alone - plan.combined.expected


@settings(max_examples=40, deadline=None)
@given(logs(), st.randoms(use_true_random=False))
def test_the_order_of_rows_decides_nothing_but_the_rounding_of_a_token(found: Evidence, random: Any) -> None:
    order = list(range(len(found.cube)))
    random.shuffle(order)
    frame = found.cube.iloc[order].reset_index(drop=True)
    other = replace(found, cube=frame, priced=price_cube(frame, OWN, as_of=AS_OF))
    other = replace(other, moves=found.moves)
    one, two = advised(found).plan, advised(other).plan
    assert one.baseline_usd == two.baseline_usd
    # A token of any row costs at most $20 a million twice over.
    for mine, its in ((one.combined.expected, two.combined.expected), (one.safe_usd, two.safe_usd)):
        assert abs(mine - its) <= Decimal("0.004")


def test_a_log_that_followed_its_plan_is_left_alone() -> None:
    """The optimised cube, as the log of the next month: what is expected then is nothing, but of what still fails."""
    rows = [row(context_tokens=900, reasoning=0), row("fast", service_tier="priority", context_tokens=900)]
    found = seen(cube(rows), TAIL, TAIL)
    found = replace(
        found,
        caches={(name, "openai", "gpt-5"): (caching(0.8),) for name in found.workloads},
        signals={"fast": Signals(requests=100, streamed=100)},
    )
    first = advised(found)
    assert {step.lever for step in first.plan.steps} == {
        "prompt_trimming",
        "output_limits",
        "smaller_model",
        "prompt_caching",
        "batch",
        "service_tier",
    }
    after = optimised(found, first)
    assert price_total(after) == first.plan.optimised_usd
    then = replace(
        seen(after, AFTER_CUTS, AFTER_CUTS),
        caches=found.caches,
        signals=found.signals,
    )
    second = advised(then)
    assert second.plan.steps == ()
    assert second.plan.ceiling_usd == 0


def optimised(found: Evidence, advice: Advice) -> pd.DataFrame:
    """The cube after the steps of the plan."""
    frame = found.cube
    for step in advice.plan.steps:
        (one,) = [each for each in advice.recommendations if is_of(each, step)]
        mine = frame["workload"] == step.workload
        changed = one.proposal.change(frame[mine].reset_index(drop=True), Level.EXPECTED)
        frame = pd.concat([frame[~mine], changed], ignore_index=True)
    return frame


def is_of(one: Recommendation, step: Step) -> bool:
    proposal: Proposal = one.proposal
    return (proposal.lever, proposal.workload, proposal.title) == (step.lever, step.workload, step.title)


def price_total(frame: pd.DataFrame) -> Decimal:
    return total_usd(price_cube(frame, OWN, as_of=AS_OF))


def test_steps_without_a_risk_are_safe() -> None:
    found = seen(cube([row(context_tokens=900)]), TAIL, TAIL)
    plan = advised(found).plan
    assert plan.safe_usd < plan.combined.expected
    assert {step.lever for step in plan.steps if step.risk is Risk.NONE} == {"batch"}
