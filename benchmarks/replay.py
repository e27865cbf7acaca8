"""Measure cache replay beside loading, on this machine, in one run: ``python benchmarks/replay.py [NAME...]``.

Names:
    prefixes: 10,000,000 requests of a CSV that names the prefix of each; three lifetimes, beside reading the file.
    sessions: The same number of requests in conversations of ten turns.
    blocks: 100,000 requests with the names of their blocks; hit ratios of least-recently-used caches of 24 sizes.

Times are wall time of this process; compare the ratios. Logs are made again in every run, from a fixed seed, by the engine.
"""
# ruff: noqa: S608  (the queries are made of constants)

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import duckdb

from workloads.cache_replay import Accesses, capacity_hits, find_accesses, refreshed_hits
from workloads.load import Loaded, LoadOptions, load
from workloads.relations import connect

Found = TypeVar("Found")

LIFETIMES = (300, 1_800, 3_600)
CAPACITIES = tuple(round(10 ** (2 + step / 6)) for step in range(24))
START = "TIMESTAMP '2026-06-01'"

_PREFIXES = f"""
SELECT strftime({START} + to_milliseconds(i * 260 + hash(i) % 200), '%Y-%m-%dT%H:%M:%S.%gZ') AS timestamp,
    md5(CAST(CAST(floor(pow(hash(i) % 100000 / 100000.0, 3) * 20000) AS BIGINT) AS VARCHAR)) AS prefix_sha256,
    2000 + hash(i, 1) % 6000 AS prefix_tokens, hash(i, 2) % 900 AS suffix_tokens, 20 + hash(i, 3) % 400 AS output_tokens,
    0.5 AS ttft_seconds, 2.0 AS duration_seconds
FROM range({{count}}) AS rows(i)
"""
_SESSIONS = f"""
SELECT strftime({START} + to_milliseconds((i % {{conversations}}) * 2600 + (i // {{conversations}}) * (20000 + hash(i) % 400000)),
        '%Y-%m-%dT%H:%M:%S.%gZ') AS timestamp, 's' || i % {{conversations}} AS session_id, 'gpt-4o' AS model,
    1500 + 700 * (i // {{conversations}}) AS input_tokens, 20 + hash(i, 3) % 400 AS output_tokens
FROM range({{count}}) AS rows(i)
"""
_BLOCKS = """
SELECT i * 300 AS timestamp, 512 * len(hash_ids) AS input_length, 200 AS output_length, hash_ids
FROM (SELECT i, list_transform(range(CAST(4 + hash(i) % 40 AS BIGINT)),
        lambda depth: CASE WHEN depth < 8 THEN depth ELSE CAST(hash(i // (1 + hash(i) % 6), depth) % 9000000000 AS BIGINT) END
    ) AS hash_ids FROM range({count}) AS rows(i))
"""


def write(query: str, path: Path) -> Path:
    """Write the rows of a query."""
    kind = "FORMAT json" if path.suffix == ".jsonl" else "HEADER"
    duckdb.connect().execute(f"COPY ({query}) TO '{path}' ({kind})")
    return path


def clock(work: Callable[[], Found]) -> tuple[float, Found]:
    """Return the seconds that some work takes, and what it returns."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def found_accesses(connection: object, loaded: Loaded) -> Accesses:
    """Return what the made log tells."""
    accesses = find_accesses(connection, loaded.ledger)
    if accesses is None:
        raise SystemExit("the log that was made names no prefixes")
    return accesses


def lifetimes(name: str, path: Path, count: int) -> None:
    """Measure the replay of three lifetimes beside reading."""
    plain, _ = clock(lambda: load(connect(), [str(path)], LoadOptions()))
    connection = connect()
    ordered, loaded = clock(lambda: load(connection, [str(path)], LoadOptions(prefixes=True)))
    seconds, hits = clock(lambda: refreshed_hits(connection, found_accesses(connection, loaded), LIFETIMES))
    ratios = ", ".join(f"{age} s {one.ratio:.4f}" for age, one in hits.items())
    print(
        f"{name}: {count:,} requests, {path.stat().st_size / 1e6:,.0f} MB; reading {plain:.1f} s, for a replay {ordered:.1f} s; "
        f"three lifetimes {seconds:.1f} s: x{seconds / plain:.2f} of reading; hits {ratios}"
    )


def capacities(path: Path, count: int) -> None:
    """Measure the curve of least-recently-used caches."""
    connection = connect()
    reading, loaded = clock(lambda: load(connection, [str(path)], LoadOptions(prefixes=True)))
    accesses = found_accesses(connection, loaded)
    seconds, found = clock(lambda: capacity_hits(connection, accesses, CAPACITIES))
    print(
        f"blocks: {count:,} requests, {accesses.blocks:,} blocks; reading {reading:.1f} s; {len(CAPACITIES)} capacities "
        f"{seconds:.1f} s; the largest, {CAPACITIES[-1]:,} blocks, hits {found[CAPACITIES[-1]].ratio:.4f}"
    )


def main(arguments: Sequence[str]) -> None:
    """Measure what is asked for."""
    names = ("prefixes", "sessions", "blocks")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument("--requests", type=int, default=10_000_000, help="of prefixes and sessions")
    given = parser.parse_args(arguments)
    for name in given.names or names:
        if name not in names:
            parser.error(f"{name!r} is no benchmark; allowed are {', '.join(names)}")
        with tempfile.TemporaryDirectory() as folder:
            if name == "blocks":
                count = min(100_000, given.requests)
                capacities(write(_BLOCKS.format(count=count), Path(folder) / "trace.jsonl"), count)
                continue
            count = given.requests
            query = _PREFIXES if name == "prefixes" else _SESSIONS
            made = query.format(count=count, conversations=max(count // 10, 1))
            lifetimes(name, write(made, Path(folder) / f"{name}.csv"), count)


if __name__ == "__main__":
    main(sys.argv[1:])
