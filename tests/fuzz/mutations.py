"""Golden inputs, damaged as logs are: structure-aware where the structure is known, and byte by byte below it."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from fuzz.values import NUMBERS, TEXTS, json_values

_STAND_IN: Final = "@@raw@@"

Change = Callable[[Random, "Text"], None]


@dataclass
class Text:
    """A log while it is being damaged: its lines, and at the end its bytes."""

    suffix: str
    lines: list[str]
    end: str = "\n"
    encoding: str = "utf-8"
    longest: int = 150_000
    """Characters of the longest text that is put in."""

    def bytes(self) -> bytes:
        """Return the file."""
        text = self.end.join([*self.lines, ""])
        mark = "\ufeff" if self.encoding in ("utf-8-sig", "utf-16-le", "utf-16-be") else ""
        encoding = "utf-8" if self.encoding == "utf-8-sig" else self.encoding
        return (mark + text).encode(encoding, errors="replace")


def mutated(content: str, suffix: str, random: Random, *, longest: int = 150_000) -> bytes:
    """Return a golden input with one to four changes.

    Args:
        content: The input.
        suffix: Its suffix, which tells its structure.
        random: Decides everything.
        longest: Characters of the longest text that is put in.
    """
    text = Text(suffix, content.removeprefix("\ufeff").rstrip("\n").split("\n"), longest=longest)
    structured = STRUCTURED.get(suffix, (change_words,))
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        changes = structured if random.random() < 0.75 else LINES
        random.choice(changes)(random, text)
    if random.random() < 0.15:
        random.choice(WHOLE)(random, text)
    made = text.bytes()
    if random.random() < 0.1:
        made = random.choice(BYTES)(random, made)
    return made


# ---- JSON


def change_value(random: Random, text: Text) -> None:
    """Put something else where a value is."""
    _edit(random, text, lambda *_: random.choice(json_values(text.longest))(random), scalars=True)


def change_object(random: Random, text: Text) -> None:
    """Put something else where an object or an array is."""
    _edit(random, text, lambda *_: random.choice(json_values(text.longest))(random), scalars=False)


def repeat_key(random: Random, text: Text) -> None:
    """Give a key twice, with another value the second time."""

    def twice(key: str, value: Any) -> str:
        return f"{json.dumps(value)}, {json.dumps(key)}: {random.choice(json_values(text.longest))(random)}"

    _edit(random, text, twice, scalars=True)


def spell_key_otherwise(random: Random, text: Text) -> None:
    """Give a key a second time in capitals: engines take such names for one."""
    _edit(random, text, lambda key, value: f"{json.dumps(value)}, {json.dumps(key.upper())}: {random.choice(NUMBERS)}", scalars=True)  # fmt: skip


def add_key(random: Random, text: Text) -> None:
    """Add a key that no format knows."""
    name = random.choice(
        (
            "",
            "extra",
            "a.b",
            'q"q',
            "it's",
            "\u00fc",
            "select",
            "__row",
            "filename",
            "json",
            "usage",
            "total_tokens",
        )
    )
    _edit(random, text, lambda _, value: f"{json.dumps(value)}, {json.dumps(name)}: {random.choice(json_values(text.longest))(random)}", scalars=True)  # fmt: skip


def drop_key(random: Random, text: Text) -> None:
    """Leave a key out."""
    _edit(random, text, None, scalars=random.random() < 0.8)


def wrap_record(random: Random, text: Text) -> None:
    """Put a line inside an object or an array."""
    index = random.randrange(len(text.lines))
    line = text.lines[index]
    text.lines[index] = random.choice(
        (f"[{line}]", f'{{"data": {line}}}', f'{{"a": {{"b": {line}}}}}', f"{line}{line}", f"{line},")
    )


def _edit(random: Random, text: Text, make: Callable[[str, Any], str] | None, *, scalars: bool) -> None:
    """Change one place of one line (or of the whole document) that is JSON; nothing where there is none."""
    whole = text.suffix == ".json"
    index = random.randrange(len(text.lines))
    source = "\n".join(text.lines) if whole else text.lines[index]
    try:
        root = json.loads(source)
    except (ValueError, RecursionError):
        return
    places = [place for place in _places(root) if isinstance(place[0][place[1]], (dict, list)) != scalars]
    if not places:
        return
    parent, key = random.choice(places)
    raw = None
    if make is None:
        del parent[key]
    else:
        raw = make(str(key), parent[key])
        parent[key] = _STAND_IN
    made = json.dumps(root, ensure_ascii=False)
    if raw is not None:
        if isinstance(parent, list) and raw.count(", ") and not isinstance(parent, dict):
            raw = raw.split(", ")[0]
        made = made.replace(json.dumps(_STAND_IN), raw)
    if whole:
        text.lines[:] = [made]
    else:
        text.lines[index] = made


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield value, key
        yield from _places(inner)


# ---- tables


def change_cell(random: Random, text: Text) -> None:
    """Put something else into a cell."""
    hostile = (*NUMBERS, *TEXTS, "x" * text.longest)
    _edit_row(
        random,
        text,
        lambda row: row.__setitem__(random.randrange(len(row)), random.choice(hostile)),
        head=False,
    )


def change_header(random: Random, text: Text) -> None:
    """Rename, repeat or empty a column's name."""

    def rename(row: list[str]) -> None:
        row[random.randrange(len(row))] = random.choice(
            (random.choice(row), "", " ", "tokens", "it's", 'a"b', "select", "__row", "\u00fc", "a\x00b")
        )

    _edit_row(random, text, rename, head=True)


