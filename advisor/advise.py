"""From evidence to advice: proposals of all levers are priced as changed cubes, ranked, and put into one plan.

Nothing is recommended that does not save on this log, and savings are never added up: the plan applies one step after
the other to the same cube.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

from advisor import numbers
from advisor.evidence import Evidence, costs_by
from advisor.left_tokens import left_tokens
from advisor.recommendation import (
    Advice,
    Level,
    Plan,
    Proposal,
    Recommendation,
    Rejected,
    Risk,
    Saving,
    Step,
    unchanged,
)
from advisor.walk import Changed, better_of, costs_of_cases, cube_after, walk_all
from pricing.meters import Meter, Phase
from workloads.phase_mix import PhaseClass

DAYS_PER_MONTH: Final = Decimal("30.4375")
ORDER: Final = (
    "waste",
    "exact_repeats",
    "cache_breakage",
    "cache_lifetime",
    "prompt_trimming",
    "static_overhead",
    "long_context",
    "output_limits",
    "reasoning_effort",
    "smaller_model",
    "newer_model",
    "prompt_caching",
    "history_growth",
    "batch",
    "flex",
    "service_tier",
    "region",
    "commitment",
    "self_hosting",
)
"""In which levers are applied: what nobody needs, then what is too long, then the model, then the cache of what is left on
the models that it is left on, then discounts on all of it, then capacity that is paid by the hour, then what of it is cheaper on machines of one's own."""
_NOTABLE_SHARE: Final = Decimal("0.001")
"""Part of the bill below which a saving is not worth a recommendation."""
_UNFIT_SHARE: Final = Decimal("0.05")
"""Part of its workload's cost that a lever must save which does not act on the dominant phase."""
_MILLIONTH: Final = Decimal("0.000001")


def advise(evidence: Evidence, proposals: Sequence[Proposal], period_days: float | None) -> Advice:
    """Return what to do.

    Args:
        evidence: What the log shows.
        proposals: Of all levers.
        period_days: Days of the log; None or under one: nothing is said of a month.
    """
    baseline = _by_workload(evidence)
    bill = sum(baseline.values(), Decimal(0))
    touched = _touched(evidence)
    changed = Changed(evidence.cube)
    savings = _alone(evidence, changed, proposals, baseline)
    kept: list[Recommendation] = []
    rejected: list[Rejected] = []
    for proposal, saving in zip(proposals, savings, strict=True):
        fits = _fits(proposal, evidence)
        reason = _why_not(proposal, saving, bill, baseline[proposal.workload], fits=fits)
        if reason is not None:
            if not fits:
                reason += _at_stake(proposal, evidence, baseline[proposal.workload])
            rejected.append(
                Rejected(lever=proposal.lever, workload=proposal.workload, reason=reason, saving=saving)
            )
            continue
        kept.append(
            Recommendation(
                proposal=proposal,
                saving=saving,
                saving_per_month=_per_month(saving, period_days),
                touched_usd=touched[proposal.workload, proposal.phase],
                fits=fits,
            )
        )
    kept.sort(key=_rank)
    plan, ranked, safe = _plan(evidence, changed, kept, baseline)
    advice = Advice(recommendations=tuple(kept), rejected=tuple(rejected), plan=plan)
    if not evidence.offered:
        return advice
    from advisor.levers.commitment import with_offers  # noqa: PLC0415  (only by runs with offers)

    left, calm = (cube_after(changed, ranked, steps) for steps in (plan.steps, safe))
    return with_offers(advice, evidence, left, calm)


def best_of(saving: Saving) -> Decimal:
    """Return the saving that a proposal is judged by: what is expected or, where that is nothing, what it could be."""
    return saving.expected or saving.high


def _why_not(
    proposal: Proposal, saving: Saving, bill: Decimal, workload_usd: Decimal, *, fits: bool
) -> str | None:
    """Return why a proposal is not worth it, or None."""
    best = best_of(saving)
    if proposal.change is unchanged:
        return f"{proposal.title}: {proposal.doubt}"
    if best < 0:
        return f"{proposal.title}: it would cost more than it saves"
    if best <= bill * _NOTABLE_SHARE:
        return f"{proposal.title}: it would save next to nothing"
    if not fits and best <= workload_usd * _UNFIT_SHARE:
        phase, other = ("prefill", "decode") if proposal.phase is Phase.PREFILL else ("decode", "prefill")
        return f"{proposal.title}: it acts on {phase}, and {other} is what this workload pays for"
    return None


def _rank(one: Recommendation) -> tuple[bool, Decimal, str]:
    """Order recommendations: what acts on the dominant phase of its workload by what it saves, then what does not."""
    return not one.fits, -best_of(one.saving), one.proposal.title


def _fits(proposal: Proposal, evidence: Evidence) -> bool:
    mix = evidence.workloads[proposal.workload].cost_mix
    if proposal.phase is None or mix is None or mix.phase_class is PhaseClass.BALANCED:
        return True
    return (proposal.phase is Phase.PREFILL) == (mix.phase_class is PhaseClass.PREFILL_DOMINATED)


