"""Finding the card for a log's name, and what splits a log into constant rates."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pricing.book import PriceBook, load_book
from pricing.errors import AmbiguousModelError, PriceFileError, UnknownModelError
from pricing.meters import Meter
from pricing.names import candidates, provider_id, provider_in_name

PRICES = Path(__file__).parent / "data" / "prices.json"
BOOK = load_book([PRICES])
NOW = datetime(2026, 11, 29, tzinfo=UTC)


@pytest.mark.parametrize(
    ("provider", "name", "expected"),
    [
        (None, "demo-4o", "demo-4o"),
        (None, "DEMO-4o ", "demo-4o"),
        (None, "demo-4o-mini-2026-01-15", "demo-4o-mini"),
        (None, "demo-4o-20260115", "demo-4o"),
        (None, "openai/demo-4o", "demo-4o"),
        ("azure", "azure/demo-4o-2026-01-15", "demo-4o"),
        ("litellm", "openrouter/openai/demo-4o", "demo-4o"),
        ("vertex_ai", "vertex_ai/demo-opus@20250929", "demo-opus"),
        (None, "demo-opus@latest", "demo-opus"),
        ("bedrock", "us.anthropic.demo-opus-20250929-v1:0", "demo-opus"),
        ("bedrock", "bedrock/eu.anthropic.demo-opus-v1:0", "demo-opus"),
        (None, "arn:aws:bedrock:us-east-1:123:inference-profile/us.anthropic.demo-opus-v1:0", "demo-opus"),
        (None, "projects/p/locations/l/publishers/google/models/demo-flash", "demo-flash"),
        (None, "models/demo-flash", "demo-flash"),
    ],
)
def test_a_decorated_name_is_the_card_it_decorates(provider: str | None, name: str, expected: str) -> None:
    assert BOOK.find(provider, name).model == expected


@pytest.mark.parametrize(
    "name",
    [
        "demo-5.5-mini",
        "demo-4o-0613",  # not a full date: another model
        "demo-4o-2026-13-45",  # not a date
        "demo-4o-minimum",
        "demo",
        "agent_8kXdemo-o1",
        "my-demo-4o",
        "acme/demo-4o",  # not a route we know
        "ft:demo-4o:acme",
        "demo-grok-3",
        "",
    ],
)
def test_a_similar_name_is_never_taken(name: str) -> None:
    with pytest.raises(UnknownModelError, match="no price card for model"):
        BOOK.find(None, name)


@pytest.mark.parametrize(
    ("provider", "name", "expected"),
    [
        ("openai", "gpt-5-2025-08-07", ("openai", "gpt-5")),
        (None, "gpt-5", ("openai", "gpt-5")),
        ("azure", "gpt-5", ("azure", "gpt-5")),
        ("azure_openai", "gpt-5", ("azure", "gpt-5")),
        ("litellm", "azure/gpt-5", ("azure", "gpt-5")),
        ("nobody-we-know", "gpt-5", ("openai", "gpt-5")),
        ("gemini", "models/gemini-2.5-pro", ("google", "gemini-2.5-pro")),
        ("vertex_ai", "claude-sonnet-4-5@20250929", ("google", "claude-sonnet-4-5")),
        ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", ("aws", "regional.anthropic.claude-sonnet-4-5-20250929-v1:0")),
        (None, "us.anthropic.claude-sonnet-4-5-20250929-v1:0", ("aws", "regional.anthropic.claude-sonnet-4-5-20250929-v1:0")),
        ("xai", "grok-4.7", ("x-ai", "grok-4.7")),
        (None, "llama-3.3-70b-versatile", ("groq", "llama-3.3-70b-versatile")),  # only one provider lists it
    ],
)  # fmt: skip
def test_genai_prices_is_asked_by_provider(
    provider: str | None, name: str, expected: tuple[str, str]
) -> None:
    card = BOOK.find(provider, name)
    assert (card.provider, card.model) == expected
    assert card.source.startswith("genai-prices 0.2")


def test_another_providers_price_is_said() -> None:
    assert BOOK.find("acme-proxy", "gpt-5").notes == (
        "no price of provider 'acme-proxy' for it, that of openai used",
    )
    assert BOOK.find("litellm", "gpt-5").notes == ()
    assert BOOK.find("openai", "gpt-5").notes == ()
    assert "that of groq used" in BOOK.find("acme-proxy", "llama-3.3-70b-versatile").notes[0]


def test_a_model_of_many_sellers_needs_the_provider() -> None:
    with pytest.raises(AmbiguousModelError, match=r"is sold by .*: name the provider"):
        BOOK.find(None, "meta-llama/llama-3.3-70b-instruct")


def test_the_users_card_comes_first_and_may_be_for_one_provider(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "models: {gpt-5: {input: 7, output: 8, provider: azure_openai, aliases: [our-gpt]}}", encoding="utf-8"
    )
    book = load_book([path])
    assert book.find("azure", "gpt-5").source == "mine.yaml"
    assert book.find(None, "our-gpt").model == "gpt-5"
    assert book.find("openai", "gpt-5").source.startswith("genai-prices")


def test_the_later_file_counts(tmp_path: Path) -> None:
    for name, rate in (("a.json", 1), ("b.json", 2)):
        (tmp_path / name).write_text(
            f'{{"models": {{"demo": {{"input": {rate}, "output": 1}}}}}}', encoding="utf-8"
        )
    book = load_book([tmp_path / "a.json", tmp_path / "b.json"])
    assert book.find(None, "demo").source == "b.json"
    assert [card.source for card in book.user_cards] == ["b.json"]
    assert book.version.endswith(" + a.json + b.json")


def test_the_hash_names_the_content(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"models": {}}', encoding="utf-8")
    before = load_book([path]).sha256
    assert before == load_book([path]).sha256 != load_book().sha256
    path.write_text('{"models": {} }', encoding="utf-8")
    assert load_book([path]).sha256 != before


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(PriceFileError, match="cannot be read"):
        load_book([tmp_path / "none.json"])


def test_suggestions_are_listed_names() -> None:
    assert BOOK.suggest("demo-5.5-mini")[0] == "demo-5.4-mini"
    assert BOOK.suggest("gpt5")[0] == "gpt-5"
    assert PriceBook(builtin=False).suggest("gpt-5") == []


def test_cards_lists_the_users_first() -> None:
    listed = list(BOOK.cards())
    assert listed[: len(BOOK.user_cards)] == list(BOOK.user_cards)
    assert len(listed) > 2_000


def test_rate_keys_are_the_union_of_what_changes() -> None:
    keys = BOOK.rate_keys([(None, "demo-sol"), (None, "demo-grok"), (None, "demo-sonnet-lc"), (None, "nope")])
    assert keys.breakpoints == (datetime(2026, 8, 21, tzinfo=UTC),)
    assert keys.context_thresholds == (199_999, 200_000)
    assert (keys.clock_edges, keys.clocked) == ((), ())
    clocked = BOOK.rate_keys([("x", "demo-seek"), (None, "demo-4o")])
    assert clocked.clocked == (("x", "demo-seek"),)
    assert clocked.clock_edges[:4] == (60, 240, 360, 600)
    assert clocked.clock_edges[-1] == 4 * 1_440 + 600


def test_rate_keys_hold_the_starts_of_service_tiers() -> None:
    keys = BOOK.rate_keys([("openai", "gpt-5.4")])
    assert datetime(2026, 10, 14, tzinfo=UTC) in keys.breakpoints  # batch
    assert datetime(2026, 10, 12, tzinfo=UTC) in keys.breakpoints  # flex and priority
    assert keys.context_thresholds == (272_000,)


def test_a_service_tier_before_its_start_is_said_and_not_guessed() -> None:
    card = BOOK.find("openai", "gpt-5.4")
    early = card.resolve(datetime(2024, 4, 14, tzinfo=UTC), 1, "batch")
    assert early.rates == card.resolve(datetime(2024, 4, 14, tzinfo=UTC), 1, None).rates
    assert early.warnings == ("service tier 'batch' asked, standard price used",)
    assert card.resolve(NOW, 1, "batch").valid_from == datetime(2026, 10, 14, tzinfo=UTC)


def test_a_tier_is_priced_from_its_first_day_on_and_not_from_the_day_it_was_recorded() -> None:
    card = BOOK.find("openai", "o3")
    before, after = (card.resolve(datetime(2026, 10, day, tzinfo=UTC), 1, "batch") for day in (13, 14))
    assert before.rates == after.rates
    assert (before.rule, after.rule) == ("batch x0.5, cache_read x1", "batch rates")


def test_candidates_go_from_the_whole_name_to_the_barest() -> None:
    name = "bedrock/us.anthropic.claude-x-20250929-v1:0"
    assert candidates(name) == (
        name,
        "us.anthropic.claude-x-20250929-v1:0",
        "claude-x-20250929-v1:0",
        "claude-x-20250929",
        "claude-x",
    )


def test_provider_words() -> None:
    assert [provider_id(word) for word in ("Vertex AI", "x.ai", "litellm", "", None, "groq")] == [
        "google",
        "x-ai",
        None,
        None,
        None,
        "groq",
    ]
    assert provider_in_name("litellm/azure/gpt-5") == "azure"
    assert provider_in_name("acme/gpt-5") is None


@pytest.mark.parametrize("module", ["pricing", "pricing.meters", "pricing.book", "pricing.charges"])
def test_modules_load_without_the_heavy_ones(module: str) -> None:
    code = (
        f"import sys, {module}; print(*({{'pandas', 'genai_prices', 'yaml', 'pydantic'}} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_model_listed_without_a_price_is_not_free() -> None:
    unpriced = [card for card in BOOK.cards() if not card.periods]
    assert len(unpriced) > 20
    assert not any(card.free for card in unpriced)


def test_a_model_whose_id_says_free_is_free() -> None:
    free = [card for card in BOOK.cards() if card.free and card.provider == "openrouter"]
    assert len(free) > 100
    assert all(card.model.endswith(":free") for card in free)


def test_rows_list_every_stated_rate() -> None:
    rows = list(BOOK.find(None, "demo-o").rows())
    assert [(row.rule, row.usd_per_unit) for row in rows if row.meter is Meter.OUTPUT] == [
        ("base", 10),
        ("batch x0.5", 5),
        ("flex x0.5", 5),
        ("priority x2", 20),
    ]
    assert {row.source for row in rows} == {"prices.json"}
