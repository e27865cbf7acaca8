"""What is printed: lines free of what a terminal would act on, whoever's names are in them."""

import unicodedata

import click

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
_KEPT = "\n\u200c\u200d"
"""Line breaks, and what joins the letters of some scripts."""


def harmless(text: str) -> str:
    """Return a text with every character that cannot be seen written as its escape; line breaks stay."""
    return "".join(mark if _is_plain(mark) else ascii(mark)[1:-1] for mark in text)


def say(text: str, *, err: bool = False) -> None:
    """Print a text that may hold names from a log."""
    click.echo(harmless(text), err=err)


def _is_plain(mark: str) -> bool:
    return mark in _KEPT or unicodedata.category(mark) not in _HIDDEN
