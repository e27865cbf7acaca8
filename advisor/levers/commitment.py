"""Provisioned throughput: units of capacity that the user was offered, against list prices minute by minute. Both phases.

It comes after all other levers on the API, since what they save needs no capacity. Prices of units are hardly ever public, so
only offers that the user names are looked at.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

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

if TYPE_CHECKING:  # offers are only read where there are some
    from advisor.offered import Offered
    from pricing.throughput_offers import Provisioned, TokenLoad

NAME: Final = "commitment"
_LESS: Final = Decimal("0.8")
"""Part of the load that is left under low assumptions: the units are owed all the same."""
_NOTABLE_SHARE: Final = Decimal("0.001")
_MILLIONTH: Final = Decimal("0.000001")
_NOTHING: Final = Saving(low=Decimal(0), expected=Decimal(0), high=Decimal(0))


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield nothing: see ``with_offers``."""
    del evidence
    return iter(())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sized:
    """The units that cost least for a load."""

    load: "TokenLoad"
    units: "Provisioned"
    saving: Saving


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """An offer on the log as it is, on what the plan leaves, and on what its steps without a risk to answers leave."""

    offered: "Offered"
    today: _Sized
    left: _Sized
    calm: _Sized


def with_offers(advice: Advice, evidence: Evidence, left: Any, calm: Any) -> Advice:
    """Return advice with what of the offers pays: as steps of the plan, as recommendations, or as what does not.

    An offer is recommended that saves on what the other steps leave, and would not lose with a fifth less load. Of offers for
    the same models the one that saves most is.

    Args:
        advice: Of all other levers.
        evidence: What the log shows.
        left: The cube after the plan's steps.
        calm: The cube after those that leave answers as they are.
    """
    cases, rejected = list[_Case](), list[Rejected]()
    for one in evidence.offered:
        if one.doubt:
            reason = f"{_title(one)}: {one.doubt}"
            rejected.append(Rejected(lever=NAME, workload=_scope(one), reason=reason, saving=_NOTHING))
        else:
            today, after, safe = (_sized(evidence, one, cube) for cube in (evidence.cube, left, calm))
            cases.append(_Case(offered=one, today=today, left=after, calm=safe))
    taken: set[Any] = set()
    kept = list[Recommendation]()
    plan = advice.plan
    for case in sorted(cases, key=lambda case: -case.left.saving.expected):
        why = _why_not(case, plan.baseline_usd, covered=bool(case.offered.models & taken))
        if why:
            reason = f"{_title(case.offered)}: {why}"
            saving = case.left.saving if case.today.saving.expected > 0 else case.today.saving
            rejected.append(Rejected(lever=NAME, workload=_scope(case.offered), reason=reason, saving=saving))
            continue
        taken |= case.offered.models
        kept.append(_recommendation(case))
        plan = _plan(plan, kept[-1], case)
    ranked = sorted((*advice.recommendations, *kept), key=_rank) if kept else advice.recommendations
    return replace(advice, recommendations=tuple(ranked), rejected=(*advice.rejected, *rejected), plan=plan)


def _rank(one: Recommendation) -> tuple[bool, Decimal, str]:
    return not one.fits, -(one.saving.expected or one.saving.high), one.proposal.title


def _sized(evidence: Evidence, offered: "Offered", cube: Any) -> _Sized:
    from advisor.offered import load_of  # noqa: PLC0415  (only by runs with offers)
    from pricing.throughput_offers import cheapest, provisioned  # noqa: PLC0415

    load = load_of(evidence, offered, cube)
    best = cheapest(offered.offer, load)
    part = float(_LESS)
    fallen = load.scaled((part, part, part), (load.usd[0] * _LESS, load.usd[1] * _LESS, load.usd[2] * _LESS))
    low = provisioned(offered.offer, fallen, best.units).saving_usd
    return _Sized(
        load=load,
        units=best,
        saving=Saving(low=min(low, best.saving_usd), expected=best.saving_usd, high=best.saving_usd),
    )


def _why_not(case: _Case, bill_usd: Decimal, *, covered: bool) -> str:
    today, left = case.today, case.left
    if today.saving.expected <= 0:
        return f"{_amounts(today)}; {_even(case.offered, today)}"
    if left.saving.expected <= bill_usd * _NOTABLE_SHARE:
        return (
            f"it would save {numbers.money(today.saving.expected, 'USD')} on the log as it is; on what the other steps leave, "
            f"{_amounts(left)}; {_even(case.offered, left)}"
        )
    if covered:
        return (
            f"another offer for the same models saves more than {numbers.money(left.saving.expected, 'USD')}"
        )
    if left.saving.low < 0:
        return (
            f"it saves {numbers.money(left.saving.expected, 'USD')} if the load stays as the log has it, and loses "
            f"{numbers.money(-left.saving.low, 'USD')} if a fifth of it goes; {_even(case.offered, left)}"
        )
    return ""


