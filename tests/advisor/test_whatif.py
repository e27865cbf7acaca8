"""``advisor whatif``: steps worked by hand on own price cards, exact sums, and messages that name the place."""

import importlib.util
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from advisor.cli import cli
from advisor.cube_changes import moved, part_of
from advisor.scenario_file import ScenarioError, read_scenario
from advisor.scenario_model import MeterName
from pricing.charges import exact_sum
from pricing.meters import Meter

CARDS = {
    "small": {
        "input": "1",
        "output": "4",
        "cache_read": "0.1",
        "cache_write_5m": "1.25",
        "batch_multiplier": "0.5",
    },
    "large": {
        "input": "10",
        "output": "40",
        "tier": {
            "above": 200000,
            "inclusive": False,
            "scope": "whole_request",
            "input": "20",
            "output": "80",
        },
    },
}
MILLION = 1_000_000
LOG = [
    ("chat", "small", 2 * MILLION, MILLION),  # 2 + 4
    ("code", "large", 100_000, 50_000),  # 1 + 2
    ("code", "large", 300_000, 50_000),  # 6 + 4, above the threshold
]


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["whatif", *words], standalone_mode=False)


def message(result: Result) -> str:
    return getattr(result.exception, "message", str(result.exception))


@pytest.fixture
def log(tmp_path: Path) -> list[str]:
    """Return the words of a command that name a log and its prices."""
    lines = ["timestamp,provider,model,application,input_tokens,output_tokens"]
    lines += [
        f"2026-06-01T10:00:00Z,maker,{model},{name},{prompt},{text}" for name, model, prompt, text in LOG
    ]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n", "utf-8")
    (tmp_path / "prices.json").write_text(json.dumps({"models": CARDS}), "utf-8")
    prices = str(tmp_path / "prices.json")
    return [str(tmp_path / "log.csv"), "--prices", prices, "--as-of", "2026-06-30"]


def scenario(folder: Path, *steps: Any, **more: Any) -> str:
    path = folder / "scenario.yaml"
    path.write_text(yaml.safe_dump({"steps": list(steps)} | more), "utf-8")
    return str(path)


def answer(log: list[str], *steps: Any, words: tuple[str, ...] = ()) -> dict[str, Any]:
    path = scenario(Path(log[0]).parent, *steps)
    result = run(*log, *words, "--scenario", path, "--json", "-")
    assert result.exception is None, message(result)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def cost(log: list[str], *steps: Any) -> str:
    """Return the cost after all steps; 19 USD is what the log costs."""
    found = answer(log, *steps)
    assert found["baseline"]["cost"] == "19"
    changes = exact_sum(Decimal(step["change"]) for step in found["steps"])
    assert Decimal(found["result"]["cost"]) == 19 + changes == 19 + Decimal(found["change"])
    for parts in (found["by_model"], found["by_workload"]):
        assert exact_sum(Decimal(part["change"]) for part in parts) == changes
    return str(found["result"]["cost"])


@pytest.mark.parametrize(
    ("step", "usd"),
    [
        ({"do": "grow", "factor": 1.5}, "28.5"),
        ({"do": "grow", "factor": 0}, "0"),
        ({"do": "grow", "factor": 2, "workload": "chat"}, "25"),
        ({"do": "trim", "answer": 0.5, "model": ["small"]}, "17"),
        ({"do": "trim", "prompt": 0.25, "workload": "chat"}, "18.5"),
        # 300,000 x 0.6 is under the threshold: all of that request is cheaper. 0.6 + 2 and 1.8 + 2.
        ({"do": "trim", "prompt": 0.4, "workload": "code"}, "12.4"),
        # 300,000 x 0.9 is not: 0.9 + 2 and 5.4 + 4.
        ({"do": "trim", "prompt": 0.1, "workload": "code"}, "18.3"),
        ({"do": "swap_model", "model": "large", "to": "small"}, "6.8"),
        ({"do": "swap_model", "model": "large", "to": "small", "share": 0.5}, "12.9"),
        ({"do": "swap_model", "model": "large", "to": "small", "token_ratio": 1.5}, "7.2"),
        # 2.2 M and 1.1 M tokens, above the threshold: 44 + 88.
        ({"do": "swap_model", "workload": "chat", "to": "large", "token_ratio": 1.1}, "145"),
        ({"do": "batch", "share": 0.5, "model": "small"}, "17.5"),
        # Half of 2 M is read at 0.1, the rest is new; then with a quarter written at 1.25.
        ({"do": "cache", "read_share": 0.5, "workload": "chat"}, "18.1"),
        ({"do": "cache", "read_share": 0.5, "written_share": 0.25, "workload": "chat"}, "18.225"),
        ({"do": "price", "multiples": {"output": 0.5}}, "14"),
        ({"do": "price", "multiples": {"all": 2, "output": 1}, "model": "small"}, "21"),
    ],
)
def test_one_step(log: list[str], step: dict[str, Any], usd: str) -> None:
    assert cost(log, step) == usd


