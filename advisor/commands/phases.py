"""``advisor phases``: what bounds prefill and decode of one model on one accelerator, and what would change it."""

import json
from dataclasses import replace
from pathlib import Path

import click

from advisor.cli import EXIT_NOTHING, EXIT_USAGE, Failure
from advisor.commands.output import write
from advisor.phase_words import document, text
from pricing.accelerators import Accelerator, accelerator, add_accelerators
from pricing.calibration import calibration, engine_of
from pricing.capacity import DoesNotFitError, smallest_sharding
from pricing.deployment import Deployment, Load
from pricing.errors import PricingError
from pricing.layouts import Layout, parse_layout
from pricing.memory import Sharding
from pricing.open_model import OpenModel
from pricing.open_models import add_open_models, from_config, open_model
from pricing.phase_study import study
from pricing.serving_table import default_precision


def run(
    model: str,
    gpu: str,
    *,
    gpus: int | None,
    layout: str | None,
    precision: str | None,
    engine: str,
    input_tokens: int,
    output_tokens: int,
    batch: int,
    json_file: str | None,
    models_file: Path | None,
    accelerators_file: Path | None,
) -> int:
    """Show one deployment phase by phase; return the exit code: 3 when it does not fit."""
    load = Load(input_tokens=input_tokens, output_tokens=output_tokens, concurrency=batch)
    try:
        chip = _accelerator(gpu, accelerators_file)
        deployment = _deployment(_model(model, models_file), chip, (gpus, layout), precision, engine, load)
        found = study(deployment, load, calibration())
    except DoesNotFitError as error:
        raise Failure(str(error), EXIT_NOTHING) from error
    except PricingError as error:
        raise Failure(str(error), EXIT_USAGE) from error
    if json_file is not None:
        write(json_file, json.dumps(document(found), indent=1, ensure_ascii=False) + "\n")
    if json_file != "-":
        chosen = gpus is None and layout is None
        click.echo(text(found, batch, chosen=chosen), nl=False)
    return 0


def _model(name: str, models_file: Path | None) -> OpenModel:
    """A row of the table, or what a ``config.json`` describes."""
    path = Path(name)
    if path.suffix == ".json" and path.is_file():
        return from_config(path)
    return open_model(name, add_open_models(models_file) if models_file else None)


def _accelerator(name: str, accelerators_file: Path | None) -> Accelerator:
    return accelerator(name, add_accelerators(accelerators_file) if accelerators_file else None)


def _deployment(
    model: OpenModel,
    chip: Accelerator,
    laid: tuple[int | None, str | None],
    precision: str | None,
    engine: str,
    load: Load,
) -> Deployment:
    gpus, label = laid
    rule, variant = engine_of(engine)
    one = Deployment(
        model=model,
        accelerator=chip,
        precision=precision or default_precision(model, chip),
        layout=Layout(shard=Sharding()),
        engine=rule,
        variant=variant,
    )
    stated = label or gpus
    return replace(one, layout=parse_layout(label or "", gpus) if stated else _smallest(one, load))


def _smallest(deployment: Deployment, load: Load) -> Layout:
    """The fewest accelerators that hold the weights and a sequence; one where none do, for the refusal that names them."""
    found = smallest_sharding(
        deployment.model,
        deployment.accelerator,
        precision=deployment.precision,
        context_tokens=load.input_tokens + load.output_tokens,
        kv_bytes=deployment.kv_bytes_per_value,
        engine=deployment.engine,
    )
    return Layout(shard=found or Sharding())
