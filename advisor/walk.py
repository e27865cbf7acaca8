"""The plan's steps: recommendations applied one after the other to the same cube, each to what the ones before have left."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from advisor.evidence import Evidence
from advisor.recommendation import Level, Proposal, Recommendation, Step

Frame = Any
Walk = tuple[Sequence[Recommendation], Level]
"""Recommendations in the order in which they are applied, and under which assumptions."""


class Changed:
    """The cubes of workloads as levers change them; what is asked for again is not computed again."""

    def __init__(self, cube: Frame) -> None:
        """Take the cube of the log."""
        self.cube = cube
        # Places, not frames: of thousands of workloads only a few are changed.
        self._places: dict[str, Any] = cube.groupby("workload", sort=False, observed=True).indices
        self._made: dict[tuple[Any, ...], Frame] = {}

    def logged(self, workload: str) -> Frame:
        """Return the cube of a workload as the log has it."""
        return self.cube.iloc[self._places[workload]]

    def by(self, proposals: tuple[Proposal, ...], level: Level) -> Frame:
        """Return a workload after proposals for it, applied one after the other."""
        *before, last = proposals
        key = level, *map(id, proposals)
        if key not in self._made:
            part = self.by(tuple(before), level) if before else self.logged(last.workload)
            self._made[key] = last.change(part, level).reset_index(drop=True)
        return self._made[key]


def walk_all(
    evidence: Evidence, changed: Changed, walks: Sequence[Walk], baseline: Mapping[str, Decimal]
) -> list[list[Step]]:
    """Return the steps of each walk: those that save something where they stand.

    All steps of all walks are priced together. Where one saves nothing on what the steps before it have left, its walk is
    walked again without it.

    Args:
        evidence: What the log shows.
        changed: Its workloads, and what levers make of them.
        walks: What to apply.
        baseline: The cost of each workload as it is, in USD.
    """
    # What changes nothing alone under these assumptions changes nothing here.
    left = [[one for one in ranked if getattr(one.saving, level)] for ranked, level in walks]
    out: list[list[Step] | None] = [None] * len(walks)
    while missing := [place for place, steps in enumerate(out) if steps is None]:
        for place, steps in _walk_once(evidence, changed, walks, left, missing, baseline).items():
            if isinstance(steps, set):
                left[place] = [one for number, one in enumerate(left[place]) if number not in steps]
            else:
                out[place] = steps
    return [steps or [] for steps in out]


def better_of(steps: Sequence[Step], without: Sequence[Step], bill_usd: Decimal) -> list[Step]:
    """Return, for each workload, the steps of whichever walk saves more: a step may stand in the way of later ones.

    Args:
        steps: Of one walk.
        without: Of a walk of some of these.
        bill_usd: The bill before both.
    """
    saved = _saved_by_workload(steps)
    worse = {name for name, amount in _saved_by_workload(without).items() if amount > saved.get(name, 0)}
    places = {(step.lever, step.workload, step.title): place for place, step in enumerate(steps)}
    kept = [step for step in steps if step.workload not in worse]
    kept += [step for step in without if step.workload in worse]
    kept.sort(key=lambda step: places.get((step.lever, step.workload, step.title), len(places)))
    out: list[Step] = []
    for step in kept:
        bill_usd -= step.saving_usd
        out.append(replace(step, after_usd=bill_usd))
    return out


def cube_after(changed: Changed, ranked: Sequence[Recommendation], steps: Sequence[Step]) -> Frame:
    """Return the cube of the log after some steps, under expected assumptions.

    Args:
        changed: Its workloads, and what levers make of them.
        ranked: Recommendations, in the order in which they are applied.
        steps: Those of them that are.
    """
    planned = {(step.lever, step.workload, step.title) for step in steps}
    chosen: dict[str, tuple[Proposal, ...]] = {}
    for one in (each.proposal for each in ranked):
        if (one.lever, one.workload, one.title) in planned:
            chosen[one.workload] = (*chosen.get(one.workload, ()), one)
    parts = [changed.by(proposals, Level.EXPECTED) for proposals in chosen.values()]
    rest = changed.cube[~changed.cube["workload"].isin(list(chosen))]
    return pd.concat([rest, *parts], ignore_index=True)


def _saved_by_workload(steps: Sequence[Step]) -> dict[str, Decimal]:
    saved: dict[str, Decimal] = {}
    for step in steps:
        saved[step.workload] = saved.get(step.workload, Decimal(0)) + step.saving_usd
    return saved


def _walk_once(
    evidence: Evidence,
    changed: Changed,
    walks: Sequence[Walk],
    left: Sequence[Sequence[Recommendation]],
    places: Sequence[int],
    baseline: Mapping[str, Decimal],
) -> dict[int, list[Step] | set[int]]:
    """Return the steps of some walks or, where some save nothing, the first of those in each workload."""
    frames: list[Frame] = []
    for place in places:
        before: dict[str, tuple[Proposal, ...]] = {}
        for one in left[place]:
            name = one.proposal.workload
            before[name] = (*before.get(name, ()), one.proposal)
            frames.append(changed.by(before[name], walks[place][1]))
    after, unpriced = costs_of_cases(evidence, frames)
    frame = evidence.priced.frame
    unpriced_before = dict(frame.loc[frame["sheet"] < 0, "workload"].value_counts())
    out: dict[int, list[Step] | set[int]] = {}
    case = 0
    for place in places:
        cost, total = dict(baseline), sum(baseline.values(), Decimal(0))
        steps, useless, spoilt = list[Step](), set[int](), set[str]()
        for number, one in enumerate(left[place]):
            name, now = one.proposal.workload, after.get(case, Decimal(0))
            # A row that lost its price by the change would look like money saved.
            is_useless = now >= cost[name] or unpriced.get(case, 0) > unpriced_before.get(name, 0)
            case += 1
            if name in spoilt:
                continue
            if is_useless:
                useless.add(number)
                spoilt.add(name)
                continue
            total -= cost[name] - now
            steps.append(_step(one, cost[name] - now, total))
            cost[name] = now
        out[place] = useless or steps
    return out


def _step(one: Recommendation, saving_usd: Decimal, after_usd: Decimal) -> Step:
    return Step(
        lever=one.proposal.lever,
        workload=one.proposal.workload,
        title=one.proposal.title,
        risk=one.proposal.risk,
        saving_usd=saving_usd,
        alone_usd=one.saving.expected,
        after_usd=after_usd,
    )


def costs_of_cases(evidence: Evidence, frames: Sequence[Frame]) -> tuple[dict[int, Decimal], dict[int, int]]:
    """Return the costs of some cubes, and how many of their rows have no price, by their places: all are priced at once."""
    if not frames:
        return {}, {}
    cases = np.repeat(np.arange(len(frames)), [len(frame) for frame in frames])
    found = evidence.costs_of(pd.concat(list(frames), ignore_index=True))
    sums = np.zeros(len(frames), dtype=object)
    np.add.at(sums, cases, found.costs)
    costs = {case: found.to_usd(int(cost)) for case, cost in enumerate(sums)}
    return costs, dict(Counter(cases[~found.known].tolist()))