def test_steps_meet_what_the_ones_before_have_left(log: list[str]) -> None:
    swap = {"do": "swap_model", "model": "large", "to": "small"}
    # 6.8 with all of it on the small model, then half of that at half price.
    assert cost(log, swap, {"do": "batch", "share": 0.5}) == "5.1"
    # A price that changes for a model is that of whoever uses it then.
    dearer = {"do": "price", "model": "small", "multiples": {"all": 3}}
    assert cost(log, dearer, swap) == cost(log, swap, dearer) == "20.4"
    # A price of a model that nobody uses in the end is nobody's.
    assert cost(log, {"do": "price", "model": "large", "multiples": {"all": 9}}, swap) == "6.8"
    assert cost(log, {"do": "grow", "factor": 2}, {"do": "trim", "answer": 1}) == "18"


def test_the_baseline_is_that_of_analyze(log: list[str]) -> None:
    result = CliRunner().invoke(cli, ["analyze", *log, "--json", "-"], standalone_mode=False)
    whole = json.loads(result.stdout)
    found = answer(log, {"do": "grow", "factor": 1})
    assert found["baseline"]["cost"] == whole["cost"]["total"] == found["result"]["cost"]
    assert found["baseline"]["requests"] == whole["data"]["requests"]
    assert {part["name"] for part in found["by_workload"]} == {one["name"] for one in whole["workloads"]}


def test_discounts_count(log: list[str], tmp_path: Path) -> None:
    (tmp_path / "deal.yaml").write_text("discounts:\n  - model: small\n    multiplier: '0.5'\n", "utf-8")
    found = answer(
        log,
        {"do": "swap_model", "model": "large", "to": "small"},
        words=("--discounts", str(tmp_path / "deal.yaml")),
    )
    assert (found["baseline"]["cost"], found["result"]["cost"]) == ("16", "3.4")


def test_what_would_lose_its_price_stays(log: list[str]) -> None:
    found = answer(log, {"do": "batch", "share": 1})
    # The large model has no batch price: only 6 of the 19 USD are halved.
    assert found["result"]["cost"] == "16"
    assert found["steps"][0]["notes"] == ["no batch price: 2 requests left unchanged (large)"]


def test_what_has_no_price_today_is_not_moved_to_one(log: list[str]) -> None:
    path = Path(log[0])
    path.write_text(path.read_text("utf-8") + "2026-06-01T10:00:00Z,maker,mystery,other,9,9\n", "utf-8")
    found = answer(log, {"do": "swap_model", "to": "small"})
    assert found["result"]["cost"] == "6.8"
    assert found["result"]["unpriced_requests"] == 1
    assert found["steps"][0]["notes"] == ["no price today: 1 request left unchanged (mystery)"]


def test_a_model_of_another_provider_is_found(log: list[str], tmp_path: Path) -> None:
    prices = {"models": CARDS | {"far": {"provider": "openai", "input": "1", "output": "1"}}}
    (tmp_path / "prices.json").write_text(json.dumps(prices), "utf-8")
    found = answer(
        log, {"do": "swap_model", "model": "small", "to": "far"}, words=("--provider", "anthropic")
    )
    assert found["result"]["cost"] == "16"
    assert "openai/far" in {part["name"] for part in found["by_model"]}
    path = scenario(tmp_path, {"do": "swap_model", "to": "far", "to_provider": "anthropic"})
    assert "(provider 'anthropic')" in message(run(*log, "--scenario", path))


