"""The commands about running models on one's own accelerators. Options only."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from advisor.cli_options import input_options, loudness, memory_option, price_option, terms_options


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
@click.option(
    "--input-tokens",
    type=click.IntRange(min=1),
    default=2_000,
    show_default=True,
    metavar="N",
    help="Of one prompt.",
)
@click.option(
    "--output-tokens",
    type=click.IntRange(min=1),
    default=300,
    show_default=True,
    metavar="N",
    help="Of one answer.",
)
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


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="LOG...")
@click.option(
    "--model",
    "open_models",
    multiple=True,
    metavar="NAME",
    help="Open model to host, or its config.json (default: those of a class comparable to the log's). Repeatable.",
)
@click.option(
    "--gpu",
    "gpus",
    multiple=True,
    metavar="NAME",
    help="Accelerator (default: all with a price). Repeatable.",
)
@click.option("--engine", metavar="NAME", help="vllm, sglang, trtllm, llama.cpp (default: vllm).")
@click.option(
    "--precision",
    metavar="NAME",
    help="Of weights and cache: fp8, fp8/bf16, int4 (default: the cheapest usual).",
)
@click.option(
    "--ttft-ms",
    type=click.FloatRange(min=0),
    default=3_000,
    show_default=True,
    metavar="MS",
    help="Until the first token, for 95 % of the requests; 0 for no promise.",
)
@click.option(
    "--tpot-ms",
    type=click.FloatRange(min=0),
    default=50,
    show_default=True,
    metavar="MS",
    help="Between tokens; 0 for no promise.",
)
@click.option(
    "--percentile",
    type=click.FloatRange(min=1, max=100),
    default=95,
    show_default=True,
    metavar="P",
    help="Busy minutes that keep the promise.",
)
@click.option(
    "--redundancy",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Spare replicas.",
)
@click.option(
    "--segment",
    type=click.Choice(["hyperscaler", "neocloud", "marketplace"]),
    help="Kind of provider (default: all).",
)
@click.option(
    "--price-kind",
    type=click.Choice(["on-demand", "spot", "reserved-1y"]),
    default="on-demand",
    show_default=True,
    help="How accelerators are taken.",
)
@click.option(
    "--gpu-usd-per-hour", metavar="USD", help="Your price for one accelerator and hour; needs --gpu."
)
@click.option(
    "--owned-usd", metavar="USD", help="Price of one accelerator that you buy, with its share of the machine."
)
@click.option(
    "--owned-years",
    type=click.FloatRange(min=0.5),
    default=4,
    show_default=True,
    metavar="N",
    help="Over which a bought accelerator is written off.",
)
@click.option(
    "--usd-per-kwh",
    default="0.12",
    show_default=True,
    metavar="USD",
    help="Electricity of owned accelerators.",
)
@click.option(
    "--overhead",
    "overheads",
    multiple=True,
    metavar="NAME=USD",
    help="What else it takes: on-call=4000 a month, network=5% of the accelerators. Repeatable.",
)
@click.option(
    "--models",
    "models_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Rows of your own models (CSV, TOML), or a config.json.",
)
@click.option(
    "--accelerators",
    "accelerators_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Rows of your own accelerators (CSV, TOML).",
)
@click.option(
    "--workload",
    "workloads",
    multiple=True,
    metavar="NAME",
    help="Only this workload of the log. Repeatable.",
)
@click.option("--group-by", metavar="KEYS", help="What a workload is, e.g. application or team,model.")
@click.option("--since", metavar="DATE", help="First day that counts (YYYY-MM-DD), inclusive.")
@click.option("--until", metavar="DATE", help="Last day that counts, inclusive.")
@click.option(
    "--timezone", default="UTC", show_default=True, metavar="ZONE", help="Zone whose calendar days count."
)
@click.option("--as-of", metavar="TIME", help="Moment whose offers count (default: now).")
@click.option(
    "--json",
    "json_file",
    metavar="FILE",
    help="Write the JSON document of the log, self_host in it; - is stdout.",
)
@memory_option
@partial(input_options, model_flag="--log-model")
@price_option
@terms_options
@loudness
def selfhost(**given: Any) -> None:
    """Compare the API bill of LOG with open models on own accelerators.

    Every minute of the log is held against what a replica does; replicas are whole, hours are paid whether they are used or
    not, and the error of the model is carried through to dollars. Quality is not compared.
    """
    from advisor.commands.selfhost import run  # noqa: PLC0415

    if code := run(**given):
        raise SystemExit(code)
