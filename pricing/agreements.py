"""The user's file of negotiated terms: JSON, YAML or TOML in, discounts, commitments and offers out.

``{"discounts": [...], "commitments": [...], "offers": [...]}``, or a bare list of discounts. Every mistake is reported with file, row
and key, the value seen and what is allowed.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pricing.commitments import Commitment, check_commitments
from pricing.discounts import Discount, check_overlaps
from pricing.errors import PriceFileError
from pricing.file_syntax import explain, parse_syntax, read_bytes
from pricing.meters import Meter
from pricing.price_file import amount_of, instant_of
from pricing.rules import EXACT
from pricing.throughput_offers import HOURS_PER_MONTH, ThroughputOffer


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """What was negotiated.

    Attributes:
        discounts: Multipliers of list cost.
        commitments: Amounts that are owed whatever is used.
        offers: Provisioned throughput that could be had: advice looks whether it pays.
        names: Names of the files, for people.
        sha256: Of the files' content; empty without files.
    """

    discounts: tuple[Discount, ...] = ()
    commitments: tuple[Commitment, ...] = ()
    offers: tuple[ThroughputOffer, ...] = ()
    names: tuple[str, ...] = ()
    sha256: str = ""

    @property
    def names_keys(self) -> bool:
        """Whether some discount is for an api key."""
        return any(row.api_key is not None for row in self.discounts)


def load_agreement(paths: Sequence[Path]) -> Agreement:
    """Read files of negotiated terms; their rows count together.

    Args:
        paths: ``.json``, ``.yaml``, ``.yml`` or ``.toml`` files of at most 16 MB.

    Raises:
        PriceFileError: With file, row and key, the value seen and what is allowed; or two rows that contradict.
    """
    digest = hashlib.sha256()
    discounts: list[Discount] = []
    commitments: list[Commitment] = []
    offers: list[ThroughputOffer] = []
    for path in paths:
        content = read_bytes(path)
        digest.update(hashlib.sha256(content).digest())
        parsed = _parse(content, path)
        discounts += [_discount(row, f"{path}: discounts.{i}") for i, row in enumerate(parsed.discounts)]
        commitments += [
            _commitment(row, f"{path}: commitments.{i}") for i, row in enumerate(parsed.commitments)
        ]
        offers += [_offer(row, f"{path}: offers.{i}") for i, row in enumerate(parsed.offers)]
    check_overlaps(discounts)
    check_commitments(commitments)
    return Agreement(
        discounts=tuple(discounts),
        commitments=tuple(commitments),
        offers=tuple(offers),
        names=tuple(path.name for path in paths),
        sha256=digest.hexdigest() if paths else "",
    )


def _parse(content: bytes, path: Path) -> "FileIn":
    values = parse_syntax(content, path)
    try:
        return FileIn.model_validate({"discounts": values} if isinstance(values, list) else values)
    except ValidationError as error:
        raise PriceFileError(explain(error, path, _allowed_keys)) from None


def _allowed_keys(loc: tuple[int | str, ...]) -> list[str]:
    if len(loc) == 1:
        return list(FileIn.model_fields)
    return list(_ROWS[str(loc[0])].model_fields)


def _day(value: object) -> date:
    if isinstance(value, datetime):
        raise ValueError("expected a day without a time, such as 2026-08-21")  # noqa: TRY004 (pydantic's contract)
    if isinstance(value, str):
        try:
            return date.fromisoformat(value.strip())
        except ValueError:
            raise ValueError("expected a day in ISO 8601, such as 2026-08-21") from None
    if isinstance(value, date):
        return value
    raise ValueError("expected a day in ISO 8601, such as 2026-08-21")


_Amount = Annotated[Decimal, BeforeValidator(amount_of)]
_Instant = Annotated[datetime, BeforeValidator(instant_of)]
_Day = Annotated[date, BeforeValidator(_day)]
_Name = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="after")
    def _dates_in_order(self) -> Self:
        start, until = getattr(self, "valid_from", None), getattr(self, "valid_until", None)
        if start is not None and until is not None and until <= start:
            raise ValueError(f"valid_until {until.isoformat()} is not after valid_from {start.isoformat()}")
        return self


class DiscountIn(_Strict):
    """One discount: a multiplier or a percentage off, and the usage that it is for."""

    multiplier: _Amount | None = None
    percent_off: _Amount | None = None
    provider: _Name | None = None
    model: _Name | None = None
    api_key: _Name | None = None
    meter: Meter | None = None
    valid_from: _Instant | None = None
    valid_until: _Instant | None = None
    note: str | None = None

    @model_validator(mode="after")
    def _one_factor(self) -> Self:
        if (self.multiplier is None) == (self.percent_off is None):
            raise ValueError("expected either multiplier (0.80) or percent_off (20), and not both")
        if self.percent_off is not None and self.percent_off > _PERCENT:
            raise ValueError(f"percent_off: expected a number from 0 to 100, not {self.percent_off}")
        return self

    @property
    def factor(self) -> Decimal:
        """Contracted cost / list cost."""
        if self.multiplier is not None:
            return self.multiplier
        return EXACT.subtract(Decimal(1), EXACT.scaleb(self.percent_off or Decimal(0), -2))


_PERCENT = Decimal(100)


class CommitmentIn(_Strict):
    """One commitment, as ``pricing.commitments.Commitment`` says."""

    name: _Name
    covers: Literal["spend", "throughput"]
    usd_per_month: _Amount | None = None
    usd_per_hour: _Amount | None = None
    units: _Amount = Decimal(1)
    provider: _Name | None = None
    models: tuple[_Name, ...] = ()
    valid_from: _Day | None = None
    valid_until: _Day | None = None
    included_tokens_per_minute: Annotated[int, Field(ge=1)] | None = None
    note: str | None = None

    @model_validator(mode="after")
    def _one_amount(self) -> Self:
        if (self.usd_per_month is None) == (self.usd_per_hour is None):
            raise ValueError("expected either usd_per_month or usd_per_hour, and not both")
        if self.covers == "spend" and self.usd_per_month is None:
            raise ValueError("a committed spend is an amount a month: expected usd_per_month")
        if self.covers == "spend" and self.included_tokens_per_minute is not None:
            raise ValueError("included_tokens_per_minute is only allowed where covers is 'throughput'")
        if self.covers == "throughput" and not self.models:
            raise ValueError("provisioned throughput is for named models: expected models")
        return self


class OfferIn(_Strict):
    """One offer, as ``pricing.throughput_offers.ThroughputOffer`` says."""

    name: _Name
    models: Annotated[tuple[_Name, ...], Field(min_length=1)]
    tokens_per_minute: Annotated[int, Field(ge=1)]
    usd_per_month: _Amount | None = None
    usd_per_hour: _Amount | None = None
    provider: _Name | None = None
    least_units: Annotated[int, Field(ge=1)] = 1
    units_step: Annotated[int, Field(ge=1)] = 1
    output_counts_as: _Amount = Decimal(1)
    cached_counts_as: _Amount = Decimal(1)
    term_months: _Amount | None = None
    note: str | None = None

    @model_validator(mode="after")
    def _one_amount(self) -> Self:
        if (self.usd_per_month is None) == (self.usd_per_hour is None):
            raise ValueError("expected either usd_per_month or usd_per_hour, of one unit, and not both")
        return self


_ROWS: Mapping[str, type[BaseModel]] = {
    "discounts": DiscountIn,
    "commitments": CommitmentIn,
    "offers": OfferIn,
}


class FileIn(_Strict):
    """The whole file."""

    discounts: tuple[DiscountIn, ...] = ()
    commitments: tuple[CommitmentIn, ...] = ()
    offers: tuple[OfferIn, ...] = ()
    note: str | None = None


def _discount(row: DiscountIn, where: str) -> Discount:
    return Discount(
        multiplier=row.factor,
        where=where,
        provider=row.provider,
        model=row.model,
        api_key=row.api_key,
        meter=row.meter,
        valid_from=row.valid_from,
        valid_until=row.valid_until,
    )


def _commitment(row: CommitmentIn, where: str) -> Commitment:
    return Commitment(
        where=where, **{name: getattr(row, name) for name in CommitmentIn.model_fields if name != "note"}
    )


def _offer(row: OfferIn, where: str) -> ThroughputOffer:
    month = row.usd_per_month
    hour = row.usd_per_hour if month is None else month / HOURS_PER_MONTH
    given = {
        name: getattr(row, name) for name in OfferIn.model_fields if not name.startswith(("usd", "note"))
    }
    return ThroughputOffer(where=where, usd_per_hour=hour or Decimal(0), **given)
