"""What an accelerator is called in benchmarks, price lists and by its driver, down to the row that is meant.

A name is taken apart: vendor words, the count of cards and the memory technology say nothing; memory size, form factor
and the number of GPU cores decide between the versions of one product; the words that are left must be those of a row.
A name with a word too many is another product (``4090 Laptop``) and never taken for the one without it.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_NOISE: Final = frozenset(
    {
        "nvidia", "amd", "intel", "apple", "google", "aws", "amazon", "cloud", "instinct", "geforce", "radeon", "tesla",
        "quadro", "gpu", "gpus", "graphics", "card", "cards", "accelerator", "chip", "tensor", "edition", "generation",
        "lovelace", "hgx", "dgx", "oam", "nvlink", "per", "the", "r", "tm", "hbm2", "hbm2e", "hbm3", "hbm3e", "gddr6",
        "gddr6x", "gddr7", "vram", "memory", "superchip", "spx", "nps1", "vf",
    }
)  # fmt: skip
_FORMS: Final = {"sxm": "SXM", "pcie": "PCIe", "oam": "OAM"}
_VENDOR_PREFIX: Final = re.compile(r"^(?:nvidia|amd|intel|apple|instinct|geforce|radeon|tesla)+(?=.)")
_MEMORY: Final = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) ?(?:gib|gb|g)\b")
_WATTS: Final = re.compile(r"\b\d+ ?w\b")
_CORES: Final = re.compile(r"\b(\d+) ?cores?\b")
_COUNT_BEFORE: Final = re.compile(r"^\d{1,4} ?[x*] +|^\d{1,3}[x*](?=\w)")
_COUNT_BEHIND: Final = re.compile(r"(?<=[\d ])[x*] ?\d{1,4}$|(?<=[a-z]) [x*] ?\d{1,4}$")
_TIMES: Final = "\N{MULTIPLICATION SIGN}"
_SHORTEST_PREFIX: Final = 4


@dataclass(frozen=True, slots=True)
class Name:
    """A name, taken apart."""

    words: tuple[str, ...]
    memory_gb: float | None
    gpu_cores: int | None

    @property
    def key(self) -> str:
        """The words in any order."""
        return " ".join(sorted(self.words))

    @property
    def compact(self) -> str:
        """The words run together, as in ``RTX4090``."""
        return _VENDOR_PREFIX.sub("", "".join(self.words))


def parse(name: str) -> Name:
    """Take a name apart."""
    text = unicodedata.normalize("NFKC", re.sub("[®™©]", " ", name)).casefold().replace(_TIMES, "x")
    text = re.sub(r"[^a-z0-9.+*]+", " ", text).strip()
    memory = _MEMORY.search(text)
    text = _WATTS.sub(" ", _MEMORY.sub(" ", text)).strip()
    text = re.sub(r"\bgpu (?=cores?\b)", "", text.replace("gracehopper", "grace hopper"))
    cores = _CORES.search(text)
    text = _CORES.sub(" ", text).strip()
    text = _COUNT_BEHIND.sub("", _COUNT_BEFORE.sub("", text))
    words = [re.sub(r"^(sxm|pcie)[2-7]$", r"\1", word) for word in re.split(r"[ *]+", text) if word]
    return Name(
        words=tuple(word for word in words if word not in _NOISE) or tuple(words),
        memory_gb=float(memory[1]) if memory else None,
        gpu_cores=int(cores[1]) if cores else None,
    )


class NameIndex:
    """The spellings of every row, in the order of the table: the first row of several is the usual version."""

    def __init__(self, spellings: Mapping[str, Iterable[str]], forms: Mapping[str, str]) -> None:
        self._forms = forms
        self._by_key: dict[str, dict[str, None]] = {}
        for row_id, names in spellings.items():
            for name in map(parse, names):
                for key in (name.key, name.compact):
                    self._by_key.setdefault(key, {})[row_id] = None

    def ids(self, name: Name) -> tuple[str, ...]:
        """The rows that a name may stand for, none if it is unknown; they differ in memory or number of cores."""
        return next(filter(None, self._tries(name)), ())

    def _tries(self, name: Name) -> Iterator[tuple[str, ...]]:
        yield tuple(self._by_key.get(name.key, ()))
        yield tuple(self._by_key.get(name.compact, ()))
        if forms := [_FORMS[word] for word in name.words if word in _FORMS]:
            rest = Name(tuple(word for word in name.words if word not in _FORMS), None, None)
            yield tuple(row_id for row_id in self._by_key.get(rest.key, ()) if self._forms[row_id] in forms)
        yield self._by_prefix(name.compact)

    def _by_prefix(self, start: str) -> tuple[str, ...]:
        if len(start) < _SHORTEST_PREFIX:
            return ()
        found = {row_id for key, ids in self._by_key.items() if key.startswith(start) for row_id in ids}
        return tuple(found) if len(found) == 1 else ()
