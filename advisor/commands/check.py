"""``advisor check``."""

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import click

from advisor.budget import Budget, Limit, accepted
from advisor.budget_file import BudgetError, read_budgets, schema_json
from advisor.budget_render import data_of, render_markdown, render_table
from advisor.cli import EXIT_GATE, EXIT_NOTHING, EXIT_USAGE, Failure
from advisor.commands.analyze import options_of, run_analysis
from advisor.commands.output import Progress, write
from advisor.render.text import aligned
from advisor.view_budget import fails

_OPTIONS: Final = {
    Limit.MONTH: ("--max-monthly-cost", "max_monthly_cost"),
    Limit.REQUEST: ("--max-cost-per-request", "max_cost_per_request"),
    Limit.CHANGE: ("--max-change", "max_change"),
}


def run(paths: tuple[str, ...], **given: Any) -> int:
    """Check the budgets, write or show the verdict, and return the exit code."""
    if given["schema"]:
        click.echo(schema_json(), nl=False)
        return 0
    if [given["markdown_file"], given["json_file"]].count("-") > 1:
        raise click.UsageError("only one output can go to stdout (-)")
    options = options_of(given)
    budgets = _budgets(given, options.currency)
    if not paths or not budgets:
        raise click.UsageError(
            "name a LOG and a --budget FILE (its schema: advisor check --schema), or a limit: "
            + ", ".join(name for name, _ in _OPTIONS.values())
        )
    progress = Progress(wanted=given["progress"], quiet=given["quiet"])
    analysis = run_analysis(paths, replace(options, budgets=budgets), progress)
    progress.done()
    found = () if analysis.finance is None else analysis.finance.checks
    found = accepted(found) if given["ignore_unpriced"] else found
    if given["markdown_file"]:
        write(given["markdown_file"], render_markdown(analysis, found))
    if given["json_file"]:
        write(given["json_file"], json.dumps(data_of(analysis, found), indent=1) + "\n")
    if not given["markdown_file"] and not given["json_file"] and not given["quiet"]:
        click.echo(render_table(analysis, found, aligned), nl=False)
    if analysis.whole.records and not analysis.whole.is_priced:
        click.echo("Error: nothing could be priced; see `advisor doctor` and --prices FILE", err=True)
        return EXIT_NOTHING
    return EXIT_GATE if fails(found) else 0


def _budgets(given: dict[str, Any], currency: str) -> tuple[Budget, ...]:
    asked = {
        limit: _amount(option, given[name])
        for limit, (option, name) in _OPTIONS.items()
        if given[name] is not None
    }
    own = (Budget(name="total", limits=asked),) if asked else ()
    if not given["budget_file"]:
        return own
    try:
        return (*own, *read_budgets(Path(given["budget_file"]), currency))
    except BudgetError as error:
        raise Failure(str(error), EXIT_USAGE) from error


def _amount(option: str, text: str) -> Decimal:
    try:
        number = Decimal(str(text).strip().removesuffix("%").strip())
    except ArithmeticError:
        number = Decimal(-1)
    if not number.is_finite() or number < 0:
        raise click.UsageError(
            f"{option} {text!r} is no amount; write a number from 0 on, such as 1500 or 0.02"
        )
    return number
