"""The workbook: read back with openpyxl, recomputed by LibreOffice where it is there, and harmless to open."""

import io
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import export_logs
import openpyxl
import pytest

from advisor.analysis import Analysis
from advisor.hosting import HostingOptions
from advisor.options import AnalyseOptions
from advisor.render.focus import render_focus
from advisor.render.xlsx import render_xlsx
from advisor.run import analyse

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:ibis",
    "ignore:Unable to read chart:UserWarning",  # openpyxl, of a chart that LibreOffice wrote
)

GOLDEN = Path(__file__).parent / "golden"
SHEETS = [
    *("Summary", "Assumptions", "Daily", "Allocation", "Daily charges", "Workload charges"),
    *("Recommendations", "Reconciliation", "Data quality"),
]
CLOSE = 1e-9


def opened(made: bytes, *, values: bool) -> Any:
    return openpyxl.load_workbook(io.BytesIO(made), data_only=values)


def cells(book: Any) -> dict[tuple[str, str], Any]:
    return {
        (sheet.title, cell.coordinate): cell.value
        for sheet in book
        for row in sheet.iter_rows()
        for cell in row
        if cell.value is not None
    }


def formulas(made: bytes) -> dict[tuple[str, str], str]:
    return {
        (sheet.title, cell.coordinate): cell.value
        for sheet in opened(made, values=False)
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f"
    }


@pytest.fixture(scope="session")
def book(dealt: Analysis) -> bytes:
    return render_xlsx(dealt)


def test_the_cells_are_the_golden_ones(book: bytes, check_golden: Callable[[Path, str], None]) -> None:
    shown = opened(book, values=True)
    live = formulas(book)
    lines = []
    for (sheet, place), value in cells(shown).items():
        if sheet == "Summary" and str(value).startswith(("token-cost-advisor ", "genai-prices", "user")):
            continue
        words = live.get((sheet, place))
        lines.append(f"{sheet}!{place} {value!r}" + (f" {words}" if words else ""))
    text = re.sub(r"(?<=[(' ])/\S+/(?=\w+\.\w)", "", "\n".join(lines))
    check_golden(GOLDEN / "xlsx.txt", text + "\n")


def test_the_sheets_and_their_totals(book: bytes, dealt: Analysis) -> None:
    shown = opened(book, values=True)
    assert shown.sheetnames == SHEETS
    summary = {row[0].value: row[1].value for row in shown["Summary"].iter_rows() if row[0].value}
    label = next(name for name in summary if name.startswith("Cost ("))
    assert summary[label] == pytest.approx(float(dealt.cost.total), rel=CLOSE)
    listed = next(name for name in summary if name.startswith("List cost"))
    assert summary[listed] == pytest.approx(float(dealt.cost.list_total), rel=CLOSE)
    effective = next(name for name in summary if name.startswith("Effective cost"))
    assert summary[effective] == pytest.approx(float(dealt.cost.effective_total or 0), rel=CLOSE)
    daily = [row[5].value for row in shown["Daily"].iter_rows(min_row=4) if isinstance(row[0].value, int)]
    assert sum(value for value in daily if value != "no price") == pytest.approx(
        float(dealt.cost.total), rel=CLOSE
    )
    assert "no price" in daily


def test_sheets_are_made_to_be_read(book: bytes) -> None:
    made = opened(book, values=False)
    for name in ("Assumptions", "Daily", "Allocation", "Daily charges", "Workload charges"):
        assert made[name].freeze_panes, name
        assert made[name].auto_filter.ref, name
    assert made["Assumptions"]["F8"].fill.fgColor.rgb == "FFFFF6BF"


def test_the_same_analysis_gives_the_same_bytes(book: bytes, dealt: Analysis) -> None:
    assert render_xlsx(dealt) == book


def test_no_text_of_a_log_is_a_formula_or_a_link(hostile: Analysis) -> None:
    made = render_xlsx(hostile)
    ours = ("=SUM(", "=SUMIFS(", "=IF(", "=B5-B6", "=B3-SUM(B4:B7)", "=E", "=F", "=H")
    assert all(words.startswith(ours) for words in formulas(made).values())
    for sheet in opened(made, values=False):
        for row in sheet.iter_rows():
            for cell in row:
                assert cell.hyperlink is None
                assert len(str(cell.value or "")) <= 32_767
    texts = [str(value) for value in cells(opened(made, values=True)).values()]
    assert "-2+3" in texts
    assert not any("\u202e" in text for text in texts)
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        assert not [
            name for name in archive.namelist() if "external" in name.lower() or "vba" in name.lower()
        ]
        assert b"<hyperlink" not in b"".join(archive.read(name) for name in archive.namelist())


def test_another_currency_has_its_rates_as_inputs(tmp_path: Path) -> None:
    analysis = export_logs.analysed(tmp_path, fx="month,rate\n2026-06,0.9137\n")
    made = render_xlsx(analysis)
    assert opened(made, values=True)["Assumptions"]["O8"].value == pytest.approx(0.9137)
    assert any("Assumptions!$O$8" in words for words in formulas(made).values())


