"""Prompts just above a size from which on every token of the request costs more: kept below it, both phases cost less.

How far above each prompt is, the cube does not tell, but how far all of a cell are together. Of requests that are above a
size by ``excess`` tokens in sum, at most ``excess / room`` can be above it by more than ``room``; the others are near.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any, Final

import pandas as pd

from advisor import numbers
from advisor.cube_changes import COUNTS, requests_in, single_rows, without
from advisor.evidence import Evidence
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk, unchanged
from pricing.book import PriceBook
from pricing.frame import PricedCube, price_cube
from pricing.meters import INPUT_METERS

NAME: Final = "long_context"
_ROOM: Final = {Level.LOW: Fraction(1, 20), Level.EXPECTED: Fraction(1, 10), Level.HIGH: Fraction(1, 4)}
"""How far above the threshold a prompt may be, as part of it, to be brought below: an assumption."""
_PROMPT: Final = tuple(map(str, INPUT_METERS))
_DIVIDED: Final = tuple(name for name in COUNTS if name not in _PROMPT)
"""Sums over requests that are divided as the requests are."""
_TITLE: Final = "Keep prompts below the size from which on all tokens cost more"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """A row of long prompts: its place, its requests and prompt tokens, the size that they are above, and the largest."""

    place: Any
    requests: int
    prompt_tokens: int
    above: int
    largest: int

    def near(self, level: Level) -> int:
        """Return how many requests are near the size at least."""
        room, excess = _ROOM[level] * self.above, self.prompt_tokens - self.requests * self.above
        if excess <= 0 or self.largest - self.above <= room:
            return self.requests
        return max(0, floor(self.requests - excess / room))


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each workload with prompts above a threshold, or why there is nothing to be done about them."""
    for name in evidence.workloads:
        part = evidence.cube[single_rows(evidence.cube, name)].reset_index(drop=True)
        cells = list(_cells(part, evidence.book))
        if not cells:
            continue
        dear, plain = _costs_of(evidence, part.loc[[cell.place for cell in cells]], cells)
        cells = [cell for cell, now, then in zip(cells, dear, plain, strict=True) if now > then]
        extra = sum(dear, Decimal(0)) - sum(plain, Decimal(0))
        if cells and extra > 0:
            yield _proposal(evidence, name, cells, extra, part)


def _proposal(evidence: Evidence, name: str, cells: list[_Cell], extra: Decimal, part: Any) -> Proposal:
    near = {level: sum(cell.near(level) for cell in cells) for level in Level}
    sizes = " / ".join(numbers.count(above) for above in sorted({cell.above for cell in cells}))
    costs = numbers.money(extra, "USD")
    rows = part.index.isin([cell.place for cell in cells])
    return Proposal(
        lever=NAME,
        workload=name,
        title=_TITLE,
        phase=None,
        change=_change(evidence, name) if near[Level.HIGH] else unchanged,
        confidence=Confidence.ASSUMED,
        effort=Effort.MEDIUM,
        risk=Risk.EVALUATE,
        evidence=(
            Fact(
                label=f"Requests with more than {sizes} tokens", value=numbers.count(requests_in(part, rows))
            ),
            Fact(label="What the dearer rates cost them", value=costs),
            Fact(label="At most 10 % above, at least", value=numbers.count(near[Level.EXPECTED])),
        ),
        assumptions=(
            (
                "Prompts can be trimmed by what they are too long, the log does not tell: low those up to 5 % above the size, "
                "expected 10 %, high 25 %."
            ),
            (
                "How many that are is the least that the sum and the largest of the prompts allow; where it is not all, the text "
                "that is trimmed is not counted as saved."
            ),
            "Answers are as long as those of the other requests, whatever the prompt's size.",
        ),
        how=(
            "Count tokens before sending; text that is read from a cache counts as well.",
            "Just above the size: drop the passages with the lowest score, or summarise the oldest turns.",
            "Where a prompt is made of parts that do not need one another, send them as two requests below the size.",
            "Evaluate on the requests that were trimmed.",
        ),
        doubt=f"the dearer rates cost {costs}, but the prompts are far more than 25 % above the size",
    )


