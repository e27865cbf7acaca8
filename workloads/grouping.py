"""What a workload is: a group of requests that a team would call one thing.

The user's ``--group-by`` decides; else the most telling label that the log has; else the file, when several files
have names of their own; else what prompts begin with, where the log tells; else the model and the size of prompt and answer.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Final

import ibis

from workloads.cube_columns import column
from workloads.expressions import FALSE
from workloads.ledger import LABEL_COLUMNS
from workloads.prefix_sites import common_sites, names_prefixes, site_name
from workloads.pseudonyms import discreet, names_somebody, pseudonym

Expr = Any
Connection = Any

GROUP_KEYS: Final = (
    *LABEL_COLUMNS,
    "user",
    "session",
    "model",
    "provider",
    "service_tier",
    "region",
    "source",
    "format",
)
"""What ``--group-by`` accepts."""

_DISCREET: Final = (*LABEL_COLUMNS, "session")
_PREFERRED: Final = ("application", "project", "endpoint", "team", "api_key")
_LEAST_COVERAGE: Final = 0.5
_MOST_FILES: Final = 24
_FILE_NAME: Final = r"([^/\\:]+?)(\.[A-Za-z0-9]+)*$"
_ID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}"
"""What no person calls a file: a UUID, or a long number in hexadecimal digits."""

UNLABELLED: Final = "(unlabelled)"

_INPUT_CLASSES: Final = ((1_000, "short prompt"), (8_000, "medium prompt"), (64_000, "long prompt"))
_LONGEST_INPUT: Final = "very long prompt"
_OUTPUT_CLASSES: Final = ((100, "brief answer"), (1_000, "medium answer"))
_LONGEST_OUTPUT: Final = "long answer"


@dataclass(frozen=True, slots=True)
class Grouping:
    """How workloads are told apart."""

    keys: tuple[str, ...]
    """Ledger columns (or ``source``), or empty for sizes."""
    rule: str
    """The rule in words, for the report."""
    show_users: bool = False
    """Whether users, e-mail addresses and keys appear as the log has them, instead of by pseudonyms."""
    files: tuple[str, ...] = ()
    """The log's files, where they are few; empty: they are not known."""
    sites: tuple[str, ...] = ()
    """What the prompts of each call site begin with: see ``prefix_sites``."""
    harmless: tuple[str, ...] = ()
    """Keys none of whose labels in the log names a person or opens anything: they need no look at every row."""

    def name_of(self, ledger: Expr) -> Expr:
        """Return the workload's name of every record."""
        if self.sites:
            return site_name(ledger, self.sites)
        if not self.keys:
            return _by_size(ledger)
        parts = [self._label(ledger, key) for key in self.keys]
        name = parts[0]
        for part in parts[1:]:
            name = name + " / " + part
        return name

    def _label(self, ledger: Expr, key: str) -> Expr:
        if key == "source":
            # Few files are told apart by comparison: a pattern for every row takes longer than all sums.
            named = [(file, _file_name(file)) for file in self.files]
            return ledger.source_file.cases(*named) if named else ledger.source_file.re_extract(_FILE_NAME, 1)
        value = column(ledger, key)
        if key == "user" and not self.show_users:
            value = pseudonym(value)
        elif key in _DISCREET and key not in self.harmless and not self.show_users:
            value = discreet(value)
        return ibis.coalesce(value, UNLABELLED)


def choose_grouping(
    connection: Connection, ledger: Expr, keys: Sequence[str], *, show_users: bool = False
) -> Grouping:
    """Return the grouping for a ledger: the user's keys, else the best that the log offers."""
    return looked_over(connection, ledger, _chosen(connection, ledger, keys, show_users=show_users))


