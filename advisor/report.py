"""A report as one frozen value, for notebooks and programs: totals, frames, and every form for files."""

import os
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from html import escape
from typing import Final, TypeAlias, overload

import pandas as pd

from advisor import frames, numbers
from advisor.analysis import Analysis
from advisor.document import document_of
from advisor.document_model import Document
from advisor.errors import AdvisorError
from advisor.wording import plural

_MOST_SHOWN: Final = 20
StrPath: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True)
class Report:
    """What ``advisor.analyse`` returns.

    The frames have the keys of the JSON document as columns. Money is Decimal in the report's currency, but for
    recommendations, prices and names with ``usd``, which are in USD. Each access makes a new frame: what is
    changed in one changes nothing here.

    Attributes:
        analysis: Everything that was computed.
    """

    analysis: Analysis

    @property
    def total(self) -> Decimal | None:
        """Contracted cost, exact; a lower bound unless ``complete``; None when nothing could be priced."""
        unknown = self.analysis.whole.records and not self.analysis.whole.is_priced
        return None if unknown else self.analysis.cost.total

    @property
    def currency(self) -> str:
        """ISO 4217 code of the amounts."""
        return self.analysis.cost.currency

    @property
    def complete(self) -> bool:
        """Whether every record could be priced."""
        return self.analysis.cost.complete

    @property
    def requests(self) -> int:
        """Calls behind the records."""
        return self.analysis.data.requests

    @cached_property
    def document(self) -> Document:
        """The JSON document (``advisor schema``) as an object, without what ``advisor render`` keeps in files."""
        return document_of(self.analysis)

    @property
    def by_day(self) -> pd.DataFrame:
        """A row a calendar day of the report's zone; ``NaT`` gathers records without a time."""
        return frames.frame_of(self.document.by_day, frames.DAYS)

    @property
    def by_model(self) -> pd.DataFrame:
        """A row a model of a provider, dearest first, with its prices."""
        return frames.frame_of(self.document.by_model, frames.MODELS)

    @property
    def workloads(self) -> pd.DataFrame:
        """A row a workload, dearest first: class and shares of the phases, sizes, cache, latency."""
        return frames.frame_of(self.document.workloads, frames.WORKLOADS)

    @property
    def recommendations(self) -> pd.DataFrame:
        """A row a recommendation, best first. Savings are each alone on the bill as it is: do not add them up."""
        return frames.frame_of(self.document.recommendations, frames.RECOMMENDATIONS)

    @property
    def plan(self) -> pd.DataFrame:
        """A row a step of the plan, in their order, each on what the steps before have left: these do add up."""
        plan = self.document.plan
        return frames.frame_of(() if plan is None else plan.steps, frames.STEPS)

    @property
    def unpriced(self) -> pd.DataFrame:
        """A row for what has no price, with the reason; its money is in no total."""
        return frames.frame_of(self.document.cost.unpriced, frames.UNPRICED)

    @property
    def prices(self) -> pd.DataFrame:
        """A row a rate that was used, with source and date."""
        return frames.frame_of(self.document.prices, frames.PRICES)

    @property
    def problems(self) -> pd.DataFrame:
        """A row for whatever a reader must know about the data."""
        return frames.frame_of(self.document.data.problems, frames.PROBLEMS)

    def summary(self, *, width: int = 100) -> str:
        """Return the table that the command line shows, without colour."""
        from advisor.render.table import render_table  # noqa: PLC0415  (only where it is asked for)
        from advisor.view import build_view  # noqa: PLC0415

        return render_table(build_view(self.analysis), width=width, color=False)

    @overload
    def to_html(self) -> str: ...
    @overload
    def to_html(self, path: StrPath) -> None: ...
    def to_html(self, path: StrPath | None = None) -> str | None:
        """Return the report as one HTML page, or write it to a file."""
        return self._text("html", path)

    @overload
    def to_json(self) -> str: ...
    @overload
    def to_json(self, path: StrPath) -> None: ...
    def to_json(self, path: StrPath | None = None) -> str | None:
        """Return the JSON document, or write it to a file that ``advisor.read_report`` reads."""
        return self._text("json", path)

    @overload
    def to_markdown(self) -> str: ...
    @overload
    def to_markdown(self, path: StrPath) -> None: ...
    def to_markdown(self, path: StrPath | None = None) -> str | None:
        """Return the Markdown summary, or write it to a file."""
        return self._text("markdown", path)

    def to_excel(self, path: StrPath) -> None:
        """Write the workbook, whose costs follow the prices in it."""
        _write(path, self._made("xlsx", path))

    def to_focus(self, path: StrPath) -> None:
        """Write the bill in FOCUS 1.2: Parquet for a name that ends in ``.parquet``, else CSV."""
        _write(path, self._made("focus", path))

    def _text(self, kind: str, path: StrPath | None) -> str | None:
        made = self._made(kind, path)
        if path is None:
            return made if isinstance(made, str) else made.decode()
        _write(path, made)
        return None

    def _made(self, kind: str, path: StrPath | None) -> str | bytes:
        from advisor.cli import Failure  # noqa: PLC0415  (only where it is asked for)
        from advisor.commands.outputs import render  # noqa: PLC0415

        try:
            return render(kind, self.analysis, "" if path is None else os.fspath(path), quiet=True)
        except Failure as error:
            raise AdvisorError(error.message) from error

    def __repr__(self) -> str:
        return f"<advisor.Report: {self._headline()}>"

    def _headline(self) -> str:
        if self.total is None:
            amount = "cost unknown"
        else:
            amount = numbers.money(self.total, self.currency)
            amount = amount if self.complete else f"at least {amount}"
        several = plural(len(self.analysis.workloads), "workload")
        return f"{amount} for {plural(self.requests, 'request')} in {several}"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the headline and the workloads."""
        rows = [
            {
                "workload": row.name,
                "requests": f"{row.requests:,}",
                "cost": numbers.MISSING
                if row.cost is None
                else numbers.money(Decimal(row.cost), self.currency),
                "class": row.phase_class or numbers.MISSING,
                "prefill": numbers.share(row.prefill_share),
            }
            for row in self.document.workloads[:_MOST_SHOWN]
        ]
        table = pd.DataFrame(rows).to_html(index=False, border=0)
        return f"<p><strong>{escape(self._headline())}</strong></p>{table}"


def _write(path: StrPath, made: str | bytes) -> None:
    from advisor.cli import Failure  # noqa: PLC0415  (only where it is asked for)
    from advisor.commands.output import write  # noqa: PLC0415

    try:
        write(os.path.join(os.curdir, os.fspath(path)), made)  # noqa: PTH118  (a file called "-" is a file here)
    except Failure as error:
        raise AdvisorError(error.message) from error
