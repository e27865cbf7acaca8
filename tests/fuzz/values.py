"""Values that a log should not hold and sometimes does, as they are written in JSON and in cells of a table."""

from collections.abc import Callable
from random import Random
from typing import Final

DEEP: Final = 500
"""Levels of nesting: more than any log has, fewer than what ends Python's own parser."""

NUMBERS: Final = (
    "0", "-0", "-0.0", "1", "-1", "-5", "7", "1.0", "1.5", "-2.5", "1e3", "1E+3", "1e-3", "1e18", "1e19", "1e38", "1e400", "-1e400",
    "999999999999999999999", "2147483648", "9007199254740993", "4611686018427387904", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "-9223372036854775809", "18446744073709551616", "170141183460469231731687303715884105728",
    "1" + "0" * 400,
)  # fmt: skip
"""Numbers, as written: signs, fractions, exponents, and both sides of every width of integer."""

NOT_NUMBERS: Final = ("NaN", "Infinity", "-Infinity", "nan", "+1", "01", ".5", "5.", "0x10", "1_000", "--1")
"""What some writers put where a number belongs, and no standard allows."""

TEXTS: Final = (
    "", " ", "\t", "0", "12", "-12", "1.5", "1,234", "1.234", "1 234", "NaN", "Infinity", "null", "None", "true", "yes", "-",
    "\x00", "a\x00b", "\x1b[31mred\x1b[0m", "\x07", "\x7f", "\u202egpj.exe", "\ufeff", "\ud800", "\U0001f4b8", "e\u0301",
    "=1+1", "@SUM(A1)", "+1", "<script>alert(1)</script>", "{{7*7}}", "{% raw %}", "${7*7}", "%s%n", "'; drop table ledger; --",
    '"', "'", "\\", "a\nb", "a\r\nb", "a,b", "a;b", "..", "/dev/zero", "__proto__", "constructor",
    "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "10000-01-01", "2026-02-30", "2026-13-01T00:00:00Z", "1969-12-31T23:59:59Z",
    "2026-06-01T10:00:00+25:00", "2026-06-01T24:00:00Z", "infinity", "epoch", "01/02/03", "1e300", "99999999999999999999",
)  # fmt: skip
"""Texts: numbers in disguise, control characters, markup, formulas, quotes, and times that are none."""


def deep(levels: int, *, of: str = "[]") -> str:
    """Return JSON that is nested this deep, in arrays or in objects."""
    return "[" * levels + "]" * levels if of == "[]" else '{"a":' * levels + "1" + "}" * levels


def long_text(size: int) -> str:
    """Return a text of this many characters."""
    return "x" * size


def json_values(longest: int) -> tuple[Callable[[Random], str], ...]:
    """Return makers of JSON values (or of what is none), each as it is written.

    Args:
        longest: Characters of the longest text.
    """
    return (
        lambda random: random.choice(NUMBERS),
        lambda random: random.choice(NUMBERS),
        lambda random: random.choice(("null", "true", "false", "[]", "{}", '""', "[null]", "[[]]", '[{"a":1}]', '{"a":{}}')),
        lambda random: quoted(random.choice(TEXTS)),
        lambda random: quoted(random.choice(NUMBERS)),
        lambda random: random.choice(NOT_NUMBERS),
        lambda random: deep(random.choice((3, 60, DEEP)), of=random.choice(("[]", "{}"))),
        lambda random: quoted(long_text(random.choice((100, 5_000, longest)))),
        lambda random: random.choice(('"\\ud800"', '"\\u0000"', '"\\x"', '"\\', '"raw \x01 control"', "'single'", "undefined", "", ",")),
    )  # fmt: skip


def quoted(text: str) -> str:
    """Return a text as JSON; a lone half of a pair stays an escape."""
    import json  # noqa: PLC0415

    return json.dumps(text, ensure_ascii=not text.isprintable())
