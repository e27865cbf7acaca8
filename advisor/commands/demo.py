"""``advisor demo``."""

from pathlib import Path
from typing import Any

import click

from advisor.cli import EXIT_USAGE, Failure
from advisor.cli import analyze as analyze_command
from advisor.commands.analyze import run as analyze
from advisor.demo import write_demo_log


def run(folder: Path, *, requests: int, seed: int, **loudness: Any) -> int:
    """Write the sample log and its report, and return the exit code."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        log = write_demo_log(folder / "gateway-log.jsonl", requests=requests, seed=seed)
    except OSError as error:
        raise Failure(f"cannot write to {folder}: {error.strerror or error}", EXIT_USAGE) from error
    report = folder / "report.html"
    words = ["--html", str(report), "--json", str(folder / "report.json"), "--", str(log.path)]
    # Every other option has the value that it has when it is not given.
    given = analyze_command.make_context("analyze", words).params
    code = analyze(**{**given, **loudness})
    if not loudness["quiet"]:
        click.echo(
            f"Log:    {log.path} ({log.requests:,} requests)\nReport: {report}\n\nOpen the report in a browser."
        )
    return code
