"""The file of negotiated terms: its spellings, and a message with file, row and key for every mistake."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pricing.agreements import load_agreement
from pricing.errors import PriceFileError
from pricing.meters import Meter


def write(folder: Path, text: str, name: str = "deal.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_whole_file(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
discounts:
- {api_key: hash-a, multiplier: "0.80"}
- {provider: anthropic, meter: output, percent_off: 12.5, valid_from: 2026-10-01, valid_until: "2027-01-01T08:00:00Z"}
commitments:
- {name: anthropic prepaid, covers: spend, provider: anthropic, usd_per_month: 5000}
- {name: ptu, covers: throughput, models: [gpt-5], usd_per_hour: "1.10", units: 50, valid_from: 2026-10-12,
   included_tokens_per_minute: 4750, note: "order 17"}
""",
    )
    made = load_agreement([path])
    first, second = made.discounts
    assert (first.api_key, first.multiplier, first.model) == ("hash-a", Decimal("0.80"), None)
    assert (second.multiplier, second.meter) == (Decimal("0.875"), Meter.OUTPUT)
    assert second.valid_from == datetime(2026, 10, 1, tzinfo=UTC)
    assert second.valid_until == datetime(2027, 1, 1, 8, tzinfo=UTC)
    spend, ptu = made.commitments
    assert (spend.usd_per_month, spend.units, spend.models) == (Decimal(5000), Decimal(1), ())
    assert (ptu.usd_per_hour, ptu.units, ptu.valid_from) == (Decimal("1.10"), Decimal(50), date(2026, 10, 12))
    assert ptu.included_tokens_per_minute == 4750
    assert made.names_keys
    assert (made.names, len(made.sha256)) == (("deal.yaml",), 64)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("d.json", '[{"api_key": "a", "multiplier": 0.8}]'),
        ("d.json", '{"discounts": [{"api_key": "a", "percent_off": "20"}]}'),
        ("d.yml", "- {api_key: a, multiplier: 0.8}"),
        ("d.toml", '[[discounts]]\napi_key = "a"\nmultiplier = 0.8\n'),
    ],
)
def test_every_spelling_says_the_same(tmp_path: Path, name: str, text: str) -> None:
    (row,) = load_agreement([write(tmp_path, text, name)]).discounts
    assert (row.api_key, row.multiplier) == ("a", Decimal("0.8"))


def test_no_file_is_no_agreement() -> None:
    made = load_agreement([])
    assert (made.discounts, made.commitments, made.sha256, made.names_keys) == ((), (), "", False)


def test_rows_of_several_files_count_together(tmp_path: Path) -> None:
    one = write(tmp_path, "- {model: a, multiplier: 0.5}", "one.yaml")
    other = write(tmp_path, "- {model: A, multiplier: 0.6}", "other.yaml")
    with pytest.raises(
        PriceFileError, match=r"one\.yaml: discounts\.0 and .*other\.yaml: discounts\.0: both are"
    ):
        load_agreement([one, other])


def spend(**more: Any) -> dict[str, Any]:
    return {"name": "x", "covers": "spend", "usd_per_month": 5, **more}


