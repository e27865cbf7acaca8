"""The user's own terms over a whole run: discounts, commitments, currencies, gates, and doubts in dollars."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.analysis import Analysis, Problem
from advisor.document import document_of
from advisor.gates import unpriced_failure
from advisor.options import AnalyseOptions
from advisor.render.html import render_html
from advisor.render.markdown import render_markdown
from advisor.render.table import render_table
from advisor.run import analyse
from advisor.view import build_view
from pricing.errors import PriceFileError
from pricing.meters import Meter

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

AS_OF = datetime(2026, 7, 1, tzinfo=UTC)
PRICES: dict[str, Any] = {
    "models": {
        "demo-4o": {"input": "2.50", "output": "10.00", "retrieved": "2026-06-30"},
        "demo-free": {"input": 0, "output": 0},
        "demo-old": {"input": "1", "output": "1", "retrieved": "2026-05-01"},
        "demo-batch": {"input": "4", "output": "4", "batch_multiplier": "0.5"},
        "demo-cut": {
            "periods": [
                {"until": "2026-06-10T16:00:00Z", "input": "3", "output": "3"},
                {"start": "2026-06-10T16:00:00Z", "input": "2", "output": "2"},
            ]
        },
    }
}


def call(
    number: int,
    tokens_in: int = 1_000,
    tokens_out: int = 1_000,
    *,
    key: str = "hash-a",
    model: str = "demo-4o",
    at: str = "2026-06-01T10:00:00Z",
    **more: Any,
) -> dict[str, Any]:
    """A row of LiteLLM's spend table."""
    return {
        "request_id": f"rq-{number}",
        "call_type": "acompletion",
        "api_key": key,
        "spend": 0.0,
        "total_tokens": tokens_in + tokens_out,
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "startTime": at,
        "endTime": at,
        "model": model,
        "model_group": model,
        "custom_llm_provider": "openai",
        "cache_hit": "False",
        "status": "success",
        "metadata": {},
        **more,
    }


def run(
    folder: Path,
    rows: Sequence[dict[str, Any]],
    *,
    deal: Any = None,
    fx: str | None = None,
    **options: Any,
) -> Analysis:
    (folder / "log.json").write_text(json.dumps(list(rows)), encoding="utf-8")
    (folder / "prices.json").write_text(json.dumps(PRICES), encoding="utf-8")
    if deal is not None:
        (folder / "deal.json").write_text(json.dumps(deal), encoding="utf-8")
        options["discount_files"] = (folder / "deal.json",)
    if fx is not None:
        (folder / "fx.csv").write_text(fx, encoding="utf-8")
        options |= {"currency": "EUR", "fx_file": folder / "fx.csv"}
    return analyse(
        [str(folder / "log.json")],
        AnalyseOptions(**{"as_of": AS_OF, "price_files": (folder / "prices.json",), **options}),
    )


def problem(found: Analysis, code: str) -> Problem:
    (one,) = [item for item in found.data.problems if item.code == code]
    return one


def everywhere(found: Analysis) -> list[str]:
    view = build_view(found)
    return [render_html(view), render_markdown(view), render_table(view, width=120, color=False)]


# ---- discounts


def test_a_key_at_a_negotiated_rate(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        [call(1), call(2, key="hash-b")],
        deal={"discounts": [{"api_key": "hash-a", "multiplier": "0.80"}]},
    )
    assert (found.cost.list_total, found.cost.total) == (Decimal("0.025"), Decimal("0.0225"))
    assert found.cost.by_meter == {Meter.INPUT_UNCACHED: Decimal("0.0045"), Meter.OUTPUT: Decimal("0.018")}
    costs = {row.name: (row.whole.list_cost, row.whole.total) for row in found.workloads}
    assert costs == {
        "hash-a": (Decimal("0.0125"), Decimal("0.01")),
        "hash-b": (Decimal("0.0125"), Decimal("0.0125")),
    }
    for text in everywhere(found):
        assert "List cost" in text
        assert "Contracted cost" in text
        assert "Effective cost" in text
        assert "$0.025" in text
    made = document_of(found).cost
    assert (made.list_total, made.total, made.effective_total) == ("0.025", "0.0225", "0.0225")
    (row,) = made.discounts
    assert (row.scope, row.multiplier, row.list_usd, row.contracted_usd) == (
        "api key hash-a",
        "0.8",
        "0.0125",
        "0.01",
    )


