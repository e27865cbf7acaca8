"""The rows of ``pricing/data`` as they are: sourced, dated, spelled right, free of contradictions."""

import tomllib
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from genai_prices.data_snapshot import get_snapshot

import pricing
from pricing.meters import Meter

DATA_DIR = Path(pricing.__file__).parent / "data"
FILES = sorted(path.name for path in DATA_DIR.glob("*.toml"))
EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
AMOUNTS = ("rates", "multipliers", "times_input")


@cache
def content(name: str) -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads((DATA_DIR / name).read_text(encoding="utf-8"))


def rows_of(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in FILES:
        for number, row in enumerate(content(name).get(kind, []), start=1):
            yield f"{name}: {kind} {number}", row


def amounts(row: dict[str, Any]) -> Iterator[tuple[str, object]]:
    for key in AMOUNTS:
        yield from row.get(key, {}).items()
    if "multiplier" in row:
        yield "multiplier", row["multiplier"]
    for step in row.get("context", ()):
        yield from amounts(step)


def span(row: dict[str, Any]) -> tuple[datetime, datetime]:
    return row.get("valid_from", EARLIEST), row.get("valid_until", LATEST)


@cache
def known_models() -> frozenset[tuple[str, str]]:
    """Of genai-prices, with the models that a provider borrows from others, and of our own cards."""
    listed = {
        provider.id: {model.id.lower() for model in provider.models} for provider in get_snapshot().providers
    }
    names = {(provider, model) for provider, models in listed.items() for model in models}
    for provider in get_snapshot().providers:
        for other in provider.fallback_model_providers or ():
            names |= {(provider.id, model) for model in listed[other]}
    return frozenset(names | {(row["provider"], row["model"].lower()) for _, row in rows_of("card")})


def missing(provider: str, pattern: str) -> bool:
    """Whether an id, or a pattern, stands for no model; ids and patterns are lower case."""
    return not any(where == provider and fnmatchcase(model, pattern) for where, model in known_models())


def test_the_files_are_found() -> None:
    assert {"alibaba.toml", "tiers.toml", "tiers_stated.toml"} <= set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_every_row_says_where_and_when_it_was_read(name: str) -> None:
    for kind, rows in content(name).items():
        for number, row in enumerate(rows, start=1):
            assert row.get("source", "").startswith("https://"), f"{kind} {number}: source"
            read = row.get("checked_on")
            assert isinstance(read, date), f"{kind} {number}: checked_on"
            assert not isinstance(read, datetime), f"{kind} {number}: checked_on is a day"


@pytest.mark.parametrize("name", FILES)
def test_every_amount_is_a_positive_decimal_in_quotes(name: str) -> None:
    for kind, rows in content(name).items():
        for number, row in enumerate(rows, start=1):
            for key, value in amounts(row):
                assert isinstance(value, str), f"{kind} {number}: {key} is a float"
                try:
                    assert Decimal(value) > 0, f"{kind} {number}: {key} = {value}"
                except InvalidOperation:
                    pytest.fail(f"{kind} {number}: {key} = {value}")


@pytest.mark.parametrize("kind", ["card", "tier", "rate"])
def test_rates_are_of_meters_that_exist(kind: str) -> None:
    for where, row in rows_of(kind):
        for key, _ in amounts(row):
            assert key == "multiplier" or key in set(Meter), f"{where}: {key}"


@pytest.mark.parametrize("kind", ["tier", "rate", "window", "backdate"])
def test_the_models_of_a_row_exist(kind: str) -> None:
    typos = [
        f"{where}: {pattern!r} of {row['provider']}"
        for where, row in rows_of(kind)
        for pattern in row["models"]
        if missing(row["provider"], pattern)
    ]
    assert not typos


def test_a_typo_would_be_found() -> None:
    assert missing("openai", "gpt-5-minni")
    assert missing("anthropic", "gpt-5")
    assert not missing("azure", "gpt-5")


def test_no_model_has_two_rows_of_one_tier_and_start() -> None:
    spelled = Counter(
        (row["provider"], model, row["tier"], row.get("valid_from"))
        for _, row in rows_of("tier")
        for model in row["models"]
    )
    assert [row for row, count in spelled.items() if count > 1] == []


def test_tiers_of_one_model_do_not_contradict_each_other() -> None:
    """Patterns may cover ids that another row names; then both must say the same or follow one another."""
    rows = list(rows_of("tier"))
    for provider, model in sorted(known_models()):
        own = [
            (where, row)
            for where, row in rows
            if row["provider"] == provider and any(fnmatchcase(model, one) for one in row["models"])
        ]
        for index, (where, row) in enumerate(own):
            for other_where, other in own[index + 1 :]:
                same = row["tier"] == other["tier"]
                (start, end), (other_start, other_end) = span(row), span(other)
                assert not same or end <= other_start or other_end <= start, (
                    f"{model}: {where} and {other_where}"
                )


def test_periods_of_a_card_follow_one_another() -> None:
    cards: dict[tuple[str, str], list[tuple[datetime, datetime]]] = {}
    for _, row in rows_of("card"):
        cards.setdefault((row["provider"], row["model"]), []).append(span(row))
    for card, spans in cards.items():
        ordered = sorted(spans)
        assert all(start < end for start, end in ordered), card
        assert all(end <= start for (_, end), (start, _) in pairwise(ordered)), f"periods of {card} overlap"


def test_an_explicit_hit_of_alibaba_costs_a_tenth_of_the_input() -> None:
    cards = [row for _, row in rows_of("card") if row["provider"] == "alibaba"]
    for where, row in rows_of("tier"):
        if row["tier"] != "explicit_cache":
            continue
        for model in row["models"]:
            for card in cards:
                if card["model"] == model and card.get("valid_from", EARLIEST) >= row.get(
                    "valid_from", EARLIEST
                ):
                    rates = {key: Decimal(value) for key, value in card["rates"].items()}
                    hit = rates["cache_read"] * Decimal(row["multipliers"]["cache_read"])
                    assert hit == rates["input_uncached"] / 10, f"{where}: {model}"
