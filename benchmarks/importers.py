"""Time every importer over its own golden input, made large: ``python benchmarks/importers.py [NAME...]``.

A golden input is read as it is, and written over and over into one file (``--megabytes``), to the ledger. The first is what a
run costs whatever the size (looking at the file, writing and planning the query); what the second takes beyond it grows with
the file. The table gives both, as seconds and as MB a second, of the best of a format's inputs, and how many times slower
each importer is than the fastest one that reads the same kind of file. Seconds are those of all cores together, so that what
else the machine does hardly shows. Documents that cannot be repeated line by line (a JSON
array, one object), text logs, and lines that are damaged on purpose are left out.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from workloads.load import LoadOptions, load
from workloads.relations import connect

GOLDENS = Path(__file__).resolve().parent.parent / "tests" / "golden" / "importers"


def unreadable_lines(expected: Path) -> set[int]:
    """Return the lines of a golden input that no row can be read from: to name them, a large file is read again."""
    account = json.loads(expected.read_text(encoding="utf-8").split("\n", 1)[0])
    return {line for _, line, _ in account["skipped"] if line}


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
    path = folder / f"{source.parent.parent.name}-{source.parent.name}{source.suffix}"
    path.write_text("\n".join([*head, ""]) + block * max(1, size // len(block.encode())), encoding="utf-8")
    return path


def seconds(path: Path) -> float:
    """Return how much processor time the file takes to the ledger, the better of two runs."""
    best = float("inf")
    for _ in range(2):
        connection = connect()
        begin = time.process_time()
        load(connection, [str(path)], LoadOptions())
        best = min(best, time.process_time() - begin)
        connection.disconnect()
    return best


def measured(source: Path, folder: Path, size: int) -> tuple[float, float] | None:
    """Return MB a second beyond the fixed part, and the fixed part in seconds; None for what cannot be repeated."""
    path = repeated(source, folder, size)
    if path is None:
        return None
    fixed = seconds(source)
    rate = path.stat().st_size / 1e6 / max(seconds(path) - fixed, 1e-3)
    path.unlink()
    return rate, fixed


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--megabytes", type=int, default=64)
    options = parser.parse_args()
    found: dict[str, dict[str, tuple[float, float]]] = {".jsonl": {}, ".csv": {}}
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
    for suffix, rates in found.items():
        fastest = max((rate for rate, _ in rates.values()), default=0.0)
        for name, (rate, fixed) in sorted(rates.items(), key=lambda item: -item[1][0]):
            print(f"{suffix:<7} {name:<24} {rate:8.1f} MB/s  {fastest / rate:6.2f}x  {fixed:6.2f} s fixed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
