"""What a reconciliation is made of and what it says: rows of usage, lines of a bill, causes, and the outcome.

Money is Decimal in USD, exact. Days are UTC days, because bills are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from pricing.meters import Meter

RECONCILED: Final = "reconciled"
NOT_RECONCILED: Final = "not_reconciled"
NO_BILL: Final = "no_bill"

DEFAULT_TOLERANCE: Final = Decimal("0.01")
"""Part of the bill that may stay unexplained."""


class BillError(Exception):
    """A bill cannot be compared; the message says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """What the log holds of a day, model and service tier, priced."""

    day: date | None
    """None: without a time."""
    provider: str | None
    model: str | None
    tier: str | None = None
    stated: bool = True
    """Whether the log itself names the provider."""
    cost: Mapping[Meter, Decimal] = field(default_factory=dict[Meter, Decimal])
    records: int = 0
    unpriced_records: int = 0
    unmeasured: bool = False
    """The records carry no token count: what they cost is unknown."""

    @property
    def cost_usd(self) -> Decimal:
        """Computed cost of all meters."""
        return sum(self.cost.values(), Decimal(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class BillLine:
    """Lines of a bill that agree in everything but the amount, added up."""

    day: date | None
    """None: the line is for longer than a day."""
    provider: str | None
    model: str | None
    meter: str | None
    """The meter's name; None: the line does not say."""
    kind: str
    """See ``workloads.charge_words.KINDS``."""
    amount_usd: Decimal
    rows: int = 1
    rounding_usd: Decimal = Decimal(0)
    """Half a unit of the export's last digit, for every row."""
    tier: str | None = None
    region: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """A provider's own account of what it charges."""

    lines: tuple[BillLine, ...]
    sources: tuple[str, ...] = ()
    """Names of the formats that it came in."""
    notes: tuple[str, ...] = ()
    """What was left out of it, in sentences."""
    is_complete: bool = True
    """False: pages or parts of it are known to be missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The log's side."""

    rows: tuple[UsageRow, ...]
    failed: tuple[UsageRow, ...] = ()
    """Those of the rows' records that the log marks as failed, again."""
    first: datetime | None = None
    last: datetime | None = None
    """Instants of the first and the last record, UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A named part of the difference between bill and computed cost."""

    code: str
    amount_usd: Decimal
    """Above zero where the bill is the larger."""
    evidence: str
    rows: int
    """Lines of the bill, or records of the log where the bill has none, that it rests on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Computed and billed cost of usage for one day, model or meter."""

    key: date | str | None
    computed_usd: Decimal
    billed_usd: Decimal
    unexplained_usd: Decimal | None = None
    """What no cause explains of the difference; None where causes are not looked for (meters)."""

    @property
    def difference_usd(self) -> Decimal:
        """Billed less computed."""
        return self.billed_usd - self.computed_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """Computed cost against the bill. ``difference_usd == sum of the causes + unexplained_usd``, to the last digit."""

    status: str
    tolerance_ratio: Decimal
    computed_usd: Decimal
    billed_usd: Decimal
    causes: tuple[Cause, ...]
    """In the order in which they were looked for."""
    unexplained_usd: Decimal
    compared_usd: Decimal
    """Billed usage for which the log has usage on the same day and of the same model."""
    by_day: tuple[Compared, ...]
    by_model: tuple[Compared, ...]
    by_meter: tuple[Compared, ...]
    """Empty when the bill names no meters."""
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    bill_is_complete: bool = True

    @property
    def difference_usd(self) -> Decimal:
        """Billed less computed."""
        return self.billed_usd - self.computed_usd

    @property
    def is_reconciled(self) -> bool:
        """Whether what stays unexplained is within the tolerance."""
        return self.status == RECONCILED

    @property
    def unexplained_ratio(self) -> float | None:
        """Unexplained part of the bill, without its sign; None for a bill of nothing."""
        return abs(float(self.unexplained_usd / self.billed_usd)) if self.billed_usd else None

    @property
    def covers_the_log(self) -> bool:
        """Whether all usage of the log is of providers that the bill is from."""
        return all(cause.code != "other_providers" for cause in self.causes)
