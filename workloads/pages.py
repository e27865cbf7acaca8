"""Saved pages of an API: which of those that say there are more are followed by the next one among the inputs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from workloads.account import FileRows
from workloads.accounting import MORE_PAGES
from workloads.cube_columns import column
from workloads.expressions import FALSE

Connection = Any
Expr = Any


@dataclass(frozen=True, slots=True)
class PageEnd:
    """How far the rows of one file reach that say there are more, or of those that do not."""

    file: str
    format: str
    money: bool
    """Whether they are money without tokens."""
    more: bool
    """Whether they say that there are more."""
    last: str | None
    """Their latest time, ISO 8601 UTC; None: they have none."""


def page_ends(connection: Connection, rows: Expr) -> list[PageEnd]:
    """Return how far the pages among some rows reach, repeats too; nothing where no row is a bucket, as those of pages are."""
    if "bucket_seconds" not in rows.columns:
        return []
    more = rows.problem.fill_null("") == MORE_PAGES if "problem" in rows.columns else FALSE
    pages = rows.select(
        file=rows.source_file,
        format=rows.format,
        money=column(rows, "charge_only").fill_null(False),  # noqa: FBT003  (Ibis takes the value by place)
        more=more,
        at=column(rows, "started_at"),
    )
    keys = ["file", "format", "money", "more"]
    found = connection.to_pyarrow(pages.group_by(keys).agg(last=pages["at"].max()).order_by(keys)).to_pylist()
    return [
        PageEnd(
            file=page["file"],
            format=page["format"],
            money=page["money"],
            more=page["more"],
            last=page["last"] and page["last"].isoformat(),
        )
        for page in found
        if page["format"]
    ]


def without_followed(ends: Sequence[PageEnd], counts: Sequence[FileRows]) -> list[FileRows]:
    """Return the counts without the doubt that pages are missing, where the last page is there.

    Pages follow one another in time, and only the last one does not say that there are more: so a page is followed when
    one without that word, of the same format and kind (usage or money), holds later times.

    Args:
        ends: Of all files of the run.
        counts: See ``workloads.account.count_rows``.
    """
    lasts: dict[tuple[str, bool], str] = {}
    for page in ends:
        if not page.more and page.last is not None:
            key = page.format, page.money
            lasts[key] = max(lasts.get(key, page.last), page.last)
    open_files = {
        (page.file, page.format)
        for page in ends
        if page.more and (page.last is None or page.last >= lasts.get((page.format, page.money), page.last))
    }
    return [
        replace(count, problem=None)
        if count.problem == MORE_PAGES and (count.file, count.format) not in open_files
        else count
        for count in counts
    ]
