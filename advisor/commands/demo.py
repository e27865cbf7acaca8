"""``advisor demo``."""

from pathlib import Path
from typing import Any

import click

from advisor.cli import EXIT_USAGE, Failure
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
    outputs = {"html_file": str(report), "json_file": str(folder / "report.json"), "markdown_file": None}
    nothing: dict[str, Any] = dict.fromkeys(
        (
            "format_name",
            "model",
            "provider",
            "group_by",
            "since",
            "until",
            "memory_limit",
            "fx_file",
            "fail_on_unpriced",
        )
    )
    code = analyze(
        (str(log.path),),
        **nothing,
        **outputs,
        as_of=None,
        mapping=(),
        price_files=(),
        discount_files=(),
        currency="USD",
        bills=(),
        tolerance="1",
        timezone="UTC",
        strict=False,
        show_users=False,
        **loudness,
    )
    if not loudness["quiet"]:
        click.echo(
            f"Log:    {log.path} ({log.requests:,} requests)\nReport: {report}\n\nOpen the report in a browser."
        )
    return code
