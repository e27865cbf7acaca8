"""``advisor reconcile``: a gate on how well the computed cost agrees with the bill."""

from typing import Any

import click

from advisor.cli import EXIT_GATE
from advisor.commands.analyze import options_of, run_analysis
from advisor.commands.output import Progress, write
from advisor.commands.outputs import outputs_of, paper, render


def run(paths: tuple[str, ...], **given: Any) -> int:
    """Compare, write the outputs or show the comparison, and return the exit code: 1 when it is not reconciled."""
    outputs = outputs_of(given)
    progress = Progress(wanted=given["progress"], quiet=given["quiet"])
    analysis = run_analysis(paths, options_of(given), progress)
    for kind, target in outputs.items():
        write(target, render(kind, analysis, target, quiet=given["quiet"]))
    progress.done()
    if not outputs and not given["quiet"]:
        from advisor.render.reconciliation import render_reconciliation  # noqa: PLC0415
        from advisor.view import build_view  # noqa: PLC0415

        width, color = paper(no_color=given["no_color"])
        click.echo(
            render_reconciliation(build_view(analysis), width=width, color=color), nl=False, color=True
        )
    outcome = analysis.reconciliation
    return 0 if outcome is not None and outcome.is_reconciled else EXIT_GATE
