"""The commands that compare: ``diff`` (two logs) and ``whatif`` (a log and a scenario). Options only."""

from collections.abc import Callable
from typing import Any

import click

from advisor.cli_options import loudness, memory_option, price_option, terms_options

Command = Callable[..., Any]


def log_options(format_option: str) -> Callable[[Command], Command]:
    """Say how a log is read, which part of it counts, what a workload is, and what tokens cost.

    Args:
        format_option: What the option is called that names the log's format; ``--format`` may be that of the output.
    """
    options: list[Callable[[Command], Command]] = [
        click.option(
            format_option,
            "format_name",
            metavar="NAME",
            help="Skip recognition of logs (see `advisor formats`).",
        ),
        click.option("--model", metavar="NAME", help="Model of records that name none."),
        click.option("--provider", metavar="NAME", help="Provider of records that name none."),
        click.option(
            "--map",
            "mapping",
            multiple=True,
            metavar="TARGET=COLUMN",
            help="Name a column of an unknown table. Repeatable.",
        ),
        click.option(
            "--group-by", metavar="KEYS", help="What a workload is, e.g. application or team,model."
        ),
        click.option(
            "--show-users",
            is_flag=True,
            help="Show users, e-mails and keys as logged (default: stable pseudonyms).",
        ),
        click.option("--since", metavar="DATE", help="First day that counts (YYYY-MM-DD), inclusive."),
        click.option("--until", metavar="DATE", help="Last day that counts, inclusive."),
        click.option(
            "--timezone", default="UTC", show_default=True, metavar="ZONE", help="Zone whose days count."
        ),
        click.option("--as-of", metavar="TIME", help="Moment of the report (default: now)."),
        memory_option,
    ]

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return price_option(terms_options(command))

    return decorate


@click.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "json", "table"]),
    default="table",
    show_default=True,
    help="How to write it.",
)
@click.option("--to", "target", default="-", show_default=True, metavar="FILE", help="Where to; - is stdout.")
@log_options("--log-format")
@loudness
def diff(**given: Any) -> None:
    """Show what changed from A to B in cost, requests and tokens, and why.

    A and B are logs, or JSON documents of `advisor analyze --json`; the options about logs are for logs. The change
    is split into volume, model mix, service tier, tokens per request, cache share and price, all usage together; by
    model, workload and meter into volume (requests), size (tokens per request) and price (rate per token), in this
    order. The parts add up to the change exactly.
    """
    from advisor.commands.diff import run  # noqa: PLC0415

    _finish(run(**given, bills=(), tolerance="1"))


@click.command()
@click.argument("paths", nargs=-1, metavar="LOG...")
@click.option("--scenario", "scenario_file", metavar="FILE", help="The steps (YAML, JSON, TOML).")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of a scenario, and nothing else.")
@click.option("--json", "json_file", metavar="FILE", help="Write the JSON document; - is stdout.")
@log_options("--format")
@loudness
def whatif(**given: Any) -> None:
    """Show what LOG would cost in a scenario: other models, batch jobs, caches, shorter texts, growth, other prices.

    The steps are applied one after the other, and each is priced again on the usage that the ones before have left.
    """
    from advisor.commands.whatif import run  # noqa: PLC0415

    _finish(run(**given, bills=(), tolerance="1"))


def _finish(exit_code: int) -> None:
    if exit_code:
        raise SystemExit(exit_code)
