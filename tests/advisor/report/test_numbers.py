"""Numbers are rounded by size and never lie about zero or the whole."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor import numbers

AMOUNTS = st.decimals(min_value=Decimal("-1e12"), max_value=Decimal("1e12"), allow_nan=False, places=12)


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("0", "$0.00"),
        ("1234.5600", "$1,234.56"),
        ("28580.125", "$28,580.13"),
        ("0.5", "$0.50"),
        ("0.05", "$0.05"),
        ("0.0131", "$0.013"),
        ("0.0004", "$0.0004"),
        ("0.000412", "$0.00041"),
        ("0.996", "$1.00"),
        ("0.0999", "$0.10"),
        ("0.0000001", "< $0.000001"),
        ("-0.0000001", "> -$0.000001"),
        ("-12.3", "-$12.30"),
        ("1E+6", "$1,000,000.00"),
        ("123456789012345678901234567890.1", "$123,456,789,012,345,678,901,234,567,890.10"),
    ],
)
def test_money(amount: str, expected: str) -> None:
    assert numbers.money(Decimal(amount)) == expected


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("28580", "$28.6k"),
        ("943.2", "$943"),
        ("0.46", "$0.46"),
        ("9.5", "$9.50"),
        ("99.96", "$99.96"),
        ("100.4", "$100"),
        ("999.6", "$1k"),
        ("1234567", "$1.23M"),
        ("-28580", "-$28.6k"),
        ("2.5e12", "$2.5T"),
    ],
)
def test_money_short(amount: str, expected: str) -> None:
    assert numbers.money_short(Decimal(amount)) == expected


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("4912.5", "$4,910"),
        ("28580", "$28,600"),
        ("943.2", "$943"),
        ("99.96", "$99.96"),
        ("999.6", "$1,000"),
        ("999600", "$1M"),
        ("1234567", "$1.23M"),
        ("-28580", "-$28,600"),
    ],
)
def test_money_about(amount: str, expected: str) -> None:
    assert numbers.money_about(Decimal(amount)) == expected


def test_money_exact_keeps_every_digit() -> None:
    assert numbers.money_exact(Decimal("1234.500000001")) == "$1,234.500000001"
    assert numbers.money_exact(Decimal("1E-9")) == "$0.000000001"
    assert numbers.rate(Decimal(3)) == "$3.00"
    assert numbers.rate(None) == numbers.MISSING


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.71, "71 %"),
        (0.345, "34 %"),
        (0.655, "66 %"),
        (0.047, "4.7 %"),
        (0.998, "99.8 %"),
        (0.9997, "> 99.9 %"),
        (0.99999999, "> 99.9 %"),
        (0.0001, "< 0.1 %"),
        (1e-300, "< 0.1 %"),
        (-0.05, "-5.0 %"),
        (1.2, "120 %"),
        (float("nan"), "—"),
        (None, "—"),
    ],
)
def test_share(part: float | None, expected: str) -> None:
    assert numbers.share(part) == expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "0"),
        (999, "999"),
        (9_412, "9,412"),
        (9_999.6, "10,000"),
        (12_345, "12.3 k"),
        (940_000, "940 k"),
        (999_999, "1 M"),
        (1_200_000, "1.2 M"),
        (4_600_000_000, "4.6 B"),
        (0.3, "0.3"),
        (-12_345, "-12.3 k"),
    ],
)
def test_tokens(number: float, expected: str) -> None:
    assert numbers.tokens(number) == expected


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (None, "no times in the log"),
        (30.0, "30 days"),
        (29.97, "30 days"),
        (1.0, "1 day"),
        (0.4, "10 hours"),
        (0.02, "29 minutes"),
        (0.0, "under a minute"),
    ],
)
def test_period(days: float | None, expected: str) -> None:
    assert numbers.period(days) == expected


@pytest.mark.parametrize(
    ("ticks", "expected"),
    [
        (("0", "500", "1000", "1500"), ("$0", "$500", "$1,000", "$1,500")),
        (("0", "5000", "10000", "15000"), ("$0", "$5k", "$10k", "$15k")),
        (("0", "2500", "5000", "7500", "10000"), ("$0.0", "$2.5k", "$5.0k", "$7.5k", "$10.0k")),
        (("0", "0.25", "0.5"), ("$0.00", "$0.25", "$0.50")),
    ],
)
def test_axis_money_uses_one_unit(ticks: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert numbers.axis_money([Decimal(tick) for tick in ticks]) == expected


@given(AMOUNTS)
def test_money_never_shows_zero_for_something(amount: Decimal) -> None:
    for text in (numbers.money(amount), numbers.money_short(amount)):
        assert (re.search(r"[1-9]", text) is not None) == bool(amount)
        assert ("-" in text) == (amount < 0)


@given(AMOUNTS)
def test_money_is_within_its_rounding(amount: Decimal) -> None:
    text = numbers.money(amount)
    if "<" in text or ">" in text:
        return
    shown = Decimal(text.replace("$", "").replace(",", ""))
    assert abs(shown - amount) <= max(Decimal("0.005"), abs(amount) * Decimal("0.05"))


@given(st.floats(min_value=0, max_value=1, exclude_min=True, exclude_max=True))
def test_share_is_never_none_or_all_in_between(part: float) -> None:
    assert numbers.share(part) not in {"0 %", "100 %", "0.0 %", "100.0 %"}


@given(st.integers(min_value=0, max_value=1000))
def test_two_shares_of_a_whole_add_up(part: int) -> None:
    texts = [numbers.share(Decimal(part) / 1000), numbers.share(1 - Decimal(part) / 1000)]
    assert sum(Decimal(text.removesuffix(" %")) for text in texts) == 100


@given(st.integers(min_value=0, max_value=10**18))
def test_tokens_keep_three_digits(number: int) -> None:
    text = numbers.tokens(number).replace(",", "")
    head, _, suffix = text.partition(" ")
    scale = {"": 1, "k": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}[suffix]
    assert abs(Decimal(head) * scale - number) <= Decimal(number) / 100


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("USD", "$1,234.50"),
        ("EUR", "€1,234.50"),
        ("GBP", "£1,234.50"),
        ("CHF", "CHF\N{NO-BREAK SPACE}1,234.50"),
    ],
)
def test_amounts_have_the_sign_of_their_currency_whatever_the_locale(code: str, expected: str) -> None:
    amount = Decimal("1234.5")
    assert numbers.money(amount, code) == expected
    with numbers.shown_in(code):
        assert numbers.money(amount) == expected
        assert numbers.money_exact(-amount) == f"-{expected}"
        assert numbers.rate(amount) == "$1,234.50", "prices are in USD"
        assert numbers.money(amount, "USD") == "$1,234.50"
    assert numbers.money(amount) == "$1,234.50"
