"""What a release must be: built twice to the same bytes, installable alone from both archives, and of use elsewhere.

``python tools/release_check.py [--work DIR] [--constraint FILE] [--python PYTHON ...]``. Everything is made in DIR. Needs
a package index for what the archives depend on.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EPOCH = "1767225600"
"""Any fixed moment: archives carry it as the time of their members."""
OUTPUTS = ("report.html", "report.json", "report.md", "report.xlsx", "bill.csv")
_BELONGS = (
    "advisor/cli.py",
    "advisor/py.typed",
    "advisor/templates/report.html.j2",
    "pricing/data/",
    "workloads/importers/",
)
_FOREIGN = ("templates/", "tests/", "docs/", "benchmarks/", "examples/", "tools/")


def run(words: Sequence[str | Path], folder: Path, **environment: str) -> str:
    """Run a program; on failure say which one and what it printed, and end."""
    # No checkout, and no settings of the caller's, may help the program.
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        list(map(str, words)),
        cwd=folder,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(
            f"release-check: {' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def main() -> int:
    """Check, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "release")
    parser.add_argument(
        "--constraint", type=Path, default=ROOT / "constraints.txt", help="versions to install"
    )
    parser.add_argument("--python", action="append", help="interpreter to install for; repeatable")
    given = parser.parse_args()
    work = given.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    builder = _venv(Path(sys.executable), work / "builder", "build", "hatchling")
    archives = [_build(builder, work / name) for name in ("once", "twice")]
    for first, second in zip(*archives, strict=True):
        if _sha256(first) != _sha256(second):
            sys.exit(f"release-check: two builds of {first.name} differ")
        print(f"{first.name}: the same bytes twice, sha256 {_sha256(first)}")
    for problem in contents_problems(next(path for path in archives[0] if path.suffix == ".whl")):
        sys.exit(f"release-check: {problem}")
    for number, python in enumerate(given.python or [sys.executable]):
        for archive in archives[0]:
            print(
                _used(
                    Path(python), archive, work / f"{number}-{archive.suffix[1:]}", given.constraint.resolve()
                )
            )
    return 0


def _venv(python: Path, folder: Path, *packages: str) -> Path:
    run([python, "-m", "venv", folder], folder.parent)
    pip = [folder / "bin" / "pip", "install", "-qq", "--disable-pip-version-check", "--no-input"]
    run([*pip, *packages], folder)
    return folder / "bin" / "python"


def _build(python: Path, folder: Path) -> list[Path]:
    """Return the archives built from a copy of the sources in a folder of its own."""
    source = folder / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".*", "build", "dist", "demo", "__pycache__"))
    shutil.copy(ROOT / ".gitignore", source)
    run(
        [python, "-m", "build", "--no-isolation", "--outdir", folder, source], folder, SOURCE_DATE_EPOCH=EPOCH
    )
    return sorted([*folder.glob("*.whl"), *folder.glob("*.tar.gz")])


def contents_problems(wheel: Path) -> Iterator[str]:
    """Yield what a wheel lacks, and what it has that would lie in everybody's site-packages."""
    import zipfile  # noqa: PLC0415  (only here)

    names = zipfile.ZipFile(wheel).namelist()
    for wanted in _BELONGS:
        if not any(name.startswith(wanted) for name in names):
            yield f"{wanted} is not in the wheel"
    for foreign in _FOREIGN:
        if any(name.startswith(foreign) for name in names):
            yield f"{foreign} does not belong into the wheel"


def _used(python: Path, archive: Path, folder: Path, constraint: Path) -> str:
    """Install an archive alone, make a demo and every output in an empty folder, and say what was done."""
    folder.mkdir()
    installed = _venv(python, folder / "venv", "--constraint", str(constraint), str(archive))
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    advisor = installed.parent / "advisor"
    run([advisor, "demo", "--to", "demo", "--requests", "2000", "-q"], elsewhere)
    words = ["-o", "report.html", "--json", "report.json", "--markdown", "report.md", "--xlsx", "report.xlsx"]
    run([advisor, "analyze", "demo/gateway-log.jsonl", *words, "--focus", "bill.csv", "-q"], elsewhere)
    empty = [name for name in OUTPUTS if not (elsewhere / name).stat().st_size]
    if empty:
        sys.exit(f"release-check: {', '.join(empty)} is empty")
    program = "import advisor; print(advisor.analyse('demo/gateway-log.jsonl', as_of='2026-11-01').requests)"
    requests = run([installed, "-P", "-c", program], elsewhere).strip()
    where = run([installed, "-P", "-c", "import advisor; print(advisor.__file__)"], elsewhere).strip()
    if not Path(where).is_relative_to(folder):
        sys.exit(f"release-check: advisor was imported from {where}")
    version = run([installed, "--version"], elsewhere).strip()
    return f"{archive.name}: {version}, installed alone: demo, {len(OUTPUTS)} outputs, {requests} requests by the Python API"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
