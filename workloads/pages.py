"""Saved pages of an API: which of those that say there are more are followed by the next one among the inputs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from workloads.account import FileRows
from workloads.accounting import MORE_PAGES
from workloads.cube_columns import column

Connection = Any
Expr = Any


def without_followed(connection: Connection, rows: Expr, counts: Sequence[FileRows]) -> list[FileRows]:
    """Return the counts without the doubt that pages are missing, where the last page is there.

    Pages follow one another in time, and only the last one does not say that there are more: so a page is followed when
    one without that word, of the same format and kind (usage or money), holds later times.

    Args:
        connection: The engine that holds the rows.
        rows: All rows of the run, repeats too.
        counts: See ``workloads.account.count_rows``.
    """
    if not any(count.problem == MORE_PAGES for count in counts):
        return list(counts)
    more = rows.problem.fill_null("") == MORE_PAGES
    pages = rows.select(
        file=rows.source_file,
        format=rows.format,
        money=column(rows, "charge_only").fill_null(False),  # noqa: FBT003  (Ibis takes the value by place)
        more=more,
        at=column(rows, "started_at"),
    )
    keys = ["file", "format", "money", "more"]
    found = connection.to_pyarrow(pages.group_by(keys).agg(last=pages["at"].max())).to_pylist()
    ends: dict[tuple[str, bool], Any] = {}
    for page in found:
        if not page["more"] and page["last"] is not None:
            key = page["format"], page["money"]
            ends[key] = max(ends.get(key, page["last"]), page["last"])
    open_files = {
        (page["file"], page["format"])
        for page in found
        if page["more"]
        and (page["last"] is None or page["last"] >= ends.get((page["format"], page["money"]), page["last"]))
    }
    return [
        replace(count, problem=None)
        if count.problem == MORE_PAGES and (count.file, count.format) not in open_files
        else count
        for count in counts
    ]
