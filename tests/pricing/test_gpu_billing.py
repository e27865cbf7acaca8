"""Money of a fleet: paid hours with idle ones in them, prices of one accelerator, token prices with their rule."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.gpu_billing import (
    HOURS_PER_MONTH,
    HOURS_PER_YEAR,
    BillingInputError,
    GpuBill,
    Overhead,
    Ownership,
    base_and_peak_gpu_hours,
    owned_bill,
    owned_fixed_usd_per_hour,
    owned_power_usd_per_hour,
    power_kw,
    rented_bill,
    reserved_bill,
    token_prices,
    usd_per_gpu_hour,
)

OWNED = Ownership(
    capital_usd=40_000, years=4, residual_usd=4_000, power_kw=Decimal(1), usd_per_kwh=Decimal("0.10"),
    pue_ratio=Decimal("1.5"), idle_power_ratio=Decimal("0.2"),
)  # fmt: skip


def test_a_machines_price_is_shared_and_the_host_added() -> None:
    whole = usd_per_gpu_hour(Decimal("32.00"), 8)
    parts = usd_per_gpu_hour(Decimal("3.11"), 1, host_usd_per_hour=Decimal("0.94"))
    assert whole == Decimal("4.00")
    assert parts == Decimal("4.05")
    assert reserved_bill(whole, 8, 0, period_hours=730).gpu_usd == Decimal("23360.00")
    assert reserved_bill(parts, 1, 0, period_hours=730).gpu_usd == Decimal("2956.50")
    with pytest.raises(BillingInputError, match="at least 1"):
        usd_per_gpu_hour(Decimal(32), 0)


def test_reserved_hours_are_paid_whether_busy_or_not() -> None:
    bill = reserved_bill(Decimal("2.00"), 8, busy_gpu_hours=584, period_hours=730)
    assert bill.paid_gpu_hours == 5_840
    assert bill.gpu_usd == Decimal(11_680)
    assert bill.busy_usd == Decimal(1_168)
    assert bill.idle_usd == Decimal(10_512)
    assert bill.utilisation_ratio == Decimal("0.1")


def test_hours_that_are_switched_on_are_paid_whether_busy_or_not() -> None:
    bill = rented_bill(Decimal("3.50"), paid_gpu_hours=100, busy_gpu_hours=40)
    assert (bill.busy_usd, bill.idle_usd) == (Decimal(140), Decimal(210))


@pytest.mark.parametrize("busy", [-1, 101])
def test_more_work_than_paid_hours_is_an_error_of_the_plan(busy: int) -> None:
    with pytest.raises(BillingInputError, match="do not go into 100 paid ones; 0 to 100 do"):
        rented_bill(Decimal(1), 100, busy)


def test_overheads_are_named_inputs() -> None:
    bill = rented_bill(
        Decimal(2),
        100,
        50,
        period_hours=HOURS_PER_MONTH / 2,
        overheads=[Overhead(name="balancer", usd_per_month=60), Overhead(name="support", ratio=0.1)],
    )
    assert bill.overheads_usd == (("balancer", Decimal(30)), ("support", Decimal(20)))
    assert bill.total_usd == Decimal(250)
    assert bill.gpu_usd == Decimal(200)


def test_an_owned_accelerator_costs_its_write_off_in_every_hour() -> None:
    assert Decimal(8_766) == HOURS_PER_YEAR
    assert owned_fixed_usd_per_hour(OWNED) == Decimal(9_000) / 8_766
    assert owned_power_usd_per_hour(OWNED, 1) == Decimal("0.15")
    assert owned_power_usd_per_hour(OWNED, 0) == Decimal("0.03")
    assert owned_power_usd_per_hour(OWNED, 0.5) == Decimal("0.09")
    idle, busy = owned_bill(OWNED, 2, 0, period_hours=100), owned_bill(OWNED, 2, 200, period_hours=100)
    assert busy.gpu_usd - idle.gpu_usd == pytest.approx(200 * (Decimal("0.15") - Decimal("0.03")))
    assert idle.gpu_usd > Decimal("0.85") * busy.gpu_usd


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"years": 0}, "more than 0"),
        ({"years": 3, "pue_ratio": 0.9}, "below 1"),
        ({"years": 3, "residual_usd": 50_000}, "exceeds the price"),
    ],
)
def test_terms_that_no_owner_has_are_refused(terms: dict[str, float], message: str) -> None:
    given_terms: dict[str, Any] = {
        "capital_usd": 40_000,
        "power_kw": 1,
        "usd_per_kwh": Decimal("0.1"),
        **terms,
    }
    with pytest.raises(BillingInputError, match=message):
        Ownership(**given_terms)


def test_tied_up_money_and_people_cost_too() -> None:
    more = Ownership(
        capital_usd=40_000, years=4, residual_usd=4_000, power_kw=1, usd_per_kwh=Decimal("0.1"),
        yearly_capital_ratio=0.1, yearly_usd=1_000,
    )  # fmt: skip
    assert owned_fixed_usd_per_hour(more) == (9_000 + 2_200 + 1_000) / HOURS_PER_YEAR
    assert power_kw(700) == Decimal("1.050")


def test_a_committed_base_is_paid_always_and_the_peak_while_it_is_on() -> None:
    base, peak = base_and_peak_gpu_hours([0, 1.2, 8, 3], base_gpus=2)
    assert (base, peak) == (8, 0 + 0 + 6 + 1)


def test_token_prices_name_their_rule() -> None:
    hourly = 8 * Decimal("2.00")
    found = token_prices(hourly, 40_000 * 3_600, 5_000 * 3_600, prefill_ratio=Decimal("0.25"))
    assert found is not None
    assert found.per_mtok_all == pytest.approx(Decimal("0.098765"), abs=Decimal("0.000001"))
    assert found.per_mtok_output_all_money == pytest.approx(Decimal("0.888889"), abs=Decimal("0.000001"))
    assert found.per_mtok_input_all_money == pytest.approx(Decimal("0.111111"), abs=Decimal("0.000001"))
    assert found.per_mtok_input is not None
    assert found.per_mtok_output is not None
    # The two prices of the phase rule, and only they, add up to the bill.
    assert found.per_mtok_input * 144 + found.per_mtok_output * 18 == pytest.approx(hourly)


def test_without_tokens_there_is_no_price() -> None:
    assert token_prices(Decimal(16), 0, 0, 0.5) is None
    only_output = token_prices(Decimal(16), 0, 1_000_000, 0)
    assert only_output is not None
    assert only_output.per_mtok_input is None
    assert only_output.per_mtok_output == Decimal(16)
    with pytest.raises(BillingInputError, match="not between 0 and 1"):
        token_prices(Decimal(16), 1, 1, 1.5)


@given(
    price=st.decimals("0.01", "100", places=4),
    gpus=st.integers(1, 512),
    used=st.decimals("0", "1", places=3),
)
def test_busy_and_idle_are_the_whole_bill(price: Decimal, gpus: int, used: Decimal) -> None:
    bill: GpuBill = reserved_bill(price, gpus, used * gpus * HOURS_PER_MONTH)
    assert bill.gpu_usd == price * gpus * HOURS_PER_MONTH
    assert bill.utilisation_ratio == used
    assert bill.busy_usd >= 0
    assert bill.idle_usd >= 0