def ptu(**more: Any) -> dict[str, Any]:
    return {"name": "p", "covers": "throughput", "models": ["m"], "usd_per_hour": 1, **more}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            {"discount": []},
            r"discount: unknown key 'discount', allowed: discounts, commitments, offers, note",
        ),
        (
            [{"apikey": "a", "multiplier": 1}],
            r"discounts\.0\.apikey: unknown key 'apikey', allowed: multiplier, ",
        ),
        ([{"multiplier": -1}], r"discounts\.0\.multiplier: expected a number from 0 .*, got -1"),
        ([{"multiplier": "20%"}], r"discounts\.0\.multiplier: expected a number, .*got '20%'"),
        ([{"multiplier": 1}, {"model": "a"}], r"discounts\.1: expected either multiplier .* or percent_off"),
        ([{"multiplier": 1, "percent_off": 1}], r"discounts\.0: expected either"),
        ([{"percent_off": 101}], r"discounts\.0: percent_off: expected a number from 0 to 100, not 101"),
        ([{"multiplier": 1, "meter": "input"}], r"discounts\.0\.meter: Input should be 'input_uncached'"),
        ([{"multiplier": 1, "model": ""}], r"discounts\.0\.model: "),
        (
            [{"multiplier": 1, "valid_from": "soon"}],
            r"valid_from: expected a date or time in ISO 8601.*'soon'",
        ),
        (
            [{"multiplier": 1, "valid_from": "2026-10-02", "valid_until": "2026-10-02"}],
            r"discounts\.0: valid_until .* is not after valid_from",
        ),
        ([{"multiplier": 1}, {"multiplier": 1}], r"discounts\.0 and .*discounts\.1: both are for everything"),
        ({"commitments": [spend(usd_per_hour=1)]}, r"commitments\.0: expected either usd_per_month or"),
        ({"commitments": [{"name": "x", "covers": "spend", "usd_per_hour": 1}]}, r"expected usd_per_month"),
        ({"commitments": [spend(covers="all")]}, r"commitments\.0\.covers: Input should be 'spend' or"),
        (
            {"commitments": [spend(included_tokens_per_minute=1)]},
            r"only allowed where covers is 'throughput'",
        ),
        ({"commitments": [ptu(models=[])]}, r"commitments\.0: provisioned throughput is for named models"),
        ({"commitments": [spend(valid_from="2026-10-01T00:00:00Z")]}, r"valid_from: expected a day"),
        (
            {"commitments": [spend(colour=1)]},
            r"commitments\.0\.colour: unknown key 'colour', allowed: name, covers, ",
        ),
        ({"commitments": [spend(), spend(name="y")]}, r"some usage would fall under both 'x' and 'y'"),
        ({"commitments": [spend(), ptu(name="X")]}, r"both are called 'x'; give each its own name"),
    ],
)
def test_mistakes_name_file_row_and_key(tmp_path: Path, values: Any, expected: str) -> None:
    path = write(tmp_path, json.dumps(values), "deal.json")
    with pytest.raises(PriceFileError, match=expected) as caught:
        load_agreement([path])
    assert "deal.json" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("d.txt", "", r"cannot tell the syntax of a \.txt file"),
        ("d.json", "{", r"not valid JSON"),
        ("d.yaml", "a: [", r"not valid YAML"),
        ("d.yaml", "note: a\nnote: b\n", r"key 'note' is given twice"),
        ("d.toml", "a", r"not valid TOML"),
        ("d.json", "7", r"d\.json: the file: "),
    ],
)
def test_broken_files_are_said_to_be(tmp_path: Path, name: str, text: str, expected: str) -> None:
    with pytest.raises(PriceFileError, match=expected):
        load_agreement([write(tmp_path, text, name)])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PriceFileError, match=r"none\.yaml: cannot be read: No such file"):
        load_agreement([tmp_path / "none.yaml"])


def test_a_renewal_is_no_overlap(tmp_path: Path) -> None:
    rows = [spend(valid_until="2026-10-01"), spend(valid_from="2026-10-01"), ptu()]
    made = load_agreement([write(tmp_path, json.dumps({"commitments": rows}), "d.json")])
    assert len(made.commitments) == 3


def test_offers_of_throughput(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
offers:
- {name: monthly, provider: azure, models: [gpt-5], usd_per_month: "730.5", tokens_per_minute: 4750, least_units: 15,
   units_step: 5, output_counts_as: 8, cached_counts_as: 0, term_months: 1, note: "quote of 12 October"}
- {name: hourly, models: [gpt-5], usd_per_hour: 2, tokens_per_minute: 4750}
""",
    )
    monthly, hourly = load_agreement([path]).offers
    assert (monthly.usd_per_hour, monthly.least_units, monthly.units_step) == (Decimal(1), 15, 5)
    assert (monthly.output_counts_as, monthly.cached_counts_as) == (Decimal(8), Decimal(0))
    assert monthly.where.endswith("deal.yaml: offers.0")
    assert (hourly.usd_per_hour, hourly.output_counts_as, hourly.term_months) == (
        Decimal(2),
        Decimal(1),
        None,
    )


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("{name: a, models: [m], tokens_per_minute: 1}", "either usd_per_month or usd_per_hour"),
        ("{name: a, models: [], tokens_per_minute: 1, usd_per_hour: 1}", "offers.0.models"),
        ("{name: a, models: [m], usd_per_hour: 1}", "offers.0.tokens_per_minute"),
        ("{name: a, models: [m], tokens_per_minute: 1, usd_per_hour: 1, unit: 3}", "units_step"),
    ],
)
def test_a_mistake_in_an_offer_is_named(tmp_path: Path, row: str, words: str) -> None:
    with pytest.raises(PriceFileError, match=words):
        load_agreement([write(tmp_path, f"offers:\n- {row}\n")])
