"""The words of the report: names made safe to show, what a class means, which levers act on a phase."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Final

from advisor.analysis import PhaseClass
from advisor.view_model import Cell, Pair
from pricing.meters import Meter

NAME_LIMIT: Final = 48
TEXT_LIMIT: Final = 400
FULL_LIMIT: Final = 12_000
BRIEF_LIMIT: Final = 300
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_UNITS: Final = re.compile(r"(?<=\d) (?=(?:%|x|k|M|B|T|s|ms|min|h)(?![\w./-]))")
_JOINERS: Final = "\u200c\u200d"
_HIDDEN: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def clean(text: str, limit: int = NAME_LIMIT) -> str:
    """One visible line: no control, direction or terminal characters, cut to ``limit`` characters.

    Args:
        text: Anything, from a log.
        limit: Longest result; a cut text ends in an ellipsis.

    Returns:
        The text, ``(empty)`` when nothing visible is in it.
    """
    head = _ESCAPES.sub("\N{REPLACEMENT CHARACTER}", text[: limit * 20])
    spaced = "".join(_visible(char) for char in head)
    line = " ".join(spaced.split()) or "(empty)"
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def tight(text: str) -> str:
    """Return a text whose numbers keep their units: no line ends between ``0.17`` and ``x``, or ``87`` and ``%``."""
    return _UNITS.sub("\N{NO-BREAK SPACE}", text)


def full(text: str, limit: int = FULL_LIMIT) -> str:
    """The whole text, every character that cannot be seen written as its escape."""
    shown = "".join(c if c in _JOINERS or not _is_hidden(c) else ascii(c)[1:-1] for c in text[:limit])
    return shown if len(text) <= limit else f"{shown}… ({len(text):,d} characters)"


def name_cell(text: str, *, note: str = "", limit: int = NAME_LIMIT, brief: bool = False) -> Cell:
    """A name from a log as a cell; the whole text comes along when something was cut or replaced.

    Args:
        text: The name.
        note: A second line.
        limit: Longest text shown.
        brief: Cut the whole text too, where another cell of the report has it.

    Returns:
        The cell.
    """
    shown = clean(text, limit)
    return Cell(
        text=shown,
        exact=None if shown == text else full(text, BRIEF_LIMIT if brief else FULL_LIMIT),
        note=note,
    )


def _visible(char: str) -> str:
    if char.isspace():
        return " "
    return "\N{REPLACEMENT CHARACTER}" if _is_hidden(char) and char not in _JOINERS else char


def _is_hidden(char: str) -> bool:
    return unicodedata.category(char) in _HIDDEN


def sentence(text: str, limit: int = TEXT_LIMIT) -> str:
    """A phrase as a sentence: a capital first, a full stop last."""
    line = clean(text, limit)
    return line[0].upper() + line[1:] + ("" if line[-1] in ".!?…" else ".")


def plural(number: int, one: str, many: str | None = None) -> str:
    """``1 request``, ``2,000 requests``."""
    return f"{number:,d} {one if number == 1 else many or one + 's'}"


CLASS_NAMES: Final[Mapping[PhaseClass, str]] = {
    PhaseClass.PREFILL_DOMINATED: "Prefill-dominated",
    PhaseClass.DECODE_DOMINATED: "Decode-dominated",
    PhaseClass.BALANCED: "Balanced",
}

CLASS_KINDS: Final[Mapping[PhaseClass, str]] = {
    PhaseClass.PREFILL_DOMINATED: "prefill",
    PhaseClass.DECODE_DOMINATED: "decode",
    PhaseClass.BALANCED: "balanced",
}

CLASS_MEANINGS: Final[Mapping[PhaseClass, str]] = {
    PhaseClass.PREFILL_DOMINATED: "Most of the money goes into reading prompts. How long the answers are hardly matters for the bill.",
    PhaseClass.DECODE_DOMINATED: "Most of the money goes into writing answers. What the prompts hold hardly matters for the bill.",
    PhaseClass.BALANCED: "Reading and writing cost about the same: neither alone explains the bill.",
}

CLASS_LEVERS: Final[Mapping[PhaseClass, str]] = {
    PhaseClass.PREFILL_DOMINATED: (
        "Cache the shared start of the prompt, send less context (retrieval, history, tool definitions), "
        "and keep the prefix stable so that the cache is hit."
    ),
    PhaseClass.DECODE_DOMINATED: (
        "Ask for shorter or structured answers, cap output and reasoning effort, choose a model with cheaper "
        "output. Caching prompts changes nothing here."
    ),
    PhaseClass.BALANCED: (
        "Levers that cut both sides come first: a cheaper model, batch prices for work that can wait, fewer "
        "calls. Then trim whichever side is easier."
    ),
}

METER_LABELS: Final[Mapping[Meter, str]] = {
    Meter.INPUT_UNCACHED: "Input, not cached",
    Meter.CACHE_READ: "Cache reads",
    Meter.CACHE_WRITE_5M: "Cache writes, 5 min",
    Meter.CACHE_WRITE_30M: "Cache writes, 30 min",
    Meter.CACHE_WRITE_1H: "Cache writes, 1 h",
    Meter.CACHE_WRITE_12H: "Cache writes, 12 h",
    Meter.OUTPUT: "Output",
    Meter.AUDIO_INPUT: "Audio input",
    Meter.AUDIO_CACHE_READ: "Audio cache reads",
    Meter.AUDIO_OUTPUT: "Audio output",
    Meter.IMAGE_INPUT: "Image input",
    Meter.IMAGE_OUTPUT: "Image output",
    Meter.WEB_SEARCH_CALLS: "Web search calls",
    Meter.REQUEST_CALLS: "Requests with a fee",
    Meter.CACHE_STORAGE_TOKEN_HOURS: "Cache storage (token hours)",
}

BASES: Final = (
    Pair(
        term="Cost basis",
        text="What the bill says: the price of every token read (prefill) against the price of every token "
        "written (decode). Classes of workloads are decided on this basis. Below one third of the cost a phase "
        "is minor, above two thirds it dominates.",
    ),
    Pair(
        term="GPU-time basis",
        text="What the hardware would spend on the same requests, modelled for a reference deployment. It tells "
        "what self-hosting or latency work would act on; no bill is made from it.",
    ),
)

GLOSSARY: Final = (
    Pair(
        term="Token",
        text="The unit that models read, write and bill: about three quarters of an English word. The same text has more or "
        "fewer tokens on another model.",
    ),
    Pair(
        term="Prefill",
        text="Reading the prompt, all tokens at once. Limited by arithmetic; caching removes it.",
    ),
    Pair(
        term="Decode",
        text="Writing the answer, one token at a time. Limited by memory bandwidth; caching does not help.",
    ),
    Pair(
        term="KV cache",
        text="What a model keeps of the tokens it has read, so that it need not read them again.",
    ),
    Pair(
        term="Cache read, cache write",
        text="Prompt tokens taken from a stored prefix (cheap), or stored for later (sometimes dearer than plain input). "
        "Reads pay back writes when the same start of a prompt comes again in time.",
    ),
    Pair(
        term="Reasoning tokens",
        text="Written by the model before its answer and billed as output. They are a part of the answer tokens here.",
    ),
    Pair(
        term="TTFT", text="Time to first token: how long prefill and queueing take before an answer starts."
    ),
    Pair(term="TPOT", text="Time per output token: the pace of decode once an answer has started."),
    Pair(
        term="Batch",
        text="Requests that may wait (often up to a day), sold at a discount. On own accelerators: requests decoded together.",
    ),
    Pair(
        term="Context tier",
        text="A higher price for requests whose prompt is longer than a threshold. It often applies to the whole request.",
    ),
    Pair(
        term="Service tier",
        text="How a request is served: standard, batch, flex (slower, cheaper) or priority (faster, dearer).",
    ),
    Pair(
        term="Blended price",
        text="Cost over tokens, of all kinds together. It changes with the mix of kinds even where no price does.",
    ),
    Pair(
        term="List, contracted, effective cost",
        text="Usage at published prices; after negotiated discounts; and with commitments that are owed whatever is used.",
    ),
    Pair(
        term="p50, p90, p99",
        text="Half, nine tenths, or ninety-nine of a hundred requests are no larger than this.",
    ),
)