def test_without_terms_the_three_costs_are_one_and_not_repeated(tmp_path: Path) -> None:
    found = run(tmp_path, [call(1)])
    assert build_view(found).costs is None
    made = document_of(found)
    assert made.cost.total == made.cost.list_total == made.cost.effective_total == "0.0125"
    assert (made.cost.currency, made.cost.fx, made.by_model[0].list_cost) == ("USD", None, "0.0125")


def test_a_discount_starts_within_a_day(tmp_path: Path) -> None:
    rows = [call(i, 1_000_000, 0, at=f"2026-06-01T{hour:02}:00:00Z") for i, hour in enumerate((8, 12, 20))]
    found = run(tmp_path, rows, deal=[{"percent_off": 50, "valid_from": "2026-06-01T12:00:00Z"}])
    assert (found.cost.list_total, found.cost.total) == (Decimal("7.5"), Decimal(5))


def test_a_discount_that_matches_nothing_is_said(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        [call(1)],
        deal=[{"model": "demo-5", "multiplier": 0.5}],
    )
    said = problem(found, "discount_unused")
    assert "deal.json: discounts.0 (model demo-5): no priced usage matches it" in said.message
    assert said.severity == "warning"


def test_the_workloads_stay_when_a_discount_names_one_key(tmp_path: Path) -> None:
    rows = [call(i, key=f"hash-{i % 3}") for i in range(9)]
    plain, dealt = run(tmp_path, rows), run(tmp_path, rows, deal=[{"api_key": "hash-1", "multiplier": 1}])
    assert [(row.name, row.whole.requests, row.whole.total) for row in plain.workloads] == [
        (row.name, row.whole.requests, row.whole.total) for row in dealt.workloads
    ]


def test_a_broken_file_is_an_error_before_the_log_is_read(tmp_path: Path) -> None:
    with pytest.raises(PriceFileError, match=r"deal\.json: discounts\.0\.multipler: unknown key"):
        run(tmp_path, [call(1)], deal=[{"multipler": 1}])


parts = st.lists(
    st.tuples(
        st.integers(0, 10**7),
        st.integers(0, 10**6),
        st.sampled_from(("hash-a", "hash-b")),
        st.sampled_from(("demo-4o", "demo-old", "nobody-knows")),
        st.integers(1, 28),
    ),
    min_size=1,
    max_size=6,
)
multipliers = st.decimals(0, 1, places=4).map(str)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts, multipliers, multipliers, st.randoms())
def test_net_is_never_above_list_and_parts_add_up(
    tmp_path: Path, some: list[tuple[int, int, str, str, int]], one: str, other: str, random: Any
) -> None:
    rows = [
        call(i, tokens_in, tokens_out, key=key, model=model, at=f"2026-06-{day:02}T10:00:00Z")
        for i, (tokens_in, tokens_out, key, model, day) in enumerate(some)
    ]
    deal = [{"api_key": "hash-a", "multiplier": one}, {"model": "demo-4o", "multiplier": other}]
    found = run(tmp_path, rows, deal=deal)
    assert found.cost.total <= found.cost.list_total == run(tmp_path, rows).cost.total
    for slices in (found.by_day, found.by_model, found.workloads):
        assert sum((part.whole.total for part in slices), Decimal(0)) == found.cost.total
        listed = [part.whole.list_cost for part in slices]
        assert sum((amount for amount in listed if amount is not None), Decimal(0)) == found.cost.list_total
    random.shuffle(rows)
    random.shuffle(deal)
    again = run(tmp_path, rows, deal=deal)
    assert (again.cost.total, again.cost.list_total) == (found.cost.total, found.cost.list_total)


