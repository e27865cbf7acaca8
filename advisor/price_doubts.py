"""What a reader must know about the prices and terms behind the money, in US dollars: doubts, each with its amount."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pandas as pd

from advisor import numbers
from advisor.analysis import Problem
from advisor.slices import meters_in
from advisor.terms import USD, Settled, Terms
from pricing.book import PriceBook
from pricing.cards import RateSheet
from pricing.charges import exact_sum, sheet_or_reason
from pricing.frame import PricedCube
from pricing.meters import Meter
from pricing.rules import EXACT
from pricing.units import TOKENS_PER_MTOK

STALE_DAYS: Final = 60
"""A price that was read longer ago may have changed unnoticed."""

_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)
_LONGEST_HOLIDAY: Final = timedelta(days=15)
_NAMED: Final = 5
_FALLBACK: Final = "standard price used"
_Array = Any


def price_problems(settled: Settled, book: PriceBook, terms: Terms, as_of: datetime) -> list[Problem]:
    """Return the doubts about prices and terms, in a fixed order.

    Args:
        settled: The priced cube with the user's terms applied.
        book: The prices.
        terms: What was negotiated.
        as_of: The moment of the report.
    """
    usd = settled.usd
    return [
        *_warnings(usd),
        *_stale(usd, as_of),
        *_switch_days(usd, book),
        *_unused(settled, terms),
        *_unconverted(settled),
    ]


def free_models(priced: PricedCube) -> tuple[str, ...]:
    """Return the models in use whose every token rate is known to be $0, which is not an unknown price."""
    found: dict[str, list[bool]] = {}
    for index in _sheets_in_use(priced):
        sheet = priced.sheets[index]
        rates = [rate for meter, rate in sheet.rates.items() if meter.is_tokens]
        found.setdefault(sheet.model, []).append(bool(rates) and not any(rates))
    return tuple(sorted(model for model, free in found.items() if all(free)))


def _sheets_in_use(priced: PricedCube) -> list[int]:
    sheets = priced.frame["sheet"].to_numpy()
    return [int(index) for index in np.unique(sheets) if index >= 0]


def _calls(frame: pd.DataFrame) -> pd.Series:
    return frame["requests"].fillna(frame["records"])


def _cost_of(priced: PricedCube, members: _Array) -> Decimal:
    """What some rows cost, in USD."""
    names = [name for name in priced.frame.columns if name.startswith("cost_")]
    return priced.to_usd(int(sum(priced.frame[name].to_numpy(dtype=object)[members].sum() for name in names)))


def _warnings(priced: PricedCube) -> Iterator[Problem]:
    """What the rate sheets say of themselves: one problem for each text, with its requests and its money."""
    sheets = priced.frame["sheet"].to_numpy()
    by_text: dict[str, list[int]] = {}
    for index in _sheets_in_use(priced):
        sheet = priced.sheets[index]
        for text in sheet.warnings:
            by_text.setdefault(f"{sheet.model}: {text}", []).append(index)
    for text, indices in by_text.items():
        members = np.isin(sheets, indices)
        cost = _cost_of(priced, members)
        yield Problem(
            code="standard_price_used" if text.endswith(_FALLBACK) else "price_warning",
            severity="warning",
            message=f"{text}; {numbers.money(cost, USD)} of usage",
            rows=int(_calls(priced.frame)[members].sum()),
            amount_usd=cost,
        )


def _stale(priced: PricedCube, as_of: datetime) -> Iterator[Problem]:
    today = as_of.astimezone(UTC).date()
    old = {
        index: read
        for index in _sheets_in_use(priced)
        if (read := priced.sheets[index].retrieved) is not None and (today - read).days > STALE_DAYS
    }
    if not old:
        return
    members = np.isin(priced.frame["sheet"].to_numpy(), list(old))
    cost = _cost_of(priced, members)
    newest: dict[str, str] = {}
    for index, read in sorted(old.items(), key=lambda item: item[1]):
        newest[priced.sheets[index].model] = f"{priced.sheets[index].model} (read {read})"
    yield Problem(
        code="stale_prices",
        severity="warning",
        message=(
            f"prices read more than {STALE_DAYS} days before the report: {_some(sorted(newest.values()))}; "
            f"{numbers.money(cost, USD)} of usage"
        ),
        rows=int(_calls(priced.frame)[members].sum()),
        amount_usd=cost,
    )


def _some(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


@dataclass(slots=True)
class _Switch:
    """Usage within a day of one change of one model's price, at list prices."""

    own_usd: Decimal = Decimal(0)
    earlier_usd: Decimal = Decimal(0)
    """More or less (negative) that it would cost had the price changed a day earlier."""
    later_usd: Decimal = Decimal(0)
    rows: int = 0


def _switch_days(priced: PricedCube, book: PriceBook) -> Iterator[Problem]:
    """Prices are dated by days and the hour of a change is rarely published: usage close to one is in doubt."""
    switches: dict[tuple[str, datetime], _Switch] = {}
    for index, at, after, members in _near_switches(priced):
        sheet = priced.sheets[index]
        if _is_holiday(priced, book, int(np.flatnonzero(members)[0]), at):
            continue
        tokens = {
            meter: int(priced.frame[meter.value][members].fillna(0).sum())
            for meter in meters_in(priced.frame)
        }
        other = _other_sheet(priced, book, int(np.flatnonzero(members)[0]), after=after)
        own, instead = _cost_at(sheet, tokens), None if other is None else _cost_at(other, tokens)
        if instead is None or own is None or own == instead:
            continue
        found = switches.setdefault((sheet.model, at), _Switch())
        found.own_usd += own
        found.rows += int(_calls(priced.frame)[members].sum())
        if after:
            found.later_usd += instead - own
        else:
            found.earlier_usd += instead - own
    for (model, at), found in sorted(switches.items()):
        yield Problem(
            code="price_switch_day",
            severity="info",
            message=(
                f"{model}: its price changes at {at:%Y-%m-%d %H:%M} UTC, and {numbers.money(found.own_usd, USD)} of usage "
                f"(list cost) is on the days around that; had it changed a day earlier, {_change(found.earlier_usd)}, "
                f"a day later, {_change(found.later_usd)}"
            ),
            rows=found.rows,
            amount_usd=found.own_usd,
        )


