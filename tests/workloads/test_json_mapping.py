"""Names of columns that the user gives, for logs of JSON lines."""

from pathlib import Path

import pytest

from workloads.batches import ReadOptions
from workloads.load import LoadOptions, load
from workloads.relations import connect
from workloads.sources import MappingError

ROW = '{"prompt_tokens": 5, "completion_tokens": 3, "model": "gpt-4o"}\n'


def mapped(path: Path, **mapping: str) -> LoadOptions:
    path.write_text(ROW, encoding="utf-8")
    return LoadOptions(read=ReadOptions(mapping=mapping))


def test_a_column_that_no_line_has_is_named(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    options = mapped(log, prompt="zz")
    with pytest.raises(
        MappingError, match="no column 'zz' among the columns completion_tokens, model, prompt_tokens"
    ):
        load(connect(), [str(log)], options)


def test_a_column_that_is_there_is_taken_for_what_the_user_says(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    connection = connect()
    loaded = load(connection, [str(log)], mapped(log, prompt="completion_tokens", output="prompt_tokens"))
    (row,) = connection.execute(loaded.ledger).to_dict("records")
    assert (row["input_uncached"], row["output"]) == (3, 5)
