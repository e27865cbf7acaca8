"""The panel in the page says what ``advisor whatif`` says, to the cent: driven in a browser, compared with the command."""

import json
import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner

from advisor.cli import cli

sync_api: Any = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = Path("/usr/bin/chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not installed")

RATES = {"input": "3", "output": "15", "cache_read": "0.3", "cache_write_5m": "3.75"}
CARDS = {
    "model-large": RATES
    | {
        "batch_multiplier": "0.5",
        "tier": {
            "above": 200000,
            "inclusive": False,
            "scope": "whole_request",
            "input": "6",
            "output": "22.5",
        },
    },
    "model-small": {"input": "0.4", "output": "1.6", "cache_read": "0.1", "batch_multiplier": "0.5"},
    "model-plain": {"input": "1.1", "output": "4.4"},
}
NAMES = ("timestamp", "provider", "model", "application", "plain", "read", "written", "answer")
TARGETS = {"plain": "input_uncached", "read": "cache_read", "written": "cache_write_5m", "answer": "output"}
HOSTILE = "</script><b>\u202ex"


def rows() -> Iterator[tuple[Any, ...]]:
    """Cells that differ in what steps do to them: sizes over a tier, shares written, what is not reported."""
    for day in range(1, 16):
        at = f"2026-06-{day:02d}T10:00:00Z"
        for number in range(40):
            odd = (number * 7919 + day * 104_729) % 1_000
            yield at, "maker", "model-large", "chat", 2_003 + odd, 9_001 + 3 * odd, 50 * number, 700 + odd
            yield at, "maker", "model-small", "chat", 811 + odd, 397, "", 222 + odd
        yield at, "maker", "model-large", "files", 190_000 + 3_001 * day, 0, 20_000, 901
        yield at, "maker", "model-plain", HOSTILE, 31_000 + day, "", "", 9_999
        yield at, "maker", "unheard-of", "chat", 1_000, "", "", 1_000


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("panel")
    lines = [",".join(NAMES), *(",".join(map(str, row)) for row in rows())]
    (folder / "log.csv").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "prices.json").write_text(json.dumps({"models": CARDS}), "utf-8")
    maps = [word for name, target in TARGETS.items() for word in ("--map", f"{target}={name}")]
    return [str(folder / "log.csv"), "--prices", str(folder / "prices.json"), "--as-of", "2026-06-30", *maps]


@pytest.fixture(scope="module")
def page(words: list[str]) -> Iterator[Any]:
    report = Path(words[0]).with_name("report.html")
    result = CliRunner().invoke(cli, ["analyze", *words, "-o", str(report)], standalone_mode=False)
    assert result.exception is None, result.output
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"]
        )
        context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
        page = context.new_page()
        said: list[str] = []
        page.on("console", partial(_keep, said))
        page.on("pageerror", partial(_keep, said))
        page.goto(report.as_uri())
        yield page
        assert said == []
        browser.close()


def _keep(said: list[str], what: Any) -> None:
    said.append(str(what))


def choose(page: Any, settings: dict[str, Any]) -> str:
    """Set the fields and return the scenario that the page offers."""
    page.locator("#wi-reset").click()
    for key, value in settings.items():
        if key in {"workload", "from", "to"}:
            page.locator(f"#wi-{key}").select_option(label=value)
        else:
            page.locator(f"#wi-{key}-n").fill(str(value))
    return str(page.locator("#wi-yaml").text_content())


def told(words: list[str], scenario: str) -> dict[str, Any]:
    path = Path(words[0]).with_name("scenario.yaml")
    path.write_text(scenario, "utf-8")
    result = CliRunner().invoke(
        cli, ["whatif", *words, "--scenario", str(path), "--json", "-"], standalone_mode=False
    )
    assert result.exception is None, getattr(result.exception, "message", result.exception)
    return cast("dict[str, Any]", json.loads(result.stdout))


def cents(amount: str) -> str:
    return f"${Decimal(amount).quantize(Decimal('0.01'), ROUND_HALF_UP):,}"


