"""Causes of a difference that are seen on single cells, each bounded by what it can explain."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.reconcile_cells import UNNAMED, Cell, CellKey
from advisor.reconcile_gap import FRACTION, Gap, day_words, name_words
from advisor.reconcile_ratio import REGION, TIER
from advisor.reconciliation import Usage
from advisor.wording import plural
from pricing.units import SECONDS_PER_DAY

_AGREES: Final = Decimal("0.01")
"""A day agrees when what is left of it is within this part of its cost, and what rounding can do."""
_MOST_LATE_DAYS: Final = 3
_FEWEST_AGREEING: Final = 2
_MOST_AGREE: Final = Decimal("0.8")
_UNCOVERED: Final = Decimal("0.02")
"""Part of a day from which a log that starts late in it, or ends early, says so."""
_TIERS: Final = {
    "batch": Decimal("0.5"),
    "flex": Decimal("0.5"),
    "priority": Decimal(2),
    "fast": Decimal(2),
}
"""Service tiers that bills name -> their usual multiple of the standard price."""
_US_SURCHARGE: Final = Decimal("1.1")


def records_of(cell: Cell) -> int:
    """Return the log's records of a cell."""
    return cell.records


def explain_missing(gap: Gap) -> None:
    """Explain days and models that only one side has."""
    cells = gap.matched.cells
    log_days = {at[0] for at, cell in cells.items() if cell.records and at[0]}
    bill_days = {at[0] for at, cell in cells.items() if cell.rows and at[0]}
    if log_days and bill_days:
        for code, days, other, side, said, rows in (
            ("days_not_in_log", bill_days - log_days, log_days, "log", "billed, and no record on", None),
            (
                "days_not_in_bill",
                log_days - bill_days,
                bill_days,
                "bill",
                "in the log, not billed:",
                records_of,
            ),
        ):
            wanted = {at: gap.left[at] for at in cells if at[0] in days}
            _take(gap, code, wanted, f"{said} {_placed(days, other, side)}" if days else "", rows)
    log_keys = {key for (_, key), cell in cells.items() if cell.records}
    bill_keys = {key for (_, key), cell in cells.items() if cell.rows}
    for code, keys, said, rows in (
        ("models_not_in_log", bill_keys - log_keys, "billed, and not in the log", None),
        ("models_not_in_bill", log_keys - bill_keys, "in the log, and not billed", records_of),
    ):
        wanted = {at: gap.left[at] for at in cells if at[1] in keys}
        names = {gap.name(at[1]) for at, amount in wanted.items() if amount}
        bare = "lines that name no model" if names and keys == {UNNAMED} else name_words(names)
        _take(gap, code, wanted, f"{said}: {bare}", rows)


def _placed(days: set[date], other: set[date], side: str) -> str:
    where = ""
    if min(days) > max(other):
        where = f", after the {side}'s last day"
    elif max(days) < min(other):
        where = f", before the {side}'s first day"
    return day_words(days) + where


def _take(
    gap: Gap, code: str, wanted: Mapping[CellKey, Decimal], evidence: str, rows: Callable[[Cell], int] | None
) -> None:
    gap.explain(code, wanted, evidence, rows or (lambda cell: cell.rows))


def explain_unpriced(gap: Gap) -> None:
    """Explain what is billed for usage that has no price: all of it, or its part by the model's mean cost."""
    wanted: dict[CellKey, Decimal] = {}
    names: set[str] = set()
    for at, cell in gap.matched.cells.items():
        if not (cell.unpriced_records and cell.rows):
            continue
        priced = cell.records - cell.unpriced_records
        mean = cell.computed_usd * cell.unpriced_records / priced if priced and cell.computed_usd else None
        wanted[at] = gap.left[at] if mean is None else mean.quantize(FRACTION)
        names.add(gap.name(at[1]))
    gap.explain(
        "unpriced_models",
        wanted,
        f"billed, and without a price here: {name_words(names)}",
        lambda cell: cell.unpriced_records,
    )


def explain_failed_alone(gap: Gap) -> None:
    """Explain failed calls of a model where they are the whole of its difference: priced here and not billed."""
    for key, cells in gap.by_model().items():
        failed = sum((cell.failed_usd for cell in cells.values()), Decimal(0))
        left = sum((gap.left[at] for at in cells), Decimal(0))
        billed = sum((cell.billed_usd for cell in cells.values()), Decimal(0))
        rounding = sum((cell.rounding_usd for cell in cells.values()), Decimal(0))
        if failed and left < 0 and abs(left + failed) <= max(billed * _AGREES, rounding):
            _not_billed(gap, {at: -cell.failed_usd for at, cell in cells.items()}, gap.name(key))


def explain_failed(gap: Gap) -> None:
    """Explain failed calls: priced here and not billed, or billed and without token counts here."""
    cells = gap.matched.cells
    taken = {at: -cell.failed_usd for at, cell in cells.items() if cell.failed_usd and cell.rows}
    if "failed_calls" not in {cause.code for cause in gap.causes}:
        _not_billed(gap, taken, name_words({gap.name(at[1]) for at in taken}))
    billed: dict[CellKey, Decimal] = {}
    for at, cell in cells.items():
        measured = cell.records - cell.failed_unmeasured - cell.unpriced_records
        if cell.failed_unmeasured and measured > 0:
            billed[at] = (cell.computed_usd * cell.failed_unmeasured / measured).quantize(FRACTION)
    count = sum(cells[at].failed_unmeasured for at in billed)
    gap.explain(
        "failed_calls",
        billed,
        f"{plural(count, 'failed call')} without token counts, billed as far as a call of the model costs on the mean",
        lambda cell: cell.failed_unmeasured,
    )


