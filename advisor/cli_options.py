"""Options that several commands have in common."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

Command = Callable[..., Any]


_SIZE: Final = re.compile(r"\s*\d+(\.\d+)?\s*[KMGT]i?B?\s*", re.IGNORECASE)


def memory_option(command: Command) -> Command:
    """Say how much memory a run may take."""

    def checked(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
        if value is not None and not _SIZE.fullmatch(value):
            raise click.BadParameter(f"{value!r} is no size, such as 2GB, 500MB or 1.5GiB")
        return value

    return click.option(
        "--memory-limit",
        metavar="SIZE",
        callback=checked,
        help="Memory of the run, e.g. 2GB: what does not fit goes to files (default: most of the machine).",
    )(command)


def input_options(command: Command, *, model_flag: str = "--model") -> Command:
    """Say how the input is to be read; ``model_flag`` is another name where ``--model`` says something else."""
    options = [
        click.option(
            "--format", "format_name", metavar="NAME", help="Skip recognition (see `advisor formats`)."
        ),
        click.option(
            model_flag, "model", metavar="NAME", help="Model of records that name none (plain traces)."
        ),
        click.option("--provider", metavar="NAME", help="Provider of records that name none."),
        click.option(
            "--map",
            "mapping",
            multiple=True,
            metavar="TARGET=COLUMN",
            help="Name a column of an unknown table, e.g. --map prompt=prompt_toks. Repeatable.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def price_option(command: Command) -> Command:
    """Say what tokens cost."""
    options = [
        click.option(
            "--prices",
            "price_files",
            multiple=True,
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Your own price cards (JSON, YAML, TOML), over the built-in book. Repeatable.",
        ),
        click.option(
            "--price-book",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Price by an exported book (`advisor prices --export`) instead of the built-in one.",
        ),
        click.option(
            "--map-model",
            "map_models",
            multiple=True,
            metavar="NAME=MODEL",
            help="What a name of the log stands for, e.g. a deployment. Repeatable.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def terms_options(command: Command) -> Command:
    """Say what was negotiated, and in which currency to report."""
    options = [
        click.option(
            "--discounts",
            "discount_files",
            multiple=True,
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Negotiated discounts and commitments (JSON, YAML, TOML). Repeatable.",
        ),
        click.option(
            "--currency",
            default="USD",
            show_default=True,
            metavar="CODE",
            help="Currency of the amounts, e.g. EUR; needs --fx.",
        ),
        click.option(
            "--fx",
            "fx_file",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Exchange rates by month or day, in CODE per USD (CSV, JSON).",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def report_options(command: Command) -> Command:
    """Say what is analysed and where the report goes, for the commands that make one."""
    options: list[Callable[[Command], Command]] = [
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
            "--timezone",
            default="UTC",
            show_default=True,
            metavar="ZONE",
            help="Zone whose calendar days count.",
        ),
        click.option("--as-of", metavar="TIME", help="Moment of the report (default: now)."),
        click.option("-o", "--html", "html_file", metavar="FILE", help="Write the HTML report; - is stdout."),
        click.option("--json", "json_file", metavar="FILE", help="Write the JSON document; - is stdout."),
        click.option(
            "--markdown", "markdown_file", metavar="FILE", help="Write a Markdown summary; - is stdout."
        ),
        click.option("--xlsx", "xlsx_file", metavar="FILE", help="Write an Excel workbook; - is stdout."),
        click.option(
            "--focus",
            "focus_file",
            metavar="FILE",
            help="Write the bill as FOCUS 1.2, CSV or .parquet; - is stdout.",
        ),
        memory_option,
        click.option(
            "--engine",
            metavar="ENGINE",
            help="What adds up: duckdb (default), spark-local, spark, or spark://HOST:PORT; see docs/scale.md.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return input_options(price_option(terms_options(command)))


def bill_option(*, required: bool) -> Callable[[Command], Command]:
    """Say where a provider's bill is, and how well it has to agree."""
    bill = click.option(
        "--bill",
        "bills",
        multiple=True,
        required=required,
        metavar="BILL",
        help="The provider's cost export or page, to compare with. Repeatable.",
    )
    tolerance = click.option(
        "--tolerance",
        default="1",
        show_default=True,
        metavar="PCT",
        help="Percent of the bill that may stay unexplained.",
    )
    return lambda command: bill(tolerance(command))


def loudness(command: Command) -> Command:
    """Say how much is said."""
    options = [
        click.option(
            "--progress/--no-progress", default=None, help="Progress on stderr (default: on a terminal)."
        ),
        click.option("--no-color", is_flag=True, help="No colour, whatever the terminal can do."),
        click.option("-v", "--verbose", is_flag=True, help="Say more about what is done."),
        click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors."),
    ]
    for option in reversed(options):
        command = option(command)
    return command