def _plan(plan: Plan, one: Recommendation, case: _Case) -> Plan:
    saving = case.left.saving.expected
    after = plan.optimised_usd - saving
    step = Step(
        lever=NAME,
        workload=one.proposal.workload,
        title=one.proposal.title,
        risk=Risk.NONE,
        saving_usd=saving,
        alone_usd=one.saving.expected,
        after_usd=after,
    )
    whole = plan.combined.expected + saving
    return replace(
        plan,
        optimised_usd=after,
        combined=Saving(low=plan.combined.low, expected=whole, high=max(plan.combined.high, whole)),
        safe_usd=min(whole, plan.safe_usd + max(Decimal(0), case.calm.saving.expected)),
        overlap_usd=plan.overlap_usd + one.saving.expected - saving,
        steps=(*plan.steps, step),
    )


def _recommendation(case: _Case) -> Recommendation:
    from pricing.throughput_offers import HOURS_PER_MONTH  # noqa: PLC0415  (only by runs with offers)

    saving, factor = case.today.saving, HOURS_PER_MONTH / case.offered.hours
    low, expected, high = (
        (amount * factor).quantize(_MILLIONTH) for amount in (saving.low, saving.expected, saving.high)
    )
    return Recommendation(
        proposal=Proposal(
            lever=NAME,
            workload=_scope(case.offered),
            title=f"{_title(case.offered)}: {_units(case.left.units.units)}",
            phase=None,
            change=unchanged,
            confidence=Confidence.MODELLED,
            effort=Effort.MEDIUM,
            risk=Risk.NONE,
            evidence=tuple(_facts(case)),
            assumptions=tuple(_assumptions(case)),
            how=(
                "Pull the other levers first: what they save needs no capacity, and units are owed for the whole term.",
                "Have the provider state the tokens that a unit takes in a minute, and how much answers and cached text count.",
                "Begin with fewer units and the shortest term; watch what part of the minutes is full.",
                "Send what a full unit refuses to the normal endpoint, so that nobody waits.",
            ),
        ),
        saving=saving,
        saving_per_month=Saving(low=low, expected=expected, high=high),
        touched_usd=case.today.load.total_usd,
        fits=True,
    )


def _title(offered: "Offered") -> str:
    return f"Commit to throughput ({offered.offer.name})"


def _scope(offered: "Offered") -> str:
    return ", ".join(sorted({model or "no model" for _, model in offered.models}) or offered.offer.models)


def _units(count: int) -> str:
    return f"{numbers.count(count)} unit{'s' if count != 1 else ''}"


def _amounts(sized: _Sized) -> str:
    units = sized.units
    return (
        f"{_units(units.units)} for the {numbers.count(round(sized.load.hours))} hours of the log: "
        f"{numbers.money(units.usd, 'USD')}, for what costs {numbers.money(units.served_usd, 'USD')} by the token"
    )


def _even(offered: "Offered", sized: _Sized) -> str:
    from pricing.throughput_offers import break_even_ratio  # noqa: PLC0415  (only by runs with offers)

    ratio = break_even_ratio(offered.offer, sized.load)
    used = numbers.share(sized.units.utilisation_ratio)
    if ratio is None:
        return "nothing that has a price is left for it"
    if ratio > 1:
        return f"even a unit that is always full costs {ratio:.1f} times what its tokens do"
    return f"a unit pays from {numbers.share(ratio)} of use on, and {used} would be used"


def _facts(case: _Case) -> Iterator[Fact]:
    from pricing.throughput_offers import units_for  # noqa: PLC0415  (only by runs with offers)

    offer, left = case.offered.offer, case.left
    yield Fact(label="After the other steps", value=_amounts(left))
    yield Fact(label="Break-even", value=_even(case.offered, left))
    yield Fact(
        label="Units that take all of 95 % of the minutes / the busiest one",
        value=f"{numbers.count(units_for(offer, left.load))} / {numbers.count(units_for(offer, left.load, 1.0))}",
    )
    whole = left.load.total_usd
    if whole:
        rest = float((whole - left.units.served_usd) / whole)
        yield Fact(label="Of its tokens' cost still paid by the token", value=numbers.share(max(0.0, rest)))
    yield Fact(label="On the log as it is", value=_amounts(case.today))


def _assumptions(case: _Case) -> Iterable[str]:
    offer, term = case.offered.offer, case.offered.offer.term_months
    days = numbers.count(round(case.offered.hours / 24))
    owed = "its term" if term is None else f"its term ({term:f} month{'s' if term != 1 else ''})"
    yield f"All of {owed} looks like the {days} days of the log; low: a fifth of the load goes, the units stay."
    yield (
        f"A unit takes {numbers.count(offer.tokens_per_minute)} tokens a minute, of which a token of an answer counts as "
        f"{offer.output_counts_as:f} and one from a cache as {offer.cached_counts_as:f}, as {offer.where} says."
    )
    yield "A minute beyond the capacity is paid by the token for what is beyond, in proportion; within a minute load is even."
    if float(case.offered.minutes.max(initial=1.0)) > 1:
        yield "The log has buckets, not requests: how busy their minutes are is a mean, so more units may be needed."
    yield "Batch jobs, other service tiers and fees are paid as before."
