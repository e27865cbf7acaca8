"""Cells of tables: what is missing is None, and what is wrong is named with its place."""

from pathlib import Path

import pytest

from pricing.errors import TableFileError
from pricing.table_rows import Row, read_rows


def test_an_empty_cell_is_none_and_never_0() -> None:
    row = Row({"a": "", "b": "0", "c": "  "}, "t.csv:2")
    assert row.number_or_none("a") is None
    assert row.number_or_none("b") == 0
    assert row.count_or_none("c") is None
    assert row.day_or_none("a") is None
    assert row.number_or_none("not there") is None
    assert row.words("a") == ()
    with pytest.raises(TableFileError, match=r"t\.csv:2: a is empty"):
        row.number("a")


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "1e999", "much"])
def test_a_number_is_finite_and_not_negative(value: str) -> None:
    with pytest.raises(TableFileError, match="a number of 0 or more is needed"):
        Row({"a": value}, "t.csv:2").number("a")


@pytest.mark.parametrize("value", ["nan", "Infinity", "-1", "0", "x"])
def test_money_is_above_0(value: str) -> None:
    with pytest.raises(TableFileError, match="an amount above 0"):
        Row({"a": value}, "t.csv:2").money("a")


def test_lists_are_parted_by_semicolons_or_brackets(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,b\none; two,"x, y"\n')
    (tmp_path / "t.toml").write_text('[[row]]\na = ["one", "two"]\nb = 3\n')
    assert read_rows(tmp_path / "t.csv", ("a", "b"))[0].words("a") == ("one", "two")
    assert read_rows(tmp_path / "t.toml", ("a", "b"))[0].words("a") == ("one", "two")


@pytest.mark.parametrize("text", ["a = ", "", 'a = "b"', "a = [1, 2]"])
def test_a_toml_file_without_rows_says_what_to_write(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.toml"
    path.write_text(text)
    with pytest.raises(TableFileError, match=r"t\.toml: (not TOML|no rows)"):
        read_rows(path, ("a",))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TableFileError, match="cannot be read"):
        read_rows(tmp_path / "none.csv", ("a",))
    (tmp_path / "latin.csv").write_bytes(b"a\n\xff\n")
    with pytest.raises(TableFileError, match="cannot be read"):
        read_rows(tmp_path / "latin.csv", ("a",))
