"""From reported counts to disjoint ones: a table of cases worked by hand, and what holds for every row."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workloads.accounting import CACHED_EXCEEDS_INPUT, CONTRADICTS_SOURCE, split_input

NAMES = ("prompt", "cached", "written", "output", "total")
Evaluate = Callable[..., list[Any]]
Counts = tuple[int | None, ...]


def split(
    evaluate: Evaluate, rows: list[Counts], *, additive: bool, with_total: bool = True
) -> list[dict[str, Any]]:
    def build(table: Any) -> dict[str, Any]:
        uncached, reads, problem = split_input(
            table.prompt,
            cached=table.cached,
            written=table.written,
            output=table.output,
            total=table.total if with_total else None,
            additive=additive,
        )
        return {"uncached": uncached, "reads": reads, "problem": problem}

    return evaluate(build, {name: ("int64", [row[i] for row in rows]) for i, name in enumerate(NAMES)})


@pytest.mark.parametrize(
    ("additive", "row", "expected"),
    [
        # inclusive sources
        (False, (1500, 1024, None, 420, 1920), (476, 1024, None)),
        (False, (1500, 1024, 300, 420, 1920), (176, 1024, None)),
        (False, (4020, 0, 4012, 5, 4025), (8, 0, None)),
        (False, (1500, 1024, 300, 420, None), (176, 1024, None)),
        (False, (1500, None, None, 420, 1920), (1500, None, None)),
        (False, (1500, 1500, None, 0, 1500), (0, 1500, None)),
        # the total says that the cached part is beside the prompt
        (False, (100, 500, None, 20, 620), (100, 500, CONTRADICTS_SOURCE)),
        (False, (100, 40, 10, 20, 170), (100, 40, CONTRADICTS_SOURCE)),
        # no total: the cached part cannot be inside a smaller prompt
        (False, (100, 500, None, 20, None), (100, 500, CACHED_EXCEEDS_INPUT)),
        # the total says that the prompt is the whole, so the reads are cut to it
        (False, (100, 500, None, 20, 120), (0, 100, CACHED_EXCEEDS_INPUT)),
        (False, (100, 80, 60, 20, 120), (0, 40, CACHED_EXCEEDS_INPUT)),
        # a total that fits neither leaves the source's rule
        (False, (35, 10, None, 12, 109), (25, 10, None)),
        # additive sources
        (True, (6, 20443, 574, 489, None), (6, 20443, None)),
        (True, (6, 20443, 574, 489, 21512), (6, 20443, None)),
        (True, (1000, 400, None, 50, 1050), (600, 400, CONTRADICTS_SOURCE)),
        (True, (1000, None, None, 50, None), (1000, None, None)),
        # nothing reported stays nothing
        (False, (None, None, None, None, None), (None, None, None)),
        (True, (None, None, None, 7, None), (None, None, None)),
        (False, (0, 0, 0, 0, 0), (0, 0, None)),
    ],
)
def test_cases_worked_by_hand(evaluate: Evaluate, additive: bool, row: Counts, expected: Any) -> None:  # noqa: FBT001
    (got,) = split(evaluate, [row], additive=additive)
    assert (got["uncached"], got["reads"], got["problem"]) == expected


def test_a_source_without_totals_follows_its_rule(evaluate: Evaluate) -> None:
    rows: list[Counts] = [(1000, 400, 100, 50, 0)]
    (inclusive,) = split(evaluate, rows, additive=False, with_total=False)
    (additive,) = split(evaluate, rows, additive=True, with_total=False)
    assert (inclusive["uncached"], inclusive["reads"], inclusive["problem"]) == (500, 400, None)
    assert (additive["uncached"], additive["reads"], additive["problem"]) == (1000, 400, None)


counts = st.none() | st.integers(0, 2_000)


@st.composite
def reported(draw: st.DrawFn) -> Counts:
    """A row whose total is missing, arbitrary, or decides for one of the two conventions."""
    prompt, cached, written, output = (draw(counts) for _ in range(4))
    inside = (prompt or 0) + (output or 0)
    aside = (cached or 0) + (written or 0)
    total = draw(st.sampled_from([None, inside, inside + aside]) | st.integers(0, 8_000))
    return prompt, cached, written, output, total


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(reported(), min_size=1, max_size=40), additive=st.booleans())
def test_counts_are_disjoint_and_never_negative(
    evaluate: Evaluate,
    rows: list[Counts],
    additive: bool,  # noqa: FBT001
) -> None:
    for (prompt, cached, written, output, total), got in zip(
        rows, split(evaluate, rows, additive=additive), strict=True
    ):
        assert (got["uncached"] is None) == (prompt is None)
        assert (got["reads"] is None) == (cached is None)
        if prompt is None:
            continue
        assert got["uncached"] >= 0
        assert (got["reads"] or 0) >= 0
        aside = (cached or 0) + (written or 0)
        whole = prompt + (output or 0)
        decides = aside > 0 and total is not None and total in (whole, whole + aside)
        if decides and (written or 0) <= prompt:
            assert got["uncached"] + (got["reads"] or 0) + (written or 0) == total - (output or 0)
