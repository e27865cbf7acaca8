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
