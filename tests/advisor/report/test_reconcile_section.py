"""The section on the bill: its words, its table of causes, and how a browser shows it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import report_factory

from advisor.analysis import Analysis
from advisor.reconciliation import Cause, Compared, Reconciliation
from advisor.render.html import render_html
from advisor.render.markdown import render_markdown
from advisor.render.reconciliation import render_reconciliation
from advisor.render.table import render_table
from advisor.view import build_view

HOSTILE = "<script>alert(1)</script>|`x`\x1b[31m" + "long-model-name-" * 8


def compared(key: date | str | None, computed: str, billed: str, left: str | None = "0") -> Compared:
    return Compared(
        key=key,
        computed_usd=Decimal(computed),
        billed_usd=Decimal(billed),
        unexplained_usd=None if left is None else Decimal(left),
    )


def reconciliation(**given: Any) -> Reconciliation:
    days = tuple(
        compared(date(2026, 10, 1) + timedelta(days=day), "100", str(90 + day), str(-day % 3))
        for day in range(31)
    )
    values: dict[str, Any] = {
        "status": "not_reconciled",
        "tolerance_ratio": Decimal("0.01"),
        "computed_usd": Decimal(3100),
        "billed_usd": Decimal("2950.50"),
        "causes": (
            Cause(code="tax", amount_usd=Decimal("120.25"), evidence="1 line of the bill for tax", rows=1),
            Cause(
                code="discount", amount_usd=Decimal(-310), evidence=f"billed 0.9 times for {HOSTILE}", rows=31
            ),
            Cause(code="rounding", amount_usd=Decimal("0.0425"), evidence="62 lines", rows=62),
        ),
        "unexplained_usd": Decimal("40.2075"),
        "compared_usd": Decimal(3255),
        "by_day": days,
        "by_model": (compared(HOSTILE, "2000", "1790.5", "40.2"), compared("gpt-5", "1100", "1160")),
        "by_meter": (compared("output", "2000", "1800", None), compared(None, "0", "12", None)),
        "notes": ("2 lines of the bill left out: the amount is no number.",),
    }
    return Reconciliation(**values | given)


def with_bill(**given: Any) -> Analysis:
    return replace(report_factory.demo(), reconciliation=reconciliation(**given))


@pytest.mark.parametrize(
    ("given", "badge", "tone"),
    [
        ({}, "Not reconciled: $40.21 (1.4 %) unexplained", "warn"),
        ({"status": "reconciled"}, "Reconciled within 1.4 %", "good"),
        ({"status": "reconciled", "unexplained_usd": Decimal("0.004")}, "Reconciled to the cent", "good"),
        (
            {"status": "reconciled", "compared_usd": Decimal(2000)},
            "Reconciled within 1.4 %, on 61 % of the bill",
            "good",
        ),
        (
            {"compared_usd": Decimal(0)},
            "Not reconciled: the bill and the log have nothing in common",
            "warn",
        ),
        (
            {"status": "reconciled", "causes": (Cause(code="other_providers", amount_usd=Decimal(-9), evidence="", rows=1),)},
            "Reconciled within 1.4 %, for the bill's provider only",
            "good",
        ),
    ],
)  # fmt: skip
def test_badge(given: dict[str, Any], badge: str, tone: str) -> None:
    view = build_view(with_bill(**given))
    assert (view.reconciliation.badge.text, view.reconciliation.badge.tone) == (badge, tone)
    assert view.reconciliation.badge in view.headline.badges


def test_steps_lead_from_computed_to_billed() -> None:
    section = build_view(with_bill()).reconciliation
    assert [(step.label, step.amount) for step in section.steps] == [
        ("Computed from the log", "$3,100.00"),
        ("Tax", "+$120.25"),
        ("Discount", "\N{MINUS SIGN}$310.00"),
        ("Rounding", "+$0.043"),
        ("Unexplained", "+$40.21"),
        ("Billed", "$2,950.50"),
    ]
    # The scale reaches from -310 to 120.25: zero is at 310 / 430.25, and bars start there or end there.
    assert section.zero == pytest.approx(72.05)
    tax, discount = section.steps[1].bar[0], section.steps[2].bar[0]
    assert tax.x == pytest.approx(section.zero)
    assert discount.x + discount.width == pytest.approx(section.zero)
    assert tax.x + tax.width == pytest.approx(100)


def test_tables_show_what_differs_and_gather_the_rest() -> None:
    models, days, meters = build_view(with_bill()).reconciliation.tables
    assert [row[3].text for row in models.rows] == ["\N{MINUS SIGN}$209.50", "+$60.00"]
    assert len(days.rows) == 10
    assert days.rest is not None
    assert days.rest[0].text == "21 others"
    assert [column.key for column in meters.columns] == ["key", "computed", "billed", "difference"]
    agreeing = tuple(compared(date(2026, 10, 1 + day), "5", "5") for day in range(5))
    (_, days, _) = build_view(
        with_bill(by_day=(compared(date(2026, 10, 9), "5", "6"), *agreeing))
    ).reconciliation.tables
    assert days.rest is not None
    assert (len(days.rows), days.rest[0].text, days.rest[0].note) == (1, "5 others", "which agree")


def test_markdown_and_terminal_say_the_same_and_are_safe() -> None:
    view = build_view(with_bill())
    comment = render_markdown(view)
    assert "Not reconciled&#58;" in comment or "Not reconciled:" in comment
    assert "<summary>Reconciliation with the bill</summary>" in comment
    assert "<script>" not in comment
    for width in (48, 100):
        for text in (
            render_reconciliation(view, width=width, color=False),
            render_table(view, width=width, color=False),
        ):
            assert "\x1b" not in text
            assert max(map(len, text.splitlines())) <= width
            assert "\N{MINUS SIGN}$310.00" in text
    assert "\x1b[" in render_reconciliation(view, width=80, color=True)


def test_without_a_bill_the_section_says_how_to_give_one() -> None:
    page = render_html(build_view(report_factory.demo()))
    assert "No bill was given" in page
    assert 'id="t-reconcile-steps"' not in page


# ---- in a browser

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = Path("/usr/bin/chromium")
in_browser = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not installed")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        instance = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"]
        )
        yield instance
        instance.close()


@in_browser
@pytest.mark.parametrize("width", [320, 390, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_section_renders(browser: Any, tmp_path: Path, width: int, scheme: str) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_html(build_view(with_bill())), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    steps = page.locator("#t-reconcile-steps tbody tr")
    assert steps.count() == 6
    assert steps.nth(2).locator("td.num").inner_text() == "\N{MINUS SIGN}$310.00"
    assert steps.nth(2).locator("svg.bar").is_visible() == (width > 560)
    assert "Not reconciled" in page.locator(".headline .badges").inner_text()
    painted = page.evaluate("getComputedStyle(document.querySelector('#bill rect.p-cause')).fill")
    assert painted == ("rgb(42, 125, 123)" if scheme == "light" else "rgb(55, 152, 146)")
    assert said == []
    page.close()
