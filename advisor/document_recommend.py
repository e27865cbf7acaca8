"""How advice fills the JSON document."""

from advisor.document_advice import PlanDoc, RecommendationDoc, RejectedDoc
from advisor.document_money import money
from advisor.recommendation import Advice, Recommendation, Saving, Step


def recommendation_docs(advice: Advice | None) -> list[RecommendationDoc]:
    """Return the recommendations, best first; none where nothing was looked for."""
    return [] if advice is None else [_recommendation(one) for one in advice.recommendations]


def rejected_docs(advice: Advice | None) -> list[RejectedDoc]:
    """Return what was looked at and does not pay."""
    if advice is None:
        return []
    return [
        RejectedDoc.model_validate(
            {
                "lever": one.lever,
                "workload": one.workload,
                "reason": one.reason,
                "saving": _saving(one.saving),
            }
        )
        for one in advice.rejected
    ]


def plan_doc(advice: Advice | None) -> PlanDoc | None:
    """Return the plan; None where nothing was looked for."""
    if advice is None:
        return None
    plan = advice.plan
    return PlanDoc.model_validate(
        {
            "baseline": money(plan.baseline_usd),
            "optimised": money(plan.optimised_usd),
            "combined_saving": _saving(plan.combined),
            "totals": {
                "no_risk": money(plan.safe_usd),
                "after_evaluation": money(plan.combined.expected),
                "ceiling": money(plan.ceiling_usd),
            },
            "overlap": money(plan.overlap_usd),
            "steps": [_step(step) for step in plan.steps],
        }
    )


def _saving(saving: Saving) -> dict[str, str]:
    return {"low": money(saving.low), "expected": money(saving.expected), "high": money(saving.high)}


def _recommendation(one: Recommendation) -> RecommendationDoc:
    proposal, month = one.proposal, one.saving_per_month
    return RecommendationDoc.model_validate(
        {
            "lever": proposal.lever,
            "workload": proposal.workload,
            "title": proposal.title,
            "phase": None if proposal.phase is None else str(proposal.phase),
            "saving": _saving(one.saving),
            "saving_per_month": None if month is None else _saving(month),
            "touched_usd": money(one.touched_usd),
            "confidence": str(proposal.confidence),
            "effort": str(proposal.effort),
            "risk": str(proposal.risk),
            "fits": one.fits,
            "evidence": [{"label": fact.label, "value": fact.value} for fact in proposal.evidence],
            "assumptions": list(proposal.assumptions),
            "how": list(proposal.how),
            "snippet": proposal.snippet,
        }
    )


def _step(step: Step) -> dict[str, str]:
    return {
        "lever": step.lever,
        "workload": step.workload,
        "title": step.title,
        "risk": str(step.risk),
        "saving": money(step.saving_usd),
        "alone": money(step.alone_usd),
        "after": money(step.after_usd),
    }
