"""Causes that show as one constant ratio of billed to computed cost: a service tier, a region, an agreed discount."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median
from typing import Final

from advisor import numbers
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
_DISCOUNT_STEP: Final = Decimal("0.001")

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
    at: int
    """Cells at the ratio."""
    of: int


def explain_ratios(gap: Gap) -> None:
    """Explain what constant ratios of billed to computed cost explain, model by model, then of all that is left."""
    found: dict[_Finding, tuple[list[str], dict[CellKey, Cell]]] = {}
    rest: dict[CellKey, Cell] = {}
    models = gap.by_model()
    for key, cells in models.items():
        finding = _find(cells, gap.left)
        if finding is None:
            rest |= cells
            continue
        names, members = found.setdefault(finding, ([], {}))
        names.append(key)
        members |= cells
    for finding in sorted(found, key=lambda item: (item.code, item.ratio, item.at)):
        names, members = found[finding]
        _apply(gap, finding, names, members, everything=len(names) == len(models) > 1)
    together = _find(rest, gap.left)
    if together is not None and len({key for _, key in rest}) > 1:
        _apply(gap, together, [key for _, key in rest], rest, everything=len(rest) and not found)


def _find(cells: Mapping[CellKey, Cell], left: Mapping[CellKey, Decimal]) -> _Finding | None:
    """Return the ratio that most of the cells are at, when it is one that has a meaning."""
    if not cells:
        return None
    billed = {at: cell.computed_usd + left[at] for at, cell in cells.items()}
    total_left = abs(sum((left[at] for at in cells), Decimal(0)))
    total_rounding = sum((cell.rounding_usd for cell in cells.values()), Decimal(0))
    if total_left <= max(total_rounding, sum(billed.values(), Decimal(0)) * _TOO_SMALL):
        return None
    middle = median(billed[at] / cell.computed_usd for at, cell in cells.items())
    for ratio, (code, meaning) in (*_near(middle), *_discount(middle)):
        at = sum(
            abs(billed[key] - ratio * cell.computed_usd) <= abs(billed[key]) * _BAND + cell.rounding_usd
            for key, cell in cells.items()
        )
        enough = at >= _FEWEST_DAYS if code == DISCOUNT else at == len(cells) or at >= _FEWEST_DAYS
        if enough and at >= len(cells) * _SUPPORT:
            return _Finding(code=code, ratio=ratio, meaning=meaning, at=at, of=len(cells))
    return None


def _near(ratio: Decimal) -> Sequence[tuple[Decimal, tuple[str, str]]]:
    return [(known, said) for known, said in _KNOWN.items() if abs(ratio - known) <= known * _BAND * 2]


def _discount(ratio: Decimal) -> Sequence[tuple[Decimal, tuple[str, str]]]:
    if not _DISCOUNTS[0] <= ratio <= _DISCOUNTS[1]:
        return []
    agreed = ratio.quantize(_DISCOUNT_STEP)
    return [(agreed, (DISCOUNT, f"an agreed discount of {numbers.share(1 - agreed)}"))]


def _apply(
    gap: Gap, finding: _Finding, keys: Iterable[str], cells: Mapping[CellKey, Cell], *, everything: object
) -> None:
    wanted = {at: (cell.computed_usd * (finding.ratio - 1)).quantize(FRACTION) for at, cell in cells.items()}
    named = sorted({gap.name(key) for key in keys})
    who = f"all {len(named)} models" if everything and len(named) > 1 else name_words(named)
    dated = any(day is not None for day, _ in cells)
    what = "days" if finding.of <= len({day for day, _ in cells}) else "days of a model"
    support = f"on {finding.at} of {finding.of} {what}" if dated else "over the whole period"
    gap.explain(
        finding.code,
        wanted,
        f"billed {finding.ratio.normalize():f} times the computed cost {support} for {who}: {finding.meaning}",
    )
