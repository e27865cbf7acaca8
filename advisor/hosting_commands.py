"""The commands about running models on one's own accelerators. Options only."""

from pathlib import Path
from typing import Any

import click


@click.command()
@click.argument("path", metavar="TABLE.csv")
@click.option("--json", "json_file", metavar="FILE", help="Write the JSON document; - is stdout.")
@click.option(
    "--anchor",
    "anchor_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A table with ttft_ms, tpot_ms or output_tok_s_per_gpu that you measured: estimates for the same model, "
    "accelerator and engine move to it, and their bands narrow.",
)
def serving(**given: Any) -> None:
    """Estimate latency and throughput of deployments, with the band that held 80 % of published measurements.

    TABLE.csv has a row a deployment and load: row_id, group, model, precision, gpu, n_gpus, tp, engine, input_len,
    output_len, concurrency_or_rate (a number of requests in flight, or inf). What does not fit is refused with the
    memory budget.
    """
    from advisor.commands.serving import run  # noqa: PLC0415

    if code := run(**given):
        raise SystemExit(code)


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("gpu", metavar="GPU")
@click.option(
    "--gpus", type=click.IntRange(min=1), metavar="N", help="How many (default: the fewest that hold it)."
)
@click.option(
    "--layout", metavar="NAME", help="How they share the model: tp4, tp4pp2, dep8 (default: tensor ranks)."
)
@click.option(
    "--precision", metavar="NAME", help="Of the weights, and behind a slash of the cache: fp8, int4/bf16."
)
@click.option(
    "--engine", default="vllm", show_default=True, metavar="NAME", help="vllm, sglang, trtllm, llama.cpp."
)
@click.option("--input-tokens", type=click.IntRange(min=1), default=2_000, show_default=True, metavar="N")
@click.option("--output-tokens", type=click.IntRange(min=1), default=300, show_default=True, metavar="N")
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    metavar="N",
    help="Sequences decoded together.",
)
@click.option("--json", "json_file", metavar="FILE", help="Write the JSON document; - is stdout.")
@click.option(
    "--models",
    "models_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Rows of your own models (CSV, TOML).",
)
@click.option(
    "--accelerators",
    "accelerators_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Rows of your own accelerators (CSV, TOML).",
)
def phases(**given: Any) -> None:
    """Show what bounds prefill and decode of MODEL on GPU, what is reached of it, and what would change it.

    MODEL is a name of an open model, or the config.json beside its weights.
    """
    from advisor.commands.phases import run  # noqa: PLC0415

    if code := run(**given):
        raise SystemExit(code)
