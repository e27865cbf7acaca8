"""The overlay: reviewed rows of prices and rules that genai-prices lacks or has wrong, as files in ``pricing/data``.

Every row says who is paid, for which models, from when until when, and where it was read and on which day. Rows are
appended and never edited: what a log of last year costs must not change. ``pricing.amend`` applies them to cards.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pricing.errors import PriceFileError
from pricing.meters import Meter
from pricing.price_file import amount_of, instant_of, window_of

DATA_DIR: Final = Path(__file__).parent / "data"

_Amount = Annotated[Decimal, BeforeValidator(amount_of)]
_Instant = Annotated[datetime, BeforeValidator(instant_of)]
_Window = Annotated[tuple[tuple[int, int], ...], BeforeValidator(window_of)]
_Rates = dict[Meter, _Amount]


class Row(BaseModel):
    """What every row has.

    Attributes:
        provider: genai-prices id of who is paid, or an id of ours where it has none.
        valid_from: First instant (UTC); None for ever.
        valid_until: First instant (UTC) after it; None for ever.
        source: Address, and through which file it was read where that is not the same.
        checked_on: Day on which the source was read.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str
    valid_from: _Instant | None = None
    valid_until: _Instant | None = None
    source: Annotated[str, Field(min_length=8)]
    checked_on: date

    @model_validator(mode="after")
    def _ends_after_start(self) -> "Row":
        if self.valid_from and self.valid_until and self.valid_until <= self.valid_from:
            raise ValueError(f"valid_until {self.valid_until} is not after valid_from {self.valid_from}")
        return self


class ModelsRow(Row):
    """A row for some models: ids of cards, or patterns with ``*``."""

    models: Annotated[tuple[str, ...], Field(min_length=1)]
    except_models: tuple[str, ...] = ()

    def covers(self, provider: str | None, model: str) -> bool:
        """Whether a card is meant."""
        if provider != self.provider:
            return False
        name = model.lower()
        return any(fnmatchcase(name, one) for one in self.models) and not any(
            fnmatchcase(name, one) for one in self.except_models
        )


class ContextRow(BaseModel):
    """Rates of the whole request once its prompt is larger than ``above`` tokens (strictly)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    above: Annotated[int, Field(ge=0)]
    rates: _Rates


class CardRow(Row):
    """One period of a model: it takes the place of everything that genai-prices has of the model."""

    model: str
    aliases: tuple[str, ...] = ()
    rates: _Rates
    context: tuple[ContextRow, ...] = ()


class RateRow(ModelsRow):
    """Single rates over those of a card: stated, or as a multiple of the input rate of the same context tier."""

    rates: _Rates = Field(default_factory=dict[Meter, Decimal])
    times_input: _Rates = Field(default_factory=dict[Meter, Decimal])
    context: tuple[ContextRow, ...] = ()


class TierRow(ModelsRow):
    """A service tier: multiples of the standard rates of the same moment and context tier, or rates of its own."""

    tier: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    multiplier: _Amount = Decimal(1)
    multipliers: _Rates = Field(default_factory=dict[Meter, Decimal])
    rates: _Rates = Field(default_factory=dict[Meter, Decimal])
    context: tuple[ContextRow, ...] = ()


class BackdateRow(ModelsRow):
    """Since when a tier is sold whose rates genai-prices only has from the day on which it recorded them."""

    tier: str


class RegionRow(ModelsRow):
    """What token rates are multiplied by where a request is served (``pricing.rules.RegionRate``)."""

    regions: Annotated[tuple[str, ...], Field(min_length=1)]
    except_regions: tuple[str, ...] = ()
    multiplier: _Amount


class ProfileRow(Row):
    """What a regional id of a model costs, over a card that is written for the model's plain name."""

    except_regions: tuple[str, ...] = ()
    multiplier: _Amount


class WindowRow(ModelsRow):
    """Hours (UTC) in which token rates are multiplied, not on the days of a calendar."""

    name: str
    hours: tuple[_Window, ...]
    calendar: str | None = None
    multiplier: _Amount

    @property
    def minutes(self) -> tuple[tuple[int, int], ...]:
        """Spans of the week in minutes since Monday 00:00 UTC."""
        return tuple(sorted({span for window in self.hours for span in window}))


class CalendarRow(BaseModel):
    """Public holidays, as days of a zone with a fixed offset."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    utc_offset_hours: int
    days: tuple[date, ...]
    source: str
    checked_on: date


class AliasRow(Row):
    """Names that stand for a model which genai-prices would not find by them, or not rightly."""

    names: Annotated[tuple[str, ...], Field(min_length=1)]
    model: str


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    card: tuple[CardRow, ...] = ()
    rate: tuple[RateRow, ...] = ()
    tier: tuple[TierRow, ...] = ()
    backdate: tuple[BackdateRow, ...] = ()
    region: tuple[RegionRow, ...] = ()
    profile: tuple[ProfileRow, ...] = ()
    window: tuple[WindowRow, ...] = ()
    calendar: tuple[CalendarRow, ...] = ()
    alias: tuple[AliasRow, ...] = ()


class Overlay(_File):
    """All rows of all files, in the order of the files' names; of two that contradict each other the later counts."""

    def holidays(self, name: str) -> Iterator[tuple[datetime, datetime]]:
        """The days of a calendar, as UTC instants, end exclusive."""
        found = next(one for one in self.calendar if one.name == name)
        for day in found.days:
            start = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(
                hours=found.utc_offset_hours
            )
            yield start, start + timedelta(days=1)


def read_overlay(folder: Path) -> Overlay:
    """Read the rows of a folder of TOML files.

    Raises:
        PriceFileError: With file, row and key, when a row is not what it should be.
    """
    return parse_overlay(
        {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.toml"))}, folder
    )


def parse_overlay(texts: Mapping[str, str], where: Path) -> Overlay:
    """As :func:`read_overlay`, from the texts of the files by their names; ``where`` is named in messages."""
    import tomllib  # noqa: PLC0415

    rows: dict[str, list[object]] = {}
    for name, text in texts.items():
        try:
            parsed = _File.model_validate(tomllib.loads(text, parse_float=Decimal))
        except (tomllib.TOMLDecodeError, ValidationError) as error:
            raise PriceFileError(f"{where / name}: {error}") from None
        for kind in _File.model_fields:
            rows.setdefault(kind, []).extend(getattr(parsed, kind))
    return Overlay.model_validate(rows)


_replaced: list[Overlay] = []


def built_in() -> Overlay:
    """The overlay that the package brings along, or what took its place."""
    return _replaced[-1] if _replaced else _installed()


def replace_built_in(rows: Overlay | None) -> None:
    """Put other rows in the place of the package's; None puts those back."""
    _replaced[:] = [] if rows is None else [rows]


@cache
def _installed() -> Overlay:
    return read_overlay(DATA_DIR)
