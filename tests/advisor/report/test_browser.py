"""The page in a real browser: quiet console, no overflow on a phone, complete without scripts, dark, printable."""

import os
from collections.abc import Iterator
from pathlib import Path

import advice_factory
import finance_factory
import pytest
import report_factory

from advisor.render.html import render_html
from advisor.view import build_view

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = Path("/usr/bin/chromium")
SERIOUS = {"serious", "critical"}
A4_WIDTH, A4_HEIGHT = 688, 1016
"""CSS pixels of a page less its margins of 14 mm."""
ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not installed")


@pytest.fixture(scope="module")
def browser() -> Iterator["sync_api.Browser"]:
    with sync_api.sync_playwright() as playwright:
        instance = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(ARGS))
        yield instance
        instance.close()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_html(build_view(advice_factory.advised())), encoding="utf-8")
    return path.as_uri()


def test_console_is_quiet_and_nothing_is_fetched(browser: "sync_api.Browser", url: str) -> None:
    page = browser.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(url)
    assert page.locator("h1").is_visible()
    assert "$" in page.locator("h1").inner_text()
    page.locator("#t-workloads thead button").nth(1).click()
    assert said == []
    assert asked == [url]
    page.close()


@pytest.mark.parametrize(
    "make",
    [
        advice_factory.advised,
        advice_factory.not_advised,
        advice_factory.crowd,
        finance_factory.financed,
        report_factory.ugly,
        report_factory.nothing_priced,
    ],
)
@pytest.mark.parametrize("width", [320, 390, 768, 1200])
def test_no_horizontal_scroll(browser: "sync_api.Browser", tmp_path: Path, make: object, width: int) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_html(build_view(make())), encoding="utf-8")  # type: ignore[operator]
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_complete_without_scripts(browser: "sync_api.Browser", url: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(url)
    text = page.content()
    view = build_view(advice_factory.advised())
    for number in (view.headline.amount, *(card.value for card in view.headline.cards)):
        assert number in text
    for row in view.workloads.table.rows:
        assert page.get_by_text(row[1].text).first.is_visible()
    assert page.locator("svg.chart.wide").first.is_visible()
    context.close()


def test_dark_mode_differs(browser: "sync_api.Browser", url: str) -> None:
    colours = set[str]()
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        page = context.new_page()
        page.goto(url)
        colours.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        colours.add(page.evaluate("getComputedStyle(document.querySelector('rect.s0')).fill"))
        context.close()
    assert len(colours) == 4


def test_prints_on_a4(browser: "sync_api.Browser", url: str) -> None:
    page = browser.new_page()
    page.goto(url)
    pdf = page.pdf(prefer_css_page_size=True)
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 20_000
    page.close()


@pytest.mark.parametrize("make", [advice_factory.advised, advice_factory.crowd, report_factory.ugly])
def test_the_first_page_printed_is_the_first_screen(
    browser: "sync_api.Browser", tmp_path: Path, make: object
) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_html(build_view(make())), encoding="utf-8")  # type: ignore[operator]
    page = browser.new_page(viewport={"width": A4_WIDTH, "height": A4_HEIGHT})
    page.emulate_media(media="print")
    page.goto(path.as_uri())
    headline = page.locator("section.headline")
    box = headline.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= A4_HEIGHT
    assert headline.evaluate("one => getComputedStyle(one).breakAfter") == "page"
    page.close()


