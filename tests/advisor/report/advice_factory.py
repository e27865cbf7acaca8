"""Advice made by hand for the month of ``report_factory``: what its renderings are tested with."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import report_factory

from advisor.analysis import Analysis
from advisor.recommendation import (
    Advice,
    Confidence,
    Effort,
    Fact,
    Plan,
    Proposal,
    Recommendation,
    Rejected,
    Risk,
    Saving,
    Step,
)
from pricing.meters import Phase

MONTH = Decimal("30.4375") / 30
SNIPPET = """\
client.messages.create(
    model="claude-sonnet-4-5",
    system=[{"type": "text", "text": INSTRUCTIONS, "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
\tmessages=messages,  # what changes comes last
)
"""


def saving(low: str, expected: str, high: str) -> Saving:
    return Saving(low=Decimal(low), expected=Decimal(expected), high=Decimal(high))


def times(one: Saving, factor: Decimal) -> Saving:
    return Saving(low=one.low * factor, expected=one.expected * factor, high=one.high * factor)


def recommendation(found: Saving, *, touched: str, fits: bool = True, **given: Any) -> Recommendation:
    values: dict[str, Any] = {
        "lever": "prompt_caching",
        "workload": "support-bot",
        "title": "Cache the shared start of the prompt",
        "phase": Phase.PREFILL,
        "change": lambda cube, _: cube,
        "confidence": Confidence.MEASURED,
        "effort": Effort.LOW,
        "risk": Risk.NONE,
    }
    return Recommendation(
        proposal=Proposal(**values | given),
        saving=found,
        saving_per_month=times(found, MONTH),
        touched_usd=Decimal(touched),
        fits=fits,
    )


CACHING = recommendation(
    saving("1180.25", "2310.4", "2555.125"),
    touched="4982.55",
    evidence=(
        Fact(label="Prompt read from a cache today", value="42 %"),
        Fact(label="With a lifetime of one hour", value="88 %"),
        Fact(label="Median gap between requests", value="14 s"),
    ),
    assumptions=("Low: half of the prompts that share a start still miss.",),
    how=(
        "Put what never changes first: instructions, tools, examples",
        "Mark its end with `cache_control` and ask for a lifetime of one hour",
        "Watch cache_read_input_tokens rise",
    ),
    snippet=SNIPPET,
)
LIMITS = recommendation(
    saving("105", "362.75", "498.5"),
    touched="1405.13",
    lever="output_limits",
    workload="report-writer",
    title="Bound the longest answers",
    phase=Phase.DECODE,
    confidence=Confidence.MODELLED,
    effort=Effort.LOW,
    risk=Risk.EVALUATE,
    evidence=(
        Fact(label="Median answer", value="2,600 tokens"),
        Fact(label="One in a hundred is longer than", value="11,640 tokens"),
    ),
    assumptions=("Answers above twice the median are cut to it; low: only the longest in a hundred.",),
    how=("Set max_output_tokens to 5,200", "Ask for a length in the instructions"),
    snippet="response = client.responses.create(model='gpt-5', max_output_tokens=5200, input=prompt)",
)
SMALLER = recommendation(
    saving("629.83", "1574.57", "3149.14"),
    touched="3936.43",
    lever="smaller_model",
    workload="doc-summarise",
    title="Route the easy half to gpt-5-mini",
    phase=None,
    confidence=Confidence.ASSUMED,
    effort=Effort.MEDIUM,
    risk=Risk.EVALUATE,
    evidence=(Fact(label="Price of gpt-5 over gpt-5-mini", value="5.0"),),
    assumptions=("Half of the requests are easy enough; low: a fifth; high: all.",),
    how=(
        "Score both models on 200 logged requests",
        "Route by length or topic",
        "Keep the larger as a fallback",
    ),
)
BATCH = recommendation(
    saving("492.05", "984.11", "1968.21"),
    touched="3936.43",
    lever="batch",
    workload="doc-summarise",
    title="Send what can wait as batch jobs",
    phase=None,
    confidence=Confidence.ASSUMED,
    effort=Effort.MEDIUM,
    evidence=(Fact(label="Batch discount", value="gpt-5 50 % off"),),
    assumptions=("Half of the requests can wait a day; low: a quarter; high: all.",),
    how=("Collect requests that nobody waits for into batch jobs",),
)
UNFIT = recommendation(
    saving("-3.5", "0", "41.9"),
    touched="130.5",
    fits=False,
    workload="report-writer",
    confidence=Confidence.ASSUMED,
)
REJECTED = (
    Rejected(
        lever="prompt_caching",
        workload="rag-search",
        reason="Cache the shared start of the prompt: it would cost more than it saves",
        saving=saving("-204.75", "-118.3", "-12.004"),
    ),
    Rejected(
        lever="batch",
        workload="translate",
        reason="Send what can wait as batch jobs: it would save next to nothing",
        saving=saving("0.0004", "0.0009", "0.0018"),
    ),
    Rejected(
        lever="prompt_caching",
        workload="translate",
        reason="it acts on prefill, and decode is what this workload pays for",
        saving=saving("0", "0", "2.5"),
    ),
    Rejected(
        lever="batch",
        workload="support-bot",
        reason="every request is streamed: somebody waits",
        saving=saving("0", "0", "0"),
    ),
)


def step(one: Recommendation, usd: str, after: str) -> Step:
    proposal = one.proposal
    return Step(
        lever=proposal.lever,
        workload=proposal.workload,
        title=proposal.title,
        risk=proposal.risk,
        saving_usd=Decimal(usd),
        alone_usd=one.saving.expected,
        after_usd=Decimal(after),
    )


def plan(baseline: Decimal) -> Plan:
    """Four steps off a bill; the batch discount comes last and finds less to act on."""
    left, steps = baseline, list[Step]()
    for one, usd in ((LIMITS, "362.75"), (SMALLER, "1574.57"), (CACHING, "2310.4"), (BATCH, "590.46")):
        left -= Decimal(usd)
        steps.append(step(one, usd, str(left)))
    return Plan(
        baseline_usd=baseline,
        optimised_usd=left,
        combined=saving("2150.5", "4838.18", "6410"),
        safe_usd=Decimal("3294.51"),
        overlap_usd=Decimal("393.65"),
        steps=tuple(steps),
    )


def advice(baseline: Decimal) -> Advice:
    return Advice(
        recommendations=(CACHING, SMALLER, BATCH, LIMITS, UNFIT), rejected=REJECTED, plan=plan(baseline)
    )


def nothing(baseline: Decimal, rejected: tuple[Rejected, ...] = REJECTED) -> Advice:
    """Nothing pays."""
    empty = Plan(
        baseline_usd=baseline,
        optimised_usd=baseline,
        combined=saving("0", "0", "0"),
        safe_usd=Decimal(0),
        overlap_usd=Decimal(0),
        steps=(),
    )
    return Advice(recommendations=(), rejected=rejected, plan=empty)


def advised(base: Analysis | None = None) -> Analysis:
    base = report_factory.demo() if base is None else base
    return replace(base, advice=advice(base.cost.total))


def not_advised() -> Analysis:
    base = report_factory.demo()
    return replace(base, advice=nothing(base.cost.total))


def nothing_looked_at_pays() -> Analysis:
    base = report_factory.demo()
    return replace(base, advice=nothing(base.cost.total, ()))


def crowd(names: tuple[str, ...] = report_factory.HOSTILE, copies: int = 6) -> Analysis:
    """Many recommendations with names that try to break out, and a step and a rejection for each."""
    base = report_factory.ugly()
    cards, steps, rejected = list[Recommendation](), list[Step](), list[Rejected]()
    left = base.cost.total
    for name in names * copies:
        fact = (Fact(label=name, value=name),)
        proposal = replace(
            CACHING.proposal,
            workload=name,
            title=f"Do {name}",
            how=(name,),
            assumptions=(name,),
            snippet=name,
        )
        one = replace(CACHING, proposal=replace(proposal, evidence=fact), saving_per_month=None)
        left -= 1
        cards.append(one)
        steps.append(step(one, "1", str(left)))
        rejected.append(replace(REJECTED[0], workload=name, reason=name))
    made = replace(plan(base.cost.total), steps=tuple(steps), optimised_usd=left, overlap_usd=Decimal(-3))
    found = Advice(recommendations=tuple(cards), rejected=tuple(rejected), plan=made)
    return replace(base, advice=found, period_days=None)
