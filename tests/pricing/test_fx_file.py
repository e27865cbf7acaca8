"""Files of exchange rates: every spelling, and a message with file and row for every mistake."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from pricing.errors import PriceFileError
from pricing.fx_file import read_rates


def write(folder: Path, text: str, name: str = "fx.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fx.csv", "month,rate\n2026-10,0.92\n2026-11-03,0.93\n"),
        ("fx.csv", "\ufeffDate , Rate, currency\n2026-10,0.92,EUR\n2026-11-03,0.93,eur\n2026-10,150,JPY\n"),
        ("fx.json", '{"EUR": {"2026-10": "0.92", "2026-11-03": 0.93}, "JPY": {"2026-10": 150}}'),
        ("fx.json", '{"2026-10": "0.92", "2026-11-03": 0.93}'),
        ("fx.yaml", "eur:\n  2026-10: 0.92\n  2026-11-03: 0.93\n"),
    ],
)
def test_every_spelling_says_the_same(tmp_path: Path, name: str, text: str) -> None:
    made = read_rates(write(tmp_path, text, name), "EUR")
    assert dict(made.rates) == {"2026-10": Decimal("0.92"), "2026-11-03": Decimal("0.93")}
    assert made.source == name
    assert made.key(date(2026, 11, 3)) == "2026-11-03"
    assert made.key(date(2026, 11, 4)) is None


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("fx.csv", "", r"columns: got none, expected date or month, and rate"),
        ("fx.csv", "month,eur\n2026-10,0.9\n", r"columns: got month, eur, expected"),
        ("fx.csv", "month,rate\n", r"no rate of EUR; expected a rate for each month or day, EUR per USD"),
        ("fx.csv", "month,rate\n2026-13,0.9\n", r"fx\.csv:2: got '2026-13', expected a month"),
        ("fx.csv", "month,rate\n2026-10,0,9\n", r"fx\.csv:2: expected 2 columns \(month, rate\)"),
        ("fx.csv", "month,rate\n2026-10,0\n", r"fx\.csv:2: rate '0': expected a number above 0"),
        ("fx.csv", 'month,rate\n2026-10,"0,9"\n', r"rate '0,9': expected a number above 0 .*such as 0\.92"),
        ("fx.csv", "month,rate\n2026-10,0.9\n2026-10,0.8\n", r"fx\.csv:3: 2026-10 has a rate already"),
        ("fx.json", '{"USD": {"2026-10": 1}}', r"no rates of EUR; it has USD"),
        ("fx.json", "[1]", r"expected rates by month or day, such as"),
        ("fx.json", '{"EUR": {"2026-10": null}}', r"fx\.json: 2026-10: rate None"),
        ("fx.xlsx", "", r"cannot tell the syntax of a \.xlsx file"),
    ],
)
def test_mistakes_name_file_and_row(tmp_path: Path, name: str, text: str, expected: str) -> None:
    with pytest.raises(PriceFileError, match=expected):
        read_rates(write(tmp_path, text, name), "EUR")