@pytest.mark.skipif("AXE_CORE" not in os.environ, reason="AXE_CORE names no axe.min.js (CONTRIBUTING.md)")
@pytest.mark.parametrize("make", [finance_factory.financed, advice_factory.crowd, report_factory.ugly])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing_serious(
    browser: "sync_api.Browser", tmp_path: Path, make: object, scheme: str, width: int
) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_html(build_view(make())), encoding="utf-8")  # type: ignore[operator]
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True
    )
    page = context.new_page()
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.evaluate(Path(os.environ["AXE_CORE"]).read_text("utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS] == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_field_has_a_name(browser: "sync_api.Browser", url: str, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(url)
    unnamed = page.evaluate(
        """[...document.querySelectorAll('input,select,button,summary,[tabindex="0"]')].filter(e =>
          !(e.getAttribute('aria-label') || e.textContent.trim() || (e.labels && e.labels.length))).map(e => e.outerHTML)"""
    )
    assert unnamed == []
    context.close()


def test_hover_shows_the_numbers(browser: "sync_api.Browser", url: str) -> None:
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto(url)
    page.locator("svg.columns.wide g[data-t]").nth(3).hover()
    assert "requests" in page.locator("#tip").inner_text()
    page.close()


def test_sorting_moves_rows_and_keeps_them(browser: "sync_api.Browser", url: str) -> None:
    page = browser.new_page()
    page.goto(url)
    names = page.locator("#t-workloads tbody th bdi:first-child")
    before = names.all_inner_texts()
    button = page.locator("#t-workloads thead button").nth(4)
    button.focus()
    page.keyboard.press("Enter")
    after = names.all_inner_texts()
    assert sorted(after) == sorted(before)
    assert after[0] == "classify-tickets"
    assert page.locator("#t-workloads th[aria-sort=descending]").count() == 1
    page.close()


@pytest.mark.parametrize("size", [("wide", 1200), ("narrow", 390)])
def test_chart_labels_neither_collide_nor_clip(
    browser: "sync_api.Browser", url: str, size: tuple[str, int]
) -> None:
    page = browser.new_page(viewport={"width": size[1], "height": 900})
    page.goto(url)
    faults = page.evaluate(
        """kind => {
          const bad = [];
          for (const svg of document.querySelectorAll('svg.chart.' + kind)) {
            const frame = svg.getBoundingClientRect();
            const texts = [...svg.querySelectorAll('text')].filter(t => !(t.getAttribute('transform') || ''));
            const boxes = texts.map(t => [t.textContent, t.getBoundingClientRect()]);
            boxes.forEach(([name, a], i) => {
              if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.bottom > frame.bottom + 1) bad.push('clipped ' + name);
              boxes.slice(i + 1).forEach(([other, b]) => {
                if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
                  bad.push(name + ' | ' + other);
              });
            });
          }
          return bad;
        }""",
        size[0],
    )
    assert faults == []
    page.close()


def test_a_long_table_is_filtered_and_copied_with_exact_numbers(
    browser: "sync_api.Browser", tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_html(build_view(report_factory.crowded())), encoding="utf-8")
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator("#t-meters").locator("xpath=../preceding-sibling::*[1]").locator("input").count() == 0
    tools = page.locator("#t-workloads").locator("xpath=../preceding-sibling::*[1]")
    field = tools.get_by_role("searchbox")
    rows = page.locator("#t-workloads tbody tr:not([hidden])")
    every = rows.count()
    assert every > 12
    first = rows.first.locator("th bdi").first.inner_text()
    field.fill(first)
    assert 1 <= rows.count() < every
    assert f"of {every}" in tools.get_by_role("status").inner_text()
    tools.get_by_role("button").click()
    page.wait_for_function(
        "[...document.querySelectorAll('.tools button')].some(b => b.textContent == 'Copied')"
    )
    lines = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert len(lines) == 1 + rows.count() + page.locator("#t-workloads tfoot tr").count()
    cell = rows.first.locator("td").first
    exact = (cell.get_attribute("title") or "").lstrip("$").replace(",", "")
    assert lines[1].split("\t")[1] == exact
    context.close()


def test_contents_are_beside_the_report_above_it_or_folded(browser: "sync_api.Browser", url: str) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(url)
    beside, report = page.locator(".toc").bounding_box(), page.locator("#main").bounding_box()
    assert beside is not None
    assert report is not None
    assert beside["x"] + beside["width"] <= report["x"] + 48
    page.mouse.wheel(0, 4000)
    assert page.locator(".toc a").first.is_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    assert not page.locator(".toc").is_visible()
    link = page.locator(".menu a[href='#prices']")
    assert not link.is_visible()
    page.locator(".menu summary").click()
    link.click()
    assert not link.is_visible()
    assert page.url.endswith("#prices")
    page.close()
