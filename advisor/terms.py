"""The user's own terms of a run: what was negotiated, and in which currency the report speaks."""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from advisor.options import AnalyseOptions

if TYPE_CHECKING:  # what reads files is only imported by runs that have them
    from collections.abc import Iterator, Sequence

    from pricing.commitment_use import CommitmentUse
    from pricing.commitments import Commitment
    from pricing.currency import Conversion, FxRates
    from pricing.discounts import AppliedDiscount, Discount
    from pricing.frame import PricedCube
    from pricing.throughput_offers import ThroughputOffer

USD: Final = "USD"
_MICRO: Final = Decimal("0.000001")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What was negotiated, and the rates of another currency.

    Attributes:
        discounts: Multipliers of list cost.
        commitments: Amounts that are owed whatever is used.
        offers: Provisioned throughput that could be had.
        names: Names of the files that they come from.
        sha256: Of those files; empty without any.
        fx: Rates of the report's currency; None: it is in USD.
    """

    discounts: "tuple[Discount, ...]" = ()
    commitments: "tuple[Commitment, ...]" = ()
    offers: "tuple[ThroughputOffer, ...]" = ()
    names: tuple[str, ...] = ()
    sha256: str = ""
    fx: "FxRates | None" = None

    @property
    def api_keys(self) -> tuple[str, ...]:
        """The keys that some discount names."""
        return tuple(sorted({row.api_key for row in self.discounts if row.api_key is not None}))

    @property
    def breakpoints(self) -> tuple[datetime, ...]:
        """The instants at which some discount starts or ends."""
        return tuple(
            {at for row in self.discounts for at in (row.valid_from, row.valid_until) if at is not None}
        )

    @property
    def assumptions(self) -> "Iterator[str]":
        """How they were applied, in sentences."""
        files = f"{', '.join(self.names)} (SHA-256 {self.sha256[:12]})"
        if self.discounts:
            yield f"Discounts of {files} come last, the most specific row only; published prices give the list cost."
        if self.commitments:
            yield (
                f"Commitments of {files} are owed for calendar months; a month that the log or the commitment covers in part "
                "carries its part, by days."
            )
        if self.fx is not None:
            yield (
                f"Amounts in {self.fx.currency} are converted at the rate of each day of usage ({self.fx.source}); prices per "
                "token and amounts of problems stay in USD."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A priced cube with the user's terms applied.

    Attributes:
        usd: Contracted cost in USD.
        shown: The same in the currency of the report.
        discounts: What each discount did.
        uses: What each commitment cost, month by month.
        conversion: What the exchange did; None: the report is in USD.
        adjustment: Effective minus contracted cost, in the currency of the report.
        unconverted_adjustment_usd: The part of it, in USD, whose days have no rate.
    """

    usd: "PricedCube"
    shown: "PricedCube"
    discounts: "tuple[AppliedDiscount, ...]" = ()
    uses: "tuple[CommitmentUse, ...]" = ()
    conversion: "Conversion | None" = None
    adjustment: Decimal = Decimal(0)
    unconverted_adjustment_usd: Decimal = Decimal(0)


def load_terms(options: AnalyseOptions) -> Terms:
    """Read the files that the options name.

    Raises:
        pricing.errors.PriceFileError: One is malformed.
    """
    fx = None
    if options.fx_file is not None and options.currency != USD:
        from pricing.fx_file import read_rates  # noqa: PLC0415

        fx = read_rates(options.fx_file, options.currency)
    if not options.discount_files:
        return Terms(fx=fx)
    from pricing.agreements import load_agreement  # noqa: PLC0415

    made = load_agreement(options.discount_files)
    return Terms(
        discounts=made.discounts,
        commitments=made.commitments,
        offers=made.offers,
        names=made.names,
        sha256=made.sha256,
        fx=fx,
    )


def settle(priced: "PricedCube", terms: Terms, options: AnalyseOptions) -> Settled:
    """Apply discounts, then commitments, then the exchange.

    A cube that is money already (a cost export) keeps its amounts: they are what was billed.

    Args:
        priced: The cube at list prices, in USD.
        terms: What applies.
        options: The moment of the report, and whose days count.

    Raises:
        pricing.errors.PriceFileError: Two discounts fit some usage equally well.
    """
    billed = bool(priced.frame["charge_only"].all())
    usd = priced
    discounts: tuple[AppliedDiscount, ...] = ()
    uses: tuple[CommitmentUse, ...] = ()
    if terms.discounts and not billed:
        from pricing.discounts import contracted  # noqa: PLC0415

        usd, discounts = contracted(priced, terms.discounts, as_of=options.as_of)
    if terms.commitments and not billed:
        from pricing.commitment_use import use_of  # noqa: PLC0415

        uses = use_of(usd, terms.commitments, timezone=options.period.timezone)
    if terms.fx is None:
        return Settled(usd=usd, shown=usd, discounts=discounts, uses=uses, adjustment=_adjustment(uses))
    return _exchanged(Settled(usd=usd, shown=usd, discounts=discounts, uses=uses), terms.fx, options)


def _adjustment(uses: "Sequence[CommitmentUse]") -> Decimal:
    return sum((use.difference_usd for use in uses), Decimal(0))


def _exchanged(settled: Settled, fx: "FxRates", options: AnalyseOptions) -> Settled:
    from pricing.currency import converted, mean_rate  # noqa: PLC0415

    today = options.as_of.astimezone(ZoneInfo(options.period.timezone)).date()
    shown, conversion = converted(settled.usd, fx, untimed=today)
    if conversion.currency == USD:
        return replace(settled, conversion=conversion, adjustment=_adjustment(settled.uses))
    # What is owed for a month is not owed on any one day: it is converted at the mean of the rates of its days.
    rates = [(use, mean_rate(fx, use.first, use.last)) for use in settled.uses]
    return replace(
        settled,
        shown=shown,
        conversion=conversion,
        adjustment=sum(
            ((use.difference_usd * rate).quantize(_MICRO) for use, rate in rates if rate is not None),
            Decimal(0),
        ),
        unconverted_adjustment_usd=_adjustment([use for use, rate in rates if rate is None]),
    )
