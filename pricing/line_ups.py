"""What a model can be replaced with: smaller models of the same maker, and how tokens compare between tokenizers.

Rows in ``pricing/data/models``, dated and sourced. Prices are not repeated there.
"""

import tomllib
from datetime import date
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import cache
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError

from pricing.errors import PriceFileError
from pricing.names import candidates

MODELS_DIR: Final = Path(__file__).parent / "data" / "models"


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    models: Annotated[tuple[str, ...], Field(min_length=1)]
    source: Annotated[str, Field(min_length=8)]
    checked_on: date


class Line(_Row):
    """Models, by exact names, and what their maker sells today: smaller ones, nearest size first, and the newest of their size."""

    maker: str
    smaller: Annotated[tuple[str, ...], Field(min_length=1)]
    newer: tuple[str, ...] = ()


class Tokenizer(_Row):
    """A tokenizer, and patterns of the models that have it."""

    name: str

    def covers(self, names: tuple[str, ...]) -> bool:
        """Whether a model of one of these names has it."""
        return any(fnmatchcase(name, one) for name in names for one in self.models)


class Related(_Row):
    """A tokenizer that was held against another one: tokens over its tokens for the same text."""

    name: str
    base: str
    usual: Fraction
    smallest: Fraction
    largest: Fraction

    def covers(self, names: tuple[str, ...]) -> bool:
        """Whether a model of one of these names, with or without its maker's, has it."""
        bare = (*names, *(name.rpartition("/")[2] for name in names))
        return any(fnmatchcase(name, one) for name in bare for one in self.models)


class Sample(BaseModel):
    """A text, and its tokens by tokenizer; ``usual`` ones are what most prompts are made of."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str
    usual: bool = False
    tokens: dict[str, PositiveInt]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    line: tuple[Line, ...] = ()
    tokenizer: tuple[Tokenizer, ...] = ()
    related: tuple[Related, ...] = ()
    sample: tuple[Sample, ...] = ()


class TokenRatios(NamedTuple):
    """Tokens for one model over tokens for another, of the same text."""

    smallest: Fraction
    usual: Fraction
    largest: Fraction
    measured: bool
    """False where a tokenizer was not measured: then the counts are taken to be the same."""


def smaller_models(*names: str) -> tuple[str, ...]:
    """Return the smaller models in the place of a model, nearest size first; none where no row has it.

    Args:
        names: What the model is called: by its log, by its price card.
    """
    line = _line(*names)
    return () if line is None else line.smaller


def newer_models(*names: str) -> tuple[str, ...]:
    """Return the newest models of the size of a model, without itself; none where no row has one.

    Args:
        names: What the model is called: by its log, by its price card.
    """
    line = _line(*names)
    # Some name versions with dots: claude-opus-5.5.
    known = {one.replace(".", "-") for one in _known(*names)}
    return () if line is None else tuple(one for one in line.newer if one.replace(".", "-") not in known)


def _line(*names: str) -> Line | None:
    known = _known(*names)
    return next((line for line in _rows().line if known & set(line.models)), None)


def _known(*names: str) -> set[str]:
    return {one for name in names for one in candidates(_plain(name))}


def token_ratios(source: str, target: str) -> TokenRatios:
    """Return how many tokens of a target model stand for one token of a source model."""
    first, last = _related(source), _related(target)
    if first is None and last is None:
        return _counted(_tokenizer(source), _tokenizer(target))
    if first is not None and last is not None and first.name == last.name:
        one = Fraction(1)
        return TokenRatios(one, one, one, measured=True)
    between = _counted(first.base if first else _tokenizer(source), last.base if last else _tokenizer(target))
    if not between.measured:
        return between
    return TokenRatios(
        between.smallest * (last.smallest if last else 1) / (first.largest if first else 1),
        between.usual * (last.usual if last else 1) / (first.usual if first else 1),
        between.largest * (last.largest if last else 1) / (first.smallest if first else 1),
        measured=True,
    )


def _counted(before: str | None, after: str | None) -> TokenRatios:
    """Between tokenizers that counted the same samples."""
    if before is None or after is None or before == after:
        one = Fraction(1)
        return TokenRatios(one, one, one, before is not None and before == after)
    samples = _rows().sample
    ratios = [Fraction(one.tokens[after], one.tokens[before]) for one in samples]
    usual = [ratio for one, ratio in zip(samples, ratios, strict=True) if one.usual]
    return TokenRatios(min(ratios), Fraction(median(usual)), max(ratios), measured=True)


def read_rows(folder: Path) -> tuple[tuple[Line, ...], tuple[Tokenizer, ...], tuple[Sample, ...]]:
    """Read the rows of a folder of TOML files: lines, tokenizers, samples.

    Raises:
        PriceFileError: With file, row and key, when a row is not what it should be.
    """
    rows = _read(folder)
    return rows.line, rows.tokenizer, rows.sample


def _read(folder: Path) -> _File:
    found: dict[str, list[Any]] = {}
    for path in sorted(folder.glob("*.toml")):
        try:
            parsed = _File.model_validate(tomllib.loads(path.read_text("utf-8")))
        except (tomllib.TOMLDecodeError, ValidationError) as error:
            raise PriceFileError(f"{path}: {error}") from None
        for kind in _File.model_fields:
            found.setdefault(kind, []).extend(getattr(parsed, kind))
    return _File.model_validate(found)


@cache
def _rows() -> _File:
    return _read(MODELS_DIR)


def _plain(name: str) -> str:
    """Price cards name what is not the global id of a cloud's model "regional."; logs do not."""
    return name.strip().lower().removeprefix("regional.")


def _related(model: str) -> Related | None:
    names = candidates(_plain(model))
    return next((one for one in _rows().related if one.covers(names)), None)


def _tokenizer(model: str) -> str | None:
    names = candidates(_plain(model))
    return next((one.name for one in _rows().tokenizer if one.covers(names)), None)
