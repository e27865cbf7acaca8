"""Measure the advisor beside the bare engine, on this machine, in one run: ``python benchmarks/bench.py NAME...``.

Names:
    claude-code, chat, csv: A big synthetic log (see ``generate.py``), analysed to a report and a JSON document; beside
        it the bare DuckDB scan of the same columns (``scan.py``), and for claude-code ``ccusage`` too, when the
        environment variable CCUSAGE names its program.
    small: 1,000 chat completions to a report; beside it a bare Python start.
    startup: ``advisor --help``; beside it a bare Python start.

Seconds are wall time, the median of the runs; memory is the peak of resident memory of the one process. Seconds
differ from machine to machine and from day to day: compare ratios. The logs are kept (``--cache``) and made again only
when their size or the seed differs. This process stays small, because a child's peak counts its parent's at the fork.
"""

import argparse
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent
BIG = {"claude-code": (1_000_000, ""), "chat": (2_000_000, ".jsonl"), "csv": (10_000_000, ".csv")}
NAMES = ("startup", "small", *BIG)
_AS_USERS = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Whoever uses the tool has its modules compiled from the run before."""
PACKAGES = ("token-cost-advisor", "duckdb", "ibis-framework", "pandas", "pydantic")


class BenchmarkError(Exception):
    """A command that was to be measured did not do its work."""


@dataclass(frozen=True)
class Run:
    """One process, from start to end."""

    seconds: float
    peak_mb: float
    output: str


@dataclass(frozen=True)
class Row:
    """One line of the result: what ran, how long, and the time of the thing it is compared with."""

    name: str
    what: str
    seconds: float
    peak_mb: float | None
    base_seconds: float | None = None
    note: str = ""


def measure(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Run:
    """Run a command to its end.

    Raises:
        BenchmarkError: If it cannot be started or fails; the message ends with what it said.
    """
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        begin = time.perf_counter()
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env={**_AS_USERS, **(environment or {})},
            )
        except OSError as error:
            raise BenchmarkError(f"{shlex.join(command)}: {error}") from error
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            said = "".join(errors.readlines()[-5:]).strip()
            raise BenchmarkError(f"{shlex.join(command)}: exit {process.returncode}: {said}")
        unit = 1 if sys.platform == "darwin" else 1024
        return Run(seconds, usage.ru_maxrss * unit / 1e6, output.read())


def repeat(times: int, command: Sequence[str], environment: Mapping[str, str] | None = None) -> Run:
    """Run a command several times; return the median time with the highest peak."""
    runs = [measure(command, environment) for _ in range(times)]
    return Run(
        statistics.median(run.seconds for run in runs), max(run.peak_mb for run in runs), runs[-1].output
    )


@dataclass(frozen=True)
class Bench:
    """What the measurements share."""

    advisor: tuple[str, ...]
    cache: Path
    scale: float
    times: int
    seed: int

    def rows(self, name: str) -> Iterator[Row]:
        """Measure one name."""
        if name == "startup":
            python = repeat(self.times + 4, [sys.executable, "-c", "pass"])
            run = repeat(self.times + 4, [*self.advisor, "--help"])
            yield Row(name, "bare python", python.seconds, python.peak_mb)
            yield Row(name, "advisor --help", run.seconds, run.peak_mb, python.seconds)
        elif name == "small":
            python = repeat(self.times + 4, [sys.executable, "-c", "pass"])
            run = self.analyze(self.log("chat", 1_000, ".jsonl"))
            yield Row(name, "bare python", python.seconds, python.peak_mb)
            yield Row(name, "advisor, 1,000 rows", run.seconds, run.peak_mb, python.seconds)
        else:
            yield from self.big(name)

    def big(self, name: str) -> Iterator[Row]:
        """Measure one big log. The scan goes first, so that every program finds the file in memory."""
        default, suffix = BIG[name]
        count = max(1, int(default * self.scale))
        log = self.log(name, count, suffix)
        scan = [sys.executable, str(HERE / "scan.py"), name, str(log)]
        scans = [measure(scan) for _ in range(self.times + 1)][1:]
        seen = json.loads(scans[-1].output)
        base = statistics.median(json.loads(run.output)["seconds"] for run in scans)
        note = f"{seen['requests']:,} requests, {size_mb(log):,.0f} MB"
        yield Row(name, "bare DuckDB scan", base, max(run.peak_mb for run in scans), None, note)
        run = self.analyze(log)
        yield Row(name, f"advisor, {count:,} rows", run.seconds, run.peak_mb, base)
        if name == "claude-code":
            yield self.ccusage(log, base)

    def analyze(self, log: Path) -> Run:
        """Analyse a log to a report and a JSON document."""
        with tempfile.TemporaryDirectory() as folder:
            report, document = Path(folder) / "report.html", Path(folder) / "report.json"
            command = [*self.advisor, "analyze", str(log), "-o", str(report), "--json", str(document), "-q"]
            return repeat(self.times, command)

    def ccusage(self, log: Path, base: float) -> Row:
        """Measure the peer for coding-agent logs, or say why not."""
        program = os.environ.get("CCUSAGE")
        if not program:
            return Row("claude-code", "ccusage", 0, None, None, "skipped: CCUSAGE does not name its program")
        command = [program, "claude", "daily", "--offline", "--json", "--timezone", "UTC"]
        try:
            version = measure([program, "--version"]).output.strip()
            run = repeat(self.times, command, {"CLAUDE_CONFIG_DIR": str(log)})
        except BenchmarkError as error:
            return Row("claude-code", "ccusage", 0, None, None, f"skipped: {error}")
        return Row("claude-code", "ccusage claude daily", run.seconds, run.peak_mb, base, version)

    def log(self, kind: str, rows: int, suffix: str) -> Path:
        """Return a log of that kind and size, made if it is not there yet."""
        path = self.cache / f"{kind}-{rows}-{self.seed}{suffix}"
        if not path.exists():
            print(f"making {path}", file=sys.stderr)
            maker = [sys.executable, str(HERE / "generate.py"), kind, str(path)]
            measure([*maker, "--rows", str(rows), "--seed", str(self.seed)])
        return path


def size_mb(path: Path) -> float:
    """Return the size of a file, or of all files of a folder."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files) / 1e6