# ---- commitments


def test_a_prepaid_amount_that_is_not_used_up(tmp_path: Path) -> None:
    rows = [call(1, 2_000_000, 0), call(2, 2_000_000, 0, at="2026-06-30T10:00:00Z")]
    deal = {"commitments": [{"name": "prepaid", "covers": "spend", "usd_per_month": 30}]}
    found = run(tmp_path, rows, deal=deal)
    assert (found.cost.list_total, found.cost.total, found.cost.effective_total) == (10, 10, 30)
    for text in everywhere(found):
        assert "$30.00" in text
        assert "prepaid" in text
        assert "$20.00" in text
    (use,) = document_of(found).cost.commitments
    assert (use.month, use.first, use.last, use.partial) == ("2026-06", "2026-06-01", "2026-06-30", False)
    assert (use.committed_usd, use.contracted_usd, use.unused_usd) == ("30", "10", "20")


def test_provisioned_throughput_replaces_the_price_of_tokens(tmp_path: Path) -> None:
    rows = [call(1, 2_000_000, 0), call(2, 5, 0, model="demo-old")]
    deal = {
        "commitments": [
            {"name": "ptu", "covers": "throughput", "models": ["demo-4o"], "usd_per_hour": "0.25", "units": 2}
        ]
    }
    found = run(tmp_path, rows, deal=deal)
    # One day of the log: 24 hours x 2 x $0.25, and five tokens of another model
    assert found.cost.effective_total == Decimal("12.000005")
    assert found.cost.total == Decimal("5.000005")
    for text in everywhere(found):
        assert "not known" in text
    assert any("in part" in text for text in found.provenance.assumptions)


def test_a_commitment_outside_the_log_is_said(tmp_path: Path) -> None:
    deal = {"commitments": [{"name": "x", "covers": "spend", "usd_per_month": 1, "valid_from": "2027-01-01"}]}
    found = run(tmp_path, [call(1)], deal=deal)
    assert "no day of the log is within it" in problem(found, "commitment_unused").message
    assert found.cost.effective_total is None


# ---- currencies

FX = "month,rate\n2026-06,0.92\n"


def test_a_report_in_euros(tmp_path: Path) -> None:
    found = run(tmp_path, [call(1, 1_000_000, 100_000)], fx=FX, deal=[{"multiplier": "0.5"}])
    assert (found.cost.currency, found.cost.list_total, found.cost.total) == (
        "EUR",
        Decimal("3.22"),
        Decimal("1.61"),
    )
    for text in everywhere(found):
        assert "€1.61" in text
        assert "€3.22" in text
        assert "2026-06 0.92" in text
        assert "$2.50" in text, "prices stay in USD"
        assert "$1.61" not in text
    made = document_of(found)
    assert made.cost.fx is not None
    assert (made.cost.fx.source, made.cost.fx.rates) == ("fx.csv", {"2026-06": "0.92"})
    assert (made.cost.total, made.by_day[0].cost, made.by_day[0].currency) == ("1.61", "1.61", "EUR")


