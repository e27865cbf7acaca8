"""The rows of cache rules: sourced, dated, without contradictions, and what is found by a log's words."""

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fnmatch import fnmatchcase
from itertools import combinations
from pathlib import Path

import pytest
from genai_prices.data_snapshot import get_snapshot

from pricing.cache_rules import (
    CACHE_DIR,
    CacheRule,
    Lifetime,
    built_in_rules,
    multiples,
    read_rules,
    rule_for,
    rules_for,
)
from pricing.cards import PriceCard
from pricing.errors import PriceFileError
from pricing.meters import Meter
from pricing.names import candidates
from pricing.overlay import DATA_DIR, built_in
from pricing.rules import RatePeriod

CLOSED = Path(__file__).parent / "data" / "closed_cache_rules.json"
UNLISTED = Path(__file__).parent / "data" / "cache_patterns_unlisted.json"
TODAY = datetime(2026, 11, 29, tzinfo=UTC)
EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
RULES = built_in_rules()
GOOD = """
[[rule]]
provider = "acme"
models = ["demo-*"]
placement = "automatic"
minimum_tokens = 1024
granularity_tokens = 128
lifetimes = [{ name = "5m", seconds = 300, refreshes = true, write_meter = "cache_write_5m", default = true }]
scope = ["organisation"]
guaranteed = false
source = "https://acme.example"
checked_on = 2026-11-01
"""


def label(rule: CacheRule) -> str:
    return f"{rule.provider} {rule.placement} {','.join(rule.models)} {rule.valid_from} {rule.valid_until}"


def span(row: CacheRule | Lifetime) -> tuple[datetime, datetime]:
    return row.valid_from or EARLIEST, row.valid_until or LATEST


def known_models() -> dict[str, set[str]]:
    """Of genai-prices, with the models that a provider borrows from others, and of our own cards, by provider."""
    listed = {one.id: {model.id.lower() for model in one.models} for one in get_snapshot().providers}
    found = {name: set(models) for name, models in listed.items()}
    for provider in get_snapshot().providers:
        for other in provider.fallback_model_providers or ():
            found[provider.id] |= listed[other]
    for card in built_in().card:
        found.setdefault(card.provider, set()).add(card.model.lower())
    return found


# ---- The rows ----


def test_every_provider_that_was_described_has_a_row() -> None:
    described = {
        "openai", "anthropic", "google", "aws", "azure", "deepseek", "x-ai", "mistral", "groq", "together", "fireworks",
        "alibaba", "moonshotai", "zai",
    }  # fmt: skip
    assert {rule.provider for rule in RULES} == described


@pytest.mark.parametrize("rule", RULES, ids=label)
def test_a_row_is_sourced_spelled_right_and_has_one_default(rule: CacheRule) -> None:
    assert rule.source.startswith("https://")
    assert date(2024, 1, 1) < rule.checked_on <= TODAY.date()
    assert all(pattern == pattern.lower() for pattern in (*rule.models, *rule.except_models))
    assert rule.minimum_tokens > 0
    assert rule.granularity_tokens > 0
    assert rule.minimum_tokens % rule.granularity_tokens == 0 or rule.granularity_tokens > rule.minimum_tokens
    edges = {start for one in rule.lifetimes for start in span(one)} | {rule.valid_from or EARLIEST}
    for edge in edges - {LATEST}:
        active = [one for one in rule.lifetimes if span(one)[0] <= edge < span(one)[1]]
        assert sum(one.default for one in active) == 1, edge
        assert len({one.name for one in active}) == len(active), edge
    # Where storage is paid, an entry lives by the clock and not by its use.
    assert rule.storage_meter is None or not any(one.refreshes for one in rule.lifetimes)


def test_no_model_has_two_rows_of_one_placement_at_one_time() -> None:
    for provider, models in known_models().items():
        own = [rule for rule in RULES if rule.provider == provider]
        for model in models if own else ():
            names = candidates(model.removeprefix("regional."))
            meant = [one for one in own if any(one.covers(provider, name) for name in names)]
            for first, second in combinations(meant, 2):
                (start, end), (other_start, other_end) = span(first), span(second)
                apart = end <= other_start or other_end <= start
                two_ways = {first.placement, second.placement} == {"automatic", "explicit"}
                assert apart or two_ways, f"{model}: {label(first)} and {label(second)}"


def test_every_pattern_stands_for_a_model(check_golden: Callable[[Path, str], None]) -> None:
    """But for those that name a model as logs do and price lists do not: a typo shows up among them."""
    known = known_models()
    unknown = {
        f"{rule.provider} {pattern}"
        for rule in RULES
        for pattern in rule.models
        if not any(
            fnmatchcase(name, pattern)
            for model in known[rule.provider]
            for name in candidates(model.removeprefix("regional."))
        )
    }
    check_golden(UNLISTED, json.dumps(sorted(unknown), indent=1) + "\n")


