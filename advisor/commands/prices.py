"""``advisor prices``."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from advisor.cli import EXIT_NOTHING, EXIT_USAGE, Failure
from advisor.document_money import money
from pricing.book import PriceBook, load_book
from pricing.charges import unit_of
from pricing.errors import PriceFileError, PricingError


def book_of(price_files: Sequence[Path]) -> PriceBook:
    """Return the book with the user's files; a malformed file is a failure with exit code 2."""
    try:
        return load_book(tuple(price_files))
    except PriceFileError as error:
        raise Failure(str(error), EXIT_USAGE) from error


def show(*, model: str | None, provider: str | None, price_files: Sequence[Path]) -> int:
    """Print the cards of a model, or the models; return the exit code: 3 when there is no such model."""
    book = book_of(price_files)
    if model is None:
        for card in book.cards():
            if provider in (None, card.provider):
                click.echo(f"{card.provider or '-':<16} {card.model}")
        click.echo(f"\nBook: {book.version}", err=True)
        return 0
    try:
        card = book.find(provider, model)
    except PricingError as error:
        near = book.suggest(model)
        hint = f" Near: {', '.join(near)}." if near else ""
        raise Failure(f"{error}.{hint}", EXIT_NOTHING) from error
    rows = [("meter", "USD", "per", "rule", "from", "until", "source", "retrieved")]
    for row in card.rows():
        per = unit_of(row.meter)
        rows.append(
            (
                str(row.meter),
                money(row.usd_per_unit),
                per,
                row.rule,
                f"{row.valid_from:%Y-%m-%d %H:%MZ}" if row.valid_from else "-",
                f"{row.valid_until:%Y-%m-%d %H:%MZ}" if row.valid_until else "-",
                row.source,
                str(row.retrieved or "-"),
            )
        )
    click.echo(f"{card.provider or '-'} {card.model}\n")
    click.echo("\n".join(table(rows)))
    click.echo(f"\nBook: {book.version}")
    return 0


def table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Return the lines of a table with aligned columns."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
