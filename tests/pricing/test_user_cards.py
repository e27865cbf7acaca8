"""The user's price file: every shape it may have, and the message for every mistake."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pricing.cards import PriceCard
from pricing.errors import NoPriceAtTimeError, PriceFileError
from pricing.file_syntax import MAX_BYTES
from pricing.meters import Meter
from pricing.user_cards import read_price_file

PRICES = Path(__file__).parent / "data" / "prices.json"
BASE: dict[str, Any] = {"input": "1", "output": "2"}
MONDAY = datetime(2026, 11, 2, tzinfo=UTC)


def cards_of(path: Path) -> dict[str, PriceCard]:
    return {card.model: card for card in read_price_file(path)}


def card_of(tmp_path: Path, **card: Any) -> PriceCard:
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({"models": {"demo": card}}), encoding="utf-8")
    return read_price_file(path)[0]


def message_of(path: Path) -> str:
    with pytest.raises(PriceFileError) as caught:
        read_price_file(path)
    return str(caught.value)


def rate(
    card: PriceCard, meter: Meter, at: datetime = MONDAY, tokens: int | None = 1, tier: str | None = None
) -> Decimal:
    return card.resolve(at, tokens, tier).rates[meter]


def test_every_model_of_the_sample_file_becomes_a_card_with_its_own_rates() -> None:
    raw = json.loads(PRICES.read_text(encoding="utf-8"))["models"]
    cards = cards_of(PRICES)
    assert list(cards) == list(raw)
    for name, written in raw.items():
        for period, given in zip(cards[name].periods, written.get("periods", [written]), strict=True):
            stated = {
                Meter.INPUT_UNCACHED: given["input"],
                Meter.OUTPUT: given["output"],
                Meter.WEB_SEARCH_CALLS: "0.01",
                **{Meter(key): value for key, value in given.items() if key in set(Meter) - {"output"}},
            }
            if "cache_storage_per_mtok_hour" in given:
                stated[Meter.CACHE_STORAGE_TOKEN_HOURS] = given["cache_storage_per_mtok_hour"]
            assert dict(period.rates) == {meter: Decimal(value) for meter, value in stated.items()}


@pytest.mark.parametrize(
    ("model", "tokens", "expected"),
    [
        ("demo-sonnet-lc", 199_999, "3.00"),
        ("demo-sonnet-lc", 200_000, "3.00"),
        ("demo-sonnet-lc", 200_001, "6.00"),
        ("demo-grok", 199_999, "2.00"),
        ("demo-grok", 200_000, "4.00"),  # inclusive
        ("demo-grok", 200_001, "4.00"),
        ("demo-grok", None, "2.00"),  # a bucket of requests has no size
    ],
)
def test_a_tier_starts_at_or_above_its_threshold(model: str, tokens: int | None, expected: str) -> None:
    assert rate(cards_of(PRICES)[model], Meter.INPUT_UNCACHED, tokens=tokens) == Decimal(expected)


def test_a_tier_changes_every_rate_it_names() -> None:
    sheet = cards_of(PRICES)["demo-sonnet-lc"].resolve(MONDAY, 200_001, None)
    assert sheet.rates[Meter.OUTPUT] == Decimal("22.50")
    assert sheet.rates[Meter.CACHE_WRITE_1H] == Decimal("12.00")
    assert sheet.rule == "context > 200,000"


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-08-20T23:59:59.999999+00:00", "6.00"),
        ("2026-08-21T00:00:00+00:00", "4.50"),
        ("2026-08-21T01:00:00+02:00", "6.00"),  # still the 20th in UTC
        ("1999-01-01T00:00:00+00:00", "6.00"),
    ],
)
def test_periods_switch_at_their_instant(at: str, expected: str) -> None:
    card = cards_of(PRICES)["demo-sol"]
    assert rate(card, Meter.INPUT_UNCACHED, datetime.fromisoformat(at)) == Decimal(expected)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-11-02T00:59:59", "0.20"),
        ("2026-11-02T01:00:00", "0.40"),
        ("2026-11-02T03:59:59", "0.40"),
        ("2026-11-02T04:00:00", "0.20"),  # the end is exclusive
        ("2026-11-06T09:59:00", "0.40"),  # Friday
        ("2026-11-07T02:00:00", "0.20"),  # Saturday
        ("2026-11-08T07:00:00", "0.20"),  # Sunday
    ],
)
def test_peak_hours_are_utc_weekdays_with_an_exclusive_end(at: str, expected: str) -> None:
    card = cards_of(PRICES)["demo-seek"]
    assert rate(card, Meter.INPUT_UNCACHED, datetime.fromisoformat(at).replace(tzinfo=UTC)) == Decimal(
        expected
    )


@pytest.mark.parametrize(
    ("window", "inside", "outside"),
    [
        ("Sat-Sun 00:00-24:00", "2026-11-08T23:59:00", "2026-11-09T00:00:00"),
        (
            "Sun 22:00-06:00",
            "2026-11-09T05:59:00",
            "2026-11-09T06:00:00",
        ),  # over midnight and the end of the week
        ("Sun 22:00-06:00", "2026-11-09T00:00:00", "2026-11-08T21:59:00"),
        ("22:00-06:00", "2026-11-04T01:00:00", "2026-11-04T12:00:00"),
        ("Fri-Mon 10:00-11:00", "2026-11-02T10:00:00", "2026-11-03T10:00:00"),
        ("daily 10:00-11:00", "2026-11-03T10:30:00", "2026-11-03T11:00:00"),
    ],
)
def test_windows_of_any_days(tmp_path: Path, window: str, inside: str, outside: str) -> None:
    card = card_of(tmp_path, **BASE, peak_multiplier="3", peak_windows_utc=[window])
    at_peak, off_peak = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (inside, outside))
    assert rate(card, Meter.INPUT_UNCACHED, at_peak) == 3
    assert rate(card, Meter.INPUT_UNCACHED, off_peak) == 1


@pytest.mark.parametrize(
    ("tier", "expected", "applied"),
    [
        (None, "1.25", "standard"),
        ("default", "1.25", "standard"),
        ("auto", "1.25", "standard"),
        ("batch", "0.625", "batch"),
        ("FLEX", "0.625", "flex"),
        ("priority", "2.50", "priority"),
        ("fast", "2.50", "priority"),  # the newer name
    ],
)
def test_multipliers_by_service_tier(tier: str | None, expected: str, applied: str) -> None:
    sheet = cards_of(PRICES)["demo-o"].resolve(MONDAY, 1, tier)
    assert sheet.rates[Meter.INPUT_UNCACHED] == Decimal(expected)
    assert sheet.rates[Meter.WEB_SEARCH_CALLS] == Decimal("0.01")  # a fee is not discounted
    assert (sheet.service_tier_applied, sheet.warnings) == (applied, ())


def test_multipliers_stack_with_the_tier_and_the_hour(tmp_path: Path) -> None:
    rules = {"batch_multiplier": 0.5, "peak_multiplier": 2, "peak_windows_utc": ["00:00-12:00"]}
    card = card_of(tmp_path, **BASE, **rules, tier={"above": 10, "input": "4"})
    sheet = card.resolve(MONDAY, 11, "batch")
    assert sheet.rates[Meter.INPUT_UNCACHED] == 4
    assert sheet.rule == "context > 10; batch x0.5; peak x2"


def test_rules_of_the_card_hold_in_its_periods(tmp_path: Path) -> None:
    card = card_of(
        tmp_path, batch_multiplier="0.5", periods=[{"until": "2026-01-01", **BASE}, {"start": "2026-01-01", **BASE, "batch_multiplier": "0.8"}]
    )  # fmt: skip
    assert rate(card, Meter.INPUT_UNCACHED, datetime(2025, 1, 1, tzinfo=UTC), tier="batch") == Decimal("0.5")
    assert rate(card, Meter.INPUT_UNCACHED, tier="batch") == Decimal("0.8")


def test_a_gap_between_periods_has_no_price(tmp_path: Path) -> None:
    card = card_of(tmp_path, periods=[{"start": "2026-02-01", **BASE}, {"until": "2026-01-01", **BASE}])
    with pytest.raises(NoPriceAtTimeError, match="no price at 2026-01-15"):
        card.resolve(datetime(2026, 1, 15, tzinfo=UTC), 1, None)


def test_floats_keep_their_digits(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"models": {"demo": {"input": 0.075, "output": 1e-3}}}', encoding="utf-8")
    assert rate(cards_of(path)["demo"], Meter.INPUT_UNCACHED) == Decimal("0.075")
    assert rate(cards_of(path)["demo"], Meter.OUTPUT) == Decimal("0.001")


def test_yaml_and_toml_hold_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "models:\n  demo:\n    aliases: [d]\n    retrieved: 2026-11-01\n    periods:\n"
        "    - {start: 2026-01-01T00:00:00Z, input: 0.075, output: '2'}\n",
        encoding="utf-8",
    )
    (tmp_path / "a.toml").write_text(
        '[models.demo]\naliases = ["d"]\nretrieved = 2026-11-01\n'
        'periods = [{start = 2026-01-01, input = 0.075, output = "2"}]\n',
        encoding="utf-8",
    )
    yaml_card, toml_card = (read_price_file(tmp_path / f"a.{suffix}")[0] for suffix in ("yaml", "toml"))
    assert yaml_card.periods == toml_card.periods
    assert (yaml_card.aliases, yaml_card.retrieved, yaml_card.source) == (("d",), date(2026, 11, 1), "a.yaml")
    assert yaml_card.periods[0].rates[Meter.INPUT_UNCACHED] == Decimal("0.075")


def test_zero_on_purpose_is_free_whatever_the_fees() -> None:
    cards = cards_of(PRICES)
    assert cards["local-llama"].free
    assert not cards["demo-o"].free


@pytest.mark.parametrize(
    ("card", "parts"),
    [
        ({**BASE, "cache_reed": "1"}, ("models.demo.cache_reed", "unknown key 'cache_reed'", "cache_read, ")),
        ({**BASE, "tier": {"above": 5, "outptu": 1}}, ("models.demo.tier.outptu", "unknown key", "scope, counts")),
        ({**BASE, "input": "-1"}, ("models.demo.input", "from 0 to 1e12", "'-1'")),
        ({**BASE, "input": "NaN"}, ("models.demo.input", "from 0 to 1e12", "'NaN'")),
        ({**BASE, "input": "1e13"}, ("models.demo.input", "from 0 to 1e12", "'1e13'")),
        ({**BASE, "input": "1e-31"}, ("models.demo.input", "at most 30 decimals", "'1e-31'")),
        ({**BASE, "input": "two"}, ("models.demo.input", "expected a number", "'two'")),
        ({**BASE, "input": True}, ("models.demo.input", "expected a number", "True")),
        ({"output": "1"}, ("models.demo", "'input' is missing")),
        ({"input": "1"}, ("models.demo", "'output' is missing")),
        ({**BASE, "tier": {"input": "1"}}, ("models.demo.tier.above", "required")),
        ({**BASE, "tier": {"above": 5, "scope": "excess"}}, ("models.demo.tier.scope", "'whole_request'", "'excess'")),
        ({**BASE, "tier": {"above": 5, "counts": "uncached"}}, ("models.demo.tier.counts", "all prompt tokens")),
        ({**BASE, "peak_multiplier": "2"}, ("models.demo", "only allowed together")),
        ({**BASE, "peak_window_ends": "inclusive"}, ("peak_window_ends", "'exclusive'", "'inclusive'")),
        ({**BASE, "peak_multiplier": 2, "peak_windows_utc": ["Mo 1-2"]}, ("peak_windows_utc.0", "'Mo 1-2'", "Mon-Fri")),
        ({**BASE, "peak_multiplier": 2, "peak_windows_utc": ["25:00-26:00"]}, ("peak_windows_utc.0", "25:00-26:00")),
        ({"periods": []}, ("models.demo.periods", "empty")),
        ({**BASE, "periods": [BASE]}, ("models.demo", "rates beside its periods")),
        ({"periods": [{**BASE, "start": "soon"}]}, ("models.demo.periods.0.start", "ISO 8601", "'soon'")),
        ({"periods": [{**BASE, "start": "2026-02-01", "until": "2026-01-01"}]}, ("models.demo.periods.0", "not after")),
        ({"periods": [{**BASE, "until": "2026-02-01"}, {**BASE, "start": "2026-01-01"}]}, ("demo.periods", "overlap")),
        ({"periods": [BASE, BASE]}, ("demo.periods", "overlap")),
        ({"periods": [{**BASE, "til": "2026"}]}, ("models.demo.periods.0.til", "unknown key", "start, until")),
        ({**BASE, "aliases": ["Demo"]}, ("models.demo.aliases", "'Demo' already names itself")),
        ({**BASE, "aliases": ["other"]}, ("models.demo.aliases", "'other' already names 'other'")),
        ({**BASE, "aliases": ["x", "X"]}, ("models.demo.aliases", "'X' already names itself")),
        (7, ("models.demo", "got 7")),
    ],
)  # fmt: skip
def test_mistakes_in_a_card(tmp_path: Path, card: object, parts: tuple[str, ...]) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"models": {"demo": card, "other": BASE}}), encoding="utf-8")
    message = message_of(path)
    assert message.startswith(f"{path}: ")
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("name", "text", "parts"),
    [
        ("a.json", "[]", ("the file: expected keys with values, got []",)),
        ("a.json", "{", ("not valid JSON", "line 1")),
        ("a.json", '{"models": {"a": {}, "a": {}}}', ("not valid JSON", "key 'a' is given twice")),
        ("a.json", '{"models": {}, "modles": {}}', ("modles", "allowed: unit, note, models, fees")),
        ("a.json", '{"models": {}, "fees": {"call": 1}}', ("fees.call", "allowed: web_search_call")),
        ("a.json", '{"models": {}, "fees": {"web_search_call": "1 per day"}}', ("web_search_call", "'1 per day'")),
        ("a.json", '{"models": {}, "unit": "USD per 1K tokens"}', ("unit", "'USD per 1K tokens'", "per 1,000,000")),
        ("a.json", '{"unit": "USD per Mtok"}', ("models", "required")),
        ("a.json", '{"models": {"A": {"input": 1, "output": 1}, "a": {"input": 1, "output": 1}}}', ("models.a", "'A'")),
        ("a.json", '{"models": {"a": {"input": 1, "output": 1, "aliases": ["b"]}, "c": {"input": 1, "output": 1, "aliases": ["B"]}}}', ("models.c.aliases", "'B' already names 'a'")),
        ("a.yaml", "models: [", ("not valid YAML",)),
        ("a.yaml", "models: {}\nmodels: {}", ("not valid YAML", "key 'models' is given twice")),
        ("a.yaml", "models: !!python/object/apply:os.getcwd []", ("not valid YAML", "could not determine a constructor")),
        ("a.toml", "models = ", ("not valid TOML",)),
        ("a.csv", "", ("a .csv file", ".json, .yaml, .yml, .toml")),
    ],
)  # fmt: skip
def test_mistakes_in_the_file(tmp_path: Path, name: str, text: str, parts: tuple[str, ...]) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    message = message_of(path)
    for part in (str(path), *parts):
        assert part in message


def test_files_that_are_missing_or_too_large(tmp_path: Path) -> None:
    assert "cannot be read" in message_of(tmp_path / "none.json")
    path = tmp_path / "large.json"
    path.write_bytes(b" " * (MAX_BYTES + 1))
    assert "allowed are 16,777,216" in message_of(path)
