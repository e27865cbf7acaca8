"""Slots of time with requests, and pauses: the same by the names of workloads as by numbers for them."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from workloads import arrivals as module
from workloads.arrivals import arrivals
from workloads.cube import prepare
from workloads.grouping import Grouping
from workloads.load import LoadOptions, load
from workloads.period import Period
from workloads.relations import connect

LOG = """timestamp,project,model,input_tokens,output_tokens
2026-06-01T00:00:00Z,a,gpt-4o,1,1
2026-06-01T00:04:59Z,a,gpt-4o,1,1
2026-06-01T00:05:00Z,a,gpt-4o,1,1
2026-06-01T00:10:01Z,a,gpt-4o,1,1
2026-06-01T02:00:00Z,a,gpt-4o,1,1
2026-06-02T02:00:00Z,a,gpt-4o,1,1
2026-06-01T00:00:00Z,b,,1,1
2026-06-01T00:00:00Z,,gpt-4o,1,1
2026-06-01T00:06:00Z,,gpt-4o,1,1
"""


def found(log: Path) -> pd.DataFrame:
    connection = connect()
    records = prepare(connection, load(connection, [str(log)], LoadOptions()).ledger, Period())
    frame = arrivals(connection, records, Grouping(("project",), "project"))
    return frame.sort_values(["workload", "model"], ignore_index=True)[sorted(frame.columns)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(LOG, encoding="utf-8")
    return path


def test_slots_and_pauses(log: Path) -> None:
    rows = found(log).set_index("workload")
    assert list(rows.index) == ["(unlabelled)", "a", "b"]
    assert list(rows.requests) == [2, 6, 1]
    assert list(rows.slots_300) == [2, 5, 1]
    assert list(rows.slots_3600) == [1, 3, 1]
    assert list(rows.slots_86400) == [1, 2, 1]
    # 301 seconds, nearly two hours, a day; and six minutes.
    assert list(rows.pauses_300) == [1, 3, 0]
    assert list(rows.pauses_3600) == [0, 2, 0]


@pytest.mark.parametrize("collides_until", [0, 2])
def test_numbers_for_names_change_nothing(
    log: Path, monkeypatch: pytest.MonkeyPatch, collides_until: int
) -> None:
    by_names = found(log)
    numbers = vars(module)["_number"]
    salts: list[int] = []

    def number(names: Any, salt: int) -> Any:
        salts.append(salt)
        # Two names that come to one number are tried again with other numbers.
        return numbers(names, salt) if salt >= collides_until else numbers(names, salt) * 0

    monkeypatch.setattr(module, "is_large", lambda _: True)
    monkeypatch.setattr(module, "_number", number)
    pd.testing.assert_frame_equal(found(log), by_names, check_dtype=False)
    assert max(salts) == collides_until
