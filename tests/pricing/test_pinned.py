"""A price book as a file: what is read back is what was written, and prices a log as the book did then."""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from genai_prices.data_snapshot import get_snapshot

from pricing.book import built_in_version, load_book
from pricing.errors import PriceFileError
from pricing.meters import Meter
from pricing.pinned import export_book, pin, unpin


@pytest.fixture
def exported(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "book.json"
    path.write_text(export_book(*built_in_version()), "utf-8")
    yield path
    unpin()


def resealed(path: Path, body: dict[str, Any]) -> None:
    """A book with another content and a seal that fits it, as an older release would have written it."""
    body.pop("content_sha256")
    seal = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps({**body, "content_sha256": seal}), "utf-8")


def test_what_is_read_back_is_what_was_written(exported: Path) -> None:
    installed = get_snapshot().providers
    before = load_book()
    pin(exported)
    assert get_snapshot().providers is not installed
    assert get_snapshot().providers == installed
    after = load_book(pinned=exported)
    assert (after.version, after.sha256) == (before.version, before.sha256)
    one, other = (book.find("openai", "gpt-5.6-terra") for book in (before, after))
    assert one == other


def test_a_pinned_book_prices_by_its_own_rates_until_it_is_taken_out(exported: Path) -> None:
    body = json.loads(exported.read_text("utf-8"))
    rows = body["overlay"]["deepseek.toml"]
    assert 'input_uncached = "0.66"' in rows
    body["overlay"]["deepseek.toml"] = rows.replace('input_uncached = "0.66"', 'input_uncached = "0.77"')
    resealed(exported, body)
    at = datetime(2026, 11, 28, 2, tzinfo=UTC)

    def rate() -> str:
        return str(
            load_book().find("deepseek", "deepseek-v4-pro").resolve(at, 1, None).rates[Meter.INPUT_UNCACHED]
        )

    assert rate() == "0.66"
    pin(exported)
    assert rate() == "0.77"
    unpin()
    assert rate() == "0.66"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not a price book"),
        ("[]", "not a price book"),
        ('{"format": "advisor price book 1"}', "changed after it was written"),
    ],
)
def test_a_file_that_is_no_book_is_named(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "book.json"
    path.write_text(text, "utf-8")
    with pytest.raises(PriceFileError, match=said) as caught:
        pin(path)
    assert str(path) in str(caught.value)


def test_a_book_that_was_edited_is_refused(exported: Path) -> None:
    exported.write_text(exported.read_text("utf-8").replace("0.66", "0.67"), "utf-8")
    with pytest.raises(PriceFileError, match="changed after it was written"):
        pin(exported)


def test_names_stand_for_models_by_any_number_of_steps() -> None:
    book = load_book(names={"My-Deployment": "other", "other": "azure/gpt-4o"})
    assert book.find("azure", "my-deployment").model == "gpt-4o"
    with pytest.raises(PriceFileError, match="a -> b -> a"):
        load_book(names={"a": "b", "b": "a"})
