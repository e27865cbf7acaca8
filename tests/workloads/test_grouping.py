"""What a workload is, when the user says so and when the log does."""

from collections.abc import Sequence
from typing import Any

import ibis
import pytest

from workloads.cube_columns import with_sizes
from workloads.grouping import UNLABELLED, choose_grouping

KINDS = {
    "source_file": "string",
    "format": "string",
    "model": "string",
    "application": "string",
    "project": "string",
    "team": "string",
    "api_key": "string",
    "input_uncached": "int64",
    "output": "int64",
    "bucket_seconds": "int64",
}


def ledger(rows: Sequence[dict[str, Any]]) -> Any:
    names = [
        "source_file",
        *[name for name in KINDS if name != "source_file" and any(name in row for row in rows)],
    ]
    data = [
        {name: row.get(name, "log.jsonl" if name == "source_file" else None) for name in names}
        for row in rows
    ]
    return with_sizes(ibis.memtable(data, schema={name: KINDS[name] for name in names}))


def names_of(engine: Any, rows: Sequence[dict[str, Any]], keys: Sequence[str] = ()) -> list[str]:
    table = ledger(rows)
    grouping = choose_grouping(engine, table, keys)
    found = engine.to_pyarrow(table.select(name=grouping.name_of(table))).to_pylist()
    return sorted({row["name"] for row in found})


def keys_of(engine: Any, rows: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    return choose_grouping(engine, ledger(rows), ()).keys


def test_the_user_decides(engine: Any) -> None:
    rows = [{"team": "a", "model": "x", "application": "p"}, {"model": "y", "application": "q"}]
    assert names_of(engine, rows, ["team", "model"]) == [f"{UNLABELLED} / y", "a / x"]


def test_a_key_that_the_log_has_not_is_one_unlabelled_workload(engine: Any) -> None:
    assert names_of(engine, [{"model": "x"}], ["environment"]) == [UNLABELLED]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"application": "a", "project": "p"}, {"application": "b", "project": "q"}], ("application",)),
        # one application everywhere tells nothing; the projects do
        ([{"application": "a", "project": "p"}, {"application": "a", "project": "q"}], ("project",)),
        # nothing tells apart: the best label that there is
        ([{"application": "a", "project": "p"}, {"application": "a", "project": "p"}], ("application",)),
        # exactly half carry it: enough; less than half: not
        ([{"project": "p"}, {"project": "q"}, {"model": "m"}, {"model": "m"}], ("project",)),
        ([{"project": "p"}, {"model": "m"}, {"model": "m"}], ()),
        ([{"team": "a", "api_key": "k"}, {"team": "b", "api_key": "l"}], ("team",)),
        ([{"api_key": "k"}, {"api_key": "l"}], ("api_key",)),
        ([{"model": "x"}, {"model": "y"}], ()),
    ],
)
def test_the_most_telling_label_is_chosen(
    engine: Any, rows: list[dict[str, Any]], expected: tuple[str, ...]
) -> None:
    assert keys_of(engine, rows) == expected


def test_the_rule_says_how_much_of_the_log_carries_the_label(engine: Any) -> None:
    rows = [{"project": "p"}, {"project": "q"}, {"project": "q"}, {"model": "m"}]
    assert (
        choose_grouping(engine, ledger(rows), ()).rule == "grouped by project, which 75% of the records carry"
    )


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["logs/chat.jsonl", "logs/batch.csv"], ["batch", "chat"]),
        (["chat.jsonl.gz", "search.jsonl"], ["chat", "search"]),
        (["app-2026-01-01.jsonl", "app-2026-01-02.jsonl"], None),  # rotated logs are one workload
        (["app.log", "app.log.1"], None),
        (["app-1.jsonl", "app-2.jsonl", "other.jsonl"], None),
        (["only.jsonl"], None),
        ([f"service{chr(97 + i)}.jsonl" for i in range(24)], [f"service{chr(97 + i)}" for i in range(24)]),
        ([f"service{chr(97 + i)}.jsonl" for i in range(25)], None),
    ],
)
def test_files_are_workloads_when_their_names_tell(
    engine: Any, files: list[str], expected: list[str] | None
) -> None:
    rows = [{"source_file": file, "model": "m", "input_uncached": 1, "output": 1} for file in files]
    assert names_of(engine, rows) == (expected or ["m: short prompt, brief answer"])


