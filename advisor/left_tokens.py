"""What is left to serve once the text has been dealt with: tokens after the plan's steps that change what is sent.

Steps that change only who answers or what it costs (models, tiers, regions, batch) leave the text as it is, so they are
nothing that own accelerators would be spared. What a cache reads, their own prefix cache reads too.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from advisor.recommendation import LeftTokens, Level, Proposal, Recommendation, Step
from advisor.walk import Changed
from pricing.meters import CACHE_READ_METERS, INPUT_METERS, OUTPUT_METERS, Meter

_TEXT_LEVERS: Final = (
    "waste",
    "exact_repeats",
    "prompt_trimming",
    "static_overhead",
    "long_context",
    "output_limits",
    "reasoning_effort",
    "prompt_caching",
    "history_growth",
)
"""In the order of the plan."""


def left_tokens(changed: Changed, kept: Iterable[Recommendation], steps: Iterable[Step]) -> LeftTokens:
    """Return the tokens after the steps that change text, expected assumptions, over those of the log.

    Args:
        changed: The log's workloads, and what levers make of them.
        kept: Recommendations.
        steps: Those of them that the plan has.
    """
    planned = {(step.lever, step.workload, step.title) for step in steps}
    chosen: dict[str, list[Proposal]] = {}
    for proposal in (one.proposal for one in kept):
        is_step = (proposal.lever, proposal.workload, proposal.title) in planned
        if is_step and proposal.lever in _TEXT_LEVERS:
            chosen.setdefault(proposal.workload, []).append(proposal)
    before = _counts(changed.cube)
    after = list(before)
    for workload, own in chosen.items():
        proposals = sorted(own, key=lambda one: _TEXT_LEVERS.index(one.lever))
        logged = _counts(changed.logged(workload))
        left = _counts(changed.by(tuple(proposals), Level.EXPECTED))
        after = [some - was + now for some, was, now in zip(after, logged, left, strict=True)]
    computed, cached, output, requests = zip(before, after, strict=True)
    return LeftTokens(computed=computed, cached=cached, output=output, requests=requests)


def _counts(cube: Any) -> Sequence[int]:
    prompts = [meter for meter in INPUT_METERS if meter not in CACHE_READ_METERS]
    return (
        _sum(cube, prompts), _sum(cube, CACHE_READ_METERS), _sum(cube, OUTPUT_METERS),
        int(cube["requests"].sum()) if "requests" in cube.columns else 0,
    )  # fmt: skip


def _sum(cube: Any, meters: Iterable[Meter]) -> int:
    return sum(int(cube[str(meter)].sum()) for meter in meters if str(meter) in cube.columns)
