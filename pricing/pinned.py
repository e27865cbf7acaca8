"""The built-in prices as one file, to price a log again later by the book of today.

The file holds the models of genai-prices in that package's own raw form, and the overlay's rows as they are written.
What is read from it takes the place of the installed book for the whole process, until ``unpin``.
"""

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, cast

from genai_prices.data_snapshot import DataSnapshot, get_snapshot, set_custom_snapshot
from genai_prices.types import ModelPrice
from genai_prices.types import _providers_from_raw as providers_from_raw  # pyright: ignore[reportPrivateUsage]

from pricing import catalog, genai_cards, genai_lift, overlay
from pricing.errors import PriceFileError

_FORMAT: Final = "advisor price book 1"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """What a price book says of itself.

    Attributes:
        version: For people.
        sha256: Of the installed book from which it was made: the same book has the same hash.
    """

    version: str
    sha256: str


def export_book(book_version: str, sha256: str) -> str:
    """The installed book as JSON.

    Args:
        book_version: What the book is called.
        sha256: The book's hash, without files of the user's.
    """
    body = {
        "format": _FORMAT,
        "version": book_version,
        "sha256": sha256,
        "genai_prices": {"version": version("genai-prices"), "providers": _raw(get_snapshot().providers)},
        "overlay": {path.name: path.read_text("utf-8") for path in sorted(overlay.DATA_DIR.glob("*.toml"))},
    }
    return json.dumps({**body, "content_sha256": _digest(body)}, separators=(",", ":")) + "\n"


def pin(path: Path) -> Pinned:
    """Price by a book that was exported, until ``unpin``.

    Raises:
        PriceFileError: The file cannot be read, is no price book, or was changed after it was written.
    """
    body = _read(path)
    try:
        listed = body["genai_prices"]
        providers = providers_from_raw(listed["providers"])
        rows = overlay.parse_overlay(body["overlay"], path)
        found = Pinned(version=str(body["version"]), sha256=str(body["sha256"]))
        release = str(listed["version"])
    except (KeyError, TypeError, ValueError) as error:
        raise PriceFileError(f"{path}: not a price book of this version of advisor: {error}") from None
    _use(DataSnapshot(providers=providers, from_auto_update=False), rows, release)
    return found


def unpin() -> None:
    """Price by the installed book again."""
    _use(None, None, None)


def _use(snapshot: DataSnapshot | None, rows: overlay.Overlay | None, release: str | None) -> None:
    set_custom_snapshot(snapshot)
    overlay.replace_built_in(rows)
    genai_lift.set_release(release)
    genai_cards.forget()
    catalog.forget()


def _read(path: Path) -> Mapping[str, Any]:
    try:
        parsed = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise PriceFileError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise PriceFileError(f"{path}: not a price book: {error}") from None
    if not isinstance(parsed, dict) or cast("dict[str, Any]", parsed).get("format") != _FORMAT:
        raise PriceFileError(f"{path}: not a price book; `advisor prices --export FILE` writes one")
    body = cast("dict[str, Any]", parsed)
    stated = body.pop("content_sha256", None)
    if stated != _digest(body):
        raise PriceFileError(f"{path}: the book was changed after it was written; export it again")
    return body


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _raw(value: Any) -> Any:
    """Values of genai-prices in the raw form that it reads its own data from."""
    if isinstance(value, ModelPrice):
        value = value.__dict__
    elif dataclasses.is_dataclass(value):
        value = {
            one.name.rstrip("_"): getattr(value, one.name) for one in dataclasses.fields(value) if one.init
        }
    if isinstance(value, Mapping):
        return {str(key): _raw(one) for key, one in value.items() if one is not None}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_raw(one) for one in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, re.Pattern):
        return value.pattern  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if isinstance(value, Decimal):
        return str(value)
    return value.isoformat() if isinstance(value, (date, time)) else value
