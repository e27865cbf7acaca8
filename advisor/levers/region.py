"""Surcharges for where a request is served: data zones, residency and regional endpoints. They scale every token."""

from collections.abc import Iterator
from typing import Any, Final

import pandas as pd

from advisor import numbers
from advisor.cube_changes import requests_in
from advisor.evidence import Evidence
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk
from pricing.frame import price_cube
from pricing.names import region_in_name
from pricing.rules import region_key

NAME: Final = "region"
_GLOBAL: Final = "global"
_GOVERNMENT: Final = "gov"
"""Part of the words for regions that nobody chooses by mistake."""


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each workload with requests that would cost less if they could be served anywhere."""
    for name in evidence.workloads:
        part = evidence.cube[evidence.cube["workload"] == name].reset_index(drop=True)
        moved = _moved(evidence, part)
        if not moved.any():
            continue
        rows = part[moved]
        yield Proposal(
            lever=NAME,
            workload=name,
            title="Leave the region that costs extra, if data may be processed anywhere",
            phase=None,
            change=_change(evidence, name),
            confidence=Confidence.ASSUMED,
            effort=Effort.LOW,
            risk=Risk.NONE,
            evidence=(
                Fact(label="Requests with a surcharge", value=numbers.count(requests_in(part, moved))),
                Fact(label="Served in", value=", ".join(sorted(set(_places(rows))))),
                Fact(label="Cost of these", value=numbers.money(evidence.cost_of(rows), "USD")),
            ),
            assumptions=(
                (
                    "No law, contract or promise to customers keeps this data in its region: the log does not tell. Low "
                    "and expected: all of it must stay; high: none must."
                ),
                "Models, caches and tiers are the same where requests go; a cache starts empty there.",
            ),
            how=(
                "Ask whoever answers for data protection whether these requests may be processed anywhere; stop here if not.",
                "Ask for the global endpoint: no inference_geo, a global deployment or inference profile, the plain host name.",
                "Compare time to the first token before and after: the way may be longer.",
            ),
        )


def _change(evidence: Evidence, name: str) -> Change:
    def change(cube: Any, level: Level) -> Any:
        if level is not Level.HIGH:
            return cube
        mine = (cube["workload"] == name).to_numpy(dtype=bool)
        part = cube[mine].reset_index(drop=True)
        moved = mine.copy()
        moved[mine] = _moved(evidence, part)
        return _anywhere(cube, moved) if moved.any() else cube

    return change


def _moved(evidence: Evidence, cube: Any) -> Any:
    """Return which rows cost less when they are served anywhere: an array of booleans."""
    leaving = pd.Series([_may_leave(place) for place in _places(cube)], index=cube.index, dtype=bool)
    out = leaving.to_numpy().copy()
    if not out.any():
        return out
    before = cube[leaving].reset_index(drop=True)
    after = _anywhere(before, pd.Series(data=True, index=before.index).to_numpy())
    # Priced together, so that both are in one unit.
    both = price_cube(pd.concat([before, after], ignore_index=True), evidence.book, as_of=evidence.as_of)
    names = [column for column in both.frame.columns if column.startswith("cost_")]
    costs = [sum(map(int, row)) for row in both.frame[names].itertuples(index=False, name=None)]
    priced = (both.frame["sheet"] >= 0).tolist()
    size = len(before)
    out[leaving] = [
        priced[row] and priced[row + size] and costs[row + size] < costs[row] for row in range(size)
    ]
    return out


def _places(cube: Any) -> list[str]:
    """Return where each row was served: the region in the id of its model, which the price follows, or that of the log."""
    models = {model: region_in_name(model) for model in cube["model"].dropna().unique()}
    regions: Any = cube["region"] if "region" in cube.columns else [None] * len(cube)
    return [
        models.get(model) or (region if isinstance(region, str) else "")
        for model, region in zip(cube["model"], regions, strict=True)
    ]


def _may_leave(place: str) -> bool:
    return bool(place) and place != _GLOBAL and _GOVERNMENT not in region_key(place)


def _anywhere(cube: Any, rows: Any) -> Any:
    """Return the cube with some rows served anywhere: without a region, and by the global id of their model."""
    models = cube["model"].astype(object).copy()
    for model in models[rows].dropna().unique():
        place = region_in_name(model)
        if place is not None:
            models[rows & (models == model).to_numpy()] = model.replace(f"{place}.", f"{_GLOBAL}.", 1)
    out = cube.assign(model=models.astype(cube["model"].dtype))
    if "region" in cube.columns:
        out["region"] = cube["region"].astype(object).where(~rows, None).astype(cube["region"].dtype)
    return out