def test_writes_of_a_target_without_a_rate_for_them_are_plain_input_and_placeholders_stay(
    tmp_path: Path,
) -> None:
    usage = {"input_tokens": 1_000, "cache_creation_input_tokens": 4_000, "cache_read_input_tokens": 50_000}
    lines = [
        {
            "type": "assistant",
            "timestamp": "2026-06-01T10:00:00.000Z",
            "sessionId": "s",
            "uuid": f"u-{number}",
            "message": {
                "id": f"m-{number}",
                "type": "message",
                "role": "assistant",
                "model": model,
                "usage": used,
            },
        }
        for number, (model, used) in enumerate(
            (
                ("demo-opus", {**usage, "output_tokens": 2_000}),
                ("<synthetic>", {"input_tokens": 0, "output_tokens": 0}),
            )
        )
    ]
    (tmp_path / "session.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    opus = {"input": "5", "output": "25", "cache_read": "0.5", "cache_write_5m": "6.25"}
    plain = {"input": "2.5", "output": "10", "cache_read": "1.25"}
    (tmp_path / "prices.json").write_text(
        json.dumps({"models": {"demo-opus": opus, "demo-plain": plain}}), "utf-8"
    )
    (tmp_path / "plan.json").write_text(
        json.dumps({"steps": [{"do": "swap_model", "model": "demo-opus", "to": "demo-plain"}]}), "utf-8"
    )
    words = ("--prices", str(tmp_path / "prices.json"), "--scenario", str(tmp_path / "plan.json"))
    result = run(str(tmp_path / "session.jsonl"), *words, "--as-of", "2026-06-30", "--json", "-")
    assert result.exception is None, message(result)
    found = json.loads(result.stdout)
    # 5,000 x 2.5 + 50,000 x 1.25 + 2,000 x 10 millionths; 0.105 as it was.
    assert (found["baseline"]["cost"], found["result"]["cost"]) == ("0.105", "0.095")
    assert any("estimate" in note for note in found["assumptions"])


def test_requests_at_another_tier_are_no_batch_candidates(log: list[str]) -> None:
    path = Path(log[0])
    head, *rows = path.read_text("utf-8").split()
    path.write_text("\n".join([f"{head},service_tier", *(f"{row},batch" for row in rows)]) + "\n", "utf-8")
    found = answer(log, {"do": "batch", "share": 1})
    assert found["change"] == "0"
    assert found["steps"][0]["notes"] == ["at another service tier already: 3 requests left unchanged"]


def test_an_unknown_price_stays_unknown(log: list[str]) -> None:
    path = Path(log[0])
    path.write_text(path.read_text("utf-8") + "2026-06-01T10:00:00Z,maker,mystery,other,9,9\n", "utf-8")
    found = answer(log, {"do": "grow", "factor": 2})
    assert (found["baseline"]["complete"], found["result"]["complete"]) == (False, False)
    assert (found["baseline"]["unpriced_requests"], found["result"]["unpriced_requests"]) == (1, 2)
    mystery = found["by_model"][-1]
    assert (mystery["name"], mystery["before"]["cost"], mystery["change"]) == ("maker/mystery", None, None)
    shown = run(*log, "--scenario", scenario(path.parent, {"do": "grow", "factor": 2})).stdout
    assert "Scenario: at least $19.00 → at least $38.00 (+$19.00, +100 %)" in shown
    assert "maker/mystery  unknown  unknown  —" in shown


@given(st.lists(st.none() | st.integers(0, 10**12), max_size=20), st.fractions(0, 3, max_denominator=10**6))
def test_a_part_of_a_column_is_right_in_sum(values: list[int | None], ratio: Fraction) -> None:
    column = pd.Series(values, dtype="Int64")
    found = part_of(column, pd.Series(data=True, index=column.index), ratio)
    assert list(found.isna()) == list(column.isna())
    total = sum(value for value in values if value is not None)
    assert abs(sum(map(int, found.dropna())) - total * ratio) <= Fraction(1, 2)
    if ratio <= 1:
        assert all(0 <= new <= old for new, old in zip(found.dropna(), column.dropna(), strict=True))


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=20), st.fractions(0, 1, max_denominator=1000))
def test_what_moves_is_neither_lost_nor_made(values: list[int], share: Fraction) -> None:
    cube = pd.DataFrame(
        {"output": pd.Series(values, dtype="Int64"), "requests": pd.Series(1, range(len(values)))}
    )
    found = moved(cube, cube["output"] % 2 == 0, share, lambda frame: frame)
    assert found[["output", "requests"]].sum().tolist() == cube.sum().tolist()


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([{"do": "trim", "promt": 0.1}], ["step 1 (trim): promt: unknown key", "prompt"]),
        ([{"do": "shrink"}], ["step 1", "'shrink'", "swap_model, batch, cache, trim, grow, price"]),
        ([{"factor": 2}], ["step 1", "'do' is missing", "grow"]),
        (
            [{"do": "grow", "factor": 2}, {"do": "batch", "share": 30}],
            ["step 2 (batch): share", "30", "equal to 1"],
        ),
        ([{"do": "grow", "factor": True}], ["step 1 (grow): factor", "expected a number", "True"]),
        ([{"do": "grow", "factor": "inf"}], ["step 1 (grow): factor", "inf"]),
        ([{"do": "grow"}], ["step 1 (grow): factor", "is missing"]),
        ([{"do": "price", "multiples": {"ouput": 2}}], ["step 1 (price): multiples.ouput", "'output'"]),
        ([{"do": "cache", "read_share": 0.9, "written_share": 0.2}], ["step 1 (cache)", "0.9", "0.2"]),
        ([], ["steps", "at least one"]),
        ([{"do": "grow", "factor": 2, "model": "tiny"}], ["step 1 (grow): model", "'tiny'", "large, small"]),
        ([{"do": "grow", "factor": 2, "workload": "chta"}], ["workload", "'chta'", "chat, code"]),
        ([{"do": "swap_model", "to": "smal"}], ["step 1 (swap_model): to", "'smal'", "small"]),
        ([{"do": "grow", "factor": 2, "model": "small", "workload": "code"}], ["no request has these names"]),
    ],
)
def test_a_mistake_is_named_with_its_place(log: list[str], steps: list[Any], words: list[str]) -> None:
    path = scenario(Path(log[0]).parent, *steps)
    result = run(*log, "--scenario", path)
    assert getattr(result.exception, "code", None) == 2, result.exception
    for word in (path, *words):
        assert word in message(result)


