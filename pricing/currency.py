"""Money in another currency, at the rate of each day of usage; what has no rate stays in USD and is said to.

A rate is how much of the currency one US dollar buys. The file has rates by day or by month (a day's own rate comes
first): CSV with the columns ``date`` or ``month`` and ``rate``, or JSON, YAML or TOML such as
``{"EUR": {"2026-10": "0.92"}}``. Nothing is fetched.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from pricing.discounts import LIST_COST
from pricing.errors import PriceFileError
from pricing.file_syntax import parse_syntax, read_bytes
from pricing.frame import PricedCube
from pricing.price_file import amount_of
from pricing.rules import EXACT

USD: Final = "USD"
UNCONVERTED_USD: Final = "unconverted_usd"
"""Column of a converted cube: the contracted cost of a cell whose day has no rate, else None."""

_MONTH: Final = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")
_CODE: Final = re.compile(r"[A-Z]{3}")
_MOST_DECIMALS: Final = 12
_COLUMNS: Final = ("date", "month", "rate", "currency")


@dataclass(frozen=True, slots=True, kw_only=True)
class FxRates:
    """Rates of one currency.

    Attributes:
        currency: ISO 4217 code.
        rates: ``2026-10`` or ``2026-10-05`` -> currency per USD.
        source: Name of the file.
    """

    currency: str
    rates: Mapping[str, Decimal]
    source: str

    def key(self, day: date) -> str | None:
        """Which rate counts on a day: its own, else its month's; None without either."""
        return next((key for key in (day.isoformat(), day.strftime("%Y-%m")) if key in self.rates), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """What a conversion did.

    Attributes:
        currency: Of the amounts; USD when no day of the log has a rate.
        source: Name of the file with the rates.
        rates: Rates that were used, currency per USD, by day or month.
        unconverted: Month -> contracted cost in USD of usage without a rate, ascending.
    """

    currency: str
    source: str
    rates: Mapping[str, Decimal]
    unconverted: Mapping[str, Decimal]


def currency_code(text: str) -> str | None:
    """The ISO 4217 code in capitals, or None when it cannot be one."""
    code = text.strip().upper()
    return code if _CODE.fullmatch(code) else None


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


def converted(priced: PricedCube, fx: FxRates, *, untimed: date) -> tuple[PricedCube, Conversion]:
    """Convert a priced cube, cell by cell, before anything is added up.

    Args:
        priced: Costs in USD, with ``day``, and money that the log states in ``recorded_cost_usd``.
        fx: The rates.
        untimed: Day whose rate counts for cells without a day.

    Returns:
        The cube in the currency, and what was done. A cell without a rate costs 0 there; its cost in USD stands in
        ``unconverted_usd``. When no cell has a rate, the cube is returned as it is.
    """
    frame = priced.frame
    days = pd.to_datetime(frame["day"]).fillna(pd.Timestamp(untimed))
    code, distinct = pd.factorize(days)
    dates = [pd.Timestamp(one).date() for one in distinct]
    keys = [fx.key(one) for one in dates]
    used = {key: fx.rates[key] for key in sorted({key for key in keys if key is not None})}
    lost: Any = np.array([key is None for key in keys], dtype=bool)[code]
    usd = _cell_usd(priced, lost)
    unconverted = _by_month(usd, days)
    if not used:
        return priced, Conversion(currency=USD, source=fx.source, rates={}, unconverted=unconverted)
    digits = max(max(0, -int(rate.as_tuple().exponent)) for rate in used.values())
    factors = [0 if key is None else int(EXACT.scaleb(used[key], digits)) for key in keys]
    factor: Any = np.array(factors, dtype=object)[code]
    costs = [name for name in frame.columns if name.startswith("cost_") or name == LIST_COST]
    columns = {name: frame[name].to_numpy(dtype=object) * factor for name in costs}
    recorded = [
        None if gone or pd.isna(value) else EXACT.multiply(Decimal(str(value)), used[keys[index] or ""])
        for value, gone, index in zip(frame["recorded_cost_usd"], lost, code, strict=True)
    ]
    columns["recorded_cost_usd"] = _objects(recorded)
    columns[UNCONVERTED_USD] = _objects(usd)
    objects = {name: pd.Series(values, index=frame.index, dtype=object) for name, values in columns.items()}
    made = replace(priced, frame=frame.assign(**objects), exponent=priced.exponent + digits)
    return made, Conversion(currency=fx.currency, source=fx.source, rates=used, unconverted=unconverted)


def _cell_usd(priced: PricedCube, wanted: Any) -> list[Decimal | None]:
    """What the wanted cells cost in USD, computed, or stated by a cost export; None for the others."""
    frame = priced.frame
    costs = [frame[name].to_numpy(dtype=object) for name in frame.columns if name.startswith("cost_")]
    whole: Any = sum(costs, np.zeros(len(frame), dtype=object))
    found: list[Decimal | None] = [None] * len(frame)
    for row in np.flatnonzero(wanted):
        stated = frame["recorded_cost_usd"].iloc[row] if frame["charge_only"].iloc[row] else None
        found[row] = priced.to_usd(int(whole[row])) if pd.isna(stated) else Decimal(str(stated))
    return found


def _by_month(amounts: list[Decimal | None], days: pd.Series) -> dict[str, Decimal]:
    sums: dict[str, Decimal] = {}
    for day, usd in zip(days, amounts, strict=True):
        if usd is not None:
            month = day.strftime("%Y-%m")
            sums[month] = EXACT.add(sums.get(month, Decimal(0)), usd)
    return dict(sorted(sums.items()))


def _objects(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