def save(path: Path | None, rows: Sequence[Row]) -> None:
    """Write results where they are asked for, as ``page.py`` reads them."""
    if path is not None:
        document = {"machine": machine(), "rows": [vars(row) for row in rows]}
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def cache_folder() -> Path:
    """Return where the logs are kept when nobody says."""
    temporary = os.environ.get("TMPDIR")
    return Path(temporary) / "token-cost-advisor-bench" if temporary else HERE.parent / "build" / "bench"


def machine() -> str:
    """Describe what the numbers depend on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            versions.append(f"{package} not installed")
    return f"{platform.system()} {platform.machine()}, {cores} cores, {memory:.0f} GiB; {', '.join(versions)}"


def line(row: Row) -> str:
    """Write one result for a terminal."""
    if row.peak_mb is None:
        return f"{row.name:12} {row.what:24} {row.note}"
    ratio = "" if row.base_seconds is None else f"{row.seconds / row.base_seconds:.2f}x"
    return f"{row.name:12} {row.what:24} {row.seconds:8.2f} s {row.peak_mb:8,.0f} MB {ratio:>8}  {row.note}"


def options() -> argparse.Namespace:
    """Read the command line."""
    cache = cache_folder()
    beside = Path(sys.executable).with_name("advisor")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all when none is given"
    )
    parser.add_argument(
        "--advisor", default=shlex.quote(str(beside)), help="command to measure (default: %(default)s)"
    )
    parser.add_argument(
        "--cache", type=Path, default=cache, help="where the logs are kept (default: %(default)s)"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="size of the big logs, as a factor")
    parser.add_argument("--times", type=int, default=3, help="runs of each program (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the rows here too")
    chosen = parser.parse_args()
    if unknown := sorted(set(chosen.names) - set(NAMES)):
        parser.error(f"unknown benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}")
    if chosen.times < 1 or chosen.scale <= 0:
        parser.error("--times must be at least 1 and --scale above 0")
    return chosen


def main() -> int:
    """Measure and print; a benchmark that cannot run is a line and exit code 1, and the others still run."""
    chosen = options()
    bench = Bench(tuple(shlex.split(chosen.advisor)), chosen.cache, chosen.scale, chosen.times, chosen.seed)
    print(machine())
    print(f"{'':37} {'time':>10} {'peak':>11} {'ratio':>8}")
    rows: list[Row] = []
    failed = False
    for name in chosen.names or NAMES:
        try:
            for row in bench.rows(name):
                print(line(row), flush=True)
                rows.append(row)
        except BenchmarkError as error:
            print(f"{name:12} failed: {error}", flush=True)
            failed = True
    save(chosen.json, rows)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
