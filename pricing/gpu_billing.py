"""What a fleet of accelerators costs: hours that are paid, busy or not, at the price of one accelerator.

Rented by the hour, an accelerator is paid while it is switched on; reserved or owned, always. Busy minutes decide nothing
but the utilisation, which is why a price per token needs the idle hours in it. All prices are for one accelerator, a
machine's is divided first; all overheads are inputs and none is hidden in a factor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from pricing.errors import PricingError
from pricing.units import DAYS_PER_MONTH, KILO, TOKENS_PER_MTOK

HOURS_PER_DAY: Final = 24
HOURS_PER_MONTH: Final = Decimal(str(DAYS_PER_MONTH)) * HOURS_PER_DAY
"""730.5: clouds that quote months use 720, 730 or 744."""
HOURS_PER_YEAR: Final = 12 * HOURS_PER_MONTH

Amount = Decimal | int
"""Money and prices: exact."""
Measured = Decimal | int | float
"""Hours, watts and shares: modelled or read, so a float is taken as it is written."""


class BillingInputError(PricingError):
    """Raised when hours, counts or shares make no bill: the message says which, and what is allowed."""


def usd_per_gpu_hour(usd_per_machine_hour: Amount, gpus: int, host_usd_per_hour: Amount = 0) -> Decimal:
    """The price of one accelerator in a machine that is let as a whole.

    Args:
        usd_per_machine_hour: Of all its accelerators together.
        gpus: How many that are.
        host_usd_per_hour: Of processors, memory and disks where the provider bills them apart.
    """
    if gpus < 1:
        raise BillingInputError(f"A machine of {gpus} accelerators has none; at least 1 is needed.")
    return (Decimal(usd_per_machine_hour) + Decimal(host_usd_per_hour)) / gpus


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """An accelerator that is bought.

    Attributes:
        capital_usd: Price of one, with its share of machine, network and racks.
        years: Over which it is written off.
        residual_usd: What it sells for then.
        power_kw: Draw under load of one accelerator with its share of the machine.
        idle_power_ratio: Draw when idle, as a share of that.
        usd_per_kwh: Of electricity.
        pue_ratio: Power of the site over power of the machines.
        yearly_capital_ratio: What tied-up money costs a year, on half the price (it is written off evenly).
        yearly_usd: Space, support, spares and people for one accelerator.
    """

    capital_usd: Amount
    years: Measured
    residual_usd: Amount = 0
    power_kw: Measured
    idle_power_ratio: Measured = Decimal("0.2")
    usd_per_kwh: Amount
    pue_ratio: Measured = Decimal("1.3")
    yearly_capital_ratio: Measured = 0
    yearly_usd: Amount = 0

    def __post_init__(self) -> None:
        """Refuse terms that no owner has."""
        if _exact(self.years) <= 0:
            raise BillingInputError(f"A write-off over {self.years} years is none; more than 0 are needed.")
        if _exact(self.pue_ratio) < 1:
            raise BillingInputError(f"A PUE of {self.pue_ratio} is below 1: less than machines draw.")
        if Decimal(self.residual_usd) > Decimal(self.capital_usd):
            raise BillingInputError(f"Resale, {self.residual_usd}, exceeds the price, {self.capital_usd}.")


def owned_fixed_usd_per_hour(terms: Ownership) -> Decimal:
    """What an owned accelerator costs in every hour, used or not: write-off, tied-up money, space and people."""
    capital, residual = Decimal(terms.capital_usd), Decimal(terms.residual_usd)
    write_off = (capital - residual) / _exact(terms.years)
    tied_up = (capital + residual) / 2 * _exact(terms.yearly_capital_ratio)
    return (write_off + tied_up + Decimal(terms.yearly_usd)) / HOURS_PER_YEAR


def owned_power_usd_per_hour(terms: Ownership, utilisation_ratio: Measured) -> Decimal:
    """Electricity of an owned accelerator: full draw while busy, the idle share of it otherwise, times the site's PUE."""
    busy = _share(utilisation_ratio)
    draw = busy + (1 - busy) * _exact(terms.idle_power_ratio)
    return _exact(terms.power_kw) * draw * Decimal(terms.usd_per_kwh) * _exact(terms.pue_ratio)


