"""Measure peers on 100,000 rows beside the advisor, in one run: ``python benchmarks/peers.py [--rows N]``.

The log is LiteLLM's spend table as JSON lines, which all of them read. genai-prices' own calculator prices it row by row in
Python. ``toolkit-opt`` (toolkit-cost-optimizer) and ``cacheeconomics``, both from PyPI, run when the environment variables
TOOLKIT_OPT and CACHEECONOMICS name their programs; install them in an environment of their own.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import duckdb
from bench import Bench, BenchmarkError, Row, Run, cache_folder, line, machine, measure, save, size_mb
from genai_prices import Usage, calc_price

ROWS = 100_000
LOG = """
COPY (SELECT format('chatcmpl-{:016x}', hash(range)) AS request_id, 'acompletion' AS call_type,
    'hashed-key-' || range % 20 AS api_key, round((400 + range % 6000) * 2.5e-6 + (20 + range % 900) * 1e-5, 8) AS spend,
    420 + range % 6000 + range % 900 AS total_tokens, 400 + range % 6000 AS prompt_tokens,
    20 + range % 900 AS completion_tokens,
    strftime(TIMESTAMP '2026-09-01' + to_seconds(range * 25), '%Y-%m-%dT%H:%M:%S.%gZ') AS "startTime",
    strftime(TIMESTAMP '2026-09-01' + to_seconds(range * 25 + 3), '%Y-%m-%dT%H:%M:%S.%gZ') AS "endTime",
    'gpt-4o-2024-08-06' AS model, 'openai' AS custom_llm_provider, 'gpt-4o' AS model_group, 'team-' || range % 7 AS team_id,
    'success' AS status, []::INT[] AS request_tags, {status: 'success'} AS metadata
FROM range($rows)) TO '$path' (FORMAT json)
"""


def priced_one_by_one(path: Path) -> Decimal:
    """Return the cost of a log as genai-prices' calculator says, asked once a row."""
    total = Decimal(0)
    with path.open(encoding="utf-8") as lines:
        for text in lines:
            row = json.loads(text)
            usage = Usage(input_tokens=row["prompt_tokens"], output_tokens=row["completion_tokens"])
            at = datetime.fromisoformat(row["startTime"])
            total += calc_price(
                usage, row["model"], provider_id="openai", genai_request_timestamp=at
            ).total_price
    return total


def peers(log: Path, folder: Path, base: float) -> Iterator[Row]:
    """Yield one row a peer, with how many times the advisor's time it takes."""
    own = measure([sys.executable, __file__, "--price", str(log)])
    yield Row("peers", "genai-prices, a row a call", own.seconds, own.peak_mb, base, f"${own.output.strip()}")
    rows, page = str(folder / "rows.jsonl"), str(folder / "peer.html")
    programs: dict[str, list[list[str]]] = {
        "TOOLKIT_OPT": [
            ["ingest", "--format", "litellm-spendlogs", "--input", str(log), "--rows", rows],
            ["summarize", "--input", rows],
        ],
        "CACHEECONOMICS": [
            [
                *[
                    "analyze",
                    "--from",
                    "litellm",
                    "--tenant",
                    "t",
                    "--allow-unreconciled",
                    "--format",
                    "html",
                    "--out",
                ],
                page,
                str(log),
            ],
        ],
    }
    for variable, commands in programs.items():
        name = variable.lower().replace("_", "-")
        program = os.environ.get(variable)
        if not program:
            yield Row("peers", name, 0, None, None, f"skipped: {variable} does not name its program")
            continue
        try:
            run = _all([[program, *command] for command in commands])
        except BenchmarkError as error:
            yield Row("peers", name, 0, None, None, f"skipped: {error}")
            continue
        yield Row(
            "peers", name, run.seconds, run.peak_mb, base, " and ".join(command[0] for command in commands)
        )


def _all(commands: Sequence[Sequence[str]]) -> Run:
    runs = [measure(command) for command in commands]
    return Run(sum(run.seconds for run in runs), max(run.peak_mb for run in runs), runs[-1].output)


def main() -> int:
    """Print the advisor's time and each peer's, and their ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--times", type=int, default=3, help="runs of the advisor (default: %(default)s)")
    parser.add_argument("--cache", type=Path, default=cache_folder())
    parser.add_argument("--json", type=Path, help="write the rows here too")
    parser.add_argument("--price", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.price:
        begin = time.perf_counter()
        total = priced_one_by_one(chosen.price)
        print(f"{total:.2f} in {time.perf_counter() - begin:.1f} s of pricing")
        return 0
    log = chosen.cache / f"litellm-{chosen.rows}.jsonl"
    chosen.cache.mkdir(parents=True, exist_ok=True)
    if not log.exists():
        duckdb.execute(LOG.replace("$rows", str(chosen.rows)).replace("$path", str(log).replace("'", "''")))
    print(machine())
    own = Bench((str(Path(sys.executable).with_name("advisor")),), chosen.cache, 1, chosen.times, 0).analyze(
        log
    )
    rows = [
        Row(
            "peers",
            f"advisor, {chosen.rows:,} rows",
            own.seconds,
            own.peak_mb,
            None,
            f"{size_mb(log):.0f} MB",
        )
    ]
    print(line(rows[0]))
    with tempfile.TemporaryDirectory() as folder:
        for row in peers(log, Path(folder), own.seconds):
            print(line(row), flush=True)
            rows.append(row)
    save(chosen.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
