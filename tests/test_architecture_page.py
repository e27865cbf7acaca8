"""The diagram of docs/architecture.md is the import graph."""

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

import grimp
import pytest

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "architecture.md"
PACKAGES: Final = ("advisor", "pricing", "workloads")
BOXES: Final = {
    "front": (
        *(
            "advisor",
            "advisor.__main__",
            "advisor.cli*",
            "advisor.commands*",
            "advisor.*_commands",
            "advisor.config",
        ),
        *("advisor.completion", "advisor.api", "advisor.report", "advisor.frames"),
    ),
    "render": ("advisor.render*", "advisor.*_render", "advisor.phase_words"),
    "view": (
        "advisor.view*",
        "advisor.document*",
        "advisor.saved*",
        "advisor.charts",
        "advisor.course",
        "advisor.curves",
        "advisor.log_curves",
        "advisor.phase_lines",
        "advisor.phase_map",
        "advisor.waterfall",
        "advisor.diff*",
    ),
    "levers": ("advisor.levers*",),
    "analysis": ("advisor.*",),
    "importers": ("workloads.importers*",),
    "workloads": ("workloads*",),
    "pricing": ("pricing*",),
}
"""The first that fits."""
AGAINST_THE_STREAM: Final = {("advisor.wording", "advisor.view_model")}
"""Imports that the diagram leaves out; there should be none."""


def box_of(module: str) -> str:
    return next(
        box for box, patterns in BOXES.items() if any(fnmatch(module, pattern) for pattern in patterns)
    )


@pytest.fixture(scope="module")
def imported() -> dict[tuple[str, str], str]:
    """Return every import between two boxes, with one example."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    found: dict[tuple[str, str], str] = {}
    for module in sorted(graph.modules):
        for other in sorted(graph.find_modules_directly_imported_by(module)):
            if box_of(module) != box_of(other) and (module, other) not in AGAINST_THE_STREAM:
                found.setdefault((box_of(module), box_of(other)), f"{module} imports {other}")
    return found


def drawn() -> set[tuple[str, str]]:
    arrows = set()
    for one, arrow, other in re.findall(
        r"^ +(\w+) (-->|<-->) (\w+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    ):
        arrows |= {(one, other)} | ({(other, one)} if arrow == "<-->" else set())
    return arrows


def test_every_import_between_boxes_is_an_arrow(imported: dict[tuple[str, str], str]) -> None:
    missing = [example for pair, example in imported.items() if pair not in drawn()]
    assert not missing


def test_every_arrow_is_an_import(imported: dict[tuple[str, str], str]) -> None:
    assert drawn() - imported.keys() == set()
    assert len(imported) > 10


def test_no_exception_is_out_of_date() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    for module, other in AGAINST_THE_STREAM:
        assert other in graph.find_modules_directly_imported_by(module)


def test_every_box_is_drawn_and_described() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for box in BOXES:
        assert f'{box}["{box}<br>' in text
        assert f"| {box} |" in text
