"""List, contracted and effective cost side by side, and what discounts, commitments and the exchange did."""

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from advisor import numbers
from advisor.analysis import Analysis, CostReport, Slice
from advisor.view_model import Cell, CostSection, Table, TableColumn
from advisor.wording import clean, name_cell

if TYPE_CHECKING:  # only reports with terms have them
    from pricing.commitment_use import CommitmentUse
    from pricing.discounts import AppliedDiscount

_USD: Final = "USD"


def cost_section(analysis: Analysis) -> CostSection | None:
    """The three costs, when they differ or are not all in one currency; None for a plain report in USD."""
    cost = analysis.cost
    plain = cost.list_total == cost.total and not cost.discounts and not cost.commitments
    if plain and cost.conversion is None:
        return None
    return CostSection(
        table=_totals(cost, plain=plain),
        discounts=_discounts(cost.discounts) if cost.discounts else None,
        commitments=_commitments(cost.commitments) if cost.commitments else None,
        notes=_notes(cost),
    )


def effective_total(cost: CostReport) -> Decimal:
    """Contracted cost with what is owed for commitments."""
    return cost.total if cost.effective_total is None else cost.effective_total


def unconverted_usd(cost: CostReport) -> Decimal:
    """USD of usage that is in no total because its days have no exchange rate."""
    done = cost.conversion
    if done is None or done.currency == _USD:
        return Decimal(0)
    return sum(done.unconverted.values(), Decimal(0))


def kept_in_usd(part: Slice) -> Cell | None:
    """The cost cell of a part that stays in USD as a whole; None for every other part."""
    usd = part.in_usd
    if usd is None:
        return None
    return Cell(
        text=numbers.money(usd, _USD),
        exact=numbers.money_exact(usd, _USD),
        value="-1",
        warning="in USD: no exchange rate",
    )


def _totals(cost: CostReport, *, plain: bool) -> Table:
    columns = (
        TableColumn(key="kind", title="Cost"),
        TableColumn(key="amount", title=f"Amount, {cost.currency}", number=True),
        TableColumn(key="change", title="Against list", number=True),
    )
    at_list = "usage at published prices, or at your own cards"
    rows = (
        ("List cost", cost.list_total, at_list),
        ("Contracted cost", cost.total, "after discounts; the totals of this report"),
        ("Effective cost", effective_total(cost), "with commitments: what is owed, and usage beyond it"),
    )
    return Table(
        slug="costs",
        caption="List, contracted and effective cost",
        columns=columns,
        rows=tuple(
            (Cell(text=name, note=meaning), _amount(amount), _change(amount, cost.list_total))
            for name, amount, meaning in ((("Cost", cost.total, at_list),) if plain else rows)
        ),
    )


def _amount(amount: Decimal, currency: str | None = None) -> Cell:
    return Cell(
        text=numbers.money(amount, currency),
        exact=numbers.money_exact(amount, currency),
        value=f"{amount:.6f}",
    )


def _change(amount: Decimal, list_total: Decimal) -> Cell:
    if not list_total or amount == list_total:
        return Cell(text=numbers.MISSING, value="0")
    part = (amount - list_total) / list_total
    return Cell(text=f"{'+' if part > 0 else ''}{numbers.share(part)}", value=f"{part:.6f}")


def _discounts(applied: "tuple[AppliedDiscount, ...]") -> Table:
    columns = (
        TableColumn(key="scope", title="Discount for"),
        TableColumn(key="multiplier", title="Multiplier", number=True),
        TableColumn(key="list", title="List cost, USD", number=True),
        TableColumn(key="contracted", title="Contracted cost, USD", number=True),
        TableColumn(key="source", title="Row"),
    )
    rows = tuple(
        (
            name_cell(one.discount.scope),
            Cell(text=f"{one.discount.multiplier:f}", value=f"{one.discount.multiplier:f}"),
            *(
                _amount(usd, _USD) if one.list_usd else Cell(text=numbers.MISSING, value="-1")
                for usd in (one.list_usd, one.contracted_usd)
            ),
            name_cell(one.discount.where, limit=64),
        )
        for one in applied
    )
    return Table(slug="discounts", caption="Discounts", columns=columns, rows=rows)


def _commitments(uses: "tuple[CommitmentUse, ...]") -> Table:
    columns = (
        TableColumn(key="name", title="Commitment"),
        TableColumn(key="days", title="Days"),
        TableColumn(key="committed", title="Owed, USD", number=True),
        TableColumn(key="contracted", title="Usage it covers, USD", number=True, hint="At contracted cost"),
        TableColumn(key="effective", title="Effective, USD", number=True),
        TableColumn(key="unused", title="Not used, USD", number=True),
        TableColumn(key="used", title="Used", number=True),
    )
    rows = tuple(
        (
            name_cell(use.commitment.name, note=use.commitment.covers),
            Cell(
                text=numbers.day_range(use.first, use.last),
                value=use.first.isoformat(),
                note="part of a month" if use.is_partial else "",
            ),
            _amount(use.committed_usd, _USD),
            _amount(use.contracted_usd, _USD),
            _amount(use.effective_usd, _USD),
            Cell(text="not known", value="-1") if use.unused_usd is None else _amount(use.unused_usd, _USD),
            _used(use),
        )
        for use in uses
    )
    note = (
        "Throughput is used by the mean over all minutes of the days; the busiest minute is not known from here."
        if any(use.commitment.covers == "throughput" and use.utilisation_ratio is not None for use in uses)
        else ""
    )
    return Table(slug="commitments", caption="Commitments", columns=columns, rows=rows, note=note)


def _used(use: "CommitmentUse") -> Cell:
    if use.utilisation_ratio is None:
        why = "its card states no included_tokens_per_minute" if use.committed_usd else "nothing is owed"
        return Cell(text="not known", value="-1", note=why)
    return Cell(text=numbers.share(use.utilisation_ratio), value=f"{use.utilisation_ratio:.6f}")


def _notes(cost: CostReport) -> tuple[str, ...]:
    done = cost.conversion
    notes: list[str] = []
    if done is not None and done.rates:
        rates = ", ".join(f"{key} {rate:f}" for key, rate in list(done.rates.items())[:12])
        more = len(done.rates) - 12
        notes.append(
            f"{done.currency} per USD, from {clean(done.source)}: {rates}{f' and {more} more' if more > 0 else ''}."
        )
    if done is not None and done.unconverted:
        months = ", ".join(f"{month} ({numbers.money(usd, _USD)})" for month, usd in done.unconverted.items())
        notes.append(f"Without an exchange rate, and so left in USD: {months}.")
    return tuple(notes)
