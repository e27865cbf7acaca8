"""Sheets of charges: usage added up over days or workloads, times the prices of the inputs; other sheets add these up."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from advisor.analysis import Slice
from advisor.cost_lines import CostLine
from advisor.render.xlsx_book import Book, Cell, formula, number, text
from advisor.render.xlsx_prices import Prices
from advisor.wording import METER_LABELS
from pricing.rules import EXACT

TOP: Final = 3
"""Row of the first group or charge, from 0, on these sheets and on those that add them up."""
OTHERS: Final = "(all other workloads)"
NO_PRICE: Final = "no price"
_ZERO: Final = Decimal(0)


@dataclass(frozen=True, slots=True)
class Charges:
    """A sheet of charges: the numbers of its groups, and the ranges that other sheets add up."""

    sheet: str
    first: int
    last: int

    def column(self, letter: str) -> str:
        """A column of the charges, as a range."""
        return f"'{self.sheet}'!${letter}${self.first}:${letter}${self.last}"

    def total(self, letter: str) -> str:
        """The sum of a column."""
        return f"SUM({self.column(letter)})"

    def sum_if(self, letter: str, *conditions: tuple[str, str]) -> str:
        """The sum of a column where others are what some cells say."""
        pairs = ",".join(f"{self.column(where)},{cell}" for where, cell in conditions)
        return f"SUMIFS({self.column(letter)},{pairs})"


GROUP, MODEL, METER, QUANTITY, LIST, COST = "A", "C", "F", "H", "I", "J"
"""Columns of charges. Groups and models go by number: names may look like conditions to Excel."""


def merged(
    lines: Iterable[CostLine], *, rest: Mapping[str, int] | None = None, **same: Any
) -> list[CostLine]:
    """Return lines added up over days or over workloads; workloads that have no number of their own become one."""
    sums: dict[Any, list[Any]] = {}
    for line in lines:
        kept = line.workload if rest is None or line.workload in rest else OTHERS
        key = replace(line, quantity=None, list_cost=_ZERO, cost=_ZERO, **{"workload": kept, **same})
        entry = sums.setdefault(key, [0, _ZERO, _ZERO])
        entry[0] += line.quantity or 0
        entry[1] = EXACT.add(entry[1], line.list_cost)
        entry[2] = EXACT.add(entry[2], line.cost)
    return [
        replace(key, quantity=None if key.meter is None else entry[0], list_cost=entry[1], cost=entry[2])
        for key, entry in sums.items()
    ]


def charges_sheet(
    book: Book,
    name: str,
    title: str,
    lines: Sequence[CostLine],
    models: Mapping[str, int],
    prices: Prices,
    group_of: Callable[[CostLine], int],
) -> Charges:
    """Write a sheet of charges.

    Args:
        book: Where it goes.
        name: Of the sheet.
        title: What charges are grouped by: Day or Workload.
        lines: Usage, added up as far as the sheet tells it apart.
        models: Model -> its number.
        prices: Where the inputs stand.
        group_of: The number of a line's group.
    """
    sheet = book.sheet(name)
    words = f"Usage by {title.lower()}, model, meter and tier: units times the prices on Assumptions."
    sheet.put(0, 0, Cell(words, "note"))
    rows = []
    for offset, line in enumerate(sorted(lines, key=lambda one: (group_of(one), -one.cost))):
        made = prices.cost_of(line, f"{QUANTITY}{TOP + 1 + offset}")
        first = Cell(line.day, "day") if title == "Day" and line.day else text(line.workload or "(no time)")
        rows.append(
            [
                number(group_of(line)),
                first,
                number(models.get(line.model, 0)),
                text(line.provider),
                text(line.model),
                text("(money that the log states)" if line.meter is None else METER_LABELS[line.meter]),
                text(line.service_tier),
                number(line.quantity),
                formula(made[0], line.list_cost) if made else number(line.list_cost, "money"),
                formula(made[1], line.cost) if made else number(line.cost, "money"),
            ]
        )
    titles = (
        f"{title} no.",
        title,
        "Model no.",
        "Provider",
        "Model",
        "Meter",
        "Tier",
        "Units",
        "List cost",
        "Cost",
    )
    end = sheet.table(TOP - 1, titles, rows, main=True)
    return Charges(sheet=name, first=TOP + 1, last=max(end, TOP + 1))


def costs_of(part: Slice, charges: Charges, group: tuple[str, str]) -> list[Cell]:
    """List and contracted cost of a group; what nothing is known of is said to be so, and is not 0."""
    if not part.is_priced:
        return [text(NO_PRICE), text(NO_PRICE)]
    listed = part.total if part.list_cost is None else part.list_cost
    return [formula(charges.sum_if(LIST, group), listed), formula(charges.sum_if(COST, group), part.total)]
