"""Rates of exchange from a file: by day or by month, how much of a currency one US dollar buys. Nothing is fetched.

CSV with the columns ``date`` or ``month`` and ``rate`` (and ``currency``), or JSON, YAML or TOML such as
``{"EUR": {"2026-10": "0.92"}}``.
"""

import csv
import io
import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from pricing.currency import FxRates
from pricing.errors import PriceFileError
from pricing.file_syntax import parse_syntax, read_bytes
from pricing.price_file import amount_of

_MONTH: Final = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")
_MOST_DECIMALS: Final = 12
_COLUMNS: Final = ("date", "month", "rate", "currency")


def read_rates(path: Path, currency: str) -> FxRates:
    """Read the rates of one currency.

    Args:
        path: A ``.csv``, ``.json``, ``.yaml``, ``.yml`` or ``.toml`` file.
        currency: ISO 4217 code.

    Raises:
        PriceFileError: With file and row, the value seen and what is allowed.
    """
    content = read_bytes(path)
    rows = (
        _csv_rows(content, path, currency)
        if path.suffix.lower() == ".csv"
        else _rows(content, path, currency)
    )
    rates: dict[str, Decimal] = {}
    for where, key, value in rows:
        name = _period(key, where)
        if name in rates:
            raise PriceFileError(f"{where}: {name} has a rate already; keep one")
        rates[name] = _rate(value, where)
    if not rates:
        raise PriceFileError(
            f"{path}: no rate of {currency}; expected a rate for each month or day, {currency} per USD"
        )
    return FxRates(currency=currency, rates=rates, source=path.name)


def _csv_rows(content: bytes, path: Path, currency: str) -> Iterator[tuple[str, object, object]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PriceFileError(f"{path}: not UTF-8: {error}") from None
    lines = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    try:
        yield from _table_rows(lines, path, currency)
    except csv.Error as error:
        raise PriceFileError(f"{path}:{lines.line_num}: not a table: {error}") from None


def _table_rows(
    lines: "csv.DictReader[str]", path: Path, currency: str
) -> Iterator[tuple[str, object, object]]:
    names = [name.strip().lower() for name in lines.fieldnames or ()]
    unknown = sorted(set(names) - set(_COLUMNS))
    if unknown or "rate" not in names or not {"date", "month"} & set(names):
        seen = ", ".join(names) or "none"
        raise PriceFileError(f"{path}: columns: got {seen}, expected date or month, and rate (and currency)")
    lines.fieldnames = names
    for row in lines:
        where = f"{path}:{lines.line_num}"
        if None in row or None in row.values():
            raise PriceFileError(f"{where}: expected {len(names)} columns ({', '.join(names)})")
        if (row.get("currency") or currency).strip().upper() == currency:
            yield where, (row.get("date") or row.get("month") or ""), row["rate"]


def _rows(content: bytes, path: Path, currency: str) -> Iterator[tuple[str, object, object]]:
    values: Any = parse_syntax(content, path)
    if isinstance(values, dict) and any(isinstance(inner, dict) for inner in values.values()):
        found = {str(name).strip().upper(): inner for name, inner in values.items()}
        if currency not in found:
            raise PriceFileError(f"{path}: no rates of {currency}; it has {', '.join(sorted(found))}")
        values = found[currency]
    if not isinstance(values, dict):
        raise PriceFileError(
            f'{path}: expected rates by month or day, such as {{"{currency}": {{"2026-10": "0.92"}}}}'
        )
    for key, value in values.items():
        yield f"{path}: {key}", key, value


def _period(key: object, where: str) -> str:
    text = key.isoformat() if isinstance(key, date) else str(key).strip()
    if _MONTH.fullmatch(text):
        return text
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise PriceFileError(
            f"{where}: got {text!r}, expected a month (2026-10) or a day (2026-10-05)"
        ) from None


def _rate(value: object, where: str) -> Decimal:
    try:
        rate = amount_of(value)
    except ValueError:
        rate = Decimal(0)
    if rate <= 0 or -int(rate.as_tuple().exponent) > _MOST_DECIMALS:
        raise PriceFileError(
            f"{where}: rate {value!r}: expected a number above 0 with at most {_MOST_DECIMALS} decimals, such as 0.92"
        )
    return rate
