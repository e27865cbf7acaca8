"""What the log's own requests waited for: latency as two numbers, and the lever that answers the larger."""

from collections.abc import Mapping, Sequence
from typing import Final

from advisor import numbers
from advisor.charts import BarPart
from advisor.view_model import Cell, Pair, Table, TableColumn
from advisor.wording import name_cell, plural
from pricing.units import KILO
from workloads.latency import LatencyFit, Waited

_MOST_ROWS: Final = 40
_LEVERS: Final[Mapping[Waited, tuple[str, str]]] = {
    "prefill": (
        "Reading the prompt",
        "A prompt cache or less context; on own GPUs more FLOPs, or a pool for prefill.",
    ),
    "decode": (
        "Writing the answer",
        "Shorter answers, less reasoning, a smaller model; on own GPUs more bandwidth, fewer bits, drafts.",
    ),
    "neither": (
        "Neither phase",
        "Queue, network and start do not depend on sizes: a nearer region, a priority tier, more capacity.",
    ),
    "both": ("Both phases", "No lever answers alone: the prompt and the answer take about the same."),
}


def wait_table(timed: Sequence[LatencyFit]) -> Table | None:
    """The table, slowest workload first; None where nothing was timed."""
    if not timed:
        return None
    slowest = sorted(timed, key=lambda fit: -fit.whole_seconds)[:_MOST_ROWS]
    return Table(
        slug="waits",
        caption="What a mean request of each workload waited for, by lines fitted to the log's own times",
        columns=(
            TableColumn(key="workload", title="Workload"),
            TableColumn(
                key="whole",
                title="Mean request",
                number=True,
                hint="Waiting, reading and writing, of the requests that were timed so",
            ),
            TableColumn(
                key="wait",
                title="Before reading",
                number=True,
                hint="Whatever the sizes: queue, network, start",
            ),
            TableColumn(
                key="read",
                title="Per 1,000 prompt tokens",
                number=True,
                hint="More for each that no cache had: prefill",
            ),
            TableColumn(
                key="write", title="Per answer token", number=True, hint="Time per output token: decode"
            ),
            TableColumn(key="on", title="Waits on"),
        ),
        rows=tuple(map(_row, slowest)),
        note="Blue: reading the prompt; orange: writing the answer; grey: before reading. Where the log times first tokens, "
        "they are fitted against the prompt tokens that were computed, and the rest of the duration against the answer; "
        "elsewhere durations are fitted against both. Failed requests are left out."
        + (f" Not listed: {plural(len(timed) - _MOST_ROWS, 'workload')}." if len(timed) > _MOST_ROWS else ""),
    )


def wait_levers(timed: Sequence[LatencyFit]) -> tuple[Pair, ...]:
    """What answers each kind of wait that a workload has."""
    kinds = {fit.waits_on for fit in timed}
    return tuple(Pair(term=name, text=lever) for kind, (name, lever) in _LEVERS.items() if kind in kinds)


def _row(fit: LatencyFit) -> tuple[Cell, ...]:
    whole = fit.whole_seconds
    timed = "first tokens" if fit.basis == "ttft" else "durations"
    named = name_cell(fit.workload, note=f"{timed} of {plural(fit.requests, 'request')}", brief=True)
    return (
        named,
        Cell(text=numbers.seconds(whole), value=f"{whole:.6f}", bar=_bar(fit)),
        Cell(text=numbers.seconds(fit.wait_seconds), value=f"{fit.wait_seconds:.6f}"),
        _read_cell(fit),
        _seconds_cell(fit.write_seconds_per_token),
        Cell(text=_LEVERS[fit.waits_on][0]),
    )


def _read_cell(fit: LatencyFit) -> Cell:
    """The slope, and how much of the spread the line explains."""
    if fit.read_seconds_per_token is None:
        return Cell(
            text=numbers.MISSING, note="does not grow with the prompt" if fit.basis == "ttft" else "not told"
        )
    cell = _seconds_cell(fit.read_seconds_per_token * KILO)
    told = "" if fit.explained is None else f"explains {numbers.share(round(fit.explained, 3))}"
    return Cell(text=cell.text, value=cell.value, note=told if fit.basis == "ttft" else "")


def _seconds_cell(seconds: float | None) -> Cell:
    if seconds is None:
        return Cell(text=numbers.MISSING)
    return Cell(text=numbers.seconds(seconds), value=f"{seconds:.9f}")


def _bar(fit: LatencyFit) -> tuple[BarPart, ...]:
    whole, at = fit.whole_seconds, 0.0
    parts = (("fee", fit.wait_seconds), ("prefill", fit.read_seconds), ("decode", fit.write_seconds))
    found: list[BarPart] = []
    for kind, seconds in parts:
        width = round(seconds / whole * 100, 2) if whole else 0.0
        if width > 0:
            found.append(BarPart(x=round(at, 2), width=width, kind=kind))
        at += width
    return tuple(found)
