"""``advisor diff``: effects worked by hand, that they add up whatever is compared, and what is said where nothing is known."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from advisor.cli import cli
from advisor.diff import Effects, Measure, Part, meter_rows, rows, split
from pricing.charges import exact_sum

CARDS = {
    "old": {"small": {"input": "1", "output": "4"}, "large": {"input": "10", "output": "40"}},
    "new": {"small": {"input": "2", "output": "4"}, "large": {"input": "10", "output": "40"}},
}
Request = tuple[str, str, int, int]
"""Application, model, prompt and answer tokens."""


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words), standalone_mode=False)


def message(result: Result) -> str:
    return getattr(result.exception, "message", str(result.exception))


def log(path: Path, *requests: Request) -> str:
    lines = ["timestamp,provider,model,application,input_tokens,output_tokens"]
    lines += [
        f"2026-06-0{1 + number % 9}T10:00:00Z,maker,{model},{application},{prompt},{answer}"
        for number, (application, model, prompt, answer) in enumerate(requests)
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return str(path)


def cards(folder: Path, name: str) -> str:
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"models": CARDS[name]}), "utf-8")
    return str(path)


def saved(folder: Path, name: str, *requests: Request, book: str = "old") -> str:
    """Return a saved document of a log."""
    target = folder / f"{name}-report.json"
    words = ("--prices", cards(folder, book), "--as-of", "2026-06-30", "--json", str(target))
    result = run("analyze", log(folder / f"{name}.csv", *requests), *words)
    assert result.exception is None, message(result)
    return str(target)


def answer(*words: str) -> dict[str, Any]:
    result = run("diff", *words, "--format", "json")
    assert result.exception is None, message(result)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def total(effects: dict[str, str]) -> Decimal:
    return exact_sum(map(Decimal, effects.values()))


def test_the_effects_are_taken_one_after_the_other() -> None:
    before = Measure(requests=10, units=1_000, cost=Decimal(100))
    after = Measure(requests=20, units=3_000, cost=Decimal(150))
    # 10 -> 20 requests: 100 -> 200. 100 -> 150 units each: 200 -> 300. 0.10 -> 0.05 a unit: 300 -> 150.
    assert split(before, after) == Effects(volume=Decimal(100), size=Decimal(100), price=Decimal(-150))


def test_what_is_new_or_gone_is_volume_and_a_new_meter_is_size() -> None:
    nothing, some = (
        Measure(requests=0, units=0, cost=Decimal(0)),
        Measure(requests=5, units=50, cost=Decimal(7)),
    )
    assert split(nothing, some) == Effects(volume=Decimal(7))
    assert split(some, nothing) == Effects(volume=Decimal(-7))
    without = Measure(requests=5, units=0, cost=Decimal(0))
    assert split(without, some) == Effects(size=Decimal(7))
    assert split(some, without) == Effects(size=Decimal(-7))


def test_without_requests_all_tokens_are_volume() -> None:
    buckets = Measure(requests=0, units=10, cost=Decimal(10))
    assert split(buckets, Measure(requests=0, units=30, cost=Decimal(15))) == Effects(
        volume=Decimal(20), price=Decimal(-15)
    )


measures = st.builds(
    Measure,
    requests=st.integers(0, 10**9),
    units=st.integers(0, 10**15),
    cost=st.decimals(0, 10**9, places=9),
)


@given(measures, measures)
def test_the_effects_add_up_to_the_change(before: Measure, after: Measure) -> None:
    assert split(before, after).total == after.cost - before.cost


@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), measures, st.booleans(), st.booleans()),
        max_size=8,
        unique_by=lambda one: one[0],
    )
)
def test_sums_over_models_and_over_meters_are_equal(made: list[tuple[str, Measure, bool, bool]]) -> None:
    def part(one: Measure, factor: int) -> Part:
        cost = {"output": one.cost * factor, "cache_read": one.cost}
        units = {"output": one.units * factor, "cache_read": one.requests}
        return Part(
            requests=one.requests,
            units=units,
            cost=exact_sum(cost.values()),
            priced_requests=one.requests,
            priced_units=units,
            cost_by_meter=cost,
        )

    sides = [
        {name: part(one, factor) for name, one, *there in made if there[factor - 1]} for factor in (1, 2)
    ]
    found = rows(sides[0], sides[1])
    change = exact_sum(row.change for row in found if row.change is not None)
    totals = [exact_sum(one.cost or Decimal(0) for one in side.values()) for side in sides]
    assert change == totals[1] - totals[0]
    assert exact_sum(row.effects.total for row in found if row.effects is not None) == change
    meters = meter_rows(found)
    assert exact_sum(row.change for row in meters) == change
    assert exact_sum(row.effects.total for row in meters if row.effects is not None) == change


def test_two_documents(tmp_path: Path) -> None:
    before = saved(tmp_path, "before", ("chat", "small", 1_000_000, 500_000), ("code", "large", 100_000, 0))
    after = saved(
        tmp_path,
        "after",
        ("chat", "small", 2_000_000, 500_000),
        ("chat", "small", 2_000_000, 500_000),
        ("code", "large", 100_000, 0),
        book="new",
    )
    found = answer(before, after)
    # small, input: 1 -> (2 requests) 2 -> (2 M tokens each) 4 -> (2 USD) 8; output: 2 -> 4.
    small = next(row for row in found["by_model"] if row["name"] == "maker/small")
    assert (small["before"]["cost"], small["after"]["cost"], small["change"]) == ("3", "12", "9")
    assert small["effects"] == {"volume": "3", "size": "2", "price": "4"}
    assert (found["change"], found["effects"]) == ("9", small["effects"])
    assert (found["before"]["requests"], found["after"]["requests"]) == (2, 3)
    meters = {row["meter"]: row["effects"] for row in found["by_meter"]}
    assert meters["input_uncached"] == {"volume": "1", "size": "2", "price": "4"}
    assert meters["output"] == {"volume": "2", "size": "0", "price": "0"}
    chat, code = found["by_workload"]
    assert (chat["name"], chat["change"], code["name"], code["change"]) == ("chat", "9", "code", "0")
    assert total(chat["effects"]) == Decimal(9)
    assert any("price books" in note for note in found["notes"])


def test_documents_tell_drivers_and_old_ones_say_why_not(tmp_path: Path) -> None:
    before = saved(tmp_path, "before", ("chat", "small", 1_000_000, 0), ("chat", "small", 1_000_000, 0))
    after = saved(tmp_path, "after", ("chat", "small", 1_000_000, 0), ("chat", "large", 1_000_000, 0))
    found = answer(before, after)
    assert {name: amount for name, amount in found["drivers"].items() if Decimal(amount)} == {
        "model_mix": "9"
    }
    assert "Model mix: requests that went to other models" in run("diff", before, after).stdout
    document = json.loads(Path(before).read_text("utf-8"))
    assert document["by_tier"] == [
        {
            "provider": "maker",
            "model": "small",
            "service_tier": "standard",
            "requests": 2,
            "tokens": {"input_uncached": 2_000_000, "output": 0},
            "cost_by_meter": {"input_uncached": "2", "output": "0"},
        }
    ]
    del document["by_tier"]
    Path(before).write_text(json.dumps(document), "utf-8")
    old = answer(before, after)
    assert old["drivers"] is None
    assert old["effects"] == found["effects"]
    assert any("service tier" in note for note in old["notes"])


def test_logs_and_documents_may_be_mixed(tmp_path: Path) -> None:
    one = ("chat", "small", 1_000_000, 500_000)
    document = saved(tmp_path, "before", one)
    other = log(tmp_path / "after.csv", one, one)
    found = answer(document, other, "--prices", cards(tmp_path, "old"), "--as-of", "2026-06-30")
    assert found["effects"] == {"volume": "3", "size": "0", "price": "0"}


def test_an_unknown_price_is_in_no_change(tmp_path: Path) -> None:
    before = saved(tmp_path, "before", ("chat", "small", 1_000_000, 0), ("chat", "mystery", 900, 9))
    after = saved(tmp_path, "after", ("chat", "small", 1_000_000, 0), ("chat", "mystery", 9_000, 99))
    found = answer(before, after)
    mystery = found["by_model"][-1]
    assert (mystery["name"], mystery["before"]["cost"], mystery["change"]) == ("maker/mystery", None, None)
    assert (found["before"]["complete"], found["change"]) == (False, "0")
    assert found["by_workload"][0]["effects"] is None
    shown = run("diff", before, after, "--format", "markdown").stdout
    assert "at least $1.00 → at least $1.00" in shown
    assert "| maker/mystery | unknown | unknown | — | — | — | — |" in shown


def test_what_has_a_price_on_one_side_only_is_no_change(tmp_path: Path) -> None:
    known = saved(tmp_path, "known", ("chat", "small", 1_000_000, 0), ("chat", "large", 1_000_000, 0))
    document = json.loads(Path(known).read_text("utf-8"))
    large = next(row for row in document["by_model"] if row["model"] == "large")
    large |= {"cost": None, "list_cost": None, "cost_by_meter": {}, "priced": False}
    lost = {"provider": "maker", "model": "large", "requests": 1, "tokens": large["tokens"], "reason": "?"}
    document["cost"] |= {"total": "1", "complete": False, "unpriced": [lost]}
    (tmp_path / "unknown.json").write_text(json.dumps(document), "utf-8")
    found = answer(known, str(tmp_path / "unknown.json"))
    assert (found["change"], found["uncompared_before"], found["uncompared_after"]) == ("0", "10", "0")
    assert "-$10.00 between the totals" in run("diff", known, str(tmp_path / "unknown.json")).stdout


def test_what_has_no_price_does_not_dilute_rates(tmp_path: Path) -> None:
    whole = saved(tmp_path, "whole", ("chat", "small", 1_000_000, 0), ("chat", "small", 1_000_000, 0))
    document = json.loads(Path(whole).read_text("utf-8"))
    row = document["by_model"][0]
    row |= {"cost": "1", "cost_by_meter": {"input_uncached": "1", "output": "0"}, "priced": False}
    tokens = {"input_uncached": 1_000_000, "output": 0}
    lost = {"provider": "maker", "model": "small", "requests": 1, "tokens": tokens, "reason": "?"}
    document["cost"] |= {"total": "1", "complete": False, "unpriced": [lost]}
    (tmp_path / "part.json").write_text(json.dumps(document), "utf-8")
    found = answer(str(tmp_path / "part.json"), whole)
    assert found["effects"] == {"volume": "1", "size": "0", "price": "0"}
    assert found["by_model"][0]["partial"]


def test_a_file_is_written(tmp_path: Path) -> None:
    one = saved(tmp_path, "one", ("chat", "small", 1_000_000, 0))
    result = run("diff", one, one, "--format", "markdown", "--to", str(tmp_path / "diff.md"))
    assert (result.exception, result.stdout) == (None, "")
    assert (tmp_path / "diff.md").read_text("utf-8").startswith("### LLM cost: $1.00 → $1.00 ($0.00, 0 %)\n")


def test_a_broken_document_is_named(tmp_path: Path) -> None:
    one = saved(tmp_path, "one", ("chat", "small", 1_000_000, 0))
    document = json.loads(Path(one).read_text("utf-8"))
    bad = tmp_path / "bad.json"
    for key, value, words in (
        ("schema_version", "0", "schema_version is '0', allowed is '1'"),
        ("tokens", {"output": "many"}, "tokens.output: Input should be a valid integer"),
    ):
        bad.write_text(json.dumps(document | {key: value}), "utf-8")
        result = run("diff", one, str(bad))
        assert getattr(result.exception, "code", None) == 2
        assert words in message(result)
        assert str(bad) in message(result)


def test_currencies_are_not_mixed(tmp_path: Path) -> None:
    one = saved(tmp_path, "one", ("chat", "small", 1_000_000, 0))
    document = json.loads(Path(one).read_text("utf-8"))
    document["cost"]["currency"] = "EUR"
    (tmp_path / "euro.json").write_text(json.dumps(document), "utf-8")
    result = run("diff", one, str(tmp_path / "euro.json"))
    assert getattr(result.exception, "code", None) == 2
    assert "in USD and" in message(result)


def test_wrong_use_and_nothing_to_read(tmp_path: Path) -> None:
    assert run("diff", "only-one").exception is not None
    result = run("diff", str(tmp_path / "no.csv"), str(tmp_path / "no.csv"))
    assert getattr(result.exception, "code", None) == 3
