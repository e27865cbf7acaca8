"""What a row of a ledger costs: bytes in Parquet, and processor time from ledger to tables, embedded and on Spark.

Processor time is measured and not the clock, so that a busy machine does not change it. `docs/scale.md` is worked out from
these figures:  python benchmarks/scale.py --rows 2000000
"""

import argparse
import os
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from engine_parity import answers
from generated_spend import write

from workloads.engines import SPARK_LOCAL
from workloads.load import LoadOptions, load
from workloads.relations import connect, parquet_rows
from workloads.sniff import inspect
from workloads.spark import connect_spark, read_ledger, write_ledger


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--no-spark", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scale-") as name:
        folder = Path(name)
        measure(folder, given.rows, spark=not given.no_spark)


def measure(folder: Path, rows: int, *, spark: bool) -> None:
    """Print the figures of so many rows."""
    connection = connect()
    log, _ = write(connection, folder, rows)
    loaded: list[Any] = []
    reading = seconds(lambda: loaded.append(load(connection, [str(log)], LoadOptions())), own_seconds)
    ledger_folder = folder / "ledger"
    ledger_folder.mkdir()
    writing = seconds(lambda: write_ledger(connection, loaded[0].ledger, ledger_folder), own_seconds)
    files = sorted(ledger_folder.glob("*.parquet"))
    size = sum(file.stat().st_size for file in files)
    print(f"{rows:,} rows; log {log.stat().st_size / rows:.1f} bytes a row")
    print(f"ledger in Parquet: {size / rows:.1f} bytes a row")
    show("log -> ledger, embedded", reading, rows)
    show("ledger -> Parquet, embedded", writing, rows)
    stored = parquet_rows(connection, [inspect(str(file), file) for file in files])
    show("ledger -> all tables, embedded", seconds(lambda: answers(connection, stored), own_seconds), rows)
    if spark:
        on_spark(ledger_folder, rows)


def on_spark(folder: Path, rows: int) -> None:
    """Print what Spark takes and moves, warm."""
    engine = connect_spark(SPARK_LOCAL)
    context = engine.backend._session.sparkContext  # noqa: SLF001
    process = int(context._jvm.java.lang.ProcessHandle.current().pid())  # noqa: SLF001
    ledger = read_ledger(engine, [str(folder)], LoadOptions())

    def spent() -> float:
        return process_seconds(process)

    def moved() -> tuple[int, int]:
        summary = context._jsc.sc().statusStore().executorSummary("driver")  # noqa: SLF001
        return summary.totalInputBytes(), summary.totalShuffleWrite()

    cold = seconds(lambda: answers(engine, ledger), spent)
    before = moved()
    warm = seconds(lambda: answers(engine, ledger), spent)
    read, shuffled = (after - start for start, after in zip(before, moved(), strict=True))
    show("ledger -> all tables, Spark, first time", cold, rows)
    show("ledger -> all tables, Spark, warm", warm, rows)
    print(f"Spark reads {read / rows:.1f} bytes a row and shuffles {shuffled / rows:.2f}, over all tables")


def seconds(work: Callable[[], Any], spent: Callable[[], float]) -> float:
    """Return the processor time of some work."""
    start = spent()
    work()
    return spent() - start


def own_seconds() -> float:
    """Return the processor time of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def process_seconds(process: int) -> float:
    """Return the processor time of another process."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def show(what: str, spent: float, rows: int) -> None:
    """Print a figure."""
    print(f"{what}: {spent / rows * 1e6:.2f} core-seconds a million rows ({spent:.1f} s)")


if __name__ == "__main__":
    main()
