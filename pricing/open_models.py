"""The table of open-weight models, names that find a row, and any model by its ``config.json``."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pricing.errors import UnknownOpenModelError
from pricing.model_config import from_config
from pricing.open_model import OpenModel
from pricing.open_model_names import ModelIndex, parse
from pricing.table_rows import DATA_DIR, VERIFIED, Row, read_rows

__all__ = ["OpenModel", "add_open_models", "from_config", "open_model", "open_models"]

OPEN_MODELS_FILE: Final = DATA_DIR / "open_models.csv"
COLUMNS: Final = tuple(field.name for field in fields(OpenModel))
_HOW: Final = (
    "For another model pass its config.json (of the Hugging Face hub) or a CSV or TOML file with its row."
)


def open_models() -> Mapping[str, OpenModel]:
    """The built-in table: hub id to row."""
    return _built_in()


def open_model(name: str, table: Mapping[str, OpenModel] | None = None) -> OpenModel:
    """The row that a name stands for: a hub id, a short name (``llama-3.1-70b``), a build of it (``...-FP8``).

    Args:
        name: As a person, a benchmark or a server writes it.
        table: Where to look, see ``add_open_models``; None for the built-in table.

    Raises:
        UnknownOpenModelError: If it is no row's name, or the name of several sizes; the message gives the names.
    """
    if table is None or table is _built_in():
        return _built_in_named(name)
    return _named(name, table, _index(table.values()))


def add_open_models(path: Path, to: Mapping[str, OpenModel] | None = None) -> Mapping[str, OpenModel]:
    """A table with the rows of a user's file (columns as in ``pricing/data``) before those of another one.

    Raises:
        TableFileError: If the file is malformed: file, row, column, value and what is allowed.
    """
    added = {row.id: row for row in _read(path)}
    rest = open_models() if to is None else to
    return MappingProxyType({**added, **{key: row for key, row in rest.items() if key not in added}})


@cache
def _built_in() -> Mapping[str, OpenModel]:
    return MappingProxyType({row.id: row for row in _read(OPEN_MODELS_FILE)})


@cache
def _built_in_index() -> ModelIndex:
    return _index(_built_in().values())


@lru_cache(maxsize=4096)
def _built_in_named(name: str) -> OpenModel:
    return _named(name, _built_in(), _built_in_index())


def _index(rows: Iterable[OpenModel]) -> ModelIndex:
    return ModelIndex((row.id, row.total_params_b, (row.id, *row.aliases)) for row in rows)


def _named(name: str, table: Mapping[str, OpenModel], index: ModelIndex) -> OpenModel:
    if exact := table.get(name.strip()):
        return exact
    found = index.ids(name)
    if not found:
        nearest = ", ".join(_nearest(name, index))
        raise UnknownOpenModelError(f"No open model is called {name!r}. Nearest: {nearest}. {_HOW}")
    first, *more = found
    if more:
        raise UnknownOpenModelError(f"{name!r} comes in several sizes: {', '.join(found)}. Name one of them.")
    return table[first]


def _nearest(name: str, index: ModelIndex) -> tuple[str, ...]:
    families = index.families()
    wanted = parse(name)
    close = [
        *difflib.get_close_matches(wanted.exact, families, n=4, cutoff=0.5),
        *difflib.get_close_matches(wanted.family, families, n=4, cutoff=0),
    ]
    return tuple(dict.fromkeys(model_id for one in close for model_id in families[one]))[:4]


def _read(path: Path) -> tuple[OpenModel, ...]:
    return tuple(map(_open_model, read_rows(path, COLUMNS)))


def _open_model(row: Row) -> OpenModel:
    return OpenModel(
        id=row.text("id"),
        family=row.text("family"),
        total_params_b=row.number("total_params_b"),
        active_params_b=row.number("active_params_b"),
        active_matmul_b=row.number("active_matmul_b"),
        n_layers=row.count("n_layers"),
        n_full_attention_layers=row.count("n_full_attention_layers"),
        hidden_size=row.count("hidden_size"),
        intermediate_size=row.count("intermediate_size"),
        n_heads=row.count("n_heads"),
        n_kv_heads=row.count("n_kv_heads"),
        head_dim=row.count("head_dim"),
        attention_type=row.text("attention_type"),
        kv_bytes_per_token_bf16=row.number("kv_bytes_per_token_bf16"),
        vocab_size=row.count("vocab_size"),
        tied_embeddings=row.one_of("tied_embeddings", ("yes", "no")) == "yes",
        max_context=row.count("max_context"),
        released=row.text_or_empty("released"),
        native_precision=row.text_or_empty("native_precision") or None,
        licence=row.text_or_empty("licence"),
        source=row.text("source"),
        verified=row.one_of("verified", VERIFIED),
        note=row.text_or_empty("note"),
        mlp_matrices=row.count("mlp_matrices"),
        sliding_window=row.count_or_none("sliding_window"),
        sliding_kv_width=row.count_or_none("sliding_kv_width"),
        full_kv_heads=row.count_or_none("full_kv_heads"),
        sliding_kv_heads=row.count_or_none("sliding_kv_heads"),
        mla_kv_lora_rank=row.count_or_none("mla_kv_lora_rank"),
        mla_rope_dim=row.count_or_none("mla_rope_dim"),
        linear_or_ssm_layers=row.count_or_none("linear_or_ssm_layers") or 0,
        linear_state_values=row.count_or_none("linear_state_values"),
        n_experts=row.count_or_none("n_experts"),
        experts_per_token=row.count_or_none("experts_per_token"),
        shared_experts=row.count_or_none("shared_experts"),
        moe_intermediate_size=row.count_or_none("moe_intermediate_size"),
        expert_hidden_size=row.count_or_none("expert_hidden_size"),
        n_moe_layers=row.count_or_none("n_moe_layers"),
        nvfp4_dense_bits=row.number_or_none("nvfp4_dense_bits"),
        aliases=row.words("aliases"),
    )
