"""How much of an analysis its outputs hold."""

from typing import Final

MOST_LINES: Final = 50_000
"""Of the bill that a document keeps; FOCUS files and workbooks of larger ones are made with the log at hand."""
