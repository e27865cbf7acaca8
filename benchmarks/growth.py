"""How time, memory and what is kept grow with the log: ``python benchmarks/growth.py [--rows 1000000 10000000]``.

For each size: a generated table as Parquet, a bare scan of it, ``analyze --memory-limit 2GB`` with report and document, and ``render`` of the
saved document. 100 million rows take 1.4 GB on disk, and 3 GB while they are analysed.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from bench import (
    HERE,
    Bench,
    BenchmarkError,
    Row,
    cache_folder,
    line,
    machine,
    measure,
    repeat,
    save,
    size_mb,
)

LIMIT = "2GB"
SIZES = (1_000_000, 10_000_000, 100_000_000)


def measured(bench: Bench, count: int) -> list[Row]:
    """Return the rows of one size."""
    log = bench.log("csv", count, ".parquet")
    scans = [measure([sys.executable, str(HERE / "scan.py"), "parquet", str(log)]) for _ in range(2)]
    base = json.loads(scans[-1].output)["seconds"]
    name = f"{count:,}"
    rows = [
        Row(
            name, "bare DuckDB scan", base, max(run.peak_mb for run in scans), None, f"{size_mb(log):,.0f} MB"
        )
    ]
    with tempfile.TemporaryDirectory() as folder:
        page, saved = Path(folder, "report.html"), Path(folder, "report.json")
        command = [
            *bench.advisor,
            "analyze",
            str(log),
            "--memory-limit",
            LIMIT,
            "-o",
            str(page),
            "--json",
            str(saved),
            "-q",
        ]
        run = repeat(bench.times, command)
        cells = len(json.loads(saved.read_text(encoding="utf-8"))["by_day"])
        note = f"{run.seconds / count * 1e6:.2f} s a million rows, {cells} days"
        rows.append(Row(name, "advisor analyze", run.seconds, run.peak_mb, base, note))
        again = repeat(
            bench.times, [*bench.advisor, "render", str(saved), "--format", "html", "-o", str(page)]
        )
        note = f"of a document of {size_mb(saved):.2f} MB, {size_mb(log) / size_mb(saved):,.0f} times smaller than the log"
        rows.append(Row(name, "advisor render", again.seconds, again.peak_mb, None, note))
    return rows


def main() -> int:
    """Print the rows of each size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--cache", type=Path, default=cache_folder())
    parser.add_argument("--json", type=Path, help="write the rows here too")
    chosen = parser.parse_args()
    bench = Bench((str(Path(sys.executable).with_name("advisor")),), chosen.cache, 1, chosen.times, 7)
    print(machine())
    rows: list[Row] = []
    for count in chosen.rows:
        try:
            made = measured(bench, count)
        except BenchmarkError as error:
            print(f"{count:,} failed: {error}", flush=True)
            continue
        for row in made:
            print(line(row), flush=True)
        rows += made
    save(chosen.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
