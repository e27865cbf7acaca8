"""The documentation matches the code."""

import ast
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from advisor.cli import cli
from workloads.importers import importers

ROOT = Path(__file__).resolve().parent.parent


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["formats", "cli", "cache-rules"])
def test_generated_pages_are_current(page: str) -> None:
    made = getattr(load("make_docs"), f"{page.replace('-', '_')}_page")()
    kept = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert kept == made, "run `make docs`"


def test_the_page_of_methods_is_current_and_every_source_is_on_it() -> None:
    tool = load("method_page")
    kept = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    assert kept == tool.method_page(), "run `make docs`"
    for package in ("pricing", "workloads", "advisor"):
        for path in (ROOT / package).glob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef) and "Source:" in (ast.get_docstring(node) or ""):
                    assert node.name.startswith("_") or f"**`{node.name}`**" in kept, (
                        f"{path.name}: {node.name} names a source: add its module to CHAPTERS in tools/method_page.py"
                    )


def test_every_importer_answers_the_five_questions() -> None:
    headings = load("make_docs").HEADINGS
    for importer in importers():
        module = importlib.import_module(type(importer).__module__)
        for heading in headings:
            assert heading in (module.__doc__ or ""), f"{module.__name__}: no {heading!r}"


def test_readme_names_only_commands_that_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"advisor ([a-z]+)", text))
    assert named <= set(cli.commands) | {"reads"}, named - set(cli.commands)


def test_links_in_readme_and_contributing_lead_somewhere() -> None:
    for page in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
            assert (ROOT / target).exists(), f"{page}: {target}"


def test_new_importer_skeleton_is_valid_python(tmp_path: Path) -> None:
    tool = load("new_importer")
    tool.ROOT = tmp_path
    (tmp_path / "workloads" / "importers").mkdir(parents=True)
    assert tool.main(["my-gateway"]) == 0
    written = tmp_path / "workloads" / "importers" / "my_gateway.py"
    compile(written.read_text(encoding="utf-8"), str(written), "exec")
    assert (tmp_path / "tests/golden/importers/my-gateway/plain/input.csv").exists()
    assert tool.main(["my-gateway"]) == 1
    assert tool.main(["Not A Name"]) == 2
