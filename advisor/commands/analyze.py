"""``advisor analyze``."""

import shlex
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from advisor.analysis import Analysis
from advisor.cli import EXIT_GATE, EXIT_NOTHING, EXIT_USAGE, Failure
from advisor.commands import parse
from advisor.commands.output import Progress, write
from advisor.commands.outputs import most_lines, needs_lines, outputs_of, render, summary
from advisor.commands.say import say
from advisor.finance_options import options_from
from advisor.gates import unpriced_failure
from advisor.options import AnalyseOptions
from advisor.reconciliation import BillError
from advisor.run import analyse
from pricing.errors import PriceFileError
from workloads.load import NothingReadableError
from workloads.period import Period
from workloads.sources import MappingError, SourceError

if TYPE_CHECKING:
    from advisor.hosting import HostingOptions

DEFAULT_REPORT = "advisor-report.html"


def run(paths: tuple[str, ...], **given: Any) -> int:
    """Analyse, write the outputs, and return the exit code."""
    outputs = outputs_of(given)
    options = options_of(given)
    asked = given["fail_on_unpriced"]
    limit = None if asked is None else parse.percent("--fail-on-unpriced", str(asked))
    progress = Progress(wanted=given["progress"], quiet=given["quiet"])
    analysis = run_analysis(paths, options, progress)
    for kind, target in (outputs or {"html": DEFAULT_REPORT}).items():
        write(target, render(kind, analysis, target, quiet=given["quiet"]))
    progress.done()
    if not outputs and not given["quiet"]:
        click.echo(summary(analysis, no_color=given["no_color"]), nl=False, color=True)
        click.echo(f"\nReport: {DEFAULT_REPORT}")
    return _exit_code(analysis, strict=given["strict"], unpriced_limit=limit)


def options_of(given: dict[str, Any]) -> AnalyseOptions:
    """Return what a run is asked to do, from the options of the command line."""
    since, until = parse.day("--since", given["since"]), parse.day("--until", given["until"])
    if since and until and since > until:
        raise click.UsageError(f"--since {since} is after --until {until}")
    fx_file = Path(given["fx_file"]) if given["fx_file"] else None
    return AnalyseOptions(
        as_of=parse.instant("--as-of", given["as_of"]),
        load=parse.load_options(
            format_name=given["format_name"],
            model=given["model"],
            provider=given["provider"],
            mapping=given["mapping"],
        ),
        price_files=tuple(Path(file) for file in given["price_files"]),
        price_book=Path(given["price_book"]) if given["price_book"] else None,
        model_names=parse.model_names(given["map_models"]),
        discount_files=tuple(Path(file) for file in given["discount_files"]),
        currency=parse.currency(given["currency"], fx_file),
        fx_file=fx_file,
        group_by=parse.group_keys(given["group_by"]),
        period=Period(timezone=parse.zone(given["timezone"]), since=since, until=until),
        show_users=given["show_users"],
        finance=options_from(given, parse.group_keys),
        bills=tuple(given["bills"]),
        tolerance_ratio=parse.percent("--tolerance", given["tolerance"]),
        memory_limit=given["memory_limit"],
        engine=parse.engine(given.get("engine")),
        command=shlex.join(["advisor", *sys.argv[1:]]),
        cost_lines=needs_lines(given),
        most_cost_lines=most_lines(given),
        self_host=_hosting() if given.get("self_host") else None,
    )


def _hosting() -> "HostingOptions":
    from advisor.hosting import HostingOptions  # noqa: PLC0415  (only by runs that compare)

    return HostingOptions()


def run_analysis(paths: tuple[str, ...], options: AnalyseOptions, progress: Progress) -> Analysis:
    """Return the analysis; every way to fail is one sentence and an exit code."""
    try:
        return analyse(paths, options, progress)
    except PriceFileError as error:
        progress.done()
        raise Failure(str(error), EXIT_USAGE) from error
    except MappingError as error:
        progress.done()
        raise Failure(str(error), EXIT_USAGE) from error
    except BillError as error:
        progress.done()
        raise Failure(f"nothing to reconcile: {error}.", EXIT_NOTHING) from error
    except (NothingReadableError, SourceError) as error:
        progress.done()
        hint = f" Try: advisor doctor {shlex.join(paths)}" if isinstance(error, NothingReadableError) else ""
        raise Failure(f"nothing to analyse: {error}.{hint}", EXIT_NOTHING) from error


def _exit_code(analysis: Analysis, *, strict: bool, unpriced_limit: Decimal | None) -> int:
    whole = analysis.whole
    if whole.records and not whole.is_priced and analysis.cost.unpriced:
        first = analysis.cost.unpriced[0]
        say(
            f"Error: nothing could be priced: {first.model}: {first.reason}. {_remedy(first.model)}", err=True
        )
        return EXIT_NOTHING
    lost = analysis.data.skipped or not analysis.cost.complete
    if strict and lost:
        unpriced = sum(item.requests for item in analysis.cost.unpriced)
        say(
            f"Error: --strict: {analysis.data.skipped:,} rows were skipped and {unpriced:,} requests could not be priced",
            err=True,
        )
        return EXIT_GATE
    failure = None if unpriced_limit is None else unpriced_failure(analysis, unpriced_limit)
    if failure is not None:
        say(f"Error: {failure}", err=True)
        return EXIT_GATE
    return 0


def _remedy(model: str) -> str:
    if model.startswith("("):
        return "Name the model with --model NAME (and --provider NAME)."
    return "See `advisor prices`, or give your own card with --prices FILE."
