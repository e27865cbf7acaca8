"""The comment: a marker and one bold line first, tables that no name can break, and never too long to be posted."""

import re

from advisor.analysis import Analysis
from advisor.render.markdown import MARKER, render_markdown
from advisor.view import build_view

MOST_CHARACTERS = 65_536
"""Of a comment on GitHub."""
PIPE = re.compile(r"(?<!\\)\|")


def test_the_verdict_comes_first(plain: Analysis) -> None:
    lines = render_markdown(build_view(plain)).splitlines()
    assert lines[0] == MARKER
    assert re.fullmatch(r"\*\*[^*]+\*\*", lines[2])
    assert lines[2].startswith("**At least $")


def test_hostile_names_break_nothing(hostile: Analysis) -> None:
    text = render_markdown(build_view(hostile))
    assert len(text) < MOST_CHARACTERS
    assert "<script" not in text
    assert "](http" not in text
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", text)
    assert text.count("<details>") == text.count("</details>") > 0
    width = None
    for line in text.splitlines():
        if not line.startswith("|"):
            width = None
            continue
        found = len(PIPE.findall(line))
        assert width in (None, found), line
        width = found
