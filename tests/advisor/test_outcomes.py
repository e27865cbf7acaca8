"""Cost per accepted outcome: worked by hand, and nothing where nobody says what came of requests."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from advisor.document import document_of
from advisor.options import AnalyseOptions
from advisor.render.html import render_html
from advisor.run import analyse
from advisor.unit_economics import UnitCost
from advisor.view import build_view

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

PRICES = """
models:
  demo-small: {provider: demo, input: "1.00", output: "5.00"}
"""
HEAD = "timestamp,project,model,input_tokens,output_tokens,accepted"


def units(folder: Path, *rows: str, head: str = HEAD) -> dict[str, UnitCost]:
    log, book = folder / "log.csv", folder / "prices.yaml"
    log.write_text("\n".join([head, *rows]) + "\n")
    book.write_text(PRICES)
    analysis = analyse(
        [str(log)], AnalyseOptions(as_of=datetime(2026, 7, 1, tzinfo=UTC), price_files=(book,))
    )
    assert analysis.finance is not None
    assert [one.unit for one in document_of(analysis).unit_economics] == [
        one.unit for one in analysis.finance.units
    ]
    page = render_html(build_view(analysis))
    assert ("Accepted outcome" in page) is any(
        one.unit == "accepted_outcome" for one in analysis.finance.units
    )
    return {one.unit: one for one in analysis.finance.units}


def test_money_of_requests_that_tell_over_outcomes_accepted(tmp_path: Path) -> None:
    found = units(
        tmp_path,
        "2026-06-01T08:00:00Z,agent,demo-small,1000000,0,yes",  # $1
        "2026-06-01T09:00:00Z,agent,demo-small,2000000,0,no",  # $2
        "2026-06-02T09:00:00Z,agent,demo-small,3000000,0,true",  # $3
    )
    assert "accepted_outcome_all_requests" not in found
    one = found["accepted_outcome"]
    assert (one.count, one.cost, one.mean) == (2, Decimal(6), Decimal(3))
    assert "100 %" in one.basis


def test_requests_that_say_nothing_are_told_apart(tmp_path: Path) -> None:
    found = units(
        tmp_path,
        "2026-06-01T08:00:00Z,agent,demo-small,1000000,0,1",  # $1
        "2026-06-01T08:30:00Z,agent,demo-small,4000000,0,",  # $4 of the same task
        "2026-06-01T08:40:00Z,search,demo-small,50000000,0,",  # another workload, that never says
        "2026-06-01T08:50:00Z,agent,nobody-knows-9b,1000,0,1",  # accepted, but its cost is not known
    )
    one, whole = found["accepted_outcome"], found["accepted_outcome_all_requests"]
    assert (one.count, one.cost) == (1, Decimal(1))
    assert (whole.count, whole.cost) == (1, Decimal(5))
    assert "50 %" in one.basis


@pytest.mark.parametrize("said", ["no", "", "perhaps", "0.7"])
def test_nothing_where_nothing_is_known_to_be_accepted(tmp_path: Path, said: str) -> None:
    assert "accepted_outcome" not in units(
        tmp_path, f"2026-06-01T08:00:00Z,agent,demo-small,1000000,0,{said}"
    )


def test_logs_without_outcomes_have_no_such_cells(tmp_path: Path) -> None:
    found = units(
        tmp_path, "2026-06-01T08:00:00Z,agent,demo-small,1000000,0", head=HEAD.removesuffix(",accepted")
    )
    assert "accepted_outcome" not in found
