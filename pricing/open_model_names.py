"""What an open-weight model is called on hubs, in benchmarks and by servers, down to the rows that may be meant.

The owner, the tuning (``-Instruct``), the precision (``-FP8``) and dates do not change a model's shape; the sizes in a name
(``235b-a22b``) pick the member of a family. What is left must be a row's name in full.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_NOISE: Final = re.compile(
    r"instruct|chat|it|hf|base|pt|text|preview|latest|thinking|think|reasoning|meta|nvidia|original|model"
    r"|fp\d+|nvfp4|mxfp\d|bf16|f16|int\d|awq|gptq|gguf|mlx|bnb|exl\d|autoround|quantized|quant|dynamic|kv|eagle\d?|mtp"
    r"|[48]bit|w\d+a\d+|i?q\d\w*|k|m|s|block|ud|xl|turbo|v0\.\d|v1(\.\d)?|99(\.9)?|edge|datacenter|interactive|\d{4}|\d{6,8}|\d+[ek]|maas|dev"
)
_SIZE: Final = re.compile(r"(?P<active>a)?(?P<number>\d+(?:\.\d+)?)(?P<unit>[bt])")
_NEAR: Final = 1.08
"""Names round: 230b for 228.7, 1t for 1,026, 7b for 7.6 (only if no other row is nearer)."""


@dataclass(frozen=True, slots=True)
class ModelName:
    """A name, taken apart."""

    exact: str
    """Everything but the owner, run together."""
    family: str
    """Without sizes, tuning, precision and dates."""
    total_b: float | None
    active_b: float | None


def parse(name: str) -> ModelName:
    """Take a name apart."""
    text = unicodedata.normalize("NFKC", name).casefold().strip().rstrip("/")
    text = re.sub(r"(?<=\d)_(?=\d)", ".", text.rsplit("/", 1)[-1])
    words = [word for word in re.split(r"[^a-z0-9.]+|(?<!\d)\.|\.(?!\d)", text) if word]
    sizes = {word: found for word in words if (found := _SIZE.fullmatch(word))}
    rest = [word for word in words if word not in sizes and not _NOISE.fullmatch(word)]
    totals = [_billions(found) for found in sizes.values() if not found["active"]]
    actives = [_billions(found) for found in sizes.values() if found["active"]]
    return ModelName(
        exact="".join(words),
        family="".join(rest),
        total_b=max(totals, default=None),
        active_b=max(actives, default=None),
    )


def _billions(found: re.Match[str]) -> float:
    return float(found["number"]) * (1_000 if found["unit"] == "t" else 1)


@dataclass(frozen=True, slots=True)
class _Entry:
    model_id: str
    name: ModelName
    total_b: float


class ModelIndex:
    """All names of all rows."""

    def __init__(self, rows: Iterable[tuple[str, float, Iterable[str]]]) -> None:
        self._entries = tuple(
            _Entry(model_id, parse(name), total_b) for model_id, total_b, names in rows for name in names
        )

    def ids(self, name: str) -> tuple[str, ...]:
        """The rows that a name may stand for; several differ in size, and the name does not say which."""
        wanted = parse(name)
        if exact := [one for one in self._entries if one.name.exact == wanted.exact]:
            return (exact[0].model_id,)
        family = [one for one in self._entries if one.name.family == wanted.family]
        if wanted.total_b is None:
            return _distinct(family)
        named = [one for one in family if one.name.total_b == wanted.total_b]
        near = named or [one for one in family if _apart(one.total_b, wanted.total_b) <= _NEAR]
        if not near:
            return ()
        return (min(near, key=lambda one: _apart(one.total_b, wanted.total_b or one.total_b)).model_id,)

    def families(self) -> dict[str, tuple[str, ...]]:
        """Every spelling without its sizes, with the rows that share it: where to look for near misses."""
        found: dict[str, dict[str, None]] = {}
        for one in self._entries:
            for key in (one.name.family, one.name.exact):
                found.setdefault(key, {})[one.model_id] = None
        return {key: tuple(ids) for key, ids in found.items()}


def _distinct(entries: Iterable[_Entry]) -> tuple[str, ...]:
    """One row a size: rows of one size and family are tunings of one model, of which the first stands for all."""
    first: dict[float, str] = {}
    for one in entries:
        first.setdefault(one.total_b, one.model_id)
    return tuple(dict.fromkeys(first.values()))


def _apart(one: float, other: float) -> float:
    return max(one, other) / max(min(one, other), 1e-9)
