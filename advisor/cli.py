"""The command line: options to objects, errors to sentences, outcomes to exit codes. No arithmetic here.

Exit codes: 0 done; 1 a gate or ``--strict`` failed; 2 wrong usage or configuration; 3 nothing readable or priced.
Everything heavy is imported inside the commands, so that ``--help`` answers at once.
"""

import contextlib
import gc
import os
import sys
from pathlib import Path
from typing import Any, Final

import click

from advisor.cli_options import (
    bill_option,
    input_options,
    loudness,
    memory_option,
    price_option,
    report_options,
)
from advisor.commands.say import harmless, say
from advisor.completion import complete_paths
from advisor.config import ConfigError, read_config
from advisor.export_commands import render
from advisor.finance_commands import check
from advisor.finance_options import finance_options
from advisor.hosting_commands import phases, selfhost, serving
from advisor.ledger_commands import ledger
from advisor.scenario_commands import diff, whatif
from workloads.copies import remove_copies
from workloads.failures import first_line, is_of_the_machine, is_stop, of_the_machine

EXIT_GATE: Final = 1
EXIT_USAGE: Final = 2
EXIT_NOTHING: Final = 3
EXIT_STOPPED: Final = 130

_CONTEXT: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Failure(click.ClickException):
    """A run that ends with one sentence on stderr and an exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        """Keep the sentence and the code."""
        super().__init__(message)
        self.code = exit_code


@click.group(context_settings=_CONTEXT)
@click.version_option(package_name="token-cost-advisor", prog_name="advisor")
@click.pass_context
def cli(context: click.Context) -> None:
    """Why is our LLM bill this high, and what do we do about it?

    Reads usage logs and exports, prices them exactly, and says for every workload whether reading prompts
    (prefill) or writing answers (decode) makes the bill. Start with `advisor demo`, or with
    `advisor analyze PATH`.
    """
    try:
        context.default_map = read_config(Path.cwd())
    except ConfigError as error:
        raise Failure(str(error), EXIT_USAGE) from error


@cli.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@report_options
@bill_option(required=False)
@click.option(
    "--self-host",
    is_flag=True,
    help="Compare with own accelerators too; takes seconds (`advisor selfhost` has the options).",
)
@finance_options
@click.option("--strict", is_flag=True, help="Exit 1 when any row was skipped or could not be priced.")
@click.option(
    "--fail-on-unpriced",
    metavar="PCT",
    help="Exit 1 when more than PCT percent of requests or tokens have no price.",
)
@loudness
def analyze(**given: Any) -> None:
    """Price a log, split it into phases, and report.

    PATH is a file, a folder, a glob, or - for stdin; .gz is fine. Without an output option a summary goes to
    the terminal and the report to advisor-report.html.
    """
    from advisor.commands.analyze import run  # noqa: PLC0415

    _finish(run(**given))


@cli.command()
@click.argument("paths", nargs=-1, required=True, metavar="LOG...")
@bill_option(required=True)
@report_options
@loudness
def reconcile(**given: Any) -> None:
    """Compare the computed cost of LOG with a provider's bill, and explain the difference.

    Exit code 0: what stays unexplained is within the tolerance; 1: it is not; 3: there is nothing to compare.
    Without an output option the comparison goes to the terminal.
    """
    from advisor.commands.reconcile import run  # noqa: PLC0415

    _finish(run(**given))


@cli.command()
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path),
    default="advisor-demo",
    help="Folder to write to (default: advisor-demo).",
)
@click.option("--requests", type=click.IntRange(min=1_000), default=80_000, help="Lines (default: 80,000).")
@click.option("--seed", type=int, default=7, help="The same makes the same log (default: 7).")
@loudness
def demo(**given: Any) -> None:
    """Write a sample log (a month of a company's requests) and its report."""
    from advisor.commands.demo import run  # noqa: PLC0415

    _finish(run(**given))


@cli.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@input_options
@click.option("--no-color", is_flag=True, help="No colour.")
def doctor(**given: Any) -> None:
    """Explain what was recognised in PATH, what was skipped and why, and what to try."""
    from advisor.commands.doctor import run  # noqa: PLC0415

    _finish(run(**given))


@cli.command()
def formats() -> None:
    """List the log formats that are recognised."""
    from advisor.commands.doctor import list_formats  # noqa: PLC0415

    click.echo(list_formats())


@cli.command()
@click.argument("model", required=False)
@click.option("--provider", metavar="NAME", help="Provider of the model.")
@click.option("--export", "export_file", metavar="FILE", help="Write the built-in book; - is stdout.")
@click.option(
    "--diff",
    "old_book",
    type=click.Path(path_type=Path),
    metavar="OLD_BOOK",
    help="Show what the built-in book has otherwise than an exported one; exit 1 if the past changed.",
)
@click.option("--as-of", metavar="TIME", help="What --diff calls the past ends here (default: now).")
@price_option
def prices(**given: Any) -> None:
    """Show the price cards of MODEL, with source and date; without MODEL, list the models."""
    from advisor.commands import prices as run  # noqa: PLC0415

    target, old, as_of = (given.pop(name) for name in ("export_file", "old_book", "as_of"))
    if target is not None:
        _finish(run.export(target))
    elif old is not None:
        _finish(run.diff(old, as_of))
    else:
        _finish(run.show(**given))


@cli.command()
@click.argument("model", metavar="MODEL|FILE")
@click.argument("usage", nargs=-1, metavar="[METER=COUNT...]")
@click.option("--provider", metavar="NAME", help="Provider of the model.")
@click.option("--service-tier", metavar="NAME", help="batch, flex, priority ... (default: standard).")
@click.option("--region", metavar="NAME", help="Where it was served: us, eu, data_zone ...")
@click.option("--at", metavar="TIME", help="Instant of the request (default: now).")
@click.option("--json", "json_file", metavar="FILE", help="Price a FILE of usages into JSON; - is stdout.")
@price_option
def explain(**given: Any) -> None:
    """Price one usage line by line, or a JSON file of usages.

    E.g. `advisor explain gpt-4o input_uncached=1000 output=200`, or `advisor explain usages.json --json -` for a
    list of {id, provider, model, timestamp, context, usage}.
    """
    from advisor.commands.explain import explain_file, explain_one  # noqa: PLC0415

    target, model = given.pop("json_file"), given["model"]
    if target is not None:
        keys = ("price_files", "price_book", "map_models")
        _finish(explain_file(Path(model), target, **{key: given[key] for key in keys}))
    elif not given["usage"]:
        raise click.UsageError("name METER=COUNT pairs, or a FILE of usages with --json")
    else:
        _finish(explain_one(**given))


@cli.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@input_options
@price_option
@click.option("--ttl", type=click.FloatRange(min=0), metavar="SECONDS", help="Replay one lifetime.")
@click.option("--no-refresh", is_flag=True, help="An entry lives from its writing, whatever reads it.")
@click.option(
    "--capacity-blocks",
    type=click.IntRange(min=1),
    metavar="N",
    help="Replay a least-recently-used cache of N blocks instead.",
)
@click.option(
    "--measure-last",
    type=click.FloatRange(min=0, max=1, min_open=True),
    default=1.0,
    show_default=True,
    metavar="SHARE",
    help="Measure only this part of the requests, at the end; the ones before fill the cache.",
)
@click.option("--since", metavar="DATE", help="First day that counts (YYYY-MM-DD), inclusive.")
@click.option("--until", metavar="DATE", help="Last day that counts, inclusive.")
@click.option("--timezone", default="UTC", show_default=True, metavar="ZONE", help="Zone whose days count.")
@click.option("--as-of", metavar="TIME", help="Moment whose cache rules count (default: now).")
@click.option("--json", "json_file", metavar="FILE", help="Write the JSON document; - is stdout.")
@memory_option
@loudness
def cache(**given: Any) -> None:
    """Replay a prompt cache over the arrivals of a log.

    Without --ttl or --capacity-blocks the lifetimes that providers sell are compared, with their cost.
    """
    from advisor.commands.cache import run  # noqa: PLC0415

    _finish(run(**given))


@cli.command()
def schema() -> None:
    """Print the JSON Schema of the JSON document."""
    from advisor.render.json import schema_json  # noqa: PLC0415

    click.echo(schema_json(), nl=False)


for _command in (check, diff, ledger, phases, render, selfhost, serving, whatif):
    cli.add_command(_command)
complete_paths(cli)


def _finish(exit_code: int) -> None:
    if exit_code:
        raise SystemExit(exit_code)


def main() -> None:
    """Run the command line; a failure is a sentence on stderr and an exit code, never a traceback."""
    # The log is in the engine, not in Python's objects: there is nothing that looking for cycles would find.
    gc.disable()
    code = _run()
    with contextlib.suppress(BrokenPipeError, ValueError):  # whoever read our output may be gone
        sys.stdout.flush()
        sys.stderr.flush()
    remove_copies()
    # The process ends here: to take down the engine's tables one by one would only make the user wait.
    os._exit(code)


def _run() -> int:
    try:
        outcome = cli.main(prog_name="advisor", standalone_mode=False)
    except SystemExit as error:
        outcome = error.code
    except BrokenPipeError:
        outcome = 0
    except Exception as error:  # noqa: BLE001  (the last line of defence: no traceback reaches a user)
        outcome = _code_of(error)
    return outcome if isinstance(outcome, int) else 0


def _code_of(error: Exception) -> int:
    """Say an error in one sentence on stderr, and return the exit code that it means."""
    if isinstance(error, click.exceptions.Abort) or is_stop(error):
        click.echo("Stopped.", err=True)
        return EXIT_STOPPED
    if isinstance(error, click.ClickException):
        vars(error)["message"] = harmless(error.message)
        error.show()
        return error.code if isinstance(error, Failure) else error.exit_code
    if is_of_the_machine(error):
        say(f"Error: {of_the_machine(error)}", err=True)
        return EXIT_USAGE
    if {"-v", "--verbose"} & set(sys.argv):
        raise error
    told = f"something unexpected happened ({type(error).__name__}: {first_line(error)})"
    hint = "This is a defect of advisor; run again with --verbose and report what it prints."
    say(f"Error: {told}. {hint}", err=True)
    return EXIT_NOTHING
