"""The section that finance reads, as plain data."""

from dataclasses import dataclass

from advisor.view_model import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastPart:
    """What the bill will be, or why that is not said.

    Attributes:
        line: The whole of it in one sentence.
        table: Months with their range; None: there is no forecast.
        method: How it was made, and how wrong that was on days held back; empty without a forecast.
        notes: What a reader must know.
    """

    line: str
    table: Table | None
    method: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FinanceSection:
    """Finance's questions.

    Attributes:
        forecast: What it will be.
    """

    forecast: ForecastPart