def test_closed_rows_never_change(check_golden: Callable[[Path, str], None]) -> None:
    """A rule of the past that turns out wrong is a new row with its source, and a line in the changelog."""
    closed = {
        label(rule): hashlib.sha256(rule.model_dump_json(exclude_defaults=True).encode()).hexdigest()[:16]
        for rule in RULES
        if rule.valid_until is not None and rule.valid_until < TODAY
    }
    assert len(closed) > 2
    check_golden(CLOSED, json.dumps(closed, indent=1, sort_keys=True) + "\n")


def test_the_overlay_of_prices_does_not_read_these_rows() -> None:
    assert CACHE_DIR.parent == DATA_DIR
    assert not {path.name for path in DATA_DIR.glob("*.toml")} & {
        path.name for path in CACHE_DIR.glob("*.toml")
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("minimum_tokens = 1024", "minimum_tokens = 0"), "rule.0.minimum_tokens"),
        (("granularity_tokens = 128", ""), "rule.0.granularity_tokens"),
        (('"automatic"', '"sometimes"'), "rule.0.placement"),
        (('"organisation"', '"planet"'), "rule.0.scope.0"),
        (("seconds = 300", "seconds = [600, 300]"), "lifetime 5m"),
        (("seconds = 300", "most_seconds = 300"), "lifetime 5m"),
        (('"cache_write_5m"', '"output"'), "write_meter output"),
        (('source = "https://acme.example"', ""), "rule.0.source"),
        (("guaranteed = false", "guaranteed = false\ncolour = 1"), "rule.0.colour"),
        (("[[rule]]", "[[rules]]"), "rules"),
        (('provider = "acme"', "provider = acme"), "Invalid value"),
    ],
)
def test_a_wrong_row_is_named(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(GOOD.replace(*change), "utf-8")
    with pytest.raises(PriceFileError) as caught:
        read_rules(tmp_path)
    assert "rules.toml" in str(caught.value)
    assert said in str(caught.value)


# ---- What is found ----


@pytest.mark.parametrize(
    ("provider", "model", "minimum", "granularity"),
    [
        ("openai", "gpt-5.6-sol", 1024, 1),
        ("openai", "gpt-5.5", 1024, 2048),
        ("openai", "gpt-4o-2024-08-06", 1024, 128),
        ("anthropic", "claude-opus-5-5", 512, 1),
        ("anthropic", "claude-fable-5-2", 512, 1),
        ("anthropic", "claude-opus-4.8", 1024, 1),
        ("anthropic", "claude-sonnet-4-20250514", 1024, 1),
        ("anthropic", "claude-opus-4-7", 2048, 1),
        ("anthropic", "claude-3-5-haiku-20241022", 2048, 1),
        ("anthropic", "claude-haiku-4-5-20251001", 4096, 1),
        ("bedrock", "us.anthropic.claude-sonnet-4-6", 2048, 1),
        ("bedrock", "anthropic.claude-opus-4-7", 4096, 1),
        ("aws", "regional.anthropic.claude-opus-4-20250514-v1:0", 1024, 1),
        (None, "global.anthropic.claude-fable-5-v1:0", 1024, 1),
        ("amazon_bedrock", "amazon.nova-pro-v1:0", 1024, 1),
        ("amazon_bedrock", "amazon.nova-lite-v1:0", 1536, 1),
        ("vertex_ai", "claude-opus-4-6@default", 4096, 1),
        ("gemini", "gemini-3.8-flash", 4096, 128),
        ("gemini", "gemini-4-argon", 6144, 128),
        ("azure", "gpt-4.1", 1024, 128),
        ("azure_ai", "claude-haiku-5-5", 512, 1),
        ("deepseek", "deepseek-v4-pro", 1024, 1024),
        ("xai", "grok-4.7", 1024, 128),
        ("groq", "openai/gpt-oss-120b", 1024, 128),
        ("moonshot", "kimi-k3", 256, 256),
        ("dashscope", "qwen3.7-max", 1024, 128),
        ("fireworks_ai", "accounts/fireworks/models/glm-5p3", 1024, 128),
        ("zai", "GLM-5.3", 1024, 128),
        (None, "claude-opus-5", 512, 1),
        (None, "kimi-k3", 256, 256),
    ],
)
def test_a_rule_is_found_by_the_words_of_a_log(
    provider: str | None, model: str, minimum: int, granularity: int
) -> None:
    rule = rule_for(provider, model, TODAY)
    assert rule is not None
    assert (rule.minimum_tokens, rule.granularity_tokens) == (minimum, granularity)


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-4"),
        ("openai", "gpt-5-pro"),
        ("openai", "gpt-4o-2024-05-13"),  # a snapshot without the cache of its undated name
        ("openai", "claude-opus-5"),
        ("openrouter", "anthropic/claude-opus-5"),
        ("anthropic", "claude-opus-99"),
        ("azure", "my-deployment"),
        (None, "openai/gpt-oss-120b"),  # many sell it, and the log does not say who was paid
        ("acme", "demo"),
    ],
)
def test_nothing_is_promised_of_a_cache_that_is_not_known(provider: str | None, model: str) -> None:
    assert rule_for(provider, model, TODAY) is None


