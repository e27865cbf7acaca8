"""The command that makes other outputs from a saved document. Options only."""

from typing import Any

import click

FORMATS = ("html", "markdown", "table", "json", "xlsx", "focus")


@click.command()
@click.argument("saved", metavar="SAVED.json")
@click.option("--format", "form", type=click.Choice(FORMATS), required=True, help="What to make.")
@click.option(
    "-o",
    "--output",
    "target",
    default="-",
    metavar="FILE",
    help="Where it goes (default: stdout); a .parquet file makes FOCUS Parquet.",
)
@click.option("--no-color", is_flag=True, help="No colour, whatever the terminal can do.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
def render(**given: Any) -> None:
    """Make another output from a document that `advisor analyze --json` saved, without the log.

    SAVED.json may be - for stdin. What is made is what `advisor analyze` would have made of the log.
    """
    from advisor.commands.render import run  # noqa: PLC0415

    run(**given)
