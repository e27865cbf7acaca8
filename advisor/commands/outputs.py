"""The forms that a report takes in files: which are asked for, and how each is made."""

import os
import shutil
import sys
from typing import Any, Final

import click

from advisor.analysis import Analysis
from advisor.cli import EXIT_USAGE, Failure
from advisor.commands.say import say
from advisor.limits import MOST_LINES

KINDS: Final = ("html", "json", "markdown", "xlsx", "focus")
_FROM_LINES: Final = frozenset(("json", "xlsx", "focus"))
"""Forms that need the bill line by line; the document keeps the lines for ``advisor render``."""


def outputs_of(given: dict[str, Any]) -> dict[str, str]:
    """Return which outputs are asked for, and where they go."""
    outputs = {kind: given[f"{kind}_file"] for kind in KINDS if given.get(f"{kind}_file")}
    if sum(target == "-" for target in outputs.values()) > 1:
        raise click.UsageError("only one output can go to stdout (-)")
    return outputs


def needs_lines(given: dict[str, Any]) -> bool:
    """Whether the bill is wanted line by line."""
    return any(given.get(f"{kind}_file") for kind in _FROM_LINES)


def most_lines(given: dict[str, Any]) -> int | None:
    """Return how many lines of a bill are of use; None: all."""
    return None if given.get("xlsx_file") or given.get("focus_file") else MOST_LINES


def render(kind: str, analysis: Analysis, target: str = "", *, quiet: bool = False) -> str | bytes:
    """Return an analysis in one of the forms for files.

    Args:
        kind: One of ``KINDS``.
        analysis: With cost lines for those forms that need them.
        target: Where it goes: a FOCUS file that is called ``.parquet`` is Parquet, any other CSV.
        quiet: Do not say on stderr what a form leaves out.

    Raises:
        Failure: The analysis has nothing for this form; exit code 2.
    """
    if kind == "json":
        from advisor.render.json import render_json  # noqa: PLC0415

        return render_json(analysis)
    if kind == "focus":
        return _focus(analysis, target, quiet=quiet)
    if kind == "xlsx":
        from advisor.render.xlsx import render_xlsx  # noqa: PLC0415

        return render_xlsx(analysis)
    from advisor.view import build_view  # noqa: PLC0415

    view = build_view(analysis)
    if kind == "markdown":
        from advisor.render.markdown import render_markdown  # noqa: PLC0415

        return render_markdown(view)
    from advisor.render.html import render_html  # noqa: PLC0415

    return render_html(view)


def _focus(analysis: Analysis, target: str, *, quiet: bool) -> str | bytes:
    from advisor.render import focus  # noqa: PLC0415  (only by runs that export)

    make = focus.render_focus_parquet if target.lower().endswith(".parquet") else focus.render_focus
    try:
        made = make(analysis)
    except focus.FocusError as error:
        raise Failure(f"no FOCUS export: {error}.", EXIT_USAGE) from error
    if not quiet:
        for sentence in focus.left_out(analysis):
            say(sentence, err=True)
    return made


def summary(analysis: Analysis, *, no_color: bool) -> str:
    """Return the table for the terminal."""
    from advisor.render.table import render_table  # noqa: PLC0415
    from advisor.view import build_view  # noqa: PLC0415

    width, color = paper(no_color=no_color)
    return render_table(build_view(analysis), width=width, color=color)


def paper(*, no_color: bool) -> tuple[int, bool]:
    """Return the terminal's width, and whether it may be painted."""
    plain = (
        no_color
        or bool(os.environ.get("NO_COLOR"))
        or not (sys.stdout.isatty() or os.environ.get("FORCE_COLOR"))
    )
    return shutil.get_terminal_size((100, 24)).columns, not plain
