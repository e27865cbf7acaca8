"""Offers: one accelerator's price, never a machine's; dated; segments apart."""

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from pricing.errors import TableFileError
from pricing.offers import COLUMNS, Offer, Segment, offer_range, offers, read_offers

DAY = date(2026, 10, 10)


def offer(
    price: str,
    provider: str = "A",
    *,
    segment: Segment = "neocloud",
    seen: date | None = DAY,
    n_gpus: int = 8,
) -> Offer:
    return Offer(
        provider=provider,
        segment=segment,
        region="r",
        instance="i",
        accelerator_id="h100-sxm",
        n_gpus=n_gpus,
        usd_per_machine_hour=Decimal(price),
        price_kind="on_demand",
        date=seen,
        source="s",
        verified="yes",
    )


def test_built_in_offers_are_sourced_and_dated_or_say_why_not() -> None:
    assert len(offers()) > 500
    for one in offers():
        assert one.source
        assert one.date or one.note
        assert one.date is None or date(2025, 10, 1) < one.date <= date(2026, 11, 29)
        assert Decimal("0.03") < one.usd_per_gpu_hour < 60
    machines = {(one.n_gpus, one.usd_per_gpu_hour) for one in offers() if one.instance == "p4d.24xlarge"}
    assert (8, Decimal("2.7447")) in machines


def test_a_machine_is_shared_by_its_accelerators() -> None:
    assert offer("32.00").usd_per_gpu_hour == Decimal("4.00")


def test_a_range_has_one_price_a_provider() -> None:
    listed = [offer("16"), offer("16"), offer("24"), offer("40", "B"), offer("4", "C", n_gpus=1)]
    found = offer_range("h100-sxm", as_of=DAY + timedelta(days=61), among=listed)
    assert found is not None
    assert (found.low_usd_per_gpu_hour, found.low_provider) == (Decimal(2), "A")
    assert found.median_usd_per_gpu_hour == Decimal(4)
    assert (found.high_usd_per_gpu_hour, found.high_provider) == (Decimal(5), "B")
    assert found.providers == ("A", "B", "C")
    assert (found.stale_days, found.is_stale) == (61, True)


def test_a_range_keeps_segments_apart_when_asked() -> None:
    listed = [offer("80", "A", segment="hyperscaler"), offer("16", "B")]
    apart = offer_range("h100-sxm", "hyperscaler", as_of=DAY, among=listed)
    both = offer_range("h100-sxm", as_of=DAY, among=listed)
    assert apart is not None
    assert both is not None
    assert apart.low_usd_per_gpu_hour == apart.high_usd_per_gpu_hour == 10
    assert both.segments == ("hyperscaler", "neocloud")


def test_older_prices_of_a_provider_later_ones_and_undated_ones_are_left_out() -> None:
    listed = [
        offer("8", seen=DAY - timedelta(days=30)),
        offer("16"),
        offer("2", "B", seen=DAY + timedelta(days=1)),
        offer("1", "C", seen=None),
        offer("1", "D", seen=DAY - timedelta(days=400)),
    ]
    found = offer_range("h100-sxm", as_of=DAY, among=listed)
    assert found is not None
    assert found.low_usd_per_gpu_hour == found.high_usd_per_gpu_hour == 2
    assert found.stale_days == 0
    assert not found.is_stale


def test_no_offer_is_not_a_price_of_0() -> None:
    assert offer_range("h100-sxm", as_of=DAY, among=[]) is None
    assert offer_range("gb200", as_of=DAY) is None


def test_hyperscalers_ask_more_than_marketplaces() -> None:
    asked = [
        found.median_usd_per_gpu_hour
        for segment in ("hyperscaler", "neocloud", "marketplace")
        if (found := offer_range("h100-sxm", segment, as_of=date(2026, 11, 29)))
    ]
    assert len(asked) == 3
    assert asked == sorted(asked, reverse=True)


@pytest.mark.parametrize(
    ("cell", "value", "message"),
    [
        ("usd_per_machine_hour", "0", "an amount above 0"),
        ("usd_per_machine_hour", "free", "an amount above 0"),
        ("n_gpus", "0", "at least 1 is needed"),
        ("n_gpus", "1.5", "a whole number is needed"),
        ("segment", "cloud", "allowed are hyperscaler, neocloud, marketplace"),
        ("date", "October", "a day like 2026-10-31"),
    ],
)
def test_a_malformed_file_says_where(tmp_path: Path, cell: str, value: str, message: str) -> None:
    good = {
        "provider": "A", "segment": "neocloud", "accelerator_id": "h100-sxm", "n_gpus": "8", "date": "2026-10-10",
        "usd_per_machine_hour": "16", "price_kind": "spot", "source": "s", "verified": "yes",
    }  # fmt: skip
    path = tmp_path / "offers.csv"
    header = ",".join(COLUMNS)
    path.write_text(header + "\n" + ",".join(good.get(column, "") for column in COLUMNS) + "\n")
    assert read_offers(path)[0].usd_per_gpu_hour == 2
    bad = {**good, cell: value}
    path.write_text(header + "\n" + ",".join(bad.get(column, "") for column in COLUMNS) + "\n")
    with pytest.raises(TableFileError, match=rf"offers\.csv:2: {cell} is .*{message}"):
        read_offers(path)
