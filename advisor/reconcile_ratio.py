"""Causes that show as one constant ratio of billed to computed cost: a service tier, a region, an agreed discount."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from statistics import median
from typing import Final

from advisor.reconcile_cells import Cell, CellKey
from advisor.reconcile_gap import FRACTION, Gap, name_words

TIER: Final = "tier"
REGION: Final = "region"
DISCOUNT: Final = "discount"

_BAND: Final = Decimal("0.005")
"""A day is at a ratio when it is within this part of its bill, and what rounding can do."""
_SUPPORT: Final = Decimal("0.6")
"""Part of the days that must be at the ratio."""
_FEWEST_DAYS: Final = 3
_TOO_SMALL: Final = Decimal("0.001")
"""Part of a model's bill below which no ratio is looked for."""
_DISCOUNTS: Final = (Decimal("0.2"), Decimal("0.99"))
"""Ratios that people agree on. Below are wrong units, above is noise."""
_DISCOUNT_STEPS: Final = (Decimal("0.01"), Decimal("0.001"))

_KNOWN: Final[Mapping[Decimal, tuple[str, str]]] = {
    Decimal("0.5"): (TIER, "the price of a batch or flex tier that the log does not state"),
    Decimal("0.55"): (TIER, "a batch price in a region with a surcharge of 10 %, neither stated in the log"),
    Decimal("1.1"): (REGION, "the surcharge of 10 % for a region, which the log does not state"),
    Decimal("1.75"): (TIER, "the price of a priority tier that the log does not state"),
    Decimal("1.8"): (TIER, "the price of a priority tier that the log does not state"),
    Decimal(2): (TIER, "the price of a priority or fast tier that the log does not state"),
    Decimal("2.5"): (TIER, "the price of a priority or fast tier that the log does not state"),
}
"""Ratios that providers publish -> cause and meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    code: str
    ratio: Decimal
    meaning: str


@dataclass(slots=True, kw_only=True)
class _Support:
    """The models at a ratio, and how many of their days are at it."""

    keys: list[str] = field(default_factory=list[str])
    cells: dict[CellKey, Cell] = field(default_factory=dict[CellKey, Cell])
    at: int = 0

    def add(self, keys: Iterable[str], cells: Mapping[CellKey, Cell], at: int) -> None:
        self.keys += keys
        self.cells |= cells
        self.at += at


def explain_ratios(gap: Gap) -> None:
    """Explain what constant ratios of billed to computed cost explain: one of all models, else each model's own.

    What has no ratio of its own is looked at together once more: a few days each of many models are many days.
    """
    models = {key: cells for key, cells in gap.by_model().items() if not _is_settled(gap, cells)}
    everything = {at: cell for cells in models.values() for at, cell in cells.items()}
    found: dict[_Finding, _Support] = {}
    common = _find(gap, everything)
    if common is not None and all(_is_near(gap, cells, common[0].ratio) for cells in models.values()):
        found.setdefault(common[0], _Support()).add(models, everything, common[1])
        models = {}
    rest: dict[CellKey, Cell] = {}
    for key, cells in models.items():
        own = _find(gap, cells)
        if own is None:
            rest |= cells
        else:
            found.setdefault(own[0], _Support()).add([key], cells, own[1])
    together = _find(gap, rest) if len({key for _, key in rest}) > 1 else None
    if together is not None:
        found.setdefault(together[0], _Support()).add({key for _, key in rest}, rest, together[1])
    for finding in sorted(found, key=lambda item: (item.code, item.ratio)):
        _apply(gap, finding, found[finding], of_models=len(gap.by_model()))


def _is_settled(gap: Gap, cells: Mapping[CellKey, Cell]) -> bool:
    """Return whether so little is left of a model that no ratio is worth looking for."""
    left = abs(sum((gap.left[at] for at in cells), Decimal(0)))
    rounding = sum((cell.rounding_usd for cell in cells.values()), Decimal(0))
    return left <= max(rounding, sum(_billed(gap, cells).values(), Decimal(0)) * _TOO_SMALL)


def _billed(gap: Gap, cells: Mapping[CellKey, Cell]) -> dict[CellKey, Decimal]:
    """Return what is billed for cells, less what is explained already."""
    return {at: cell.computed_usd + gap.left[at] for at, cell in cells.items()}


def _is_near(gap: Gap, cells: Mapping[CellKey, Cell], ratio: Decimal) -> bool:
    computed = sum((cell.computed_usd for cell in cells.values()), Decimal(0))
    rounding = sum((cell.rounding_usd for cell in cells.values()), Decimal(0))
    billed = sum(_billed(gap, cells).values(), Decimal(0))
    return abs(billed - ratio * computed) <= abs(billed) * _BAND * 2 + rounding


def _find(gap: Gap, cells: Mapping[CellKey, Cell]) -> tuple[_Finding, int] | None:
    """Return the ratio that most of the cells are at, when it has a meaning, and how many are at it."""
    if not cells:
        return None
    billed = _billed(gap, cells)
    middle = median(billed[at] / cell.computed_usd for at, cell in cells.items())
    for ratio, (code, meaning) in (*_near(middle), *_discount(middle)):
        at = sum(
            abs(billed[key] - ratio * cell.computed_usd) <= abs(billed[key]) * _BAND + cell.rounding_usd
            for key, cell in cells.items()
        )
        enough = at >= _FEWEST_DAYS if code == DISCOUNT else at == len(cells) or at >= _FEWEST_DAYS
        if enough and at >= len(cells) * _SUPPORT:
            return _Finding(code=code, ratio=ratio, meaning=meaning), at
    return None


def _near(ratio: Decimal) -> Sequence[tuple[Decimal, tuple[str, str]]]:
    return [(known, said) for known, said in _KNOWN.items() if abs(ratio - known) <= known * _BAND * 2]


def _discount(ratio: Decimal) -> Sequence[tuple[Decimal, tuple[str, str]]]:
    """Return the discounts that a ratio may be, in whole percent first: that is how they are agreed."""
    agreed = [ratio.quantize(step) for step in _DISCOUNT_STEPS]
    return [
        (one, (DISCOUNT, f"an agreed discount of {(100 - one * 100).normalize():f} %"))
        for one in agreed
        if _DISCOUNTS[0] <= one <= _DISCOUNTS[1]
    ]


def _apply(gap: Gap, finding: _Finding, support: _Support, *, of_models: int) -> None:
    wanted = {
        at: (cell.computed_usd * (finding.ratio - 1)).quantize(FRACTION) for at, cell in support.cells.items()
    }
    named = {gap.name(key) for key in support.keys}
    who = f"all {len(named)} models" if len(named) == of_models > 1 else name_words(named)
    days = "days" if len(support.keys) == 1 else "days of a model"
    dated = any(day is not None for day, _ in support.cells)
    where = f"on {support.at} of {len(support.cells)} {days}" if dated else "over the whole period"
    gap.explain(
        finding.code,
        wanted,
        f"billed {finding.ratio.normalize():f} times the computed cost {where} for {who}: {finding.meaning}",
    )
