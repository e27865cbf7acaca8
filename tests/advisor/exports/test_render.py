"""A saved document renders as the log did: every form, byte by byte; what cannot be made is one sentence."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import export_logs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_export_commands import Advisor, advisor, log  # noqa: F401  (fixtures)

from advisor import saved
from advisor.analysis import Analysis
from advisor.hosting import HostingOptions
from advisor.recommendation import unchanged
from advisor.render.focus import render_focus
from advisor.render.html import render_html
from advisor.render.json import render_json
from advisor.render.markdown import render_markdown
from advisor.render.table import render_table
from advisor.render.xlsx import render_xlsx
from advisor.saved import SavedError, analysis_of
from advisor.saved_codec import CodecError, decode, encode
from advisor.view import build_view

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))

import advice_factory
import report_factory

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")


def forms(analysis: Analysis) -> dict[str, str | bytes]:
    view = build_view(analysis)
    made: dict[str, str | bytes] = {
        "html": render_html(view),
        "markdown": render_markdown(view),
        "table": render_table(view, width=100, color=False),
        "json": render_json(analysis),
    }
    if analysis.cost_lines is not None:
        made |= {"xlsx": render_xlsx(analysis), "focus": render_focus(analysis)}
    return made


def assert_renders_again(analysis: Analysis) -> None:
    again = analysis_of(render_json(analysis), "saved.json")
    kept = forms(again)
    for name, made in forms(analysis).items():
        assert kept[name] == made, name


def test_every_form_of_a_real_run(plain: Analysis, dealt: Analysis, hostile: Analysis) -> None:
    for analysis in (plain, dealt, hostile):
        assert_renders_again(analysis)


def test_every_form_of_a_month() -> None:
    assert_renders_again(advice_factory.advised())


def test_an_ugly_log_comes_back() -> None:
    ugly = report_factory.ugly()
    again = decode(Analysis, json.loads(json.dumps(encode(ugly))), unchanged)
    assert render_html(build_view(again)) == render_html(build_view(ugly))


def test_with_a_bill_in_another_currency_and_with_own_accelerators(plain: Analysis, tmp_path: Path) -> None:
    (tmp_path / "export.csv").write_text(render_focus(plain))
    assert_renders_again(export_logs.analysed(tmp_path, bills=(str(tmp_path / "export.csv"),)))
    assert_renders_again(
        export_logs.analysed(tmp_path, deal=export_logs.DEAL, fx="month,rate\n2026-06,0.9137\n")
    )
    assert_renders_again(export_logs.analysed(tmp_path, self_host=HostingOptions(models=("Qwen/Qwen3-8B",))))


def test_too_many_lines_are_not_kept(plain: Analysis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "MOST_LINES", 3)
    assert analysis_of(render_json(plain), "saved.json").cost_lines is None


def test_a_bill_of_too_many_lines_is_not_made(plain: Analysis, tmp_path: Path) -> None:
    assert plain.cost_lines is not None
    lines = len(plain.cost_lines.lines)
    assert export_logs.analysed(tmp_path, most_cost_lines=lines).cost_lines == plain.cost_lines
    assert export_logs.analysed(tmp_path, most_cost_lines=lines - 1).cost_lines is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1]", "no document of advisor"),
        ("{}", "no document of advisor"),
        ('{"schema_version": "7"}', "schema version '7'"),
        ('{"schema_version": "1"}', "does not hold the whole analysis"),
        ('{"schema_version": "1", "saved": {"$": "Other"}}', "does not fit version"),
        ('{"schema_version": "1", "saved": {"$": "Analysis", "more": 1}}', "does not fit version"),
    ],
)
def test_what_is_no_saved_document_is_said(text: str, said: str) -> None:
    with pytest.raises(SavedError, match=said):
        analysis_of(text, "saved.json")


def test_a_changed_document_is_refused(plain: Analysis) -> None:
    document = json.loads(render_json(plain))
    for part, value in (("cost", []), ("data", {"$": "DataReport"}), ("whole", None), ("by_day", 7)):
        broken = document | {"saved": document["saved"] | {part: value}}
        with pytest.raises(SavedError, match="does not fit"):
            analysis_of(json.dumps(broken), "saved.json")


def test_the_command(advisor: Advisor, log: Path) -> None:  # noqa: F811
    words = ("analyze", log, "--prices", "prices.json", "--as-of", "2026-07-01T00:00:00Z", "-q")
    assert advisor(*words, "-o", "a.html", "--json", "a.json", "--focus", "a.csv")[0] == 0
    log.unlink()
    assert advisor("render", "a.json", "--format", "html", "-o", "b.html") == (0, "", "")
    assert Path("b.html").read_bytes() == Path("a.html").read_bytes()
    assert advisor("render", "a.json", "--format", "json")[1] == Path("a.json").read_text()
    assert advisor("render", "a.json", "--format", "focus", "-q")[1] == Path("a.csv").read_text()
    assert advisor("render", "a.json", "--format", "xlsx", "-o", "b.xlsx") == (0, "", "")
    assert Path("b.xlsx").read_bytes()[:2] == b"PK"
    assert "demo-4o" in advisor("render", "a.json", "--format", "table", "--no-color")[1]
    assert advisor("render", "a.json", "--format", "markdown")[1].startswith("<!-- token-cost-advisor -->")


def test_the_command_says_what_is_missing(advisor: Advisor, log: Path) -> None:  # noqa: F811
    assert advisor("analyze", log, "--prices", "prices.json", "--json", "a.json", "-q")[0] == 0
    document = json.loads(Path("a.json").read_text())
    document["saved"]["cost_lines"] = None
    Path("b.json").write_text(json.dumps(document))
    code, out, err = advisor("render", "b.json", "--format", "focus")
    assert (code, out) == (2, "")
    assert err.startswith("Error: b.json does not hold the bill line by line")
    code, out, err = advisor("render", "gone.json", "--format", "html")
    assert (code, out, err) == (2, "", "Error: cannot read gone.json: No such file or directory\n")
    assert advisor("render", log, "--format", "html")[0] == 2
    assert advisor("diff", "a.json", "b.json", "--format", "json")[0] == 0


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Leaf:
    amount: Decimal
    at: datetime | None
    share: float
    colour: Colour
    kind: Literal["a", "b"] = "a"


@dataclass(frozen=True)
class Other:
    name: str


@dataclass(frozen=True)
class Tree:
    leaves: tuple[Leaf, ...]
    by_day: Mapping[date, int]
    by_name: Mapping[Colour, tuple[str, int]]
    either: Leaf | Other | None
    key: date | str | None
    ratio: Fraction
    length: timedelta


LEAVES = st.builds(
    Leaf,
    amount=st.decimals(allow_nan=False, allow_infinity=False),
    at=st.none() | st.datetimes(timezones=st.just(UTC)),
    share=st.floats(allow_nan=False),
    colour=st.just(Colour.RED),
    kind=st.sampled_from(["a", "b"]),
)
TREES = st.builds(
    Tree,
    leaves=st.lists(LEAVES, max_size=3).map(tuple),
    by_day=st.dictionaries(st.dates(), st.integers(), max_size=3),
    by_name=st.dictionaries(st.just(Colour.RED), st.tuples(st.text(), st.integers())),
    either=st.none() | LEAVES | st.builds(Other, name=st.text()),
    key=st.none() | st.dates() | st.just("a model"),
    ratio=st.fractions(),
    length=st.integers(0, 10**6).map(lambda seconds: timedelta(seconds=seconds)),
)


@settings(max_examples=100, deadline=None)
@given(TREES)
def test_a_value_comes_back(tree: Tree) -> None:
    text = json.dumps(encode(tree), allow_nan=False)
    again = decode(Tree, json.loads(text), unchanged)
    assert again == tree
    assert [leaf.amount.as_tuple() for leaf in again.leaves] == [
        leaf.amount.as_tuple() for leaf in tree.leaves
    ]


def test_what_has_no_form_is_refused_and_then_not_kept(plain: Analysis) -> None:
    class Odd:
        pass

    odd: Any = Odd()
    with pytest.raises(CodecError, match="Odd cannot be kept"):
        encode(odd)
    assert saved.kept(replace(plain, workload_rule=odd)) is None
