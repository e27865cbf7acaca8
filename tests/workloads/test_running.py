"""What lines before a line have told."""

from collections.abc import Callable
from typing import Any

import ibis
import pyarrow as pa

from workloads.raw import FILE_COLUMN, Node
from workloads.relations import connect, in_order
from workloads.running import before, count_so_far, has_told, telling, told

LINES = (
    # file, names something, name, number
    ("a", False, None, None),
    ("a", True, "one", 1),
    ("a", False, "not told", 7),
    ("a", True, "two", None),
    ("a", False, None, None),
    ("b", False, None, None),
    ("b", True, "three", 3),
)


def _over(
    make: Callable[[Node], dict[str, Any]], then: Callable[[Node], dict[str, Any]]
) -> list[dict[str, Any]]:
    connection = connect()
    columns = zip((FILE_COLUMN, "names", "name", "number"), zip(*LINES, strict=True), strict=True)
    connection.con.register("lines", pa.table({name: list(cells) for name, cells in columns}))
    rows = connection.table("lines")
    rows = rows.mutate(**{f"__step_{name}": value for name, value in make(Node(rows)).items()})
    rows = rows.mutate(**{f"__step_{name}": value for name, value in then(Node(rows)).items()})
    node = Node(rows)
    with in_order(connection):
        found: list[dict[str, Any]] = connection.to_pyarrow(
            rows.select(
                place=ibis.row_number(),
                number=node.step("number"),
                name=told(node, "told", "name"),
                of=told(node, "told", "number"),
                earlier=told(node, "earlier", "name"),
                known=has_told(node, "earlier"),
            ).order_by("place")
        ).to_pylist()
    return found


def test_the_last_line_that_told_something_is_carried_on() -> None:
    rows = _over(
        lambda node: {
            "number": count_so_far(node.get("names")),
            "told": telling(
                node, node.get("names"), {"name": node.get("name"), "number": node.get("number")}
            ),
        },
        lambda node: {"earlier": before(node, "told")},
    )
    assert [row["number"] for row in rows] == [0, 1, 1, 2, 2, 2, 3]
    assert [row["name"] for row in rows] == [None, "one", "one", "two", "two", None, "three"]
    # A null of the last line that told is not filled from the one before, and nothing goes from file to file.
    assert [row["of"] for row in rows] == [None, 1, 1, None, None, None, 3]
    assert [row["earlier"] for row in rows] == [None, None, "one", "one", "two", None, None]
    assert [row["known"] for row in rows] == [False, False, True, True, True, False, False]
