"""Price a whole cube at once, exactly: the same money as ``pricing.charges``, for a million rows a second or so.

Rows are grouped by the card they fall under and bucketed by its breakpoints, clock edges, context thresholds and
service tiers; one rate sheet is resolved per bucket. All rates are then scaled to integers of one power of ten, so
the arithmetic is that of Python integers and nothing is rounded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pandas as pd

from pricing.book import PriceBook, card_keys
from pricing.cards import PriceCard, RateSheet
from pricing.charges import MTOK_DIGITS, Unpriced, UnpricedCode, missing_rate, sheet_or_reason
from pricing.errors import PricingError
from pricing.meters import Meter
from pricing.rules import minute_of_week
from pricing.units import MICROSECONDS_PER_SECOND, MINUTES_PER_DAY, MINUTES_PER_WEEK, SECONDS_PER_MINUTE

_US_PER_MINUTE: Final = SECONDS_PER_MINUTE * MICROSECONDS_PER_SECOND
_EPOCH_MINUTE: Final = minute_of_week(datetime(1970, 1, 1, tzinfo=UTC))
_INT64_MAX: Final = 2**63 - 1

# pandas and numpy are only partly typed, so arrays are plain Any inside this module.
_Array = Any
_Key = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedCube:
    """A cube with its cost.

    Attributes:
        frame: The input columns, and ``provider_resolved``, ``model_resolved``, ``sheet`` (index into ``sheets``, -1
            when unpriced), ``unpriced_reason`` (text or None), and ``cost_<meter>`` for every meter column: Python
            ints in units of ``10**-exponent`` USD, 0 where nothing was reported or the row is unpriced.
        sheets: The rate sheets in use.
        unpriced: Every distinct reason for which rows have no price.
        exponent: Decimal places of the costs.
    """

    frame: pd.DataFrame
    sheets: tuple[RateSheet, ...]
    unpriced: tuple[Unpriced, ...]
    exponent: int

    def to_usd(self, cost: int) -> Decimal:
        """A cost, or a sum of costs, in USD: exact."""
        return Decimal((int(cost < 0), tuple(int(digit) for digit in str(abs(cost))), -self.exponent))


@dataclass(slots=True)
class _Outcome:
    """What the rows come to: an index into sheets, or into unpriced reasons, each -1 when not the case."""

    sheet: _Array
    reason: _Array
    sheets: list[RateSheet]
    reasons: dict[Unpriced, int]

    def fail(self, rows: _Array, reason: Unpriced) -> None:
        self.sheet[rows] = -1
        self.reason[rows] = self.reasons.setdefault(reason, len(self.reasons))


def price_cube(cube: pd.DataFrame, book: PriceBook, *, as_of: datetime) -> PricedCube:
    """Price every row of a cube.

    Args:
        cube: Columns ``provider``, ``model``, ``service_tier`` (text or null), ``price_at`` (datetime64, UTC; null
            means ``as_of``), ``context_tokens`` (integers; null for a bucket of many requests), and any meters by
            their names (integers of any size; null when not reported).
        book: The prices.
        as_of: Instant for rows without ``price_at``, with a time zone.

    Returns:
        The cube with its costs. A row with a count for a meter without a rate is unpriced as a whole.
    """
    at = _microseconds(cube["price_at"], as_of)
    context = _whole_numbers(cube["context_tokens"])
    tiers, tier_names = pd.factorize(cube["service_tier"].astype(object), use_na_sentinel=True)
    counts = {meter: _whole_numbers(cube[meter.value]) for meter in Meter if meter.value in cube.columns}

    size = len(cube)
    outcome = _Outcome(np.full(size, -1), np.full(size, -1), [], {})
    names = _names(cube)
    for rows, (provider, model) in names:
        card = _card(book, provider, model)
        if isinstance(card, Unpriced):
            outcome.fail(rows, card)
            continue
        buckets, first = _buckets(card, at[rows], context[rows], tiers[rows])
        found = np.empty(len(first), dtype=np.int64)
        for bucket, row in enumerate(rows[first]):
            sheet = sheet_or_reason(
                book,
                provider,
                model or "",
                at=_instant(at[row]),
                context_tokens=None if context[row] is None else int(context[row]),
                service_tier=None if tiers[row] < 0 else str(tier_names[tiers[row]]),
            )
            if isinstance(sheet, Unpriced):
                outcome.fail(rows[buckets == bucket], sheet)
                found[bucket] = -1
            else:
                found[bucket] = len(outcome.sheets)
                outcome.sheets.append(sheet)
        outcome.sheet[rows] = found[buckets]
    _reject_missing_rates(outcome, names, counts)
    return _assemble(cube, outcome, names, counts)
