"""Announced changes of prices that lie ahead: what the usage of the last week will cost from their day on."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import pandas as pd

from advisor.forecast import PriceStep
from pricing.book import PriceBook
from pricing.frame import PricedCube, row_costs

_WEEK: Final = timedelta(days=7)


def announced(
    listed: PricedCube, book: PriceBook, after: datetime, until: datetime, timezone: str
) -> tuple[PriceStep, ...]:
    """Return the changes of prices that the book knows of, for the models of the last week of a log.

    Args:
        listed: The log's cube at list prices.
        book: The prices.
        after: The end of the log's last whole day; the week before it is what is priced again.
        until: The last instant of interest.
        timezone: Whose days the changes start on.
    """
    frame = listed.frame
    recent = frame[(frame["price_at"] >= after - _WEEK) & (frame["price_at"] < after) & (frame["sheet"] >= 0)]
    named = recent[["provider", "model"]].drop_duplicates()
    pairs = [(_text(provider), str(model)) for provider, model in named.itertuples(index=False, name=None)]
    dates = [at for at in book.rate_keys(pairs).breakpoints if after <= at <= until]
    return tuple(_steps(recent, book, dates, timezone)) if dates else ()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _steps(
    recent: pd.DataFrame, book: PriceBook, dates: list[datetime], timezone: str
) -> Iterator[PriceStep]:
    today = row_costs(recent, book, as_of=dates[0])
    for at in dates:
        # Each row goes to the same hour of the same weekday in the first week of the new prices: hours may have prices.
        weeks = -((recent["price_at"] - pd.Timestamp(at.astimezone(UTC))) // _WEEK)
        moved = recent.assign(price_at=recent["price_at"] + pd.to_timedelta(weeks * 7, unit="D"))
        then = row_costs(moved, book, as_of=at)
        both = today.known & then.known
        before = float(today.to_usd(int(today.costs[both].sum())))
        later = float(then.to_usd(int(then.costs[both].sum())))
        if before <= 0 or before == later:
            continue
        scale = 10.0 ** (then.exponent - today.exponent)
        changed = recent["model_resolved"][both & (today.costs * scale != then.costs)]
        yield PriceStep(
            day=at.astimezone(ZoneInfo(timezone)).date(),
            ratio=later / before,
            models=tuple(sorted(set(changed))),
        )
