"""The sheet of assumptions: every price, discount and exchange rate once, as inputs that all costs follow."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from advisor.analysis import Analysis
from advisor.cost_lines import CostLine
from advisor.document_money import money
from advisor.render.focus_columns import pricing_unit
from advisor.render.xlsx_book import TEXT_LIMIT, Book, Cell, number, text
from advisor.wording import METER_LABELS, clean
from pricing.rules import EXACT
from pricing.units import TOKENS_PER_MTOK

SHEET: Final = "Assumptions"
_TOP: Final = 6
_FX_COLUMN: Final = 14
_PriceKey = tuple[int, Decimal]
"""Which of the analysis's prices, and the multiplier of what was negotiated."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Where inputs stand.

    Attributes:
        rows: Price and multiplier -> row of the sheet, as Excel counts.
        rates: Exchange rate -> its cell; empty for a report in USD.
    """

    rows: Mapping[_PriceKey, int]
    rates: Mapping[Decimal, str]

    def cost_of(self, line: CostLine, quantity: str) -> tuple[str, str] | None:
        """The formulas of a line's list and contracted cost; None where the log states its money.

        Args:
            line: Any line at this price.
            quantity: The cell with its units.
        """
        if line.price is None or line.meter is None:
            return None
        row = self.rows[line.price, line.multiplier]
        units = f"{quantity}/{TOKENS_PER_MTOK}" if line.meter.per_million else quantity
        rate = f"*{self.rates[line.fx_rate]}" if self.rates else ""
        return f"{units}*{SHEET}!$F${row}{rate}", f"{units}*{SHEET}!$H${row}{rate}"


def assumptions(book: Book, analysis: Analysis) -> Prices:
    """Write the sheet, and return where the inputs stand."""
    sheet = book.sheet(SHEET)
    sheet.put(0, 0, Cell("Assumptions", "title"))
    note = "Yellow cells are inputs. Change one, and the costs on Daily, Allocation and Summary follow. Prices are USD."
    sheet.put(1, 0, Cell(note, "note"))
    sheet.row(3, [Cell("Factor on all costs (0.9 is 10 % off)", "strong"), number(1, "input_factor")])
    book.name("CostFactor", f"{SHEET}!$B$4")
    lines = () if analysis.cost_lines is None else analysis.cost_lines.lines
    keys = sorted({(line.price, line.multiplier) for line in lines if line.price is not None})
    rows = {key: _TOP + 2 + offset for offset, key in enumerate(keys)}
    titles = (
        "Model", "Provider", "Meter", "Rule", "Price is for", "List price (USD)", "Negotiated multiplier",
        "Contracted price (USD)", "Valid from", "Valid until", "Source", "Source read on",
    )  # fmt: skip
    sheet.table(_TOP, titles, [_price_row(analysis, key, row) for key, row in rows.items()], main=True)
    for offset, words in enumerate(_terms(analysis)):
        sheet.put(_TOP + len(rows) + 2 + offset, 0, Cell(clean(words, TEXT_LIMIT), "note"))
    rates = sorted({line.fx_rate for line in lines}) if analysis.cost.conversion is not None else []
    if analysis.cost.currency == "USD" or not rates:
        return Prices(rows=rows, rates={})
    heads = (f"Exchange rate ({analysis.cost.currency} per USD)", "Day or month")
    used = {} if analysis.cost.conversion is None else analysis.cost.conversion.rates
    named = {rate: ", ".join(key for key, one in used.items() if one == rate) for rate in rates}
    table = [(number(rate, "input_factor"), text(named[rate])) for rate in rates]
    sheet.table(_TOP, heads, table, column=_FX_COLUMN)
    places = {rate: f"{SHEET}!$O${_TOP + 2 + offset}" for offset, rate in enumerate(rates)}
    return Prices(rows=rows, rates=places)


def _price_row(analysis: Analysis, key: _PriceKey, row: int) -> list[Cell]:
    price, multiplier = analysis.prices[key[0]], key[1]
    return [
        text(price.model),
        text(price.provider),
        text(METER_LABELS[price.meter]),
        text(price.rule),
        text(pricing_unit(price.meter).replace("1000000", "1,000,000")),
        number(price.usd_per_unit, "input_price"),
        number(multiplier, "input_factor"),
        Cell(float(EXACT.multiply(price.usd_per_unit, multiplier)), "price", f"=F{row}*G{row}*CostFactor"),
        Cell(price.valid_from.date(), "day") if price.valid_from else text("open"),
        Cell(price.valid_until.date(), "day") if price.valid_until else text("open"),
        text(price.source),
        Cell(price.retrieved, "day") if price.retrieved else text("not known"),
    ]


def _terms(analysis: Analysis) -> Iterator[str]:
    """What the user's own terms are, beside the multipliers that they came to."""
    for one in analysis.cost.discounts:
        yield f"Discount on {one.discount.scope}: x{money(one.discount.multiplier)} ({one.discount.where})"
    for use in analysis.cost.commitments:
        yield f"Commitment {use.commitment.name}, {use.first} to {use.last}: {money(use.committed_usd)} USD owed"
    yield from analysis.provenance.assumptions
