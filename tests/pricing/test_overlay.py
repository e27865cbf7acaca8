"""The overlay's files: what a row may be, what is said of a wrong one, and that the past does not change."""

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from pricing.book import PriceBook
from pricing.errors import AmbiguousModelError, PriceFileError, UnknownModelError
from pricing.meters import Meter
from pricing.overlay import DATA_DIR, Overlay, built_in, read_overlay

GOOD = """
[[rate]]
provider = "acme"
models = ["demo"]
rates = { cache_read = "0.1" }
source = "https://acme.example"
checked_on = 2026-11-01
"""
CLOSED = Path(__file__).parent / "data" / "closed_rows.json"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('provider = "acme"', 'provider = "acme"\ncolour = "red"'), "rate.0.colour"),
        (('"0.1"', '"-0.1"'), "rate.0.rates.cache_read"),
        (("cache_read", "cache_reed"), "rate.0.rates.cache_reed"),
        (('source = "https://acme.example"', ""), "rate.0.source"),
        (("checked_on = 2026-11-01", ""), "rate.0.checked_on"),
        (('models = ["demo"]', "models = []"), "rate.0.models"),
        (("[[rate]]", "[[rates]]"), "rates"),
        (
            (
                "checked_on",
                "valid_from = 2026-02-01T00:00:00Z\nvalid_until = 2026-01-01T00:00:00Z\nchecked_on",
            ),
            "is not after",
        ),
        (('provider = "acme"', "provider = acme"), "Invalid value"),
    ],
)
def test_a_wrong_row_is_named(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(GOOD.replace(*change), "utf-8")
    with pytest.raises(PriceFileError) as caught:
        read_overlay(tmp_path)
    assert "rules.toml" in str(caught.value)
    assert said in str(caught.value)


def test_a_good_row_is_read(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(GOOD, "utf-8")
    assert read_overlay(tmp_path).rate[0].rates == {Meter.CACHE_READ: Decimal("0.1")}


def closed_rows(overlay: Overlay) -> dict[str, str]:
    """A digest of every row that ended before the tests' own day: what it says can have no reason to change."""
    today = datetime(2026, 11, 29, tzinfo=UTC)
    out: dict[str, str] = {}
    for kind in ("card", "rate", "tier", "region", "window"):
        for row in getattr(overlay, kind):
            if row.valid_until is not None and row.valid_until < today:
                text = row.model_dump_json(exclude_defaults=True)
                names = row.model if kind == "card" else ",".join(row.models)
                key = f"{kind} {row.provider} {names} {row.valid_from} {row.valid_until} {getattr(row, 'tier', '')}"
                out[key] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return out


def test_closed_rows_never_change(check_golden: Callable[[Path, str], None]) -> None:
    """A price of the past that turns out wrong is a new row with its source, and a line in the changelog."""
    found = closed_rows(built_in())
    assert len(found) > 10
    check_golden(CLOSED, json.dumps(found, indent=1, sort_keys=True) + "\n")


def test_models_of_aliases_exist() -> None:
    book = PriceBook()
    for row in built_in().alias:
        for name in row.names:
            assert book.find(row.provider, name).model.lower() == row.model.lower()


@pytest.mark.parametrize("name", ["gpt-6.2-sol", "claude-sonnet-99", "deepseek-v9"])
def test_an_unknown_model_is_never_priced_as_a_similar_one(name: str) -> None:
    with pytest.raises((UnknownModelError, AmbiguousModelError)):
        PriceBook().find(None, name)


def test_every_file_of_the_overlay_is_shipped() -> None:
    assert {path.name for path in DATA_DIR.glob("*.toml")} >= {"rules.toml", "deepseek.toml"}
