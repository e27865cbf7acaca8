"""One key for the many ways in which a bill and a log name a model.

``Claude Haiku 4.5``, ``ClaudeHaiku4.5``, ``anthropic.claude-haiku-4-5-20251001-v1:0`` and ``claude-haiku-4-5`` are one.
"""

import re
from typing import Final

_PREFIX: Final = re.compile(r"^(?:.*/)?(?:(?:us|eu|apac|jp|au|global|us-gov)\.)?", re.IGNORECASE)
_VERSION: Final = re.compile(r"-v\d+(?::\d+)?$|:\d+$", re.IGNORECASE)
_DATE: Final = re.compile(r"[-_ @]+(?:20\d\d[-_ ]?\d\d[-_ ]?\d\d|\d{4}|latest)$", re.IGNORECASE)
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PIECE: Final = re.compile(r"[a-z]+|\d+")
_VENDORS: Final = frozenset({"amazon", "anthropic", "openai", "azure", "google", "meta"})
"""Words of makers that some names begin with."""


def name_key(model: str) -> str:
    """Return what all names of a model have in common: its words and numbers, without maker, date and order.

    >>> name_key("Claude 3.5 Sonnet 2024-10-22") == name_key("claude-3-5-sonnet")
    True
    >>> name_key("gpt 4o 0806") == name_key("gpt-4o-2024-08-06")
    True
    >>> name_key("gpt-4o") == name_key("gpt-4o-mini")
    False
    """
    bare = _PREFIX.sub("", model.strip(), count=1)
    bare = _DATE.sub("", _VERSION.sub("", bare))
    pieces = _PIECE.findall(_CAMEL.sub(" ", bare).lower())
    kept = [piece for piece in pieces if piece not in _VENDORS] or pieces
    return " ".join(sorted(kept)) or model.strip().lower()