def test_wrong_use_and_nothing_to_read(log: list[str], tmp_path: Path) -> None:
    path = scenario(tmp_path, {"do": "grow", "factor": 2})
    assert "--scenario" in message(run(*log))
    assert "LOG" in message(run("--scenario", path))
    for words, code in (((*log, "--scenario", "none.yaml"), 2), (("none.csv", "--scenario", path), 3)):
        assert getattr(run(*words).exception, "code", None) == code
    (tmp_path / "bad.yaml").write_text("steps: [", "utf-8")
    assert "not valid YAML" in message(run(*log, "--scenario", str(tmp_path / "bad.yaml")))


def test_the_schema_is_published() -> None:
    schema = json.loads(run("--schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    check.validate({"steps": [{"do": "trim", "prompt": 0.1, "model": "small"}]})
    check.validate({"name": "x", "steps": [{"do": "grow", "factor": 2, "workload": ["a", "b"]}]})
    assert not check.is_valid({"steps": [{"do": "trim", "promt": 0.1}]})
    assert not check.is_valid({"steps": []})


def test_the_page_of_scenarios_is_current() -> None:
    root = Path(__file__).parents[2]
    spec = importlib.util.spec_from_file_location("make_docs", root / "tools" / "make_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (root / "docs" / "scenarios.md").read_text("utf-8")
    assert page == module.scenarios_page(), "run `make docs`"


def test_the_example_of_the_page_is_a_scenario(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text("utf-8")
    path = tmp_path / "example.yaml"
    path.write_text(page.split("```yaml\n")[1].split("```")[0], "utf-8")
    assert [step.do for step in read_scenario(path).steps] == ["trim", "swap_model", "batch", "grow"]


def test_every_meter_may_have_another_price() -> None:
    assert set(get_args(MeterName)) == {"all", *map(str, Meter)}


def test_a_wrong_step_is_not_said_to_be_none_too(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text("steps:\n  - batch: {share: 1}\n", "utf-8")
    with pytest.raises(ScenarioError) as wrong:
        read_scenario(path)
    assert str(wrong.value).count("\n") == 0
    assert "step 1: the key 'do' is missing, as in {do: batch, share: 0.5}" in str(wrong.value)
    path.write_text("steps: []\n", "utf-8")
    with pytest.raises(ScenarioError, match="steps: expected at least one, got"):
        read_scenario(path)
