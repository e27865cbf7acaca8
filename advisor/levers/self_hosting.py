"""Self-hosting: what is left of the load on own accelerators. It comes after all others, and acts on both phases.

What there is to host is known only once the text has been dealt with and the API's own levers are pulled, so this lever
takes the comparison that is made then instead of changing the usage.
"""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from advisor import numbers
from advisor.evidence import Evidence
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
    unchanged,
)

if TYPE_CHECKING:  # a comparison is only made where it is asked for
    from advisor.hosting import Comparison, SelfHosting, Way

NAME: Final = "self_hosting"
EVERYTHING: Final = "all workloads"
_LEAST_HOURS: Final = 24
_MILLIONTH: Final = Decimal("0.000001")


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield nothing: see ``with_hosting``."""
    del evidence
    return iter(())


def with_hosting(advice: Advice, found: "SelfHosting") -> Advice:
    """Return advice with own accelerators in it: as a step of the plan, as a recommendation, or as what does not pay.

    A step of the plan saves even where the model of the accelerators is off by as much as its band. Where the band has the
    bill in it, they are recommended as undecided and no total counts them.
    """
    today, left = found.today, found.left
    if today is None or left is None or left.best is None or left.bill_usd <= 0:
        return advice
    saving = _saving(left, left.best)
    answer = str(left.answer)
    if answer == "stay" or saving.expected <= 0:
        reason = f"{_title(left.best)}: {_amounts(left, left.best)}"
        rejected = Rejected(lever=NAME, workload=_scope(found), reason=reason, saving=saving)
        return replace(advice, rejected=(*advice.rejected, rejected))
    one = _recommendation(found, today, left, left.best, undecided=answer != "host")
    ranked = sorted(
        (*advice.recommendations, one),
        key=lambda each: (not each.fits, -(each.saving.expected or each.saving.high), each.proposal.title),
    )
    plan = _plan(advice.plan, one, left, left.best, saving) if answer == "host" else advice.plan
    return replace(advice, recommendations=tuple(ranked), plan=plan)


def _saving(side: "Comparison", way: "Way") -> Saving:
    """What is saved of a bill. Where no count may meet the targets, the low end pays for the fleet and the API."""
    worst = -way.cost.usd if way.high_usd is None else side.bill_usd - way.high_usd
    return Saving(low=worst, expected=side.bill_usd - way.cost.usd, high=side.bill_usd - way.low_usd)


def _plan(plan: Plan, one: Recommendation, left: "Comparison", way: "Way", saving: Saving) -> Plan:
    """The plan with a last step: the bill that is left is replaced by the fleet, and what is no bill of tokens stays."""
    stays = plan.optimised_usd - left.bill_usd
    after = plan.optimised_usd - saving.expected
    high = way.cost.usd if way.high_usd is None else way.high_usd
    step = Step(
        lever=NAME,
        workload=one.proposal.workload,
        title=one.proposal.title,
        risk=Risk.EVALUATE,
        saving_usd=saving.expected,
        alone_usd=one.saving.expected,
        after_usd=after,
    )
    return replace(
        plan,
        optimised_usd=after,
        combined=Saving(
            low=min(max(plan.combined.low, plan.baseline_usd - stays - high), plan.baseline_usd - after),
            expected=plan.baseline_usd - after,
            high=max(plan.combined.high, plan.baseline_usd - stays - way.low_usd),
        ),
        overlap_usd=plan.overlap_usd + one.saving.expected - saving.expected,
        steps=(*plan.steps, step),
    )


def _recommendation(
    found: "SelfHosting", today: "Comparison", left: "Comparison", way: "Way", *, undecided: bool
) -> Recommendation:
    alone = _saving(today, today.best or way)
    factor = way.cost.month_factor
    month = Saving(
        low=(alone.low * factor).quantize(_MILLIONTH),
        expected=(alone.expected * factor).quantize(_MILLIONTH),
        high=(alone.high * factor).quantize(_MILLIONTH),
    )
    return Recommendation(
        proposal=Proposal(
            lever=NAME,
            workload=_scope(found),
            title=_title(way) + (" (undecided)" if undecided else ""),
            phase=None,
            change=unchanged,
            confidence=Confidence.MODELLED,
            effort=Effort.HIGH,
            risk=Risk.EVALUATE,
            evidence=tuple(_facts(left, way)),
            assumptions=tuple(_assumptions(found, way, undecided=undecided)),
            how=(
                "Run your own evaluation on the model, with your own requests.",
                "Rent one replica for a day, measure both latencies in a busy minute, give them to `advisor serving --anchor`.",
                "Move one workload first, with the API to fall back on.",
            ),
            snippet=_command(way),
        ),
        saving=alone,
        saving_per_month=month if today.load.hours >= _LEAST_HOURS else None,
        touched_usd=today.bill_usd,
        fits=True,
    )


def _scope(found: "SelfHosting") -> str:
    return ", ".join(found.options.workloads) or EVERYTHING


def _title(way: "Way") -> str:
    return f"Host {way.model.rpartition('/')[2]} on {way.cost.gpus} x {way.hosted.fleet.deployment.accelerator.name}"


def _amounts(side: "Comparison", way: "Way") -> str:
    high = "more than any count" if way.high_usd is None else numbers.money(way.high_usd, "USD")
    return (
        f"{numbers.money(way.cost.usd, 'USD')} ({numbers.money(way.low_usd, 'USD')} to {high}) against "
        f"{numbers.money(side.bill_usd, 'USD')} on the API after its own levers"
    )


def _facts(left: "Comparison", way: "Way") -> Iterator[Fact]:
    fleet = way.hosted.fleet
    yield Fact(label="in this period", value=_amounts(left, way))
    yield Fact(
        label="fleet",
        value=f"{fleet.replicas} replicas of {fleet.deployment.layout.words} in {fleet.deployment.precision}, "
        f"{fleet.peak_replicas} for the busiest minute",
    )
    yield Fact(label="work in paid time", value=numbers.share(way.cost.utilisation_ratio))
    if way.even.utilisation_ratio is not None:
        yield Fact(label="break-even utilisation", value=numbers.share(way.even.utilisation_ratio))
    yield Fact(
        label="price of a GPU-hour",
        value=f"{numbers.money(way.hosted.price.low, 'USD')} to {numbers.money(way.hosted.price.high, 'USD')}, "
        f"{numbers.money(way.hosted.price.usual, 'USD')} taken",
    )


def _assumptions(found: "SelfHosting", way: "Way", *, undecided: bool) -> Iterator[str]:
    if undecided:
        yield "The band of the estimate has the bill in it: which side is cheaper is not known, and no total counts this."
    if way.quantised:
        yield f"Weights are served in {way.hosted.fleet.deployment.precision}, narrower than they were published."
    yield from found.assumptions


def _command(way: "Way") -> str | None:
    deployment = way.hosted.fleet.deployment
    if deployment.engine != "vllm":
        return None
    shard = deployment.layout.shard
    parts = [f"vllm serve {way.model}", f"--tensor-parallel-size {shard.tp}"]
    parts += [f"--pipeline-parallel-size {shard.pp}"] if shard.pp > 1 else []
    parts += [f"--data-parallel-size {shard.dp} --enable-expert-parallel"] if shard.dp > 1 else []
    parts += [
        f"--max-num-seqs {-(-round(way.hosted.fleet.concurrency) // shard.dp)}",
        "--enable-prefix-caching",
    ]
    return " ".join(parts)