def _not_billed(gap: Gap, wanted: Mapping[CellKey, Decimal], who: str) -> None:
    gap.explain("failed_calls", wanted, f"failed calls that used tokens, priced here and not billed: {who}")


def explain_named_tiers(gap: Gap) -> None:
    """Explain tiers and regions that lines of the bill name and the log does not."""
    wanted: dict[str, dict[CellKey, Decimal]] = {}
    regional: dict[CellKey, Decimal] = {}
    for at, cell in gap.matched.cells.items():
        if not cell.computed_usd:
            continue
        for tier, billed in cell.billed_by_tier.items():
            multiple = _TIERS.get(tier)
            unlogged = billed - cell.computed_by_tier.get(tier, Decimal(0))
            if multiple and unlogged > 0:
                effect = unlogged - unlogged / multiple
                wanted.setdefault(tier, {})[at] = effect.quantize(FRACTION)
        if cell.billed_in_us_usd:
            effect = cell.billed_in_us_usd - cell.billed_in_us_usd / _US_SURCHARGE
            regional[at] = effect.quantize(FRACTION)
    for tier in sorted(wanted):
        gap.explain(TIER, wanted[tier], f"the bill's own lines say {tier}, and the log's records do not")
    gap.explain(
        REGION, regional, "the bill's own lines say that requests were kept in the US, at 1.1 times the price"
    )


def explain_partial_days(gap: Gap, usage: Usage) -> None:
    """Explain what is billed on the log's first and last day for the hours that the log does not cover."""
    for at_instant, opens in ((usage.first, True), (usage.last, False)):
        if at_instant is None:
            continue
        at_utc = at_instant.astimezone(UTC)
        midnight = datetime.combine(at_utc.date(), time(), tzinfo=UTC)
        edge = at_utc - midnight if opens else midnight + timedelta(days=1) - at_utc
        uncovered = Decimal(int(edge.total_seconds())) / SECONDS_PER_DAY
        agreeing, of = _agreeing(gap, without={at_utc.date()})
        if uncovered < _UNCOVERED or agreeing < of * _MOST_AGREE:
            continue
        # Nobody knows how the day's usage lies over its hours: twice the share of its hours is the most it can be.
        share = min(Decimal(1), 2 * uncovered)
        wanted = {
            at: (cell.billed_usd * share).quantize(FRACTION)
            for at, cell in gap.matched.cells.items()
            if at[0] == at_utc.date()
        }
        word = "begins" if opens else "ends"
        gap.explain(
            "partial_days", wanted, f"the log {word} at {at_utc:%H:%M} UTC on {numbers.day(at_utc.date())}"
        )


def explain_late_data(gap: Gap) -> None:
    """Explain a bill whose last days are smaller than computed, while the earlier ones agree: it is not complete."""
    days = sorted({at[0] for at, cell in gap.matched.cells.items() if cell.rows and at[0]}, reverse=True)
    late: list[date] = []
    for day in days[:_MOST_LATE_DAYS]:
        if _left(gap, day) >= 0 or _day_agrees(gap, day):
            break
        late.append(day)
    agreeing, of = _agreeing(gap, without=set(late))
    if not late or agreeing < _FEWEST_AGREEING or agreeing < of * _MOST_AGREE:
        return
    wanted = {at: gap.left[at] for at in gap.matched.cells if at[0] in late and gap.left[at] < 0}
    computed = sum((gap.matched.cells[at].computed_usd for at in wanted), Decimal(0))
    billed = sum((gap.matched.cells[at].billed_usd for at in wanted), Decimal(0))
    gap.explain(
        "late_data",
        wanted,
        f"{day_words(late)} at the bill's end: {_usd(billed)} billed of {_usd(computed)} computed, while "
        f"{agreeing} of {of} earlier days agree",
    )


def _usd(amount: Decimal) -> str:
    return numbers.money(amount, "USD")


def _left(gap: Gap, day: date) -> Decimal:
    return sum((amount for at, amount in gap.left.items() if at[0] == day), Decimal(0))


def _day_agrees(gap: Gap, day: date) -> bool:
    cells = [cell for at, cell in gap.matched.cells.items() if at[0] == day]
    computed = sum((cell.computed_usd for cell in cells), Decimal(0))
    rounding = sum((cell.rounding_usd for cell in cells), Decimal(0))
    return abs(_left(gap, day)) <= computed * _AGREES + rounding


def _agreeing(gap: Gap, without: set[date]) -> tuple[int, int]:
    """Return how many of the compared days agree, and of how many."""
    days = {at[0] for at, cell in gap.matched.cells.items() if at[0] and cell.rows and cell.records} - without
    return sum(_day_agrees(gap, day) for day in days), len(days)


def explain_rounding(gap: Gap) -> None:
    """Explain what is left where it is no more than rounding can do: half a unit of a line's last digit a line."""
    wanted = {
        at: gap.left[at] for at, cell in gap.matched.cells.items() if abs(gap.left[at]) <= cell.rounding_usd
    }
    lines = sum(cell.rows for cell in gap.matched.cells.values())
    bound = sum((cell.rounding_usd for cell in gap.matched.cells.values()), Decimal(0))
    gap.explain(
        "rounding",
        wanted,
        f"{plural(lines, 'line')} of the bill, each rounded to its last digit: {_usd(bound)} at most",
    )