def test_a_cost_export_has_its_money_as_it_is(plain: Analysis, tmp_path: Path) -> None:
    (tmp_path / "export.csv").write_text(render_focus(plain))
    options = AnalyseOptions(as_of=export_logs.AS_OF, cost_lines=True)
    shown = opened(render_xlsx(analyse([str(tmp_path / "export.csv")], options)), values=True)
    assert shown["Summary"]["B5"].value == pytest.approx(float(plain.cost.total), rel=CLOSE)


def test_nothing_priced_is_said_and_not_zero(tmp_path: Path) -> None:
    analysis = export_logs.analysed(
        tmp_path, [("2026-06-01", "openai", "nobody-knows-9b", "bot", "", 5, "", 1)]
    )
    shown = opened(render_xlsx(analysis), values=True)
    assert shown["Daily"]["F4"].value == "no price"
    assert shown["Allocation"]["H4"].value == "no price"
    assert "no price" in [row[3] for row in shown["Summary"].iter_rows(values_only=True)]


def test_usage_without_a_time_has_a_row(tmp_path: Path) -> None:
    analysis = export_logs.analysed(tmp_path, [("", "openai", "demo-4o", "bot", "", 1_000, "", 10)])
    shown = opened(render_xlsx(analysis), values=True)
    assert shown["Daily"]["B4"].value == shown["Daily charges"]["B4"].value == "(no time)"
    assert shown["Daily"]["F4"].value == pytest.approx(0.0026)


def test_own_accelerators_have_a_sheet_where_they_were_asked_for(tmp_path: Path) -> None:
    analysis = export_logs.analysed(tmp_path, self_host=HostingOptions(models=("Qwen/Qwen3-8B",)))
    shown = opened(render_xlsx(analysis), values=True)
    assert shown.sheetnames == [*SHEETS[:-1], "Self-host", SHEETS[-1]]
    assert [shown["Self-host"][place].value for place in ("A4", "A5")] == [
        "API bill",
        "API bill after its own levers",
    ]


def test_many_workloads_share_the_last_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("advisor.render.xlsx_usage.MOST_WORKLOADS", 3)
    analysis = export_logs.analysed(tmp_path, export_logs.hostile_rows())
    made = render_xlsx(analysis)
    rows = [
        row
        for row in opened(made, values=True)["Allocation"].iter_rows(min_row=4, values_only=True)
        if row[0]
    ]
    assert len(rows) == 4
    assert rows[-1][1] == "(all other workloads): 9"
    assert sum(row[7] for row in rows) == pytest.approx(float(analysis.cost.total), rel=CLOSE)


def recomputed(made: bytes, folder: Path, inputs: dict[str, float]) -> Any:
    """Open without the values that we wrote, change inputs, and let LibreOffice compute all of it."""
    book = opened(made, values=False)
    for place, value in inputs.items():
        book["Assumptions"][place] = value
    book.save(folder / "bare.xlsx")
    words = ["--headless", "--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", folder / "out"]
    profile = f"-env:UserInstallation=file://{folder}/profile"
    subprocess.run(
        ["soffice", profile, *words, folder / "bare.xlsx"], check=True, capture_output=True, timeout=120
    )
    return openpyxl.load_workbook(folder / "out" / "bare.xlsx", data_only=True)


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice (soffice) is not installed")
class TestRecomputed:
    def test_every_formula_comes_to_what_we_wrote(self, book: bytes, tmp_path: Path) -> None:
        kept = cells(opened(book, values=True))
        live = recomputed(book, tmp_path, {})
        for sheet, place in formulas(book):
            assert live[sheet][place].value == pytest.approx(kept[sheet, place], rel=CLOSE, abs=1e-12), (
                sheet,
                place,
            )

    def test_a_changed_input_changes_all_costs_as_the_tool_would(self, tmp_path: Path) -> None:
        before = export_logs.analysed(tmp_path)
        made = render_xlsx(before)
        prices = {
            row[0].row: (row[0].value, row[2].value)
            for row in opened(made, values=True)["Assumptions"].iter_rows(min_row=8)
            if row[5].value
        }
        changed = {
            f"F{row}": 7.0
            for row, (model, meter) in prices.items()
            if (model, meter) == ("demo-cut", "Output")
        }
        assert len(changed) == 2
        live = recomputed(made, tmp_path, {**changed, "B4": 0.5})
        cards = json.loads(json.dumps(export_logs.PRICES))
        for period in cards["models"]["demo-cut"]["periods"]:
            period["output"] = "7"
        (tmp_path / "prices.json").write_text(json.dumps(cards))
        after = analyse(
            [str(tmp_path / "log.csv")],
            AnalyseOptions(as_of=export_logs.AS_OF, price_files=(tmp_path / "prices.json",)),
        )
        half = float(after.cost.total) / 2
        assert live["Summary"]["B5"].value == pytest.approx(half, rel=CLOSE)
        assert live["Summary"]["B7"].value == pytest.approx(half - float(before.cost.total), rel=CLOSE)
        for row, one in zip(
            live["Allocation"].iter_rows(min_row=4, values_only=True), before.workloads, strict=False
        ):
            again = {part.name: part for part in after.workloads}[one.name]
            assert row[7] == pytest.approx(float(again.whole.total) / 2, rel=CLOSE)
        for row, day in zip(live["Daily"].iter_rows(min_row=4, values_only=True), after.by_day, strict=False):
            if day.whole.is_priced:
                assert row[5] == pytest.approx(float(day.whole.total) / 2, rel=CLOSE)
