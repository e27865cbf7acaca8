"""Apply a scenario: each step changes the cube that the steps before have left, and every cube is priced again, exactly."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from advisor import slices as cut
from advisor.analysis import Slice
from advisor.scenario_model import Scenario
from advisor.scenario_steps import taken
from advisor.scenario_world import Pricing, StepError, World
from pricing.frame import PricedCube

Frame = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The log before the first step, or after some step.

    Attributes:
        kind: The step's word in the file; empty for the baseline.
        title: The step in words.
        whole: Requests, tokens and cost.
        unpriced_requests: Requests without a price: not in the cost.
        complete: Whether every record has a price.
        notes: What the step left as it was, and why.
    """

    kind: str
    title: str
    whole: Slice
    unpriced_requests: int
    complete: bool
    notes: tuple[str, ...] = ()

    @property
    def cost(self) -> Decimal:
        """Cost of what has a price."""
        return self.whole.total


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A scenario applied to a log.

    Attributes:
        name: Of the scenario.
        stages: The baseline, then one a step.
        models: Before and after all steps, by (provider, model).
        workloads: The same, by workload.
    """

    name: str
    stages: tuple[Stage, ...]
    models: Mapping[str, tuple[Slice | None, Slice | None]]
    workloads: Mapping[str, tuple[Slice | None, Slice | None]]


def apply(scenario: Scenario, cube: Frame, pricing: Pricing) -> Outcome:
    """Return what every step of a scenario makes of a log.

    Args:
        scenario: The steps.
        cube: The usage cube, cut by the rate keys of its models and of those that the steps name.
        pricing: How cubes are priced.

    Raises:
        StepError: A step names something that the log, or the price book, does not have.
    """
    world = World(cube=cube, listed=pricing.listed(cube))
    first = last = pricing.shown(world)
    stages = [_stage("", "as it is", first, ())]
    for number, step in enumerate(scenario.steps, start=1):
        try:
            world, notes = taken(step, world, pricing)
        except StepError as error:
            raise StepError(error.key, str(error), number, step.do) from None
        last = pricing.shown(world)
        stages.append(_stage(step.do, step.title + step.scope, last, notes))
    return Outcome(
        name=scenario.name,
        stages=tuple(stages),
        models=_sides(first, last, ["provider_resolved", "model_resolved"]),
        workloads=_sides(first, last, ["workload"]),
    )


def _stage(kind: str, title: str, priced: PricedCube, notes: tuple[str, ...]) -> Stage:
    lost = cut.unpriced(priced)
    return Stage(
        kind=kind,
        title=title,
        whole=cut.whole(priced),
        unpriced_requests=sum(one.requests for one in lost),
        complete=not lost,
        notes=notes,
    )


def _sides(
    first: PricedCube, last: PricedCube, keys: Sequence[str]
) -> dict[str, tuple[Slice | None, Slice | None]]:
    before, after = cut.slices(first, keys), cut.slices(last, keys)
    names = dict.fromkeys((*before, *after))
    return {_name(key): (before.get(key), after.get(key)) for key in names}


def _name(key: Hashable) -> str:
    if not isinstance(key, tuple):
        return str(key)
    provider, model = key
    return f"{provider}/{model or '(no model)'}" if provider else str(model or "(no model)")