@pytest.mark.parametrize(
    "settings",
    [
        {"prompt": 20},
        {"answer": 35, "workload": "chat"},
        {"cached": 90},
        {"cached": 10, "workload": "chat"},
        {"batch": 45},
        {"grow": 150, "workload": "files"},
        {"discount": 12},
        {"from": "model-large", "to": "model-small"},
        {"from": "model-large", "to": "model-plain", "share": 37, "workload": "chat"},
        {"from": "model-plain", "to": "model-large", "batch": 80},
        {
            "from": "model-small",
            "to": "model-large",
            "share": 61,
            "prompt": 13,
            "answer": 7,
            "cached": 71,
            "batch": 29,
            "grow": -15,
            "discount": 3,
        },
    ],
    ids="-".join,
)
def test_the_page_says_what_the_command_says(page: Any, words: list[str], settings: dict[str, Any]) -> None:
    found = told(words, choose(page, settings))
    assert page.locator("#wi-total").inner_text() == cents(found["result"]["cost"])
    steps = page.locator("#wi-steps tr").all_inner_texts()
    assert len(steps) == 1 + len(found["steps"])
    costs = [re.split(r"\t", line)[1] for line in steps]
    assert costs == [cents(found["baseline"]["cost"]), *(cents(one["cost"]) for one in found["steps"])]


def test_nothing_is_changed_at_first(page: Any, words: list[str]) -> None:
    assert "steps" not in choose(page, {})
    everything = told(words, "steps: [{do: grow, factor: 1}]")
    assert page.locator("#wi-total").inner_text() == cents(everything["baseline"]["cost"])


def test_a_hostile_workload_can_be_chosen_and_is_quoted(page: Any, words: list[str]) -> None:
    option = page.locator("#wi-workload option", has_text="<b>")
    page.locator("#wi-reset").click()
    page.locator("#wi-workload").select_option(value=option.get_attribute("value"))
    page.locator("#wi-prompt-n").fill("50")
    found = told(words, str(page.locator("#wi-yaml").text_content()))
    assert page.locator("#wi-total").inner_text() == cents(found["result"]["cost"])
    assert found["steps"][0]["change"] != "0"


def test_the_panel_works_by_keyboard_and_says_its_result(page: Any) -> None:
    page.locator("#wi-reset").click()
    before = page.locator("#wi-total").inner_text()
    page.get_by_role("slider", name="Shorter answers").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert page.locator("#wi-answer-n").input_value() == "3"
    total = page.locator("#wi-total").inner_text()
    assert total != before
    page.wait_for_function("t => document.getElementById('wi-say').textContent.includes(t)", arg=total)


def test_the_scenario_is_copied(page: Any) -> None:
    scenario = choose(page, {"grow": 25})
    page.get_by_role("button", name="Copy as scenario").click()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.acts button')].some(b => b.textContent == 'Copied')"
    )
    assert page.evaluate("navigator.clipboard.readText()") == scenario
    assert "factor: 1.25" in scenario


def test_numbers_outside_their_limits_are_brought_inside(page: Any) -> None:
    scenario = choose(page, {"discount": 900})
    assert "all: 0.1}" in scenario


def test_own_accelerators_are_priced_again_where_they_were_asked_about(page: Any, words: list[str]) -> None:
    folder = Path(words[0]).parent
    report, document = folder / "hosted.html", folder / "hosted.json"
    result = CliRunner().invoke(
        cli,
        ["analyze", *words, "--self-host", "-o", str(report), "--json", str(document)],
        standalone_mode=False,
    )
    assert result.exception is None, result.output
    best = json.loads(document.read_text("utf-8"))["self_host_comparison"]["today"]["best"]
    expected = Decimal(best["usd"]["expected"])
    assert page.locator("#wi-hosted").count() == 0
    hosted = page.context.new_page()
    hosted.goto(report.as_uri())
    line = hosted.locator("#wi-hosted")
    assert f"Own accelerators: {cents(str(expected))} " in line.inner_text()
    price = Decimal(hosted.locator("#wi-gpu").input_value())
    hosted.locator("#wi-gpu").fill(str(price * 2))
    assert f": {cents(str(expected * 2))} " in line.inner_text()
    hosted.locator("#wi-reset").click()
    hosted.locator("#wi-util").fill("50")
    busy = Decimal(best["costs"][0]["busy_usd"])
    assert f": {cents(str(busy * 2))} " in line.inner_text()
    hosted.close()
