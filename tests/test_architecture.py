"""What the source must look like, beyond what the checkers know."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.cli import cli

ROOT = Path(__file__).parents[1]
PACKAGES = ("pricing", "workloads", "advisor")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
MOST_LINES = 300

NETWORK = {"socket", "ssl", "http", "urllib", "ftplib", "smtplib", "requests", "httpx", "aiohttp", "urllib3"}
CLOCKS = {
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
    ("time", "time"),
}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def calls(path: Path) -> Iterator[tuple[str, str]]:
    """Yield ``(object, attribute)`` of every call; the object is empty for a plain name."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield "", node.func.id
            elif isinstance(node.func, ast.Attribute):
                base = node.func.value
                yield (base.id if isinstance(base, ast.Name) else getattr(base, "attr", "")), node.func.attr


def imports(path: Path) -> set[str]:
    """Return the top-level packages that a file imports."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def test_the_sources_are_found() -> None:
    assert len(SOURCES) > 50


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_file_can_be_read_in_one_sitting(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_only_commands_print(path: Path) -> None:
    if name_of(path) == "advisor/cli.py" or "commands" in path.parts:
        return
    said = {("", "print"), ("click", "echo"), ("stdout", "write"), ("stderr", "write")}
    assert not said & set(calls(path))


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_the_clock_is_passed_in(path: Path) -> None:
    if name_of(path) != "advisor/commands/parse.py":
        assert not CLOCKS & set(calls(path))


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_nothing_reaches_for_the_network(path: Path) -> None:
    assert not NETWORK & imports(path)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_every_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(tree_of(path)) or path.stat().st_size == 0


def test_every_command_has_help() -> None:
    assert sorted(cli.commands)
    for name, command in cli.commands.items():
        assert command.get_short_help_str(), name


def test_dependencies_point_one_way() -> None:
    for path in SOURCES:
        package = path.relative_to(ROOT).parts[0]
        above = PACKAGES[PACKAGES.index(package) + 1 :]
        assert not imports(path) & set(above), name_of(path)


def test_what_starts_the_reading_waits_for_nothing_that_comes_later() -> None:
    """The rest is imported while the engine reads: see ``advisor.run``."""
    code = "import sys, advisor.commands.analyze; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"pandas", "genai_prices", "jinja2", "pydantic", "yaml"} & set(loaded)