def power_kw(tdp_w: float, server_ratio: Measured = Decimal("1.5")) -> Decimal:
    """Draw of one accelerator with its share of the machine: processors, fans, network, losses of the supply.

    Source: machines of eight draw about 1.5 times their accelerators (DGX H100: 10.2 kW for 8 x 700 W is 1.8 at most).
    """
    return _exact(tdp_w) / KILO * _exact(server_ratio)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """A cost beside the accelerators: a load balancer, egress, storage of weights, on-call."""

    name: str
    usd_per_month: Amount = 0
    ratio: Measured = 0
    """Share of the accelerators' money, for what grows with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuBill:
    """What a period costs.

    Attributes:
        paid_gpu_hours: Hours that are billed.
        busy_gpu_hours: Hours of work in them.
        busy_usd, idle_usd: The accelerators' money, shared by hours.
        overheads_usd: Each overhead of the period, by name.
    """

    paid_gpu_hours: Decimal
    busy_gpu_hours: Decimal
    busy_usd: Decimal
    idle_usd: Decimal
    overheads_usd: tuple[tuple[str, Decimal], ...] = ()

    @property
    def gpu_usd(self) -> Decimal:
        """The accelerators alone."""
        return self.busy_usd + self.idle_usd

    @property
    def total_usd(self) -> Decimal:
        """Everything that leaves the account."""
        return self.gpu_usd + sum((usd for _, usd in self.overheads_usd), Decimal(0))

    @property
    def utilisation_ratio(self) -> Decimal | None:
        """Busy over paid hours; None if nothing was paid."""
        return self.busy_gpu_hours / self.paid_gpu_hours if self.paid_gpu_hours else None


def rented_bill(
    usd_per_hour: Amount,
    paid_gpu_hours: Measured,
    busy_gpu_hours: Measured,
    *,
    period_hours: Measured = HOURS_PER_MONTH,
    overheads: Sequence[Overhead] = (),
) -> GpuBill:
    """A bill at one price for every hour that is switched on (on demand, spot) or committed (reserved).

    Args:
        usd_per_hour: Of one accelerator.
        paid_gpu_hours: Of all of them: on demand those that are on, idle ones too; reserved, count x period.
        busy_gpu_hours: Hours of work; more than were paid is an error of the plan.
        period_hours: Length of the period, for overheads by the month.
        overheads: What else it takes.
    """
    paid, busy = _exact(paid_gpu_hours), _exact(busy_gpu_hours)
    if not 0 <= busy <= paid:
        raise BillingInputError(f"{busy} busy GPU-hours do not go into {paid} paid ones; 0 to {paid} do.")
    price = Decimal(usd_per_hour)
    return _with_overheads(
        GpuBill(
            paid_gpu_hours=paid, busy_gpu_hours=busy, busy_usd=price * busy, idle_usd=price * (paid - busy)
        ),
        overheads,
        period_hours,
    )


def reserved_bill(
    usd_per_hour: Amount,
    gpus: int,
    busy_gpu_hours: Measured,
    *,
    period_hours: Measured = HOURS_PER_MONTH,
    overheads: Sequence[Overhead] = (),
) -> GpuBill:
    """A bill of accelerators that are paid in every hour of the period, whatever they do."""
    paid = gpus * _exact(period_hours)
    return rented_bill(usd_per_hour, paid, busy_gpu_hours, period_hours=period_hours, overheads=overheads)


def owned_bill(
    terms: Ownership,
    gpus: int,
    busy_gpu_hours: Measured,
    *,
    period_hours: Measured = HOURS_PER_MONTH,
    overheads: Sequence[Overhead] = (),
) -> GpuBill:
    """A bill of accelerators that were bought: fixed cost in every hour, electricity by what they do."""
    paid, busy = gpus * _exact(period_hours), _exact(busy_gpu_hours)
    fixed = owned_fixed_usd_per_hour(terms)
    working, resting = owned_power_usd_per_hour(terms, 1), owned_power_usd_per_hour(terms, 0)
    if not 0 <= busy <= paid:
        raise BillingInputError(f"{busy} busy GPU-hours do not go into {paid} owned ones; 0 to {paid} do.")
    return _with_overheads(
        GpuBill(
            paid_gpu_hours=paid,
            busy_gpu_hours=busy,
            busy_usd=(fixed + working) * busy,
            idle_usd=(fixed + resting) * (paid - busy),
        ),
        overheads,
        period_hours,
    )


def base_and_peak_gpu_hours(gpus_by_hour: Sequence[float], base_gpus: int) -> tuple[Decimal, Decimal]:
    """Hours of a committed base, paid always, and of what an hour needs above it, paid while it is on.

    Args:
        gpus_by_hour: Accelerators that each hour needs, of which parts of one are rounded up.
        base_gpus: Reserved or owned ones.
    """
    base = Decimal(base_gpus * len(gpus_by_hour))
    return base, sum((max(_up(needed) - base_gpus, Decimal(0)) for needed in gpus_by_hour), Decimal(0))


def _up(needed: float) -> Decimal:
    return Decimal(str(needed)).to_integral_value(rounding="ROUND_CEILING")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrices:
    """One bill as prices per million tokens, with the rule in the name: none may be set against a price of another rule.

    Attributes:
        per_mtok_all: All money over input and output together.
        per_mtok_input_all_money, per_mtok_output_all_money: As if the other were free: upper bounds, not to be added.
        per_mtok_input, per_mtok_output: Money shared by the time that each phase keeps the accelerators busy; idle money
            and overheads follow in that proportion. These compare with an API's two prices. None if there were none.
    """

    per_mtok_all: Decimal
    per_mtok_input_all_money: Decimal | None
    per_mtok_output_all_money: Decimal | None
    per_mtok_input: Decimal | None
    per_mtok_output: Decimal | None


def token_prices(
    usd: Amount, input_tokens: Measured, output_tokens: Measured, prefill_ratio: Measured
) -> TokenPrices | None:
    """Prices of tokens from a bill; None without tokens.

    Args:
        usd: The bill.
        input_tokens: Tokens that were read, in its period.
        output_tokens: Tokens that were written.
        prefill_ratio: Share of busy accelerator time that reading took; a cached token reads its keys and values only.
    """
    money, read, written = Decimal(usd), _exact(input_tokens), _exact(output_tokens)
    if read + written <= 0:
        return None
    prefill = _share(prefill_ratio)
    return TokenPrices(
        per_mtok_all=_per_mtok(money, read + written) or Decimal(0),
        per_mtok_input_all_money=_per_mtok(money, read),
        per_mtok_output_all_money=_per_mtok(money, written),
        per_mtok_input=_per_mtok(money * prefill, read),
        per_mtok_output=_per_mtok(money * (1 - prefill), written),
    )


def _per_mtok(usd: Decimal, tokens: Decimal) -> Decimal | None:
    return usd * TOKENS_PER_MTOK / tokens if tokens else None


def _with_overheads(bill: GpuBill, overheads: Sequence[Overhead], period_hours: Measured) -> GpuBill:
    months = _exact(period_hours) / HOURS_PER_MONTH
    return GpuBill(
        paid_gpu_hours=bill.paid_gpu_hours,
        busy_gpu_hours=bill.busy_gpu_hours,
        busy_usd=bill.busy_usd,
        idle_usd=bill.idle_usd,
        overheads_usd=tuple(
            (one.name, Decimal(one.usd_per_month) * months + bill.gpu_usd * _exact(one.ratio))
            for one in overheads
        ),
    )


def _share(ratio: Measured) -> Decimal:
    share = _exact(ratio)
    if not 0 <= share <= 1:
        raise BillingInputError(f"A share of {share} is not between 0 and 1.")
    return share


def _exact(number: Measured) -> Decimal:
    """A number as it is written: 0.1 is a tenth."""
    return number if isinstance(number, Decimal) else Decimal(str(number))
