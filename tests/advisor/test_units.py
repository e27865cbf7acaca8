"""Unit costs and who pays: exact sums, untagged money as a row of its own, plans never added to anything."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.allocation import Allocation, AllocationRow, Sharing, SharingError, parse_sharing, shared_out
from advisor.analysis import Analysis
from advisor.document import document_of
from advisor.document_model import Document
from advisor.finance_options import FinanceOptions
from advisor.options import AnalyseOptions
from advisor.render.html import render_html
from advisor.render.markdown import render_markdown
from advisor.run import analyse
from advisor.view import build_view
from advisor.view_units import allocation_table
from pricing.charges import exact_sum

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

PRICES = """
models:
  demo-small:
    provider: demo
    input: "1.00"
    output: "5.00"
    tier: {above: 200000, inclusive: false, scope: whole_request, input: "2.00", output: "10.00"}
  demo-opus: {input: "5.00", output: "25.00", cache_read: "0.50", cache_write_5m: "6.25", cache_write_1h: "10.00"}
"""
HEAD = "timestamp,project,team,user,session_id,model,input_tokens,output_tokens"
ROWS = (
    "2026-06-01T08:00:00Z,chat,red,ann,s1,demo-small,1000000,0",  # above the step: $2
    "2026-06-01T09:00:00Z,chat,red,ann,s1,demo-small,100000,0",  # $0.10
    "2026-06-02T09:00:00Z,chat,blue,bob,s2,demo-small,100000,20000",  # $0.20
    "2026-06-03T09:00:00Z,search,,,,demo-small,200000,0",  # at the step and not above it: $0.20
    "2026-06-03T10:00:00Z,search,,cid,s3,nobody-knows-9b,500,500",
)


def analysed(folder: Path, rows: Sequence[str], asked: FinanceOptions | None = None) -> Analysis:
    log, book = folder / "log.csv", folder / "prices.yaml"
    log.write_text("\n".join([HEAD, *rows]) + "\n")
    book.write_text(PRICES)
    options = AnalyseOptions(as_of=datetime(2026, 7, 1, tzinfo=UTC), price_files=(book,), finance=asked)
    return analyse([str(log)], options)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    asked = FinanceOptions(unit_costs=True, showback=("team", "user"), shared_cost="even")
    return analysed(tmp_path_factory.mktemp("units"), ROWS, asked)


@pytest.fixture(scope="module")
def document(everything: Analysis) -> Document:
    return document_of(everything)


def test_units_divide_what_has_a_price(document: Document) -> None:
    units = {one.unit: one for one in document.unit_economics}
    assert (units["request"].count, units["request"].cost, units["request"].mean) == (4, "2.5", "0.625")
    assert (units["1M_prompt_tokens"].count, units["1M_prompt_tokens"].cost) == (1_400_000, "2.4")
    assert (units["1M_answer_tokens"].count, units["1M_answer_tokens"].mean) == (20_000, "5")
    assert units["1M_tokens"].mean == "1.760563380282"
    assert Decimal(units["1k_tokens"].mean) * 1000 == pytest.approx(Decimal(units["1M_tokens"].mean))
    assert "1M_cached_tokens" not in units


def test_single_requests_sessions_and_users_are_spread_as_they_cost(document: Document) -> None:
    """Requests cost 0.10, 0.20, 0.20 and 2.00; sessions 2.10 and 0.20; users the same."""
    units = {one.unit: one for one in document.unit_economics}
    assert (units["request"].median, units["request"].p95) == ("0.2", "1.73")
    for kind in ("session", "user"):
        one = units[kind]
        assert (one.count, one.cost, one.mean, one.median, one.p95) == (2, "2.3", "1.15", "1.15", "2.005")


def test_without_being_asked_for_only_means_are_told(tmp_path: Path) -> None:
    found = document_of(analysed(tmp_path, ROWS))
    assert [one.unit for one in found.unit_economics][:2] == ["request", "workload"]
    assert all(one.median is None for one in found.unit_economics)


def test_what_carries_no_label_is_a_row_of_its_own(tmp_path: Path) -> None:
    found = document_of(analysed(tmp_path, ROWS, FinanceOptions(showback=("team",))))
    (one,) = found.allocation
    assert [(row.name, row.untagged, row.total, row.percent) for row in one.rows] == [
        ("red", False, "2.1", "84"),
        ("blue", False, "0.2", "8"),
        ("(unlabelled)", True, "0.2", "8"),
    ]
    assert (one.total, one.untagged_ratio, one.rows[-1].unpriced_requests) == ("2.5", 0.08, 1)


def test_shared_money_is_given_away_and_nothing_is_lost(document: Document) -> None:
    team, user = document.allocation
    assert [(row.name, row.shared, row.total) for row in team.rows] == [
        ("red", "0.1", "2.2"),
        ("blue", "0.1", "0.3"),
        ("(unlabelled)", "-0.2", "0"),
    ]
    assert team.total == user.total == "2.5"
    assert all(row.name.startswith("user-") for row in user.rows if not row.untagged)


amounts = st.decimals(min_value=0, max_value=10**9, places=9)
rules = st.sampled_from(["even", "proportional", "none", "a=33.3,b=66.7", "a=0,c=100"])


@given(st.lists(amounts, min_size=0, max_size=6), amounts, rules)
def test_sharing_sums_to_a_hundred_percent(own: list[Decimal], untagged: Decimal, rule: str) -> None:
    rows = [
        AllocationRow(name=name, untagged=False, requests=1, direct=amount)
        for name, amount in zip("abcdef", own, strict=False)
    ]
    rows.append(AllocationRow(name="(unlabelled)", untagged=True, requests=1, direct=untagged))
    found = shared_out(rows, parse_sharing(rule))
    whole = exact_sum((*own, untagged))
    assert exact_sum(row.total for row in found) == whole
    assert exact_sum(row.shared for row in found) == 0
    assert exact_sum(row.percent for row in found) == (100 if whole else 0)
    if rule != "none" and own:
        assert found[-1].total == 0


@pytest.mark.parametrize("text", ["half", "a=50,b=49", "a=x", "=100", "a=-1,b=101"])
def test_rules_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(SharingError):
        parse_sharing(text)
    assert parse_sharing(None) == Sharing()


def test_the_report_shows_units_and_who_pays(everything: Analysis) -> None:
    view = build_view(everything)
    page, comment = render_html(view), render_markdown(view)
    for text in (page, comment):
        assert "Who pays, by team" in text
        assert "P95" in text
    assert "1 request without a price" in page
    assert "What one unit costs (2 days)" in page


AGENT = (
    '{"type":"assistant","timestamp":"2026-06-01T10:00:00.000Z","sessionId":"s-1","uuid":"u-1","isSidechain":false,'
    '"cwd":"/w/a","version":"9.9.9","message":{"id":"msg_1","type":"message","role":"assistant","model":"demo-opus",'
    '"usage":{"input_tokens":2000000,"cache_creation_input_tokens":0,"cache_read_input_tokens":100000000,'
    '"output_tokens":1000000,"service_tier":"standard"}},"requestId":"req_1"}'
)


def test_a_flat_plan_is_never_added_to_what_the_api_would_have_charged(tmp_path: Path) -> None:
    log, book = tmp_path / "log.jsonl", tmp_path / "prices.yaml"
    log.write_text(AGENT + "\n")
    book.write_text(PRICES)
    asked = FinanceOptions(plans=(("seat-200", Decimal("200.00")),))
    options = AnalyseOptions(as_of=datetime(2026, 7, 1, tzinfo=UTC), price_files=(book,), finance=asked)
    analysis = analyse([str(log)], options)
    found = document_of(analysis).plans
    assert found is not None
    assert (found.billed_usd, found.api_equivalent, found.ratio) == ("200", "85", 0.425)
    section = build_view(analysis).finance
    assert section is not None
    assert "$85.00 API-equivalent" in section.plans
    assert "$200.00 for 1 calendar month" in section.plans
    for wrong in ("285", "spent", "bill"):
        assert wrong not in section.plans


def test_a_log_without_agents_has_no_plans(document: Document) -> None:
    assert document.plans is None


def test_lines_are_rounded_once_for_show_and_never_before_they_are_added(tmp_path: Path) -> None:
    """Three projects at $0.0149 each are $0.0447 together, whatever a line shows."""
    rows = [f"2026-06-01T0{hour}:00:00Z,p{hour},,,,demo-small,14900,0" for hour in (1, 2, 3)]
    analysis = analysed(tmp_path, rows, FinanceOptions(showback=("project",)))
    (one,) = document_of(analysis).allocation
    assert [(row.name, row.direct, row.percent) for row in one.rows] == [
        ("p1", "0.0149", "33.34"),
        ("p2", "0.0149", "33.33"),
        ("p3", "0.0149", "33.33"),
    ]
    assert one.total == "0.0447"
    section = build_view(analysis).finance
    assert section is not None
    (table,) = section.allocations
    assert table.rest is not None
    assert [cell.exact for cell in table.rest][2] == "$0.0447"


def test_what_carries_no_label_is_listed_however_many_there_are(tmp_path: Path) -> None:
    rows = [f"2026-06-01T01:00:00Z,p{number},,,,demo-small,{1_000 + number},0" for number in range(60)]
    rows.append("2026-06-01T01:00:00Z,,,,,demo-small,1,0")
    section = build_view(analysed(tmp_path, rows, FinanceOptions(showback=("project",)))).finance
    assert section is not None
    (table,) = section.allocations
    assert table.rows[-1][0].text == "(unlabelled)"
    assert table.rest is not None
    assert table.rest[0].text == "20 more names"


def test_the_sign_is_that_of_the_asked_currency(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "cs_CZ.UTF-8")
    log, book, rates = tmp_path / "log.csv", tmp_path / "prices.yaml", tmp_path / "fx.csv"
    lines = [f"2026-06-{day:02d}T08:00:00Z,chat,,,,demo-small,100000,0" for day in range(1, 21)]
    log.write_text("\n".join([HEAD, *lines]) + "\n")
    book.write_text(PRICES)
    rates.write_text("month,rate\n2026-06,0.50\n")
    options = AnalyseOptions(
        as_of=datetime(2026, 7, 1, tzinfo=UTC), price_files=(book,), currency="EUR", fx_file=rates
    )
    analysis = analyse([str(log)], options)
    found = document_of(analysis).forecast
    assert found is not None
    assert found.month_end is not None
    assert (found.month_end.spent, found.month_end.expected) == ("1", "1.5")
    section = build_view(analysis).finance
    assert section is not None
    assert "Jun 2026 ends at about €1.50" in section.forecast.line
    assert "$" not in section.forecast.line + section.bridge.line


def test_what_is_gathered_stands_at_the_foot_and_takes_a_part_a_name(everything: Analysis) -> None:
    rows = [
        AllocationRow(name="chat", untagged=False, requests=5, direct=Decimal(60)),
        AllocationRow(name="(3 more)", untagged=False, requests=90, direct=Decimal(90), gathered=3),
        AllocationRow(name="(unlabelled)", untagged=True, requests=1, direct=Decimal(40)),
    ]
    sharing = parse_sharing("even")
    shared = shared_out(rows, sharing)
    assert {row.name: row.shared for row in shared} == {
        "chat": Decimal(10),
        "(3 more)": Decimal(30),
        "(unlabelled)": Decimal(-40),
    }
    table = allocation_table(everything, Allocation(key="workload", rows=shared, sharing=sharing))
    assert [row[0].text for row in table.rows] == ["chat", "(unlabelled)"]
    assert table.rest is not None
    assert (table.rest[0].text, table.rest[2].value) == ("3 more names", "90")