@pytest.mark.parametrize(
    ("prompt", "answer", "expected"),
    [
        (0, 0, "m: short prompt, brief answer"),
        (999, 99, "m: short prompt, brief answer"),
        (1_000, 100, "m: medium prompt, medium answer"),
        (7_999, 999, "m: medium prompt, medium answer"),
        (8_000, 1_000, "m: long prompt, long answer"),
        (63_999, 1_000_000, "m: long prompt, long answer"),
        (64_000, None, "m: very long prompt, brief answer"),
        (None, None, "m: short prompt, brief answer"),
    ],
)
def test_without_labels_size_and_model_tell(
    engine: Any, prompt: int | None, answer: int | None, expected: str
) -> None:
    assert names_of(engine, [{"model": "m", "input_uncached": prompt, "output": answer}]) == [expected]


def test_buckets_have_no_size_and_a_missing_model_a_name(engine: Any) -> None:
    rows = [{"model": "m", "input_uncached": 9_000_000, "output": 1, "bucket_seconds": 86_400}]
    assert names_of(engine, rows) == ["m"]
    assert names_of(engine, [{"input_uncached": 1, "output": 1}]) == ["any model: short prompt, brief answer"]


def test_the_file_of_a_workload_is_named_without_folder_and_suffixes(engine: Any) -> None:
    rows = [{"source_file": "/a/b.c/chat.log.jsonl.gz", "model": "m"}]
    assert names_of(engine, rows, ["source"]) == ["chat"]
    assert names_of(engine, [{"source_file": "C:\\logs\\chat.csv", "model": "m"}], ["source"]) == ["chat"]


SECRET = "sk-proj-0123456789abcdefghij"  # noqa: S105  (looks like one, opens nothing)
LONG = "the-team-that-writes-long-names"


@pytest.mark.parametrize(
    ("labels", "harmless"),
    [
        ([LONG, "b", None], ("project",)),
        ([LONG, "anna@example.org"], ()),
        ([LONG, SECRET], ()),
        (["at@home", "@channel"], ("project",)),
    ],
)
def test_labels_are_looked_at_row_by_row_only_where_one_names_somebody(
    engine: Any, labels: list[str | None], harmless: tuple[str, ...]
) -> None:
    rows: list[dict[str, Any]] = [{"project": label} for label in labels]
    assert choose_grouping(engine, ledger(rows), ["project"]).harmless == harmless
    names = names_of(engine, rows, ["project"])
    told = {label or UNLABELLED for label in labels} - {"anna@example.org", SECRET}
    assert told <= set(names)
    assert not {"anna@example.org", SECRET} & set(names)
    assert len(names) == len(labels)


def test_one_key_with_a_person_in_it_leaves_the_other_as_it_is(engine: Any) -> None:
    rows = [{"project": LONG, "team": "anna@example.org"}, {"project": "b", "team": "c"}]
    grouping = choose_grouping(engine, ledger(rows), ["project", "team"])
    assert grouping.harmless == ("project",)
    (anna, other) = sorted(names_of(engine, rows, ["project", "team"]), reverse=True)
    assert anna.startswith(f"{LONG} / user-")
    assert other == "b / c"


def test_who_may_see_users_sees_them(engine: Any) -> None:
    table = ledger([{"project": "anna@example.org"}])
    grouping = choose_grouping(engine, table, ["project"], show_users=True)
    assert grouping.harmless == ()
    assert engine.to_pyarrow(table.select(name=grouping.name_of(table))).to_pylist() == [
        {"name": "anna@example.org"}
    ]
