"""Worked prices, each with its source: what a usage costs by the provider's own published rule, to the last digit."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from advisor.usage_list import Entry, Unreadable, read_entries
from pricing.book import PriceBook
from pricing.charges import Charge, charge

FILE = Path(__file__).parent / "data" / "vectors.json"
BOOK = PriceBook()
EXPECTED = {row["id"]: Decimal(row["expected_usd"]) for row in json.loads(FILE.read_text("utf-8"))}


@pytest.mark.parametrize("entry", read_entries(FILE), ids=lambda entry: entry.id)
def test_a_worked_price_is_met_to_the_last_digit(entry: Entry | Unreadable) -> None:
    assert isinstance(entry, Entry), entry
    found = charge(
        entry.usage,
        BOOK,
        provider=entry.provider,
        model=entry.model,
        at=entry.at,
        service_tier=entry.service_tier,
        region=entry.region,
        context_tokens=entry.usage.input_tokens if entry.single else None,
    )
    assert isinstance(found, Charge), found
    assert found.total == EXPECTED[entry.id], [
        (line.meter, line.usd_per_unit, line.rule) for line in found.lines
    ]
    assert all(line.source and line.retrieved for line in found.lines)


def test_every_id_is_given_once() -> None:
    assert len(EXPECTED) == len(read_entries(FILE))
