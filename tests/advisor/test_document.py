"""The JSON document: it fits its schema, its money is plain, and a small mixed log gives the golden one."""

import copy
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from advisor.document import instant
from advisor.document_money import money
from advisor.options import AnalyseOptions
from advisor.render.json import render_json, schema_json
from advisor.run import analyse
from workloads.period import Period

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

GOLDEN = Path(__file__).parents[1] / "golden" / "documents" / "mixed"
PLAIN_MONEY = re.compile(r"-?\d+(\.\d*[1-9])?")


def rendered() -> str:
    options = AnalyseOptions(
        as_of=datetime(2026, 7, 1, tzinfo=UTC),
        price_files=(GOLDEN / "prices.json",),
        period=Period(timezone="Europe/Berlin"),
        command="advisor analyze log.jsonl export.csv",
    )
    paths = [str(GOLDEN / "log.jsonl"), str(GOLDEN / "export.csv")]
    return render_json(analyse(paths, options))


@pytest.fixture(scope="module")
def text() -> str:
    return rendered()


@pytest.fixture(scope="module")
def document(text: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(text)
    return made


def test_it_fits_its_own_schema(document: dict[str, Any]) -> None:
    schema = json.loads(schema_json())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)


def test_the_schema_refuses_what_it_does_not_know(document: dict[str, Any]) -> None:
    schema = json.loads(schema_json())
    for broken in (document | {"more": 1}, document | {"schema_version": "0"}, {**document, "cost": None}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema)


def test_it_is_the_golden_one(document: dict[str, Any], check_golden: Callable[[Path, str], None]) -> None:
    kept = copy.deepcopy(document)
    assert kept.pop("saved")  # tests of `advisor render` look into it
    for volatile in ("version", "price_book", "price_book_sha256"):
        assert kept["provenance"].pop(volatile)
    kept["data"] = json.loads(json.dumps(kept["data"]).replace(str(GOLDEN) + "/", ""))
    kept = rounded(without_unpriced(kept))
    check_golden(GOLDEN / "expected.json", json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def without_unpriced(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document without the amounts of what has no price; they have a test of their own."""
    for part in (*document["by_model"], *document["workloads"]):
        if part["cost"] is None:
            part.pop("cost_by_meter")
    for day in document["by_day"]:
        day["by_model"].pop("nobody-knows-9b", None)
    return document


def rounded(value: Any) -> Any:
    """Return a document with its floats to nine digits: the last ones differ between machines."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def test_what_has_no_price_has_no_amount_anywhere(document: dict[str, Any]) -> None:
    assert all("nobody-knows-9b" not in day["by_model"] for day in document["by_day"])
    for part in (*document["by_model"], *document["workloads"]):
        assert part["cost"] is not None or not part["cost_by_meter"]


def test_money_is_a_plain_decimal_string(document: dict[str, Any]) -> None:
    amounts = list(amounts_in({name: part for name, part in document.items() if name != "saved"}))
    assert len(amounts) > 20
    assert [amount for amount in amounts if not PLAIN_MONEY.fullmatch(amount)] == []


def amounts_in(value: Any, key: str = "") -> Iterator[str]:
    """Yield every amount of a document, by the names of the fields that hold money."""
    if isinstance(value, dict):
        inside = key in ("by_meter", "cost_by_meter") or (key == "by_model" and "model" not in value)
        for name, item in value.items():
            yield from amounts_in(item, "cost" if inside else name)
    elif isinstance(value, list):
        for item in value:
            yield from amounts_in(item, key)
    elif key in ("cost", "total", "list_total", "recorded_total") or key.endswith("usd_per_mtok"):
        assert value is None or isinstance(value, str)
        if value is not None:
            yield value


def test_parts_add_up_exactly(document: dict[str, Any]) -> None:
    total = Decimal(document["cost"]["total"])
    assert sum(map(Decimal, document["cost"]["by_meter"].values())) == total
    for name in ("by_day", "by_model", "workloads"):
        assert sum(Decimal(part["cost"] or 0) for part in document[name]) == total
        assert sum(part["requests"] for part in document[name]) == document["data"]["requests"]
    data = document["data"]
    assert data["rows_read"] == sum(data[name] for name in ("records", "skipped", "duplicates", "ignored"))


def test_reasoning_is_beside_the_meters_and_never_above_output(document: dict[str, Any]) -> None:
    assert document["tokens"]["reasoning"] == 40
    assert document["tokens"]["reasoning"] <= document["tokens"]["output"]
    assert "reasoning" not in document["cost"]["by_meter"]


def test_ratios_are_between_zero_and_one(document: dict[str, Any]) -> None:
    for part in document["workloads"]:
        for name in ("prefill_share", "decode_share"):
            assert part[name] is None or 0 <= part[name] <= 1
        assert 0 <= part["cache"]["coverage"] <= 1


def test_it_is_the_same_text_every_time(text: str) -> None:
    assert rendered() == text


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("0", "0"),
        ("0.000", "0"),
        ("1E+3", "1000"),
        ("0.017640", "0.01764"),
        ("1E-15", "0.000000000000001"),
        ("120", "120"),
        ("-1.50", "-1.5"),
        ("123456789012345678901234567890.10", "123456789012345678901234567890.1"),
    ],
)
def test_money(amount: str, expected: str) -> None:
    assert money(Decimal(amount)) == expected


def test_instants_are_utc() -> None:
    assert instant(None) is None
    assert instant(datetime.fromisoformat("2026-06-15T01:00:00+02:00")) == "2026-06-14T23:00:00Z"
