"""Commitments: money that is owed whatever is used. Contracted cost in, effective cost out, month by month.

A committed spend is a prepaid amount a month that usage draws down at its contracted cost; what goes beyond is paid at
that cost. Provisioned throughput is paid by the hour instead of by the token: the tokens of its models cost the hours.
Throughput comes first, so that no token is paid twice. Months are calendar months, and a month that the log covers in
part carries its part of the amount, by days.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import combinations
from typing import Final, Literal

from pricing.discounts import Usage
from pricing.errors import PriceFileError
from pricing.names import provider_id

SPEND: Final = "spend"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """An amount that is owed for some models, as long as it is valid.

    Attributes:
        name: As the user calls it.
        covers: ``spend`` (drawn down by usage) or ``throughput`` (capacity, instead of the price of tokens).
        usd_per_month: Amount of one unit for a calendar month; None when ``usd_per_hour`` is given.
        usd_per_hour: Amount of one unit for an hour.
        units: How many are held.
        where: File and row, for people.
        provider: Who is paid; None for any.
        models: Exact names; empty for every model.
        valid_from: First day, None for ever.
        valid_until: First day after it, None for ever.
        included_tokens_per_minute: Tokens that one unit can take in a minute; None when not stated.
    """

    name: str
    covers: Literal["spend", "throughput"]
    where: str
    usd_per_month: Decimal | None = None
    usd_per_hour: Decimal | None = None
    units: Decimal = Decimal(1)
    provider: str | None = None
    models: tuple[str, ...] = ()
    valid_from: date | None = None
    valid_until: date | None = None
    included_tokens_per_minute: int | None = None

    @property
    def names(self) -> frozenset[str]:
        """The models, lower case; empty for every model."""
        return frozenset(name.strip().lower() for name in self.models)

    def is_for(self, usage: Usage) -> bool:
        """Whether some usage falls under it, its dates aside."""
        payee = provider_id(self.provider)
        return (payee is None or payee == usage.provider) and (
            not self.models or not self.names.isdisjoint(usage.models)
        )


def check_commitments(rows: Sequence[Commitment]) -> None:
    """Refuse two commitments of one kind for the same usage, and names that are not told apart.

    Raises:
        PriceFileError: Naming both rows.
    """
    for one, other in combinations(rows, 2):
        if one.name.strip().lower() == other.name.strip().lower() and one.covers != other.covers:
            raise PriceFileError(
                f"{one.where} and {other.where}: both are called {one.name!r}; give each its own name"
            )
        if one.covers == other.covers and _overlap(one, other):
            raise PriceFileError(
                f"{one.where} and {other.where}: some usage would fall under both {one.name!r} and {other.name!r}; "
                "name the models of each, or give them dates that do not overlap"
            )


def _overlap(one: Commitment, other: Commitment) -> bool:
    """Whether some usage could fall under both."""
    payees = provider_id(one.provider), provider_id(other.provider)
    shared = not one.models or not other.models or one.names & other.names
    return (
        (None in payees or payees[0] == payees[1])
        and bool(shared)
        and _starts_before_end(one, other)
        and _starts_before_end(other, one)
    )


def _starts_before_end(one: Commitment, other: Commitment) -> bool:
    return one.valid_from is None or other.valid_until is None or one.valid_from < other.valid_until
