"""Logs that try to break a page: hundreds of models, a thousand projects in every script, one request, no price, a fall."""

import csv
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from advisor.cli import cli

sync_api: Any = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = Path("/usr/bin/chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not installed")

SCRIPTS = (
    *("проект", "項目", "プロジェクト", "프로젝트", "مشروع", "פרויקט", "έργο"),
    *("परियोजना", "โครงการ", "proyecto", "\N{ROCKET} launch", "ಯೋಜನೆ"),
)
HOSTILE = (
    "<script>document.title='taken'</script>",
    "<img src=x onerror=\"document.title='taken'\">",
    "</script></style></title>",
    "\u202eright to left\u202c",
    '=HYPERLINK("http://x")',
    "x" * 10_000,
    "{{ 7 * 7 }}",
    " \t ",
)
MODELS = 400
Row = tuple[str, str, str, int, int]


def many() -> Iterator[Row]:
    for number in range(1_000):
        name = HOSTILE[number] if number < len(HOSTILE) else f"{SCRIPTS[number % len(SCRIPTS)]} {number}"
        model = HOSTILE[number] if number < len(HOSTILE) else f"model-{number % MODELS:03d}"
        day = 1 + number % 28
        yield (
            f"2026-06-{day:02d}T{number % 24:02d}:10:00Z",
            model,
            name,
            900 + number * 37 % 9_000,
            number % 700,
        )


def one() -> Iterator[Row]:
    yield "2026-06-01T10:00:00Z", "model-001", "alone", 1_000, 10


def no_price() -> Iterator[Row]:
    yield "2026-06-01T10:00:00Z", "unheard-of", "alone", 1_000, 10


def falling() -> Iterator[Row]:
    for day in range(1, 29):
        yield f"2026-06-{day:02d}T00:10:00Z", "model-001", "chat", 9_000_000 // day**2, 10
        yield f"2026-06-{day:02d}T23:50:00Z", "model-001", "chat", 9_000_000 // day**2, 10


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        instance = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"]
        )
        yield instance
        instance.close()


def report_of(rows: Iterator[Row], folder: Path) -> tuple[Path, int]:
    """Return the report of some rows, and the exit code."""
    with (folder / "log.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(("timestamp", "model", "project", "plain", "answer"))
        writer.writerows(rows)
    cards = {f"model-{number:03d}": {"input": "3", "output": "15"} for number in range(MODELS)}
    (folder / "prices.json").write_text(json.dumps({"models": cards}), "utf-8")
    words = [str(folder / "log.csv"), "--prices", str(folder / "prices.json"), "--as-of", "2026-06-30"]
    maps = ["--map", "input_uncached=plain", "--map", "output=answer", "--provider", "maker"]
    result = CliRunner().invoke(
        cli, ["analyze", *words, *maps, "-q", "-o", str(folder / "report.html")], standalone_mode=False
    )
    return folder / "report.html", result.exit_code


def _keep(said: list[str], what: Any) -> None:
    said.append(str(what))


@pytest.mark.parametrize("make", [many, one, no_price, falling])
def test_the_page_stays_usable(browser: Any, tmp_path: Path, make: Any) -> None:
    path, _ = report_of(make(), tmp_path)
    assert path.stat().st_size < 3_000_000
    page = browser.new_page(viewport={"width": 390, "height": 844})
    said: list[str] = []
    for event in ("console", "pageerror", "dialog"):
        page.on(event, partial(_keep, said))
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.title() != "taken"
    assert page.locator("h1").is_visible()
    assert page.locator("main img, main script").count() == 0
    assert page.locator("#whatif").count() == (0 if make is no_price else 1)
    assert said == []
    page.close()


def test_a_fall_is_shown_as_one(browser: Any, tmp_path: Path) -> None:
    path, code = report_of(falling(), tmp_path)
    assert code == 0
    page = browser.new_page()
    page.goto(path.as_uri())
    assert "\N{MINUS SIGN}" in page.locator(".course .value").first.inner_text()
    page.close()
