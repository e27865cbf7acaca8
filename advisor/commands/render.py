"""``advisor render``."""

import sys
from pathlib import Path

import click

from advisor.analysis import Analysis
from advisor.cli import EXIT_USAGE, Failure
from advisor.commands.output import write
from advisor.commands.outputs import render, summary
from advisor.limits import MOST_LINES
from advisor.saved import SavedError, analysis_of


def run(saved: str, *, form: str, target: str, no_color: bool, quiet: bool) -> None:
    """Make one output from a saved document; what cannot be made is one sentence and exit code 2."""
    try:
        analysis = analysis_of(_read(saved), saved)
    except SavedError as error:
        raise Failure(f"{error}.", EXIT_USAGE) from error
    if form in ("xlsx", "focus") and analysis.cost_lines is None:
        raise Failure(
            f"{saved} does not hold the bill line by line, which {form} is made from: documents keep up to {MOST_LINES:,} "
            f"lines; make it from the log with `advisor analyze LOG --{form} FILE`.",
            EXIT_USAGE,
        )
    if form == "table":
        _table(analysis, target, no_color=no_color)
        return
    made = render(form, analysis, target, quiet=quiet)
    if target == "-" and isinstance(made, bytes) and sys.stdout.isatty():
        raise click.UsageError(f"--format {form} is no text for a terminal; name a file with -o FILE")
    write(target, made)


def _table(analysis: Analysis, target: str, *, no_color: bool) -> None:
    if target == "-":
        click.echo(summary(analysis, no_color=no_color), nl=False, color=True)
    else:
        write(target, summary(analysis, no_color=True))


def _read(saved: str) -> str:
    try:
        return sys.stdin.read() if saved == "-" else Path(saved).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise Failure(f"cannot read {saved}: {error.strerror or error}", EXIT_USAGE) from error
    except UnicodeDecodeError as error:
        raise SavedError(f"{saved} is not text in UTF-8: {error.reason}") from error
