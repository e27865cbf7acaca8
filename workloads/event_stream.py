"""Streamed answers saved as they came: server-sent events, lines ``event: ...`` and ``data: {...}`` with blank lines between."""

import re
import tempfile
from pathlib import Path
from typing import Final

from workloads.copies import copies_folder
from workloads.packed import unpacked

_FIELD: Final = re.compile(r"(data|event|id|retry) ?:|:")
_DATA: Final = re.compile(r"data: ?\{")
_LOOKED_AT: Final = 50
"""Lines of a sample that tell what it is."""
_BARE_DATA: Final = re.compile(rb"data: ?(?=\{)")


def is_event_stream(text: str) -> bool:
    """Return whether a sample is of server-sent events with JSON in them."""
    if not text.lstrip().startswith(("data", "event", "id", "retry", ":")):
        return False
    lines = [line for line in text.split("\n", _LOOKED_AT)[:_LOOKED_AT] if line.strip()]
    return all(map(_FIELD.match, lines)) and any(map(_DATA.match, lines))


def with_bare_data(path: Path) -> Path:
    """Return a copy with the JSON of each event on the line on which it was, and all other lines blank."""
    with (
        unpacked(path) as stream,
        tempfile.NamedTemporaryFile(
            prefix="events-", suffix=".jsonl", dir=copies_folder(), delete=False
        ) as copy,
    ):
        for line in stream:
            bare = _BARE_DATA.match(line)
            copy.write(line[bare.end() :].rstrip() + b"\n" if bare else b"\n")
    return Path(copy.name)
