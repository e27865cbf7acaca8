"""Mutation testing of ``pricing``: change one thing in one place, and see whether a test of ``tests/pricing`` fails.

``python tools/mutate.py [--sample N] [--seed N] [--seconds N] [--module NAME ...]``. The sources are copied to a temporary
folder; nothing here is changed. A change that no test notices *survives* and is printed: it is a missing test, or a
change that changes nothing. Tests that import the changed module directly come first, then all that reach it.
"""

import argparse
import ast
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_SECONDS = 180
"""Of the tests of one mutant: what takes longer loops, and has been noticed."""
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult,
}  # fmt: skip
KILLED, SURVIVED, SLOW = "killed", "survived", "too slow"


@dataclass(frozen=True)
class Mutant:
    """One change of one expression."""

    module: str
    line: int
    start: int
    end: int
    before: str
    after: str


def mutants_of(module: str, source: str) -> Iterator[Mutant]:
    """Yield every change of a module's expressions, but for annotations, type-checking blocks and docstrings."""
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for node in _expressions(ast.parse(source)):
        for changed in _changes(node):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
            before = source.encode()[start:end].decode()
            yield Mutant(module, node.lineno, start, end, before, f"({ast.unparse(changed)})")


def _expressions(tree: ast.AST) -> Iterator[ast.expr]:
    for name, value in ast.iter_fields(tree):
        if name in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST):
                continue
            if isinstance(child, ast.JoinedStr | ast.Raise | ast.Assert):  # messages are for people
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.expr):
                yield child
            yield from _expressions(child)


def _changes(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            yield ast.Compare(node.left, [COMPARISONS[type(op)]()], node.comparators)
        case ast.BinOp(op=op) if type(op) in OPERATORS:
            yield ast.BinOp(node.left, OPERATORS[type(op)](), node.right)
        case ast.BoolOp(op=ast.And()):
            yield ast.BoolOp(ast.Or(), node.values)
        case ast.BoolOp(op=ast.Or()):
            yield ast.BoolOp(ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.IfExp():
            yield ast.IfExp(node.test, node.orelse, node.body)
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.Call(func=ast.Name(id="min" | "max" as name)):
            yield ast.Call(ast.Name("max" if name == "min" else "min"), node.args, node.keywords)
        case _:
            return


def tests_of(module: str) -> tuple[list[str], list[str]]:
    """Return the test files that import a module themselves, and those that reach it by way of others."""
    imported = {path.stem: _imported(path) for path in (ROOT / "pricing").glob("*.py")}
    direct, rest = [], []
    for path in sorted((ROOT / "tests" / "pricing").glob("test_*.py")):
        found, new = set[str](), _imported(path)
        first = set(new)
        while new:
            found |= new
            new = {name for one in new for name in imported.get(one, ())} - found
        if module in found:
            (direct if module in first else rest).append(str(path.relative_to(ROOT)))
    return direct, rest


def _imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "pricing":
            inner = node.module.partition(".")[2]
            found |= {inner} if inner else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {
                alias.name.partition(".")[2] for alias in node.names if alias.name.startswith("pricing.")
            }
    return found


def verdict(folder: Path, mutant: Mutant) -> str:
    """Return what the tests make of a mutant, in a copy of the sources that is as before afterwards."""
    path = folder / "pricing" / f"{mutant.module}.py"
    source = path.read_bytes()
    path.write_bytes(source[: mutant.start] + mutant.after.encode() + source[mutant.end :])
    try:
        for tests in tests_of(mutant.module):
            outcome = _tried(folder, tests) if tests else SURVIVED
            if outcome != SURVIVED:
                return outcome
        return SURVIVED
    finally:
        path.write_bytes(source)


def _tried(folder: Path, tests: list[str]) -> str:
    """Run tests in a child that has everything heavy imported already."""
    child = os.fork()
    if not child:
        code = 1
        try:
            code = _run(folder, tests)
        finally:
            os._exit(code)  # never back into the parent's code
    end = time.monotonic() + MOST_SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return SURVIVED if os.waitstatus_to_exitcode(status) == 0 else KILLED
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return SLOW


def _run(folder: Path, tests: list[str]) -> int:
    os.chdir(folder)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    sys.path.insert(0, str(folder))
    import pytest  # noqa: PLC0415  (imported by the parent)

    return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]))


def main() -> int:
    """Try a sample and print the score."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3_600, help="stop after these")
    parser.add_argument("--module", action="append", help="only this module of pricing; repeatable")
    given = parser.parse_args()
    import genai_prices.data  # noqa: F401, PLC0415  (once, for all children)
    import pandas as pd  # noqa: F401, PLC0415
    import pydantic  # noqa: F401, PLC0415
    import pytest  # noqa: F401, PLC0415

    sys.dont_write_bytecode = True
    paths = [
        path for path in sorted((ROOT / "pricing").glob("*.py")) if path.stem in (given.module or [path.stem])
    ]
    every = [mutant for path in paths for mutant in mutants_of(path.stem, path.read_text(encoding="utf-8"))]
    chosen = random.Random(given.seed).sample(every, min(given.sample, len(every)))
    counts = dict.fromkeys((KILLED, SURVIVED, SLOW), 0)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "copy"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "build", "__pycache__", "traces"))
        control = next((tests for tests, _ in map(tests_of, {one.module for one in chosen}) if tests), [])
        if not control or _tried(folder, control) != SURVIVED:
            sys.exit("mutate: the tests fail on unchanged sources; there is nothing to measure")
        for mutant in chosen:
            if time.monotonic() - began > given.seconds:
                break
            outcome = verdict(folder, mutant)
            counts[outcome] += 1
            if outcome != KILLED:
                print(
                    f"{outcome}: pricing/{mutant.module}.py:{mutant.line}: {mutant.before} -> {mutant.after}",
                    flush=True,
                )
    tried = sum(counts.values())
    noticed = counts[KILLED] + counts[SLOW]
    print(
        f"{tried} of {len(every)} mutants tried (seed {given.seed}): {noticed} noticed, {counts[SURVIVED]} survived"
    )
    print(f"score {noticed / max(tried, 1):.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
