"""What a reader must know about the data before believing a number: each kind once, counted, with examples."""

from collections.abc import Sequence
from itertools import islice

from advisor.analysis import Location, Problem, Source, Unpriced
from workloads.accounting import CACHED_EXCEEDS_INPUT, CONTRADICTS_SOURCE, MORE_PAGES
from workloads.ledger import RECORD, SKIPPED
from workloads.load import LoadReport

_EXAMPLES = 5

_DOUBTS = {
    CACHED_EXCEEDS_INPUT: (
        "more cached than prompt tokens: the row's total decided which count is the whole; the cached part was counted "
        "beside the prompt, or cut down to it"
    ),
    CONTRADICTS_SOURCE: "the row's own total contradicts its source's rule for cached tokens; the total was followed",
    MORE_PAGES: "saved pages that say there are more, and the next ones are not among the inputs: the period is incomplete",
    "overlapping_groups": "grouped by groups of people, who may be in several: sums can exceed what was used",
    "cache_use_worked_out": "cache reads and writes were worked out from prompt fingerprints and times; the log counts none",
    "reasoning_only_in_total": "the total holds more than prompt and answer: the rest was counted as reasoning, within the output",
    "cache_lifetime_assumed": "an explicit cache without a lifetime or an end in the log: the default of one hour was assumed",
    "counter_restarted": "a counter fell: what was used between the last scrape and the restart is not known",
    "output_from_times": "output was worked out from two times, since the log does not count it",
    "tokens_from_throughput": "tokens are a rate times an interval: averages, good for sums and not for sizes",
    "tokens_estimated": "tokens were estimated from the length of texts, four characters each; the log counts none",
    "tool_tokens_inside_prompt": "the row's own total says that the prompt holds the tool's tokens already: not added again",
    "thinking_tokens_inside_output": "the row's own total says that the output holds the thinking already: not added again",
    "usage_of_unknown_kind": "usage under a name that is neither prompt nor answer: it is not in the counts",
}
"""What a problem code of the ledger means."""


def data_problems(report: LoadReport) -> list[Problem]:
    """Return the problems of reading: unreadable files, skipped rows by reason, repaired counts by kind."""
    found = [
        Problem(
            code="unreadable_file",
            severity="error",
            message=f"{item.shown} gave no rows: {item.reason}",
            rows=0,
            examples=(Location(file=item.shown, line=None),),
        )
        for item in report.unreadable
    ]
    reasons: dict[str, int] = {}
    located = [(row.file, row.line, row.reason) for row in report.skipped]
    for row in report.skipped:
        reasons[row.reason] = reasons.get(row.reason, 0) + row.rows
    total = report.rows(SKIPPED)
    # Only the first thousand of a file are looked up one by one; the others are counted under their coarser reason.
    beyond = total - sum(reasons.values())
    for reason, count in sorted(reasons.items(), key=lambda item: -item[1]):
        examples = islice(
            (Location(file=file, line=line) for file, line, why in located if why == reason), _EXAMPLES
        )
        found.append(
            Problem(
                code="skipped_rows",
                severity="error",
                message=f"could not be read: {reason}",
                rows=count,
                examples=tuple(examples),
            )
        )
    if beyond > 0:
        found.append(
            Problem(
                code="skipped_rows",
                severity="error",
                message="could not be read: more of the same",
                rows=beyond,
            )
        )
    return found + _repaired(report)


def _repaired(report: LoadReport) -> list[Problem]:
    by_code: dict[str, tuple[int, dict[str, None]]] = {}
    for count in report.counts:
        if count.fate == RECORD and count.problem:
            rows, files = by_code.get(count.problem, (0, {}))
            by_code[count.problem] = (rows + count.rows, {**files, count.file: None})
    return [
        Problem(
            code=code,
            severity="warning",
            message=_DOUBTS.get(code, code.replace("_", " ")),
            rows=rows,
            examples=tuple(Location(file=file, line=None) for file in islice(files, _EXAMPLES)),
        )
        for code, (rows, files) in sorted(by_code.items())
    ]


def unpriced_problems(unpriced: Sequence[Unpriced]) -> list[Problem]:
    """Return the models without a price; ``advisor.price_doubts`` has the prices that are in doubt."""
    return [
        Problem(
            code="unpriced",
            severity="error",
            message=f"{item.model} is not in the total: {item.reason}",
            rows=item.requests,
        )
        for item in unpriced
    ]


def sources_of(report: LoadReport) -> tuple[Source, ...]:
    """Return what each input was taken for, with its rows; a file of several formats has several entries."""
    rows: dict[tuple[str, str], int] = {}
    for count in report.counts:
        key = (count.file, count.format)
        rows[key] = rows.get(key, 0) + count.rows
    # Rows that the engine could not fit to a header have no format of their own: they belong to their file's.
    formats = {file: name for file, name in rows if name}
    merged: dict[tuple[str, str], int] = {}
    for (file, name), number in rows.items():
        key = (file, name or formats.get(file, "unknown"))
        merged[key] = merged.get(key, 0) + number
    return tuple(
        Source(path=file, format=name, rows=number) for (file, name), number in sorted(merged.items())
    )
