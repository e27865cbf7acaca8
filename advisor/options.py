"""What a run is asked to do, as one frozen value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.reconciliation import DEFAULT_TOLERANCE
from workloads.load import LoadOptions
from workloads.period import Period

if TYPE_CHECKING:  # only needed by runs that compare
    from advisor.budget import Budget
    from advisor.finance_options import FinanceOptions
    from advisor.hosting import HostingOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyseOptions:
    """Everything that decides the numbers of a run.

    Attributes:
        as_of: The moment of the report, timezone-aware; records without a time are priced then.
        load: How the input is read.
        price_files: The user's own price cards, later ones over earlier ones.
        price_book: An exported book instead of the built-in one.
        model_names: What names of the log stand for.
        discount_files: Negotiated terms: discounts and commitments.
        currency: ISO 4217 code of the report's amounts.
        fx_file: Rates of that currency; needed for any but USD.
        group_by: What a workload is; empty: the best that the log offers.
        period: Which days count, and in which zone.
        show_users: Whether users appear under the names that the log has.
        bills: Where a provider's bill is, to compare with; empty: none is given.
        tolerance_ratio: Part of the bill that may stay unexplained.
        memory_limit: Memory of the engine, such as ``2GB``; None: the engine's own default.
        engine: Which engine adds up, see ``workloads.engines``; None: the embedded one.
        command: The command line, for the report's own account.
        self_host: What own accelerators are to be compared with; None: nothing is.
        budgets: Limits that are looked at.
        finance: What finance asks for besides; None: nothing.
        cost_lines: Whether the bill is wanted line by line, for exports.
        most_cost_lines: A bill of more lines is of no use line by line; None: any is.
    """

    as_of: datetime
    load: LoadOptions = field(default_factory=LoadOptions)
    price_files: tuple[Path, ...] = ()
    price_book: Path | None = None
    model_names: Mapping[str, str] = field(default_factory=dict[str, str])
    discount_files: tuple[Path, ...] = ()
    currency: str = "USD"
    fx_file: Path | None = None
    group_by: tuple[str, ...] = ()
    period: Period = field(default_factory=Period)
    show_users: bool = False
    bills: tuple[str, ...] = ()
    tolerance_ratio: Decimal = DEFAULT_TOLERANCE
    memory_limit: str | None = None
    engine: str | None = None
    command: str = ""
    self_host: "HostingOptions | None" = None
    budgets: "tuple[Budget, ...]" = ()
    finance: "FinanceOptions | None" = None
    cost_lines: bool = False
    most_cost_lines: int | None = None
