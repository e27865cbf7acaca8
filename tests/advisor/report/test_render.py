"""The three renderings: golden files, escaping, size, independence from the network."""

import re
import unicodedata
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import advice_factory
import pytest
import report_factory

from advisor.analysis import Analysis
from advisor.render.html import render_html, template_dir
from advisor.render.markdown import MARKER, escape, render_markdown
from advisor.render.table import render_table
from advisor.view import build_view

GOLDEN = Path(__file__).parent / "golden"
EVERY = (
    report_factory.demo,
    report_factory.ugly,
    report_factory.one_request,
    report_factory.nothing_priced,
    report_factory.no_times,
    report_factory.free_models,
    report_factory.zero_sizes,
    report_factory.two_years,
    report_factory.crowded,
    lambda: report_factory.analysis(buckets=True),
    lambda: report_factory.analysis(()),
    advice_factory.advised,
    advice_factory.not_advised,
    advice_factory.nothing_looked_at_pays,
    advice_factory.crowd,
)


class Page(HTMLParser):
    """Elements and their nesting."""

    VOID = frozenset({"meta", "rect", "path", "circle", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.stack: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag, f"</{tag}> closes nothing"


def test_golden_html(demo: Analysis, check_golden: Callable[[Path, str], None]) -> None:
    check_golden(GOLDEN / "demo.html", render_html(build_view(demo)))


def test_golden_markdown(demo: Analysis, check_golden: Callable[[Path, str], None]) -> None:
    check_golden(GOLDEN / "demo.md", render_markdown(build_view(demo)))


def test_golden_table(demo: Analysis, check_golden: Callable[[Path, str], None]) -> None:
    view = build_view(demo)
    texts = [render_table(view, width=width, color=False) for width in (100, 80, 48)]
    check_golden(GOLDEN / "demo.txt", "\n".join(texts))


@pytest.mark.parametrize("make", EVERY)
def test_page_is_well_formed_and_self_contained(make: Callable[[], Analysis]) -> None:
    text = render_html(build_view(make()))
    page = Page(text)
    assert page.stack == []
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert [tag for tag, _ in page.tags].count("h1") == 1
    for tag, attrs in page.tags:
        assert tag not in {"link", "img", "iframe", "object", "base", "form"}
        assert not any(name.startswith("on") for name in attrs), (tag, attrs)
        assert (attrs.get("href") or "#").startswith("#")
        assert "src" not in attrs
        for reference in (attrs.get("aria-labelledby") or "").split():
            assert reference in ids
    assert "url(" not in text
    assert "default-src 'none'" in text
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_size_of_a_month(demo: Analysis) -> None:
    assert len(render_html(build_view(demo)).encode()) < 300_000


@pytest.mark.parametrize(
    "make", [report_factory.crowded, report_factory.two_years, report_factory.ugly, advice_factory.crowd]
)
def test_size_of_a_crowd(make: Callable[[], Analysis]) -> None:
    assert len(render_html(build_view(make())).encode()) < 600_000


def test_hostile_names_stay_text(ugly: Analysis) -> None:
    text = render_html(build_view(ugly))
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "x" * 10_000 in text
    text.encode("utf-8")


def test_markdown_names_cannot_format(ugly: Analysis) -> None:
    text = render_markdown(build_view(ugly))
    assert text.startswith(MARKER)
    tags = set(re.findall(r"</?\w+", text))
    assert tags <= {"<details", "</details", "<summary", "</summary", "<sub", "</sub"}
    assert "javascript:" not in text
    assert "@everyone" not in text
    assert "`" not in text
    assert text.count("**") == 2
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.count("|") in {5, 6, 7, 8}
    text.encode("utf-8")


@pytest.mark.parametrize(
    ("raw", "escaped"),
    [
        ("support-bot", "support-bot"),
        ("- item", "&#45; item"),
        ("1. item", "&#49;. item"),
        ("1.5 %", "1.5 %"),
        ("# head", "&#35; head"),
        ("a_b", "a&#95;b"),
        ("http://x", "http&#58;//x"),
        ("www.x.y", "www&#46;x.y"),
        (":smile: 10:30", "&#58;smile: 10:30"),
        ("a\nb", "a b"),
        ("<b>&", "&lt;b&gt;&amp;"),
    ],
)
def test_escape(raw: str, escaped: str) -> None:
    assert escape(raw) == escaped


def width_of(line: str) -> int:
    plain = re.sub(r"\x1b\[\d+m", "", line)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in plain)
    hidden = sum(unicodedata.category(char) in {"Mn", "Me", "Cf"} for char in plain)
    return len(plain) + wide - hidden


@pytest.mark.parametrize("make", EVERY)
@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_terminal_lines_fit(make: Callable[[], Analysis], width: int) -> None:
    text = render_table(build_view(make()), width=width, color=False)
    assert not any(unicodedata.category(char) == "Cc" for char in text.replace("\n", ""))
    assert max(map(width_of, text.splitlines())) <= width


def test_colour_only_when_asked(demo: Analysis) -> None:
    view = build_view(demo)
    plain = render_table(view, width=100, color=False)
    coloured = render_table(view, width=100, color=True)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


def test_templates_are_found_beside_the_package_in_a_checkout() -> None:
    assert (template_dir() / "report.html.j2").is_file()


def test_missing_templates_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "is_file", lambda _: False)
    with pytest.raises(FileNotFoundError, match="looked in"):
        template_dir()


@pytest.mark.parametrize(("name", "most"), [("report.js", 5_000), ("whatif.js", 13_000)])
def test_scripts_are_small(name: str, most: int) -> None:
    assert len((template_dir() / name).read_bytes()) < most