def _at_stake(proposal: Proposal, evidence: Evidence, workload_usd: Decimal) -> str:
    """Return what the whole phase costs that a proposal acts on: no saving of its kind can be larger."""
    mix = evidence.workloads[proposal.workload].cost_mix
    if mix is None or proposal.phase is None:
        return ""
    ratio = mix.prefill_share if proposal.phase is Phase.PREFILL else mix.decode_share
    amount = numbers.money(workload_usd * Decimal(str(ratio)), "USD")
    return f"; all of its {proposal.phase} costs {amount}, {numbers.share(ratio)} of the workload"


def _per_month(saving: Saving, period_days: float | None) -> Saving | None:
    if period_days is None or period_days < 1:
        return None
    factor = DAYS_PER_MONTH / Decimal(str(period_days))
    # A forecast: millionths of a dollar are exact enough.
    low, expected, high = (
        (amount * factor).quantize(_MILLIONTH) for amount in (saving.low, saving.expected, saving.high)
    )
    return Saving(low=low, expected=expected, high=high)


def _by_workload(evidence: Evidence) -> dict[str, Decimal]:
    """Return the cost of each workload as it is."""
    frame = evidence.priced.frame
    return costs_by(evidence.priced, frame["workload"].astype(object))


def _touched(evidence: Evidence) -> dict[tuple[str, Phase | None], Decimal]:
    """Return what the tokens that levers on a phase touch cost, by workload looked at; None: all of them, and fees."""
    frame = evidence.priced.frame
    sums: dict[tuple[str, Phase | None], int] = {}
    looked_at = frame[frame["workload"].isin(list(evidence.workloads))]
    parts: dict[str, Any] = dict(iter(looked_at.groupby(looked_at["workload"].astype(object), sort=False)))
    for name, part in parts.items():
        for phase in (*Phase, None):
            columns = [
                f"cost_{meter}"
                for meter in Meter
                if phase in (None, meter.phase) and f"cost_{meter}" in part.columns
            ]
            sums[name, phase] = sum(int(part[column].sum()) for column in columns)
    return {key: evidence.priced.to_usd(amount) for key, amount in sums.items()}


def _alone(
    evidence: Evidence, changed: Changed, proposals: Sequence[Proposal], baseline: dict[str, Decimal]
) -> list[Saving]:
    """Return what each proposal saves on the bill as it is: all changed cubes are priced at once."""
    cases = [(proposal, level) for proposal in proposals for level in Level]
    after, unpriced_rows = costs_of_cases(
        evidence, [changed.by((proposal,), level) for proposal, level in cases]
    )
    lost = set(unpriced_rows)
    before = set(evidence.priced.frame.loc[evidence.priced.frame["sheet"] < 0, "workload"])
    out: list[Saving] = []
    for number, proposal in enumerate(proposals):
        by_level = {}
        for place, level in enumerate(Level):
            case = number * len(Level) + place
            # What loses its price by a change would look like money saved.
            unpriced = case in lost and proposal.workload not in before
            by_level[level] = (
                Decimal(0) if unpriced else baseline[proposal.workload] - after.get(case, Decimal(0))
            )
        out.append(_saving(by_level))
    return out


def _saving(by_level: dict[Level, Decimal]) -> Saving:
    low, expected, high = (by_level[level] for level in (Level.LOW, Level.EXPECTED, Level.HIGH))
    return Saving(low=low, expected=expected, high=high)


def _plan(
    evidence: Evidence, changed: Changed, kept: Iterable[Recommendation], baseline: dict[str, Decimal]
) -> tuple[Plan, Sequence[Recommendation], Sequence[Step]]:
    """Return the plan, what it chose from in the order in which it is applied, and the steps without a risk to answers."""
    order = {name: place for place, name in enumerate(ORDER)}
    ranked = sorted(kept, key=lambda one: (order.get(one.proposal.lever, len(ORDER)), -one.saving.expected))
    bill = sum(baseline.values(), Decimal(0))
    calm = [one for one in ranked if one.proposal.risk is Risk.NONE]
    *walks, safe = walk_all(
        evidence, changed, [*((ranked, level) for level in Level), (calm, Level.EXPECTED)], baseline
    )
    by_level = dict(zip(Level, walks, strict=True))
    by_level[Level.EXPECTED] = better_of(by_level[Level.EXPECTED], safe, bill)
    saved = {level: _saved(steps) for level, steps in by_level.items()}
    steps = by_level[Level.EXPECTED]
    plan = Plan(
        baseline_usd=bill,
        optimised_usd=bill - saved[Level.EXPECTED],
        combined=_saving(saved),
        safe_usd=_saved(safe),
        overlap_usd=sum((step.alone_usd for step in steps), Decimal(0)) - saved[Level.EXPECTED],
        steps=tuple(steps),
        left=left_tokens(changed, ranked, steps),
    )
    return plan, ranked, safe


def _saved(steps: Iterable[Step]) -> Decimal:
    return sum((step.saving_usd for step in steps), Decimal(0))