def change_width(random: Random, text: Text) -> None:
    """Add a cell to a row, or take one away."""
    _edit_row(random, text, lambda row: row.append("9") if random.random() < 0.5 else row.pop(), head=False)


def break_quotes(random: Random, text: Text) -> None:
    """Leave a quote open, or put one where none belongs."""
    index = random.randrange(len(text.lines))
    line = text.lines[index]
    at = random.randrange(len(line) + 1)
    text.lines[index] = line[:at] + '"' + line[at:]


def _edit_row(random: Random, text: Text, change: Callable[[list[str]], Any], *, head: bool) -> None:
    delimiter = ";" if ";" in text.lines[0] else "\t" if text.suffix == ".tsv" else ","
    index = 0 if head or len(text.lines) == 1 else random.randrange(1, len(text.lines))
    try:
        rows = list(csv.reader([text.lines[index]], delimiter=delimiter))
    except csv.Error:
        return
    if not rows or not rows[0]:
        return
    change(rows[0])
    out = io.StringIO()
    with_marks = [cell.encode("utf-8", "replace").decode() for cell in rows[0]]
    csv.writer(out, delimiter=delimiter, lineterminator="").writerow(with_marks)
    text.lines[index] = out.getvalue()


# ---- lines


def change_words(random: Random, text: Text) -> None:
    """Put something else where a line of text has a number or a word."""
    index = random.randrange(len(text.lines))
    words = text.lines[index].split(" ")
    words[random.randrange(len(words))] = (
        random.choice((*NUMBERS, *TEXTS)).encode("utf-8", "replace").decode()
    )
    text.lines[index] = " ".join(words)


def cut_line(random: Random, text: Text) -> None:
    """End a line too early."""
    index = random.randrange(len(text.lines))
    text.lines[index] = text.lines[index][: random.randrange(len(text.lines[index]) + 1)]


def drop_line(random: Random, text: Text) -> None:
    """Leave a line out."""
    if len(text.lines) > 1:
        del text.lines[random.randrange(len(text.lines))]


def repeat_line(random: Random, text: Text) -> None:
    """Write a line again, elsewhere."""
    text.lines.insert(random.randrange(len(text.lines) + 1), random.choice(text.lines))


def swap_lines(random: Random, text: Text) -> None:
    """Let two lines change places."""
    one, other = random.randrange(len(text.lines)), random.randrange(len(text.lines))
    text.lines[one], text.lines[other] = text.lines[other], text.lines[one]


def add_line(random: Random, text: Text) -> None:
    """Add a line that belongs to nothing."""
    raw = random.choice(json_values(text.longest))(random)
    made = random.choice(
        (
            raw,
            "",
            "   ",
            "{broken",
            "null",
            "[1, 2]",
            '"text"',
            "{}",
            '{"hello": "world"}',
            "plain words",
            ",,,",
            "\x00",
            "}",
            "# note",
        )
    )
    text.lines.insert(
        random.randrange(len(text.lines) + 1), made.replace("\n", " ").encode("utf-8", "replace").decode()
    )


# ---- the whole file


def other_encoding(random: Random, text: Text) -> None:
    """Write the file as other systems do."""
    text.encoding = random.choice(("utf-8-sig", "utf-16-le", "utf-16-be", "latin-1", "cp1252"))


def other_line_ends(random: Random, text: Text) -> None:
    """End lines as other systems do."""
    text.end = random.choice(("\r\n", "\r", "\n\n"))


def cut_bytes(random: Random, content: bytes) -> bytes:
    """Return the file as a writer left it that was stopped."""
    return content[: random.randrange(len(content) + 1)]


def flip_byte(random: Random, content: bytes) -> bytes:
    """Return the file with one byte damaged."""
    at = random.randrange(max(len(content), 1))
    return content[:at] + bytes([random.randrange(256)]) + content[at + 1 :]


def embed_nul(random: Random, content: bytes) -> bytes:
    """Return the file with a NUL in it."""
    at = random.randrange(len(content) + 1)
    return content[:at] + b"\x00" + content[at:]


_JSON: Final[tuple[Change, ...]] = (
    change_value, change_value, change_value, change_object, repeat_key, spell_key_otherwise, add_key, drop_key, drop_key,
)  # fmt: skip
_TABLE: Final[tuple[Change, ...]] = (
    change_cell,
    change_cell,
    change_cell,
    change_header,
    change_width,
    break_quotes,
)
STRUCTURED: Final[dict[str, tuple[Change, ...]]] = {
    ".jsonl": (*_JSON, wrap_record),
    ".json": _JSON,
    ".csv": _TABLE,
    ".tsv": _TABLE,
}
"""Changes by suffix; of other texts words are changed."""
LINES: Final[tuple[Change, ...]] = (cut_line, drop_line, repeat_line, swap_lines, add_line, add_line)
WHOLE: Final[tuple[Change, ...]] = (other_encoding, other_encoding, other_line_ends)
BYTES: Final = (cut_bytes, flip_byte, embed_nul)