def looked_over(connection: Connection, ledger: Expr, grouping: Grouping) -> Grouping:
    """Return the grouping with those of its keys as harmless whose few labels were found to be so, one by one."""
    keys = [key for key in grouping.keys if key in _DISCREET and key in ledger.columns]
    if grouping.show_users or not keys:
        return grouping
    rows = [ledger.select(label=ledger[key], key=ibis.literal(key)) for key in keys]
    labels = [each.group_by(["key", "label"]).agg(rows=each.count()) for each in rows]
    found = ibis.union(*labels) if len(labels) > 1 else labels[0]
    # By their rows, too: the engine would look at every row first, and at which of them are equal then.
    names = ibis.cases((found.rows > 0, names_somebody(found.label)), else_=FALSE)
    telling = found.filter(names).select("key").distinct()
    kept = set(connection.execute(telling)["key"])
    return replace(grouping, harmless=tuple(key for key in keys if key not in kept))


def _chosen(connection: Connection, ledger: Expr, keys: Sequence[str], *, show_users: bool) -> Grouping:
    if keys:
        known = _files(connection, ledger) if "source" in keys else []
        few = tuple(known) if len(known) <= _MOST_FILES else ()
        return Grouping(tuple(keys), f"grouped by {', '.join(keys)} as asked", show_users, few)
    present = [name for name in _PREFERRED if name in ledger.columns]
    if present:
        counts = {f"{name}_known": ledger[name].count() for name in present}
        kinds = {f"{name}_kinds": ledger[name].nunique() for name in present}
        stats = connection.execute(ledger.agg(rows=ledger.count(), **counts, **kinds)).iloc[0]
        covered = [name for name in present if stats[f"{name}_known"] >= _LEAST_COVERAGE * stats["rows"] > 0]
        telling = [name for name in covered if stats[f"{name}_kinds"] > 1]
        for name in telling or covered:
            share = stats[f"{name}_known"] / stats["rows"]
            return Grouping((name,), f"grouped by {name}, which {share:.0%} of the records carry", show_users)
    files = _files(connection, ledger)
    stems = {_stem(file) for file in files}
    if 1 < len(stems) == len(files) <= _MOST_FILES:
        return Grouping(
            ("source",),
            "grouped by file: the log has no labels, and its files have names of their own",
            files=tuple(files),
        )
    sites = common_sites(connection, ledger) if names_prefixes(ledger) else None
    if sites:
        return Grouping((), "grouped by what prompts begin with: the log has no labels", sites=sites)
    if sites is not None:
        return Grouping(
            ("model",),
            "grouped by model, whose prompts share a cache: the log has no labels, prompts begin differently",
        )
    return Grouping((), "grouped by model and by size of prompt and answer: the log has no labels")


def _files(connection: Connection, ledger: Expr) -> list[str]:
    return sorted(connection.execute(ledger.select("source_file").distinct())["source_file"])


def _file_name(file: str) -> str:
    """Return a file's name without folders and suffixes."""
    found = re.search(_FILE_NAME, file)
    return found[1] if found else file


def _stem(file: str) -> str:
    """Return a file's name without dates, counters, ids and suffixes: rotated logs have one."""
    return re.sub(_ID + r"|[\d._-]+", "", PurePath(file).name.split(".")[0].lower())


def _by_size(ledger: Expr) -> Expr:
    model = ibis.coalesce(column(ledger, "model"), "any model")
    # One text is put behind the model's name: to join several for every row costs more than the rest of a scan.
    size = _nested(
        ibis.coalesce(ledger.input_tokens, 0),
        [*_INPUT_CLASSES, (None, _LONGEST_INPUT)],
        lambda prompt: _nested(
            ibis.coalesce(ledger.output_tokens, 0),
            [*_OUTPUT_CLASSES, (None, _LONGEST_OUTPUT)],
            lambda answer: ibis.literal(f": {prompt}, {answer}"),
        ),
    )
    return ibis.cases((column(ledger, "bucket_seconds").notnull(), model), else_=model + size)


def _nested(count: Expr, classes: Sequence[tuple[int | None, str]], then: Callable[[str], Expr]) -> Expr:
    *bounded, (_, last) = classes
    return ibis.cases(*[(count < limit, then(name)) for limit, name in bounded], else_=then(last))
