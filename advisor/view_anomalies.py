"""Unusual days as they are shown."""

from typing import Final

from advisor import numbers
from advisor.anomalies import Anomalies, Anomaly
from advisor.variance_words import MEANINGS, NAMES
from advisor.view_model import Cell, Table, TableColumn
from advisor.wording import clean, plural

_ALL: Final = "All usage"


def anomaly_line(unusual: Anomalies) -> str:
    """Return what is unusual in one sentence."""
    if unusual.reason:
        return f"Nothing is called unusual: {unusual.reason}."
    least = numbers.money_about(unusual.least)
    if not unusual.found:
        return f"No day breaks its own pattern by {least} or more."
    total = len(unusual.found) + unusual.more
    first = unusual.found[0]
    return (
        f"{plural(total, 'day')} of all usage or of a workload {'breaks its' if total == 1 else 'break their'} own pattern; most: "
        f"{numbers.day(first.day)}, {clean(first.workload) if first.workload else _ALL.lower()}, "
        f"{numbers.money(first.cost)} instead of about {numbers.money_about(first.expected)}."
    )


def anomaly_table(unusual: Anomalies) -> Table | None:
    """Return the unusual days; None without any."""
    if not unusual.found:
        return None
    more = f" {plural(unusual.more, 'smaller one')} not listed." if unusual.more else ""
    return Table(
        slug="unusual",
        caption="Days that break their own pattern",
        columns=(
            TableColumn(key="day", title="Day"),
            TableColumn(key="workload", title="Workload"),
            TableColumn(key="cost", title="Cost", number=True, hint="Of that day"),
            TableColumn(key="expected", title="Expected", number=True, hint="What days like it cost"),
            TableColumn(
                key="score", title="Score", number=True, quiet=True, hint="Robust standard deviations"
            ),
            TableColumn(key="driver", title="Driven by"),
        ),
        rows=tuple(_row(one) for one in unusual.found),
        note="Against the median of the weekday on the log's trend; from a score of 4 and "
        f"{numbers.money_about(unusual.least)} a day on. Drivers are told against a usual day of the same weekday.{more}",
    )


def _row(one: Anomaly) -> tuple[Cell, ...]:
    driver = numbers.MISSING if one.driver is None else NAMES[one.driver]
    note = "" if one.driver is None else MEANINGS[one.driver]
    if one.leading is not None:
        note = f"{note}; most in {clean(one.leading)}" if note else f"most in {clean(one.leading)}"
    return (
        Cell(text=numbers.day(one.day), value=one.day.isoformat()),
        Cell(text=_ALL if one.workload is None else clean(one.workload)),
        Cell(text=numbers.money(one.cost), exact=numbers.money_exact(one.cost), value=f"{one.cost:f}"),
        Cell(
            text=numbers.money_about(one.expected),
            exact=f"{numbers.money_exact(one.expected)} (estimate)",
            value=f"{one.expected:f}",
        ),
        Cell(text=f"{one.score:+.1f}".replace("-", "\N{MINUS SIGN}"), value=f"{one.score:.3f}"),
        Cell(text=driver, note=note),
    )
