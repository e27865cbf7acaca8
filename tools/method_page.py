"""The page of methods, made from the docstrings of the modules that compute: ``docs/method.md``.

A function that names a ``Source`` is on the page, with what it says and, where its body is one ``return``, with that
formula as it is computed: the page cannot say something else than the code does.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parent.parent
MARK: Final = "<!-- made by tools/method_page.py: change the docstrings, not this page -->\n"
INTRO: Final = """# Method

How every number is worked out, and where the formula is from. Formulas are printed as they are computed: names are those
of the code, arrays go element by element. Decisions behind them are in [decisions/](decisions), the error of the serving model in
[accuracy.md](accuracy.md), rules of prompt caches in [cache-rules.md](cache-rules.md), the levers in [advice.md](advice.md).
"""
CHAPTERS: Final = {
    "Money": ("pricing.charges", "pricing.frame", "pricing.rules", "pricing.discounts", "pricing.commitment_use", "pricing.currency"),
    "Phases of a workload": ("workloads.phase_mix", "advisor.slices", "workloads.grouping", "workloads.latency"),
    "Caches": ("pricing.cache_math", "workloads.cache_replay", "workloads.session_reads", "advisor.cache_study"),
    "The phase model": (
        "pricing.deployment", "pricing.serving", "pricing.phases", "pricing.phase_bounds", "pricing.efficiency", "pricing.speculation"),
    "Memory": ("pricing.weights", "pricing.kv_cache", "pricing.memory", "pricing.capacity", "pricing.model_parameters", "pricing.model_keys"),
    "Hosting": ("pricing.replica", "pricing.fleet", "pricing.fleet_load", "pricing.fleet_error", "pricing.fleet_money", "pricing.gpu_billing"),
    "Advice": ("advisor.advise", "advisor.walk", "advisor.scenario"),
    "Finance": ("advisor.forecast", "advisor.forecast_fit", "advisor.variance", "advisor.anomalies", "advisor.allocation", "advisor.reconcile"),
}  # fmt: skip
_SECTIONS: Final = re.compile(r"\n\s*(?:Args|Returns|Raises|Attributes|Yields):\n.*", re.DOTALL)


def method_page() -> str:
    """Return the page: a chapter a subject, in it a section a module."""
    lines = [MARK, INTRO.rstrip()]
    for title, modules in CHAPTERS.items():
        lines += ["", f"## {title}"]
        for module in modules:
            lines += _section(module)
    return "\n".join(lines) + "\n"


def _section(module: str) -> Iterator[str]:
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
    title, *rest = _paragraphs(ast.get_docstring(tree) or "")
    yield ""
    yield f"### {title.rstrip('.')}"
    yield ""
    yield f"`{module}`"
    for paragraph in rest:
        yield ""
        yield paragraph
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and "Source:" in (ast.get_docstring(node) or ""):
            yield ""
            yield from _formula(node)


def _formula(node: ast.FunctionDef) -> Iterator[str]:
    first, *rest = _paragraphs(ast.get_docstring(node) or "")
    yield f"- **`{node.name}`**: {first.removeprefix('Return ')}"
    formula = _one_return(node)
    if formula:
        yield f"  `{formula}`."
    for paragraph in rest:
        yield f"  {paragraph}"


def _one_return(node: ast.FunctionDef) -> str | None:
    match node.body[1:]:
        case [ast.Return(value=ast.expr() as value)]:
            return ast.unparse(value)
    return None


def _paragraphs(docstring: str) -> list[str]:
    text = _SECTIONS.sub("\n", inspect.cleandoc(docstring) + "\n").replace("``", "`")
    return [
        paragraph
        if re.match(r"(\d+\.|-|>>>) ", paragraph)
        else " ".join(map(str.strip, paragraph.splitlines()))
        for paragraph in map(str.strip, re.split(r"\n\s*\n", text))
        if paragraph and not paragraph.startswith(">>>")
    ]
