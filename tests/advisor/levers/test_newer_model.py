"""The newest model of the same size, where the same text costs less on it."""

from dataclasses import replace
from decimal import Decimal
from math import ceil

from lever_cubes import AS_OF, card, cube, evidence, row

from advisor.evidence import Evidence
from advisor.levers import newer_model, smaller_model
from advisor.moves import moves
from advisor.recommendation import Level, Risk
from pricing.book import PriceBook
from pricing.frame import price_cube
from pricing.line_ups import token_ratios

BOOK = PriceBook(
    builtin=False,
    user_cards=(
        card("anthropic", "claude-opus-4-1", "15", "75"),
        card("anthropic", "claude-opus-4-5", "5", "25"),
        card("anthropic", "claude-opus-5-5", "4", "20"),
        card("anthropic", "claude-sonnet-5-5", "2", "10"),
    ),
)


def seen(model: str) -> Evidence:
    frame = cube([row(model=model, provider="anthropic")])
    found = replace(evidence(frame), book=BOOK, priced=price_cube(frame, BOOK, as_of=AS_OF))
    return replace(found, moves=tuple(moves(found)))


def test_all_requests_move_and_their_tokens_are_those_of_the_other_tokenizer() -> None:
    told = seen("claude-opus-4-1")
    (one,) = newer_model.find(told)
    assert one.risk is Risk.EVALUATE
    assert one.title == "Move on from claude-opus-4-1 to claude-opus-5-5"
    ratios = token_ratios("claude-opus-4-1", "claude-opus-5-5")
    assert ratios.usual > 1
    after = one.change(told.cube, Level.EXPECTED)
    assert list(after["model"]) == ["claude-opus-5-5"]
    assert list(after["output"]) == [round(20_000 * ratios.usual)]
    assert list(after["context_tokens"]) == [ceil(400 * ratios.usual)]
    assert told.cost_of(after) == Decimal(
        round(40_000 * ratios.usual) * 4 + round(20_000 * ratios.usual) * 20
    ) / Decimal(10**6)
    assert list(one.change(told.cube, Level.LOW)["requests"]) == [50, 50]


def test_where_more_tokens_eat_the_lower_price_nothing_is_said() -> None:
    # A fifth off the price, and 30 % more tokens.
    assert not list(newer_model.find(seen("claude-opus-4-5")))
    assert not list(newer_model.find(seen("claude-opus-5-5")))


def test_a_smaller_model_is_another_matter() -> None:
    told = seen("claude-opus-4-1")
    (one,) = smaller_model.find(told)
    assert "claude-sonnet-5-5" in one.title
    assert [move.newer for move in told.moves] == [False, True]
