"""The commands that keep a ledger: ``ledger add``, ``ledger show`` and ``ledger remove``. Options only."""

from pathlib import Path
from typing import Any

import click

from advisor.cli_options import input_options, loudness, memory_option

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.group()
def ledger() -> None:
    """Keep a ledger: read each log once, add what is new, analyse all of it.

    `advisor ledger add logs/ --to DIR` reads what is new or has changed; `advisor analyze DIR` says of the ledger what it
    would say of the logs.
    """


@ledger.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--to", "folder", required=True, type=_FOLDER, metavar="DIR", help="The ledger's folder.")
@input_options
@memory_option
@loudness
def add(**given: Any) -> None:
    """Add to the ledger in DIR what is new or has changed in PATH.

    PATH is a file, a folder, a glob, or - for stdin. DIR is made when it is not there. An input that has grown or changed
    replaces what was read from it before. A run that is stopped leaves the ledger as it was after its last whole step:
    run it again.
    """
    from advisor.commands.ledger import run_add  # noqa: PLC0415

    run_add(**given)


@ledger.command()
@click.argument("folder", type=_FOLDER, metavar="DIR")
@click.option("--json", "json_file", metavar="FILE", help="Write all of it as JSON; - is stdout.")
def show(**given: Any) -> None:
    """Show what the ledger in DIR holds: inputs, days and rows."""
    from advisor.commands.ledger import run_show  # noqa: PLC0415

    run_show(**given)


@ledger.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--from", "folder", required=True, type=_FOLDER, metavar="DIR", help="The ledger's folder.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
def remove(**given: Any) -> None:
    """Take inputs out of the ledger in DIR, with their rows.

    PATH is an input as `advisor ledger show` lists it, or a folder of inputs; the files need not be there any more.
    """
    from advisor.commands.ledger import run_remove  # noqa: PLC0415

    run_remove(**given)
