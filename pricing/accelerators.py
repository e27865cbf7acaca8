"""Accelerators: one row a product, with dense peaks, decimal units, and where each figure comes from.

Vendors print tensor rates with sparsity, which doubles them, and GeForce rates with FP16 accumulation, which doubles them
again; the table has dense rates with FP32 accumulation. A rate is None where the part has no such unit or none is stated.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pricing.accelerator_names import Name, NameIndex, parse
from pricing.errors import UnknownAcceleratorError
from pricing.table_rows import DATA_DIR, VERIFIED, Row, read_rows

ACCELERATORS_FILE: Final = DATA_DIR / "accelerators.csv"
_MEMORY_TOLERANCE: Final = 1.15
"""Nominal sizes are stated in GB or GiB, before or after what the system takes: 180 or 192 for a B200."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """One accelerator as its maker sells it (for TPUs and Trainium: one chip).

    Attributes:
        id: The name in the table and in offers.
        aliases: Other names; where rows share one, the first of the table is meant if the name gives no memory size.
        memory_gb: Nominal, 1e9 bytes.
        memory_bandwidth_gb_s: Peak, 1e9 bytes a second.
        bf16_dense_tflops: BF16 (FP16 on parts without), dense, FP32 accumulation.
        gpu_cores: On parts that are sold with some cores switched off (Apple).
        interconnect_gb_s: Both directions together, for one accelerator.
        verified: ``yes``, ``part`` (the note says what was not) or ``memory``.
    """

    id: str
    vendor: str
    name: str
    form: str
    memory_gb: float
    memory_bandwidth_gb_s: float
    bf16_dense_tflops: float | None
    fp8_dense_tflops: float | None
    int8_dense_tops: float | None
    fp4_dense_tflops: float | None
    interconnect: str
    interconnect_gb_s: float | None
    tdp_w: float | None
    year: int | None
    source: str
    verified: str
    note: str = ""
    gpu_cores: int | None = None
    aliases: tuple[str, ...] = ()

    @property
    def is_configurable(self) -> bool:
        """Whether the maker sells it with less memory and fewer cores than the row has."""
        return self.vendor == "Apple" or self.id == "strix-halo"


COLUMNS: Final = tuple(field.name for field in fields(Accelerator))


def accelerators() -> Mapping[str, Accelerator]:
    """The built-in table: id to row."""
    return _built_in()


def accelerator(name: str, table: Mapping[str, Accelerator] | None = None) -> Accelerator:
    """The row that a name stands for: an id, a product name, or one of many spellings (``8x NVIDIA H100 80GB HBM3``).

    A part that is sold in sizes (``M2 Ultra 60-core 64GB``) comes with the memory and the share of the arithmetic that
    the name states.

    Args:
        name: As a person, a benchmark or a price list writes it.
        table: Where to look, see ``add_accelerators``; None for the built-in table.

    Raises:
        UnknownAcceleratorError: If it is no row's name, with the nearest names and how to add a row.
    """
    if table is None or table is _built_in():
        return _built_in_named(name)
    return _named(name, table, _index(table.values()))


def add_accelerators(path: Path, to: Mapping[str, Accelerator] | None = None) -> Mapping[str, Accelerator]:
    """A table with the rows of a user's file before those of another one; a row with a known id replaces it.

    Args:
        path: CSV with a header, or TOML with one ``[[accelerator]]`` a row; columns as in ``pricing/data``.
        to: The table to add to; None for the built-in one.

    Raises:
        TableFileError: If the file is malformed: file, row, column, value and what is allowed.
    """
    added = {row.id: row for row in _read(path)}
    rest = accelerators() if to is None else to
    return MappingProxyType({**added, **{key: row for key, row in rest.items() if key not in added}})


@cache
def _built_in() -> Mapping[str, Accelerator]:
    return MappingProxyType({row.id: row for row in _read(ACCELERATORS_FILE)})


@lru_cache(maxsize=4096)
def _built_in_named(name: str) -> Accelerator:
    return _named(name, _built_in(), _built_in_index())


@cache
def _built_in_index() -> NameIndex:
    return _index(_built_in().values())


def _index(rows: Iterable[Accelerator]) -> NameIndex:
    listed = tuple(rows)
    return NameIndex(
        {row.id: (row.id, row.name, *row.aliases) for row in listed}, {row.id: row.form for row in listed}
    )


def _named(name: str, table: Mapping[str, Accelerator], index: NameIndex) -> Accelerator:
    if exact := table.get(name.strip().casefold()):
        return exact
    wanted = parse(name)
    rows = [table[row_id] for row_id in index.ids(wanted)]
    if not rows:
        raise UnknownAcceleratorError(_unknown(name, table))
    if rows[0].is_configurable:
        return _as_sold(rows, wanted)
    if wanted.memory_gb is None:
        return rows[0]
    size = wanted.memory_gb
    row = min(rows, key=lambda row: _apart(row.memory_gb, size))
    if _apart(row.memory_gb, size) > _MEMORY_TOLERANCE:
        known = ", ".join(f"{row.id} ({row.memory_gb:g} GB)" for row in rows)
        raise UnknownAcceleratorError(
            f"No accelerator {name!r} with {size:g} GB of memory; known: {known}. {_HOW}"
        )
    return row


def _as_sold(rows: list[Accelerator], wanted: Name) -> Accelerator:
    """The smallest version with enough cores, cut to what the name states."""
    row = rows[0]
    if wanted.gpu_cores is not None:
        enough = [row for row in rows if (row.gpu_cores or 0) >= wanted.gpu_cores]
        row = min(enough, key=lambda row: row.gpu_cores or 0) if enough else row
        row = _with_cores(row, wanted.gpu_cores)
    return row if wanted.memory_gb is None else replace(row, memory_gb=wanted.memory_gb)


def _with_cores(row: Accelerator, cores: int) -> Accelerator:
    """The same chip with another number of cores: arithmetic scales, bandwidth does not."""
    if row.gpu_cores is None or cores == row.gpu_cores:
        return row
    share = cores / row.gpu_cores
    peak = row.bf16_dense_tflops
    return replace(
        row,
        name=f"{row.name} ({cores} cores)",
        gpu_cores=cores,
        bf16_dense_tflops=None if peak is None else peak * share,
    )


def _apart(one: float, other: float) -> float:
    return max(one, other) / max(min(one, other), 1e-9)


_HOW: Final = (
    "For another one write a CSV or TOML file with its row (id, vendor, name, form, memory_gb, memory_bandwidth_gb_s, "
    "bf16_dense_tflops, source, verified are needed; docs/self-hosting.md)."
)


def _unknown(name: str, table: Mapping[str, Accelerator]) -> str:
    spellings = {
        parse(spelling).compact: row.id
        for row in table.values()
        for spelling in (row.id, row.name, *row.aliases)
    }
    close = difflib.get_close_matches(parse(name).compact, spellings, n=8, cutoff=0)
    nearest = ", ".join(tuple(dict.fromkeys(spellings[one] for one in close))[:4])
    return f"No accelerator is called {name!r}. Nearest: {nearest}. {_HOW}"


def _read(path: Path) -> tuple[Accelerator, ...]:
    return tuple(map(_accelerator, read_rows(path, COLUMNS)))


def _accelerator(row: Row) -> Accelerator:
    return Accelerator(
        id=row.text("id").casefold(),
        vendor=row.text("vendor"),
        name=row.text("name"),
        form=row.text("form"),
        memory_gb=row.number("memory_gb"),
        memory_bandwidth_gb_s=row.number("memory_bandwidth_gb_s"),
        bf16_dense_tflops=row.number_or_none("bf16_dense_tflops"),
        fp8_dense_tflops=row.number_or_none("fp8_dense_tflops"),
        int8_dense_tops=row.number_or_none("int8_dense_tops"),
        fp4_dense_tflops=row.number_or_none("fp4_dense_tflops"),
        interconnect=row.text_or_empty("interconnect") or "none",
        interconnect_gb_s=row.number_or_none("interconnect_gb_s"),
        tdp_w=row.number_or_none("tdp_w"),
        year=row.count_or_none("year"),
        source=row.text("source"),
        verified=row.one_of("verified", VERIFIED),
        note=row.text_or_empty("note"),
        gpu_cores=row.count_or_none("gpu_cores"),
        aliases=row.words("aliases"),
    )
