"""Rows of the overlay, of every kind, price equally by the reference and by the cube."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any, Final

import pytest
from generated_cards import AS_OF, START, USED, assert_equal, bags, cards, cube_of, factors, hours, usages
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pricing import catalog
from pricing.amend import amend
from pricing.book import PriceBook
from pricing.cards import PriceCard
from pricing.frame import price_cube
from pricing.overlay import Overlay, replace_built_in

TIERS = st.sampled_from(("batch", "flex", "priority"))
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
DATES = [date(2026, 1, day).isoformat() for day in range(1, 12)]
CLOCK = [f"{hour:02}:00" for hour in range(24)]
EVERY_HOUR = [START + timedelta(hours=hour) for hour in range(-1, 11 * 24)]
"""Every instant at which a generated rule can begin or end, but for the ends of the week's hours before and after."""
SELLER = "acme"
"""Has no price list of its own but the overlay's card of model m."""


@pytest.fixture(autouse=True)
def _installed_again() -> Iterator[None]:
    yield
    replace_built_in(None)
    catalog.forget()


def several(row: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[list[dict[str, Any]]]:
    return st.lists(row, max_size=2)


@st.composite
def spans(draw: st.DrawFn) -> dict[str, datetime | None]:
    start, end = draw(st.none() | hours), draw(st.none() | hours)
    if start is not None and end is not None and start >= end:
        start, end = (end, start) if end < start else (start, None)
    return {"valid_from": start, "valid_until": end}


def kind(**given_fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A row for some models of one seller, with what it says and from when until when."""
    seen = {"source": st.just("https://acme.example"), "checked_on": st.just("2025-12-01")}
    who = {
        "provider": st.sampled_from(("openai", SELLER)),
        "models": st.sampled_from((("a",), ("b", "m"), ("*",))),
        "except_models": st.sampled_from(((), ("b",))),
    }
    return st.tuples(st.fixed_dictionaries({**seen, **who, **given_fields}), spans()).map(
        lambda both: both[0] | both[1]
    )


multiples = st.dictionaries(st.sampled_from(USED), factors, max_size=2)
steps = st.lists(
    st.fixed_dictionaries({"above": st.integers(0, 20), "rates": bags}),
    max_size=2,
    unique_by=lambda step: step["above"],
)
windows = st.tuples(
    st.sampled_from(DAYS), st.sampled_from(DAYS), st.sampled_from(CLOCK), st.sampled_from(CLOCK)
)
opening_hours = windows.filter(lambda one: one[2] != one[3]).map(lambda one: "{}-{} {}-{}".format(*one))
profiles = st.fixed_dictionaries(
    {"except_regions": st.sampled_from(((), ("us",), ("global",))), "multiplier": factors}
).map(lambda row: {**row, "provider": "aws", "source": "https://acme.example", "checked_on": "2025-12-01"})


@st.composite
def card_rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Dated rows of one model, without overlap, with gaps."""
    edges: list[datetime | None] = [None, *sorted(draw(st.sets(hours, max_size=2))), None]
    pairs = draw(st.lists(st.sampled_from(list(pairwise(edges))), min_size=1, unique=True))
    return [
        {
            "provider": SELLER,
            "model": "m",
            "aliases": ["m-also"],
            "rates": draw(bags),
            "context": draw(steps),
            "valid_from": start,
            "valid_until": end,
            "source": "https://acme.example",
            "checked_on": "2025-12-01",
        }
        for start, end in pairs
    ]


KINDS: Final[dict[str, st.SearchStrategy[Any]]] = {
    "card": card_rows(),
    "rate": several(kind(rates=bags, times_input=multiples, context=steps)),
    "tier": several(kind(tier=TIERS, multiplier=factors, multipliers=multiples, rates=bags, context=steps)),
    "backdate": several(kind(tier=TIERS)),
    "region": several(
        kind(
            regions=st.sampled_from((("eu",), ("us", "us-gov"), ("*",))),
            except_regions=st.sampled_from(((), ("us",))),
            multiplier=factors,
        )
    ),
    "profile": st.lists(profiles, max_size=1),
    "window": several(
        kind(
            name=st.just("peak"),
            hours=st.lists(opening_hours, min_size=1, max_size=2),
            calendar=st.sampled_from((None, "holidays")),
            multiplier=factors,
        )
    ),
    "calendar": st.lists(st.sampled_from(DATES), max_size=4, unique=True).map(
        lambda days: [
            {
                "name": "holidays",
                "utc_offset_hours": 8,
                "days": sorted(days),
                "source": "https://acme.example",
                "checked_on": "2025-12-01",
            }
        ]
    ),
    "alias": st.just(
        [
            {
                "provider": SELLER,
                "names": ["m-preview"],
                "model": "m",
                "source": "https://acme.example",
                "checked_on": "2025-12-01",
            }
        ]
    ),
}
overlays = st.fixed_dictionaries(KINDS).map(Overlay.model_validate)
NAMES = ("a", "b", "m", "m-also", "m-preview", "us.anthropic.a", "global.anthropic.b", "c")
row = usages(NAMES, ("openai", SELLER, "aws"))


def test_no_kind_of_row_is_forgotten() -> None:
    assert set(Overlay.model_fields) == set(KINDS)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(
    overlay=overlays,
    listed=st.tuples(cards("a"), cards("b")),
    rows=st.lists(row, min_size=1, max_size=4),
    sizes=st.tuples(st.integers(0, 10), st.integers(11, 25)),
)
def test_rows_of_every_kind_price_as_the_reference(
    overlay: Overlay,
    listed: tuple[PriceCard, PriceCard],
    rows: list[dict[str, Any]],
    sizes: tuple[int, int],
) -> None:
    replace_built_in(overlay)
    catalog.forget()
    # As a price list's cards would be amended; one of them is for whatever seller, so that regional ids find it.
    first, second = (amend(replace(one, provider="openai"), overlay) for one in listed)
    book = PriceBook(user_cards=(replace(first, provider=None), second))
    # The first usage again at every hour, so that rows lie on both sides of every edge with all else the same.
    through = [
        {**rows[0], "price_at": at, "context_tokens": sizes[index % 2]}
        for index, at in enumerate(at for at in EVERY_HOUR for _ in sizes)
    ]
    assert_equal(price_cube(cube_of([*rows, *through]), book, as_of=AS_OF), [*rows, *through], book)