def _change(usd: Decimal) -> str:
    if not usd:
        return "the same"
    return f"{numbers.money(abs(usd), USD)} {'more' if usd > 0 else 'less'}"


def _near_switches(priced: PricedCube) -> Iterator[tuple[int, datetime, bool, _Array]]:
    """Sheet, instant of a switch, whether the rows come after it, and which rows are within a day of it."""
    frame = priced.frame
    # Rows without a sheet meet the last edge, which is none.
    sheets = np.maximum(frame["sheet"].to_numpy(), -1)
    timed = frame["price_at"].notna().to_numpy() & (sheets >= 0)
    for name, column, after in (("valid_from", "price_at", True), ("valid_until", "last_at", False)):
        edges = [getattr(sheet, name) for sheet in priced.sheets]
        at_edge = (
            pd.to_datetime(pd.Series([*edges, None], dtype=object), utc=True)
            .iloc[sheets]
            .reset_index(drop=True)
        )
        apart = frame[column].reset_index(drop=True) - at_edge
        near = timed & ((apart < _DAY) if after else (apart >= -_DAY)).to_numpy()
        for index in np.unique(sheets[near]):
            yield int(index), edges[index], after, near & (sheets == index)


def _is_holiday(priced: PricedCube, book: PriceBook, row: int, at: datetime) -> bool:
    """Whether at an instant a few days begin or end whose hours all cost the same: known ahead, and no change of price."""
    cell: Mapping[Any, Any] = priced.frame.iloc[row].to_dict()
    periods = book.find(
        cell["provider"] if isinstance(cell["provider"], str) else None, cell["model"]
    ).periods
    ends = [one for one in periods if one.valid_until == at]
    starts = [one for one in periods if one.valid_from == at]
    sides = [replace(one, windows=(), valid_from=None, valid_until=None) for one in (*ends, *starts)]
    if len(sides) != 2 or sides[0] != sides[1]:  # noqa: PLR2004 (an edge has two sides)
        return False
    pause = min(*ends, *starts, key=lambda one: len(one.windows))
    if pause.valid_from is None or pause.valid_until is None:
        return False
    return pause.valid_until - pause.valid_from <= _LONGEST_HOLIDAY


def _other_sheet(priced: PricedCube, book: PriceBook, row: int, *, after: bool) -> RateSheet | None:
    """The rates on the other side of a switch, for the same hour of the week; None when there are none."""
    cell: Mapping[Any, Any] = priced.frame.iloc[row].to_dict()
    at = cell["price_at"].to_pydatetime()
    context, tier, region = (
        None if pd.isna(cell.get(name)) else cell[name]
        for name in ("context_tokens", "service_tier", "region")
    )
    sheet = sheet_or_reason(
        book,
        cell["provider"] if isinstance(cell["provider"], str) else None,
        cell["model"],
        at=at - _WEEK if after else at + _WEEK,
        context_tokens=None if context is None else int(context),
        service_tier=tier,
        region=region,
    )
    return sheet if isinstance(sheet, RateSheet) else None


def _cost_at(sheet: RateSheet, tokens: Mapping[Meter, int]) -> Decimal | None:
    """List cost of some usage; None when a used meter has no rate."""
    used = {meter: count for meter, count in tokens.items() if count}
    if not used.keys() <= sheet.rates.keys():
        return None
    amounts = (
        EXACT.divide(
            EXACT.multiply(sheet.rates[meter], Decimal(count)),
            Decimal(TOKENS_PER_MTOK if meter.per_million else 1),
        )
        for meter, count in used.items()
    )
    return exact_sum(amounts)


def _unused(settled: Settled, terms: Terms) -> Iterator[Problem]:
    """Terms that touched nothing: most often a misspelt name."""
    if (terms.discounts or terms.commitments) and settled.usd.frame["charge_only"].all():
        text = "the log is a cost export: its amounts are what was billed, so no discount or commitment was applied"
        yield Problem(code="terms_not_applied", severity="info", message=text, rows=0)
        return
    for one in settled.discounts:
        if not one.list_usd:
            text = f"{one.discount.where} ({one.discount.scope}): no priced usage matches it; check its names and dates"
            yield Problem(code="discount_unused", severity="warning", message=text, rows=0)
    applied = {use.commitment.where for use in settled.uses}
    for commitment in terms.commitments:
        if commitment.where not in applied:
            text = f"{commitment.where} ({commitment.name}): no day of the log is within it, so it is in no amount"
            yield Problem(code="commitment_unused", severity="warning", message=text, rows=0)


def _unconverted(settled: Settled) -> Iterator[Problem]:
    done = settled.conversion
    if done is None or not done.unconverted:
        return
    usd = exact_sum(done.unconverted.values())
    where = (
        "no day of the log has a rate, so the report is in USD"
        if done.currency == USD
        else "it is in no total"
    )
    months = list(done.unconverted)
    days = pd.to_datetime(settled.usd.frame["day"]).dt.strftime("%Y-%m")
    yield Problem(
        code="no_exchange_rate",
        severity="warning",
        message=f"{done.source} has no rate for {_some(months)}: {numbers.money(usd, USD)} stays in USD; {where}",
        rows=int(_calls(settled.usd.frame)[days.isin(months)].sum()),
        amount_usd=usd,
    )
