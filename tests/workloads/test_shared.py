"""What columns share is computed once, and nothing else changes."""

from typing import Any

import ibis
import pytest

from workloads.relations import connect
from workloads.shared import computed_once


@pytest.fixture
def texts() -> tuple[Any, Any]:
    connection = connect()
    return connection, connection.create_table("texts", ibis.memtable({"text": ["1", "22", "x", "?"]}))


def spelled(rows: Any, word: str) -> int:
    return str(ibis.to_sql(rows, dialect="duckdb")).upper().count(word)


def test_what_recurs_is_spelled_once(texts: tuple[Any, Any]) -> None:
    connection, table = texts
    bare = table.text.re_replace("x", "").upper() + "!"
    rows = table.select(
        one=bare.length(), two=bare.lower(), three=ibis.cases((bare == "1!", bare), else_="-")
    )
    once = computed_once(rows)
    assert (spelled(rows, "REGEXP_REPLACE"), spelled(once, "REGEXP_REPLACE")) == (4, 1)
    assert once.columns == rows.columns
    assert connection.execute(once).to_dict("list") == connection.execute(rows).to_dict("list")


def test_what_recurs_inside_what_recurs_is_a_layer_of_its_own(texts: tuple[Any, Any]) -> None:
    connection, table = texts
    inner = table.text.upper().lower().upper()
    outer = (inner + inner.reverse() + "!").length()
    rows = table.select(a=outer + 1, b=outer + 2, c=inner)
    once = computed_once(rows)
    assert spelled(once, "REVERSE") == 1
    assert spelled(once, "LOWER") == 1
    assert connection.execute(once).to_dict("list") == connection.execute(rows).to_dict("list")


def test_what_a_condition_guards_is_not_computed_for_other_rows(texts: tuple[Any, Any]) -> None:
    connection, table = texts
    number = (table.text.cast("int64") + 1) * 2 - 3
    guarded = ibis.cases((table.text.re_search(r"^\d+$"), number * number + number))
    rows = table.select(a=guarded, b=ibis.cases((table.text == "22", number)))
    found = connection.execute(computed_once(rows).order_by("a"))
    assert found.a.dropna().to_list() == [2.0, 1892.0]


def test_what_only_compares_is_computed_once_behind_a_condition_too(texts: tuple[Any, Any]) -> None:
    connection, table = texts
    odd = ibis.coalesce((table.text == "x") | (table.text == "?"), ibis.literal(value=False))
    first = table.text == "1"
    rows = table.select(
        text="text",
        fate=ibis.cases((first, "ignored"), (odd, "skipped"), else_="record"),
        reason=ibis.cases((first, "first"), (odd, "odd"), else_="-"),
    )
    once = computed_once(rows)
    assert (spelled(rows, "COALESCE"), spelled(once, "COALESCE")) == (2, 1)
    assert connection.execute(once).to_dict("list") == connection.execute(rows).to_dict("list")


def test_a_lambda_is_left_as_it_is(texts: tuple[Any, Any]) -> None:
    connection, table = texts
    parts = (table.text.upper() + "," + table.text.lower() + ",x").split(",")

    def same(part: Any) -> Any:
        return part == table.text

    rows = table.select(n=parts.filter(same).length(), m=parts.length(), text=table.text)
    assert connection.execute(computed_once(rows)).to_dict("list") == connection.execute(rows).to_dict("list")


def test_columns_that_share_nothing_stay_one_select(texts: tuple[Any, Any]) -> None:
    table = texts[1]
    assert spelled(computed_once(table.select(a=table.text.upper(), b=table.text.lower())), "SELECT") == 1