def test_the_cache_that_works_unasked_comes_first() -> None:
    both = rules_for("google", "gemini-2.5-pro", TODAY)
    assert {one.placement for one in both} == {"automatic", "explicit"}
    unasked = rule_for("google", "gemini-2.5-pro", TODAY)
    assert unasked is not None
    assert unasked.placement == "automatic"
    (asked,) = (one for one in both if one.placement == "explicit")
    assert asked.storage_meter is Meter.CACHE_STORAGE_TOKEN_HOURS
    assert not asked.default_lifetime.refreshes


def test_a_rule_and_its_lifetimes_are_those_of_the_moment() -> None:
    switch = datetime(2026, 4, 1, tzinfo=UTC)
    before, after = (rule_for("alibaba", "qwen-plus", at) for at in (switch - timedelta(seconds=1), switch))
    assert before is not None
    assert after is not None
    assert (before.minimum_tokens, after.minimum_tokens) == (256, 1024)
    # The same instant in another zone.
    zone = datetime.fromisoformat("2026-04-01T08:00:00+08:00")
    assert rule_for("alibaba", "qwen-plus", zone) == after
    early = rule_for("openai", "gpt-5.6-sol", datetime(2026, 9, 30, tzinfo=UTC))
    late = rule_for("openai", "gpt-5.6-sol", TODAY)
    assert early is not None
    assert late is not None
    assert early.lifetime("12h") is None
    assert late.lifetime("12h") is not None
    assert late.default_lifetime.name == "30m"


def test_an_instant_needs_a_zone() -> None:
    with pytest.raises(ValueError, match="time zone"):
        rule_for("openai", "gpt-5", TODAY.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("prefix", "eligible"), [(0, 0), (1023, 0), (1024, 1024), (1151, 1024), (1152, 1152), (5000, 4992)]
)
def test_eligible_tokens_are_whole_multiples_from_the_minimum_on(prefix: int, eligible: int) -> None:
    rule = rule_for("openai", "gpt-4o", TODAY)
    assert rule is not None
    assert rule.eligible_tokens(prefix) == eligible


def test_a_prefix_above_the_minimum_can_still_be_shorter_than_a_step() -> None:
    rule = rule_for("openai", "gpt-5.5", TODAY)
    assert rule is not None
    assert (rule.eligible_tokens(2047), rule.eligible_tokens(2048)) == (0, 2048)


def test_how_long_an_entry_lives() -> None:
    rule = rule_for("openai", "gpt-5.1", TODAY)
    assert rule is not None
    short, long = rule.lifetime("in_memory"), rule.lifetime("24h")
    assert short is not None
    assert long is not None
    assert (short.shortest_seconds, short.longest_seconds) == (300, 3600)
    assert (long.shortest_seconds, long.longest_seconds) == (1800, 86400)
    untold = rule_for("x-ai", "grok-4.7", TODAY)
    assert untold is not None
    assert untold.default_lifetime.shortest_seconds is None
    assert untold.default_lifetime.longest_seconds is None


# ---- Multiples ----


def of(rates: dict[Meter, str], meter: Meter) -> tuple[float, float] | None:
    """The multiples of a lifetime that is written under a meter, at a card of these rates."""
    period = RatePeriod(rates={name: Decimal(rate) for name, rate in rates.items()})
    card = PriceCard(provider="acme", model="demo", periods=(period,), source="https://acme.example")
    lifetime = Lifetime(name="x", seconds=60, refreshes=True, write_meter=meter, default=True)
    return multiples(card.resolve(TODAY, 1000, None), lifetime)


INPUT, READ, WRITE_5M, WRITE_1H = (
    Meter.INPUT_UNCACHED,
    Meter.CACHE_READ,
    Meter.CACHE_WRITE_5M,
    Meter.CACHE_WRITE_1H,
)
FULL = {INPUT: "4", READ: "0.2", WRITE_5M: "5", WRITE_1H: "8"}


def test_multiples_come_from_the_rates() -> None:
    assert of(FULL, WRITE_5M) == (1.25, 0.05)
    assert of(FULL, WRITE_1H) == (2.0, 0.05)
    assert of(FULL, INPUT) == (1.0, 0.05)


def test_a_write_without_a_price_of_its_own_is_not_taken_to_be_cheap() -> None:
    short = {INPUT: "4", READ: "0.2", WRITE_5M: "5"}
    assert of(short, WRITE_1H) is None
    assert of(short, Meter.CACHE_WRITE_12H) is None
    # A price list that knows one write price keeps it as that of 5 minutes.
    assert of(short, Meter.CACHE_WRITE_30M) == (1.25, 0.05)
    assert of({INPUT: "4", READ: "0.2"}, Meter.CACHE_WRITE_30M) is None
    assert of({INPUT: "4", READ: "0.2"}, WRITE_5M) is None


def test_a_read_without_a_price_of_its_own_saves_nothing() -> None:
    assert of({INPUT: "4"}, INPUT) == (1.0, 1.0)


def test_a_free_model_has_no_multiples() -> None:
    assert of({INPUT: "0", READ: "0"}, INPUT) is None
    assert of({READ: "1"}, INPUT) is None