def test_a_month_without_a_rate_stays_in_usd_and_is_flagged(tmp_path: Path) -> None:
    rows = [
        call(1, 1_000_000, 0),
        call(2, 2_000_000, 0, at="2026-05-31T10:00:00Z"),
        call(3, 4_000_000, 0, at="2026-05-31T10:00:00Z", key="hash-b"),
    ]
    found = run(tmp_path, rows, fx=FX)
    assert found.cost.total == Decimal("2.3")
    said = problem(found, "no_exchange_rate")
    assert said.message == "fx.csv has no rate for 2026-05: $15.00 stays in USD; it is in no total"
    assert (said.rows, said.amount_usd) == (2, 15)
    for text in everywhere(found):
        assert "€2.30" in text
        assert "$15.00" in text
        assert "$10.00" in text, "the workload that is in USD as a whole"
    made = document_of(found)
    assert made.cost.fx is not None
    assert [(row.month, row.amount_usd) for row in made.cost.fx.unconverted] == [("2026-05", "15")]
    assert [(row.day, row.cost, row.currency) for row in made.by_day] == [
        ("2026-05-31", "15", "USD"),
        ("2026-06-01", "2.3", "EUR"),
    ]
    costs = {row.name: (row.cost, row.unconverted_usd) for row in made.workloads}
    assert costs == {"hash-a": ("2.3", "5"), "hash-b": (None, "10")}


def test_a_log_without_any_rate_is_reported_in_usd(tmp_path: Path) -> None:
    found = run(tmp_path, [call(1, 1_000_000, 0, at="2026-05-31T10:00:00Z")], fx=FX)
    assert (found.cost.currency, found.cost.total) == ("USD", Decimal("2.5"))
    assert (
        "no day of the log has a rate, so the report is in USD" in problem(found, "no_exchange_rate").message
    )
    assert all("€" not in text for text in everywhere(found))


def test_a_commitment_is_converted_at_the_mean_rate_of_its_days(tmp_path: Path) -> None:
    rows = [call(1, 1_000_000, 0), call(2, 0, 0, at="2026-06-30T10:00:00Z")]
    deal = {"commitments": [{"name": "prepaid", "covers": "spend", "usd_per_month": 12.5}]}
    found = run(tmp_path, rows, deal=deal, fx=FX)
    # 2.5 x 0.92, and the ten dollars that were not used at 0.92
    assert found.cost.effective_total == Decimal("11.5")


# ---- gates


def test_a_share_without_a_price_fails_the_gate(tmp_path: Path) -> None:
    rows = [*(call(i) for i in range(7)), *(call(i, model="nobody-9b") for i in range(7, 10))]
    found = run(tmp_path, rows)
    said = unpriced_failure(found, Decimal("0.29"))
    assert said is not None
    assert said.startswith(
        "--fail-on-unpriced: 30 % of requests and 30 % of tokens have no price, allowed is 29 %"
    )
    assert "nobody-9b" in said
    # Three in ten is not more than 30 %, whatever a float says.
    assert unpriced_failure(found, Decimal("0.3")) is None


def test_tokens_count_beside_requests(tmp_path: Path) -> None:
    rows = [*(call(i, 1, 1) for i in range(99)), call(99, 10**6, 0, model="nobody-9b")]
    said = unpriced_failure(run(tmp_path, rows), Decimal("0.05"))
    assert said is not None
    assert "of tokens have no price" in said
    assert "of requests" not in said


def test_a_gate_passes_when_all_is_priced(tmp_path: Path) -> None:
    assert unpriced_failure(run(tmp_path, [call(1)]), Decimal(0)) is None


# ---- doubts


def test_free_is_stated_and_not_unknown(tmp_path: Path) -> None:
    found = run(tmp_path, [call(1, model="demo-free"), call(2)])
    assert found.cost.free_models == ("demo-free",)
    assert found.cost.complete
    assert document_of(found).cost.free_models == ["demo-free"]
    page, note, _ = everywhere(found)
    assert "known to be $0: demo-free" in page
    assert "known to be $0: demo-free" in note
    (cell,) = {row[2].note for row in build_view(found).prices.rows if row[0].text == "demo-free"}
    assert cell == "free"