def _change(evidence: Evidence, name: str) -> Change:
    def change(cube: Any, level: Level) -> Any:
        whole = cube.reset_index(drop=True)
        cells = [
            cell
            for cell in _cells(whole[single_rows(whole, name)], evidence.book)
            if cell.near(level) and cell.requests
        ]
        if not cells:
            return cube
        rows = whole.loc[[cell.place for cell in cells]]
        dear, plain = _costs_of(evidence, rows, cells)
        cells = [cell for cell, now, then in zip(cells, dear, plain, strict=True) if now > then]
        if not cells:
            return cube
        rows = whole.loc[[cell.place for cell in cells]]
        below = _below(rows, cells, level)
        stay = [cell.near(level) < cell.requests for cell in cells]
        left = without(rows[stay], [True] * sum(stay), below[stay])
        return pd.concat([whole.drop(index=rows.index), left, below], ignore_index=True)

    return change


def _cells(cube: Any, book: PriceBook) -> Iterator[_Cell]:
    """Yield the rows of a cube whose prompts are above a threshold of their model."""
    prompts = [cube[name] for name in _PROMPT if name in cube.columns]
    # Requests of a row or, where they are not known, its records.
    counts = [cube[name] for name in ("requests", "records") if name in cube.columns]
    thresholds: dict[Any, tuple[int, ...]] = {}
    for place, provider, model, size, *cells in zip(
        cube.index, cube["provider"], cube["model"], cube["context_tokens"], *counts, *prompts, strict=True
    ):
        if pd.isna(size) or not isinstance(model, str):
            continue
        pair = (provider if isinstance(provider, str) else None, model)
        if pair not in thresholds:
            thresholds[pair] = book.rate_keys([pair]).context_thresholds
        reached = [above for above in thresholds[pair] if 0 < above < int(size)]
        known = [0 if pd.isna(value) else int(value) for value in cells] if reached else []
        requests = next((count for count in known[: len(counts)] if count), 0)
        if requests:
            prompt = sum(known[len(counts) :])
            yield _Cell(
                place=place, requests=requests, prompt_tokens=prompt, above=max(reached), largest=int(size)
            )


def _costs_of(evidence: Evidence, rows: Any, cells: list[_Cell]) -> tuple[list[Decimal], list[Decimal]]:
    """Return what each row costs as it is, and at the rates below the size; twice the same where one has no price."""
    plain = rows.assign(context_tokens=_column([cell.above for cell in cells], rows, "context_tokens"))
    both = price_cube(pd.concat([rows, plain], ignore_index=True), evidence.book, as_of=evidence.as_of)
    costs, known = _by_row(both), (both.frame["sheet"] >= 0).tolist()
    half = len(cells)
    cheaper = [costs[at + half] if known[at] and known[at + half] else costs[at] for at in range(half)]
    return costs[:half], [min(one, other) for one, other in zip(costs[:half], cheaper, strict=True)]


def _by_row(priced: PricedCube) -> list[Decimal]:
    names = [name for name in priced.frame.columns if name.startswith("cost_")]
    rows = priced.frame[names].itertuples(index=False, name=None)
    return [priced.to_usd(sum(map(int, row))) for row in rows]


def _below(rows: Any, cells: list[_Cell], level: Level) -> Any:
    """Return the requests that are near, each with a prompt of just the size."""
    near = [cell.near(level) for cell in cells]
    parts = [Fraction(count, cell.requests) for count, cell in zip(near, cells, strict=True)]
    kept = [
        min(part, Fraction(count * cell.above, cell.prompt_tokens)) if cell.prompt_tokens else part
        for part, count, cell in zip(parts, near, cells, strict=True)
    ]
    new = {name: _times(rows, name, kept) for name in _PROMPT if name in rows.columns}
    new |= {name: _times(rows, name, parts) for name in _DIVIDED if name in rows.columns}
    new["context_tokens"] = _column([cell.above for cell in cells], rows, "context_tokens")
    return rows.assign(**new)


def _times(rows: Any, name: str, parts: list[Fraction]) -> Any:
    values = [
        None if pd.isna(value) else int(int(value) * part)
        for value, part in zip(rows[name], parts, strict=True)
    ]
    return _column(values, rows, name)


def _column(values: list[int | None] | list[int], rows: Any, name: str) -> Any:
    return pd.Series(values, index=rows.index, dtype=rows[name].dtype)
