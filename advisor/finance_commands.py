"""The command that says whether budgets are kept: ``check``. Options only."""

from typing import Any

import click

from advisor.cli_options import loudness
from advisor.scenario_commands import log_options


@click.command()
@click.argument("paths", nargs=-1, metavar="LOG...")
@click.option(
    "--budget", "budget_file", metavar="FILE", help="Budgets by scope (YAML, JSON, TOML): docs/finance.md."
)
@click.option(
    "--max-monthly-cost", metavar="N", help="Of any calendar month; the one in progress by its forecast."
)
@click.option("--max-cost-per-request", metavar="N", help="On average over the log.")
@click.option("--max-change", metavar="PCT", help="More than in the period before, in percent.")
@click.option(
    "--ignore-unpriced", is_flag=True, help="Let usage without a price pass; it is named all the same."
)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of a file of budgets, and nothing else.")
@click.option(
    "--markdown", "markdown_file", metavar="FILE", help="Write a verdict for a pull request; - is stdout."
)
@click.option("--json", "json_file", metavar="FILE", help="Write the verdict as JSON; - is stdout.")
@log_options("--format")
@loudness
def check(**given: Any) -> None:
    """Check LOG against budgets: exit code 0 when every limit is kept, 1 when one is broken or nobody can say.

    Usage without a price can break a limit and cannot keep one. Amounts are contracted cost in the report's currency.
    """
    from advisor.commands.check import run  # noqa: PLC0415

    if code := run(**given, bills=(), tolerance="1"):
        raise SystemExit(code)
