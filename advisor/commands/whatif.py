"""``advisor whatif``."""

import json
import shlex
from pathlib import Path
from typing import Any

import click

from advisor.cli import EXIT_NOTHING, EXIT_USAGE, Failure
from advisor.commands.analyze import options_of
from advisor.commands.output import Progress, write
from advisor.render.text import aligned
from advisor.scenario_file import ScenarioError, place, read_scenario
from advisor.scenario_model import schema_json
from advisor.scenario_world import StepError
from advisor.whatif import WhatIf, what_if
from advisor.whatif_render import data_of, render
from pricing.errors import PriceFileError
from workloads.load import NothingReadableError
from workloads.sources import MappingError, SourceError


def run(paths: tuple[str, ...], **given: Any) -> int:
    """Apply the scenario, write or show what comes of it, and return the exit code: 3 when nothing has a price."""
    if given["schema"]:
        click.echo(schema_json(), nl=False)
        return 0
    if not paths or not given["scenario_file"]:
        raise click.UsageError("name a LOG and a --scenario FILE (its schema: advisor whatif --schema)")
    progress = Progress(wanted=given["progress"], quiet=given["quiet"])
    try:
        found = _found(paths, Path(given["scenario_file"]), given, progress)
    finally:
        progress.done()
    if given["json_file"]:
        write(given["json_file"], json.dumps(data_of(found), indent=1) + "\n")
    elif not given["quiet"]:
        click.echo(render(found, aligned), nl=False)
    if not found.outcome.stages[0].whole.is_priced:
        click.echo("Error: nothing could be priced; see `advisor doctor` and --prices FILE", err=True)
        return EXIT_NOTHING
    return 0


def _found(paths: tuple[str, ...], file: Path, given: dict[str, Any], progress: Progress) -> WhatIf:
    try:
        return what_if(paths, read_scenario(file), options_of(given), progress)
    except StepError as error:
        where = place(file, error.number, error.kind, error.key)
        raise Failure(f"{where}: {error}", EXIT_USAGE) from error
    except (ScenarioError, PriceFileError, MappingError) as error:
        raise Failure(str(error), EXIT_USAGE) from error
    except (NothingReadableError, SourceError) as error:
        hint = f" Try: advisor doctor {shlex.join(paths)}" if isinstance(error, NothingReadableError) else ""
        raise Failure(f"nothing to change: {error}.{hint}", EXIT_NOTHING) from error
