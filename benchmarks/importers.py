"""Time every importer over its own golden input, made large: ``python benchmarks/importers.py [NAME...]``.

A golden input is written over and over into one file (``--megabytes``) and into one of an eighth of that; each time its
calls get names of their own, since no log repeats a few calls all the way. Both are read to the ledger. What the large file
takes beyond the small one grows with the file; the rest is what a run costs whatever the size (looking at the file, writing
and planning the query, getting its parts ready in every thread). The table gives both, as MB a second and as seconds, of the
best of a format's inputs, how many times slower each importer is than the fastest one that reads the same kind of file, and
how many times longer it takes than the engine alone to read the same fields (bare), and what a line of the file takes.
Seconds are those of all cores together, so that what else the machine does hardly shows. Documents that cannot be repeated
line by line (a JSON array, one object), text logs, and lines that are damaged on purpose are left out.
"""

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workloads.batches import ReadOptions
from workloads.load import LoadOptions, inspect_all, load, make_batches, read_files
from workloads.relations import connect

GOLDENS = Path(__file__).resolve().parent.parent / "tests" / "golden" / "importers"
_SMALLER = 8


def unreadable_lines(expected: Path) -> set[int]:
    """Return the lines of a golden input that no row can be read from: to name them, a large file is read again."""
    account = json.loads(expected.read_text(encoding="utf-8").split("\n", 1)[0])
    return {line for _, line, _ in account["skipped"] if line}


def call_names(source: Path) -> list[str]:
    """Return the texts that tell the calls of an input apart."""
    connection = connect()
    rows = read_files(connection, inspect_all([str(source)]), LoadOptions()).rows
    names: list[str] = []
    if rows is not None and "dedup_group" in rows.columns:
        names = list(
            connection.execute(rows.dedup_group.nullif("").name("name").as_table().distinct())[
                "name"
            ].dropna()
        )
    connection.disconnect()
    return sorted(names, key=len, reverse=True)


def repeated(source: Path, folder: Path, size: int) -> Path | None:
    """Return a large file of the input's lines; None when it cannot be repeated line by line."""
    text = source.read_text(encoding="utf-8-sig")
    skipped = unreadable_lines(source.with_name("expected.jsonl"))
    numbered = enumerate(text.splitlines(), start=1)
    lines = [line for number, line in numbered if line.strip() and number not in skipped]
    head: list[str] = []
    if source.suffix == ".csv":
        head, lines = lines[:1], lines[1:]
    elif source.suffix != ".jsonl" or not all(line.startswith("{") for line in lines):
        return None
    if not lines:
        return None
    block = "\n".join(lines) + "\n"
    path = folder / f"{source.parent.parent.name}-{source.parent.name}-{size}{source.suffix}"
    names = "|".join(map(re.escape, call_names(source)))
    # Whole words, so that a short name is not found inside of others.
    called = re.compile(rf"(?<![\w.-])({names})(?![\w.-])") if names else None
    with path.open("w", encoding="utf-8") as file:
        file.write("\n".join([*head, ""]))
        for number in range(max(1, size // len(block.encode()))):
            file.write(called.sub(rf"\g<1>{number:05x}", block) if called and number else block)
    return path


def seconds(work: Callable[[Any], object]) -> float:
    """Return how much processor time a work with an engine of its own takes, the better of two runs."""
    best = float("inf")
    for _ in range(2):
        connection = connect()
        begin = time.process_time()
        work(connection)
        best = min(best, time.process_time() - begin)
        connection.disconnect()
    return best


def to_ledger(path: Path) -> float:
    """Return how long a file takes to the ledger."""
    return seconds(lambda connection: load(connection, [str(path)], LoadOptions()))


def bare_scan(path: Path) -> float:
    """Return how long the engine alone takes to read what the importer reads of a file."""
    files, _ = inspect_all([str(path)])
    (batch,), _ = make_batches(files, ReadOptions())

    def scan(connection: Any) -> None:
        raw = batch.raw(connection, batch.files)
        connection.execute(
            raw.agg(**{f"column_{n}": raw[name].count() for n, name in enumerate(raw.columns)})
        )

    return seconds(scan)


@dataclass(frozen=True, slots=True, order=True)
class Speed:
    """How fast an importer is on one input, in MB a second beyond the fixed part."""

    rate: float
    fixed_seconds: float
    bare_ratio: float
    """How many times longer than the bare scan."""
    row_microseconds: float


def measured(source: Path, folder: Path, size: int) -> Speed | None:
    """Return how fast an input is read; None for what cannot be repeated."""
    paths = [path for part in (size // _SMALLER, size) if (path := repeated(source, folder, part))]
    if not paths:
        return None
    sizes = [path.stat().st_size / 1e6 for path in paths]
    rows = [path.read_bytes().count(b"\n") for path in paths]
    small, large = (to_ledger(path) for path in paths)
    bare_small, bare_large = (bare_scan(path) for path in paths)
    grown = max(large - small, 1e-3)
    rate = (sizes[1] - sizes[0]) / grown
    for path in paths:
        path.unlink()
    return Speed(
        rate,
        fixed_seconds=max(small - sizes[0] / rate, 0.0),
        bare_ratio=grown / max(bare_large - bare_small, 1e-3),
        row_microseconds=grown / (rows[1] - rows[0]) * 1e6,
    )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--megabytes", type=int, default=64)
    options = parser.parse_args()
    found: dict[str, dict[str, Speed]] = {".jsonl": {}, ".csv": {}}
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted(GOLDENS.glob("*/*/input.*")):
            name, kind = source.parent.parent.name, found.get(source.suffix)
            # A case with options of its own is no plain file.
            if (
                kind is None
                or (options.names and name not in options.names)
                or (source.parent / "options.json").exists()
            ):
                continue
            result = measured(source, Path(folder), options.megabytes * 1_000_000)
            if result is not None:
                kind[name] = max(result, kind.get(name, result))
    for suffix, speeds in found.items():
        fastest = max((speed.rate for speed in speeds.values()), default=0.0)
        for name, speed in sorted(speeds.items(), key=lambda item: -item[1].rate):
            print(
                f"{suffix:<7} {name:<24} {speed.rate:8.1f} MB/s  {fastest / speed.rate:6.2f}x  "
                f"{speed.fixed_seconds:6.2f} s fixed  {speed.bare_ratio:6.2f}x bare  "
                f"{speed.row_microseconds:6.2f} us a line"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
