"""What is released: the same sources give the same bytes, and an archive works without its checkout."""

import csv
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from decimal import Decimal
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 300
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".?*_cache", ".hypothesis", ".benchmarks", ".venv", "build", "dist", "demo", "__pycache__"
)


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release_check", ROOT / "tools" / "release_check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(words: list[str], folder: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[list[Path]]:
    """Wheel and sdist, built twice from copies in different folders."""
    pytest.importorskip("hatchling")
    source = tmp_path_factory.mktemp("first") / "source"
    shutil.copytree(ROOT, source, ignore=LEFT_OUT)
    other = tmp_path_factory.mktemp("second") / "elsewhere" / "source"
    shutil.copytree(source, other, copy_function=shutil.copy)  # with other times of change
    built = []
    for folder in (source, other):
        run(["-m", "hatchling", "build", "-d", "dist"], folder, SOURCE_DATE_EPOCH="1767225600")
        built.append(sorted((folder / "dist").iterdir()))
    return built


def test_two_builds_are_the_same_to_the_byte(archives: list[list[Path]]) -> None:
    first, second = (
        {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in built} for built in archives
    )
    assert first == second
    assert len(first) == 2


def test_the_wheel_has_what_it_needs_and_nothing_else(archives: list[list[Path]], tmp_path: Path) -> None:
    wheel = next(path for path in archives[0] if path.suffix == ".whl")
    problems = tool().contents_problems
    assert list(problems(wheel)) == []
    shutil.unpack_archive(wheel, tmp_path / "tree", "zip")
    shutil.rmtree(tmp_path / "tree" / "advisor" / "templates")
    (tmp_path / "tree" / "tests").mkdir()
    (tmp_path / "tree" / "tests" / "test_x.py").touch()
    spoilt = Path(shutil.make_archive(str(tmp_path / "spoilt"), "zip", tmp_path / "tree"))
    assert list(problems(spoilt)) == [
        "advisor/templates/report.html.j2 is not in the wheel",
        "tests/ does not belong into the wheel",
    ]


def test_the_wheel_works_in_another_folder(archives: list[list[Path]], tmp_path: Path) -> None:
    """With the dependencies of the tests; `make release-check` installs them anew."""
    wheel = next(path for path in archives[0] if path.suffix == ".whl")
    site = tmp_path / "site"
    shutil.unpack_archive(wheel, site, "zip")
    (tmp_path / "empty").mkdir()

    def advisor(*words: str) -> str:
        return run(["-m", "advisor", *words], tmp_path / "empty", PYTHONPATH=str(site))

    where = run(["-c", "import advisor; print(advisor.__file__)"], tmp_path / "empty", PYTHONPATH=str(site))
    assert Path(where.strip()).is_relative_to(site)
    advisor("demo", "--requests", "1000", "-q")
    outputs = [
        "-o",
        "a.html",
        "--json",
        "a.json",
        "--markdown",
        "a.md",
        "--xlsx",
        "a.xlsx",
        "--focus",
        "a.csv",
    ]
    advisor("analyze", "advisor-demo/gateway-log.jsonl", *outputs, "--as-of", "2026-11-01", "-q")
    advisor("render", "a.json", "--format", "html", "-o", "b.html")
    folder = tmp_path / "empty"
    assert (folder / "a.html").read_bytes() == (folder / "b.html").read_bytes()
    with (folder / "a.csv").open(encoding="utf-8", newline="") as bill:
        assert sum(Decimal(row["BilledCost"]) for row in csv.DictReader(bill)) > 0
    assert (folder / "a.xlsx").read_bytes().startswith(b"PK")
    assert "Prefill" in (folder / "a.md").read_text(encoding="utf-8")


def test_the_oldest_versions_that_are_tried_are_those_that_are_declared() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    wanted = {}
    for text in declared:
        found = re.fullmatch(r"([a-z0-9-]+)(?:\[\w+\])?>=([\d.]+)(?:,<[\d.]+)?", text)
        assert found, text
        wanted[found[1]] = tuple(map(int, found[2].split(".")))
    lines = (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert pins.keys() == wanted.keys()
    for name, version in pins.items():
        parts = tuple(map(int, version.split(".")))
        assert parts[: len(wanted[name])] == wanted[name], name
        assert not any(parts[len(wanted[name]) :]), name


def test_everything_that_is_needed_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = {
        line.split("==")[0].lower()
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    }
    for text in (*project["dependencies"], *project["optional-dependencies"]["dev"]):
        name = re.split(r"[\[>=<]", text)[0].lower()
        assert name in pins, name
