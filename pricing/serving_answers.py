"""What a table of deployments and loads comes to: each row's quantities with their bands, or why it was refused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from pricing.calibration import Band, Calibration
from pricing.deployment import Floats, setups
from pricing.errors import PricingError
from pricing.serving import Points, serve
from pricing.serving_table import Case, Kind, cases_of
from pricing.units import MILLISECONDS_PER_SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number and the interval that held 80 % of what was measured elsewhere."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one row comes to.

    Attributes:
        estimates: Quantity (``tpot_ms``) to its estimate; only what the row's kind has.
        refused: Why there are none; None if there are.
        tier: What the band rests on: ``anchor``, ``model`` (unseen) or ``family`` (unseen).
    """

    row_id: str
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    refused: str | None = None
    tier: str | None = None
    layout: str | None = None


_TIME_QUANTITIES: Final[Mapping[Kind, tuple[str, ...]]] = {
    "single": ("tpot", "ttft"),
    "batch": ("tpot", "ttft"),
    "serving": ("tpot", "ttft"),
    "pools": ("tpot", "ttft"),
    "saturated": (),
}
_MEASURED: Final[Mapping[str, str]] = {
    "tpot": "tpot_ms", "ttft": "ttft_ms", "throughput": "output_tok_s_per_gpu",
}  # fmt: skip
_LAYOUT_BAND: Final = 1.15
"""By which the band is wider, both ways, where the layout is not stated."""
Anchors = Mapping[tuple[str, ...], float]
"""Model, accelerator, engine and quantity to the logarithm of measured over estimated."""


def answers(
    table: Sequence[Mapping[str, str]], fitted: Calibration, measured: Sequence[Mapping[str, str]] = ()
) -> tuple[Answer, ...]:
    """Work out a table.

    Args:
        table: Rows, column to text (see ``serving_table.COLUMNS``).
        fitted: The calibration.
        measured: Rows with measured values too: estimates for the same model, accelerator and engine are moved to them.
    """
    anchors = _anchors(measured, fitted) if measured else {}
    return _answers(table, fitted, anchors)


def _answers(table: Sequence[Mapping[str, str]], fitted: Calibration, anchors: Anchors) -> tuple[Answer, ...]:
    refusals: dict[int, str] = {}
    cases: list[Case] = []
    owners: list[int] = []
    for at, row in enumerate(table):
        try:
            found = cases_of(row)
        except PricingError as error:
            refusals[at] = str(error)
            continue
        cases += found
        owners += [at] * len(found)
    points = _serve(cases, fitted)
    best: dict[int, int] = {}
    rate = points.output_tokens_per_second_per_gpu
    for number, owner in enumerate(owners):
        if owner not in best or rate[number] > rate[best[owner]]:
            best[owner] = number
    return tuple(
        Answer(row_id=row.get("row_id", "").strip(), refused=refusals[at])
        if at in refusals
        else _answer(cases[best[at]], points, best[at], fitted, anchors)
        for at, row in enumerate(table)
    )


def _serve(cases: Sequence[Case], fitted: Calibration) -> Points:
    return serve(
        setups(
            [case.deployment for case in cases],
            [case.load for case in cases],
            [case.sequences for case in cases],
            [fitted.family_of(case.deployment.accelerator) for case in cases],
        ),
        fitted,
    )


def _answer(case: Case, points: Points, at: int, fitted: Calibration, anchors: Anchors) -> Answer:
    family = fitted.family_of(case.deployment.accelerator)
    tier = "model" if family in fitted.seen else "family"
    found: dict[str, Estimate] = {}

    def moved(quantity: str, value: float) -> tuple[float, Band]:
        off = anchors.get((*_deployed(case), quantity))
        band = fitted.bands[f"{case.kind}.{quantity}"]
        if off is None:
            return value, band[tier]
        return value * float(np.exp(off)), band.get("anchor", band[tier])

    times = {"tpot": _at(points.tpot_seconds, at), "ttft": _at(points.ttft_seconds, at)}
    moved_by: dict[str, float] = {}
    for quantity in _TIME_QUANTITIES[case.kind]:
        value, band = moved(quantity, times[quantity] * MILLISECONDS_PER_SECOND)
        found[_MEASURED[quantity]] = Estimate(value=value, low=value * band.low, high=value * band.high)
        moved_by[quantity] = value / (times[quantity] * MILLISECONDS_PER_SECOND)
    rate = _at(points.output_tokens_per_second_per_gpu, at) * case.share
    if case.kind == "saturated":
        value, band = moved("throughput", rate)
        if case.open_layout:
            band = replace(band, low=band.low / _LAYOUT_BAND, high=band.high * _LAYOUT_BAND)
        found["output_tok_s_per_gpu"] = Estimate(value=value, low=value * band.low, high=value * band.high)
    else:
        band = moved("tpot", 1.0)[1]
        found["output_tok_s_per_gpu"] = _inverse(rate / moved_by["tpot"], band)
        prefill = _at(points.prefill_tokens_per_second, at)
        found["prefill_tok_s"] = _inverse(prefill / moved_by["ttft"], moved("ttft", 1.0)[1])
    anchored = any(key[: len(_deployed(case))] == _deployed(case) for key in anchors)
    return Answer(
        row_id=case.row_id,
        estimates=found,
        tier="anchor" if anchored else tier,
        layout=case.deployment.layout.words,
    )


def _inverse(rate: float, band: Band) -> Estimate:
    """A rate with the band of the time that it comes from."""
    return Estimate(value=rate, low=rate / band.high, high=rate / band.low)


def _at(column: Floats, at: int) -> float:
    return float(column[at])


def _deployed(case: Case) -> tuple[str, ...]:
    one = case.deployment
    return one.model.id, one.accelerator.id, one.variant or one.engine


def _anchors(measured: Sequence[Mapping[str, str]], fitted: Calibration) -> Anchors:
    """How far the estimates are off where somebody measured, by deployment and quantity (mean of the logarithms)."""
    parts: dict[tuple[str, ...], list[float]] = {}
    for row, answer in zip(measured, _answers(measured, fitted, {}), strict=True):
        if answer.refused:
            continue
        case = cases_of(row)[0]
        for quantity, column in _MEASURED.items():
            value = _measured(row, column)
            if value and column in answer.estimates:
                off = float(np.log(value / answer.estimates[column].value))
                parts.setdefault((*_deployed(case), quantity), []).append(off)
    return {key: sum(found) / len(found) for key, found in parts.items()}


def _measured(row: Mapping[str, str], column: str) -> float | None:
    try:
        return float(row.get(column, "")) or None
    except ValueError:
        return None