def test_stale_prices_have_their_dollars(tmp_path: Path) -> None:
    found = run(tmp_path, [call(1, 1_000_000, 0, model="demo-old"), call(2)])
    said = problem(found, "stale_prices")
    assert said.message == (
        "prices read more than 60 days before the report: demo-old (read 2026-05-01); $1.00 of usage"
    )
    assert (said.amount_usd, said.rows) == (1, 1)
    fresh = run(tmp_path, [call(1, model="demo-old")], as_of=datetime(2026, 6, 30, 23, tzinfo=UTC))
    assert not [one for one in fresh.data.problems if one.code == "stale_prices"]


def test_a_tier_at_the_standard_price_has_its_dollars(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(
        "timestamp,model,service_tier,input_tokens,output_tokens\n"
        "2026-06-01T10:00:00Z,demo-batch,batch,1000000,0\n"
        "2026-06-01T10:00:00Z,demo-4o,priority,1000000,0\n"
    )
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps(PRICES))
    found = analyse([str(log)], AnalyseOptions(as_of=AS_OF, price_files=(prices,)))
    assert found.cost.total == Decimal("4.5")
    said = problem(found, "standard_price_used")
    assert said.message == "demo-4o: service tier 'priority' asked, standard price used; $2.50 of usage"
    assert (said.amount_usd, said.rows) == (Decimal("2.5"), 1)


def test_usage_close_to_a_switch_of_price_is_told_what_the_other_would_make(tmp_path: Path) -> None:
    times = ("2026-06-09T15:00:00Z", "2026-06-10T15:00:00Z", "2026-06-11T09:00:00Z", "2026-06-11T17:00:00Z")
    rows = [call(i, 10 ** (6 + i), 0, model="demo-cut", at=at) for i, at in enumerate(times)]
    found = run(tmp_path, rows)
    said = problem(found, "price_switch_day")
    # 10 million at $3 on the day of the switch, before it, and 1,100 million at $2 on the day after it.
    assert (said.amount_usd, said.rows, said.severity) == (2_230, 3, "info")
    assert "demo-cut: its price changes at 2026-06-10 16:00 UTC, and $2,230.00 of usage" in said.message
    assert "a day earlier, $10.00 less, a day later, $1,100.00 more" in said.message


def test_a_holiday_is_no_change_of_price(tmp_path: Path) -> None:
    # 1 October is a holiday in China: no peak at 02:00 UTC, nor doubt about it. 16 August 16:00 UTC was a change of price.
    def noted(at: str) -> list[Problem]:
        rows = [call(1, model="deepseek-v4-pro", custom_llm_provider="deepseek", at=at)]
        found = run(tmp_path, rows)
        return [problem for problem in found.data.problems if problem.code == "price_switch_day"]

    assert noted("2026-10-01T02:00:00Z") == []
    assert [problem.rows for problem in noted("2026-08-16T20:00:00Z")] == [1]


def test_usage_far_from_a_switch_is_not(tmp_path: Path) -> None:
    rows = [call(1, model="demo-cut", at="2026-06-12T10:00:00Z"), call(2, model="demo-4o")]
    assert not [one for one in run(tmp_path, rows).data.problems if one.code == "price_switch_day"]


def test_a_cost_export_keeps_its_amounts(tmp_path: Path) -> None:
    log = tmp_path / "costs.json"
    case = Path(__file__).parents[1] / "golden" / "faults" / "amounts_in_cents.json"
    log.write_text(case.read_text(encoding="utf-8"), encoding="utf-8")
    deal = tmp_path / "deal.json"
    terms = {
        "discounts": [{"multiplier": "0.5"}],
        "commitments": [{"name": "x", "covers": "spend", "usd_per_month": 100}],
    }
    deal.write_text(json.dumps(terms))
    plain = analyse([str(log)], AnalyseOptions(as_of=AS_OF))
    found = analyse([str(log)], AnalyseOptions(as_of=AS_OF, discount_files=(deal,)))
    assert plain.cost.basis == "recorded"
    assert (found.cost.total, found.cost.effective_total) == (plain.cost.total, None)
    assert "its amounts are what was billed" in problem(found, "terms_not_applied").message
