"""Numbers as spreadsheets write them, names in normal form, and schemas that grow together."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.numbers import NumberStyle, parse_count, parse_decimal, style_of
from workloads.schema import Schema, column_types, identifier, merge, nest, quote
from workloads.vocabulary import COUNTS, DURATIONS, LABELS, TIME_NAMES, normal

Evaluate = Callable[..., list[Any]]
ENGLISH, GERMAN = NumberStyle(".", ","), NumberStyle(",", ".")


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([], None),
        (["12", "-3", "+4", ""], None),
        (["n/a", "-"], None),
        (["1,234", "12"], ENGLISH),
        (["1,234,567"], ENGLISH),
        (["1.234", "1.000"], GERMAN),
        (["59200.0"], ENGLISH),
        (["12,5"], GERMAN),
        (["1.234,5"], GERMAN),
        (["1,234.5"], ENGLISH),
        (["1.234", "0.5"], ENGLISH),
        (["1,234", "0,5"], GERMAN),
        (["1 234", "5"], ENGLISH),
        (["1\u202f234,5"], GERMAN),
        (["1,234", "1.234,56"], GERMAN),
    ],
)
def test_the_style_is_that_of_the_column(cells: list[str], expected: NumberStyle | None) -> None:
    assert style_of(cells) == expected


@pytest.mark.parametrize(
    ("text", "style", "expected"),
    [
        ("12", None, 12),
        ("-3", None, -3),
        (" 12 ", None, 12),
        ("59200.0", None, 59200),
        ("1.5", None, None),
        ("1.2E+05", None, 120000),
        ("1,234", ENGLISH, 1234),
        ("1,234,567", None, 1234567),
        ("1.234", GERMAN, 1234),
        ("1.234,00", GERMAN, 1234),
        ("1.234,5", GERMAN, None),
        ("1 234", ENGLISH, 1234),
        ("1\u00a0234", ENGLISH, 1234),
        ("1\u202f234", ENGLISH, 1234),
        ("1'234", ENGLISH, 1234),
        ("1\u2019234", ENGLISH, 1234),
        ("9007199254740993", None, 9007199254740993),  # one more than a float can hold
        ("9223372036854775807", None, 9223372036854775807),
        ("", None, None),
        ("-", None, None),
        ("n/a", None, None),
        ("NaN", None, None),
        ("Infinity", None, None),
        ("1e300", None, None),
        (None, None, None),
    ],
)
def test_counts(
    evaluate: Evaluate, text: str | None, style: NumberStyle | None, expected: int | None
) -> None:
    assert evaluate(lambda table: parse_count(table.text, style), {"text": ("string", [text])}) == [expected]


def test_a_large_count_with_marks_keeps_its_last_digit(evaluate: Evaluate) -> None:
    texts = ["9,007,199,254,740,993", "9007199254740993.0"]
    got = evaluate(lambda table: parse_count(table.text, ENGLISH), {"text": ("string", texts)})
    assert got == [9007199254740993, 9007199254740993]


@pytest.mark.parametrize(
    ("text", "style", "expected"),
    [
        ("0.006", None, "0.006"),
        ("$1,234.50", None, "1234.50"),
        ("1.234,50 €", GERMAN, "1234.50"),
        ("(12.3)", None, "-12.3"),
        ("0,025", GERMAN, "0.025"),
        ("0.000000000001", None, "0.000000000001"),
        ("1e-3", None, "0.001"),
        ("free", None, None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_decimals(
    evaluate: Evaluate, text: str | None, style: NumberStyle | None, expected: str | None
) -> None:
    got = evaluate(lambda table: parse_decimal(table.text, style), {"text": ("string", [text])})
    assert got == [None if expected is None else Decimal(expected)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Prompt Tokens", "prompt_tokens"),
        ("promptTokens", "prompt_tokens"),
        ("prompt_tokens", "prompt_tokens"),
        (" input-tokens ", "input_tokens"),
        ("Cost (USD)", "cost_usd"),
        ("\ufeffdate", "date"),
        ("TIMESTAMP", "timestamp"),
        ("ContextTokens", "context_tokens"),
        ("Usage Date (UTC)", "usage_date_utc"),
        ("gen_ai.usage.input_tokens", "gen_ai_usage_input_tokens"),
        ("ttl5mTokens", "ttl5m_tokens"),
        ("", ""),
        ("___", ""),
    ],
)
def test_normal_form(name: str, expected: str) -> None:
    assert normal(name) == expected


@given(st.text(max_size=40))
def test_the_normal_form_is_its_own_normal_form(name: str) -> None:
    assert normal(normal(name)) == normal(name)


def test_no_name_means_two_things() -> None:
    groups = [*COUNTS.values(), *LABELS.values(), TIME_NAMES]
    groups += [tuple(name for name, _ in names) for names in DURATIONS.values()]
    names = [name for group in groups for name in group]
    assert len(names) == len(set(names))
    assert all(normal(name) == name for name in names)


def test_nest() -> None:
    assert nest((), {"a": "BIGINT"}) == {"a": "BIGINT"}
    assert nest(("x", "y"), "BIGINT") == {"x": {"y": "BIGINT"}}


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ({}, {"a": "BIGINT"}, {"a": "BIGINT"}),
        ({"a": "BIGINT"}, {"a": "BIGINT"}, {"a": "BIGINT"}),
        ({"a": "BIGINT"}, {"a": "VARCHAR"}, {"a": "VARCHAR"}),
        ({"a": "BIGINT"}, {"a": "JSON"}, {"a": "JSON"}),
        ({"a": {"x": "BIGINT"}}, {"a": "VARCHAR"}, {"a": "JSON"}),
        ({"a": [{"x": "BIGINT"}]}, {"a": [{"y": "BIGINT"}]}, {"a": [{"x": "BIGINT", "y": "BIGINT"}]}),
        ({"a": ["BIGINT"]}, {"a": {"x": "BIGINT"}}, {"a": "JSON"}),
    ],
)
def test_merge_reads_what_either_reads(left: Schema, right: Schema, expected: Schema) -> None:
    assert merge(left, right) == expected
    assert merge(right, left) == expected


def test_merge_changes_neither_schema() -> None:
    left: dict[str, Any] = {"a": {"x": "BIGINT"}}
    merge(left, {"a": {"y": "BIGINT"}})
    assert left == {"a": {"x": "BIGINT"}}


def test_names_from_outside_are_quoted() -> None:
    assert quote("it's") == "'it''s'"
    assert identifier('a"b') == '"a""b"'
    assert column_types({"o'k": {'a"b': "BIGINT", "l": ["VARCHAR"]}}) == (
        "{'o''k': 'STRUCT(\"a\"\"b\" BIGINT, \"l\" VARCHAR[])'}"
    )
