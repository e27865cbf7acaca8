"""``advisor prices``."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from advisor.book_diff import compare, rates_of
from advisor.cli import EXIT_GATE, EXIT_NOTHING, EXIT_USAGE, Failure
from advisor.commands import parse
from advisor.commands.output import write
from advisor.document_money import money
from advisor.render.text import aligned
from pricing.book import PriceBook, built_in_version, load_book
from pricing.cards import CardRow
from pricing.charges import unit_of
from pricing.errors import PriceFileError, PricingError


def book_of(
    price_files: Sequence[Path], price_book: Path | str | None = None, map_models: Sequence[str] = ()
) -> PriceBook:
    """Return the book to price with; a malformed file is a failure with exit code 2."""
    try:
        return load_book(
            tuple(price_files), Path(price_book) if price_book else None, parse.model_names(map_models)
        )
    except PriceFileError as error:
        raise Failure(str(error), EXIT_USAGE) from error


def export(target: str) -> int:
    """Write the built-in book to a file."""
    from pricing.pinned import export_book  # noqa: PLC0415

    write(target, export_book(*built_in_version()))
    return 0


def diff(old: Path, as_of: str | None) -> int:
    """Print what the built-in book has otherwise than an exported one; return 1 when prices of the past changed."""
    from pricing.pinned import unpin  # noqa: PLC0415

    before = book_of((), old)
    rates = rates_of(before.cards())
    unpin()
    now = book_of(())
    changes = compare(rates, rates_of(now.cards()), parse.instant("--as-of", as_of))
    click.echo(f"old: {before.version}\nnew: {now.version}\n")
    if not changes:
        click.echo("No rate differs.")
        return 0
    rows = [("", "provider", "model", "rate", "old USD", "new USD")]
    rows += [
        (
            "PAST" if one.past else "",
            one.provider,
            one.model,
            one.what,
            "-" if one.old_usd is None else money(one.old_usd),
            "-" if one.new_usd is None else money(one.new_usd),
        )
        for one in changes
    ]
    click.echo("\n".join(aligned(rows)))
    past = sum(one.past for one in changes)
    click.echo(f"\n{len(changes):,} rates differ" + (f", {past:,} of them of the past" if past else ""))
    return EXIT_GATE if past else 0


def show(
    *,
    model: str | None,
    provider: str | None,
    price_files: Sequence[Path],
    price_book: Path | None,
    map_models: Sequence[str],
) -> int:
    """Print the cards of a model, or the models; return the exit code: 3 when there is no such model."""
    book = book_of(price_files, price_book, map_models)
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
    for row in _told_once(list(card.rows())):
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
    click.echo("\n".join(aligned(rows)))
    click.echo(f"\nBook: {book.version}")
    return 0


def _told_once(rows: Sequence[CardRow]) -> Iterator[CardRow]:
    """Yield rows of a card but those that say what another one says for a longer time."""

    def is_within(row: CardRow, other: CardRow) -> bool:
        starts = other.valid_from is None or (
            row.valid_from is not None and row.valid_from >= other.valid_from
        )
        ends = other.valid_until is None or (
            row.valid_until is not None and row.valid_until <= other.valid_until
        )
        return starts and ends

    seen: dict[tuple[object, ...], list[CardRow]] = {}
    for row in rows:
        seen.setdefault((row.meter, row.usd_per_unit, row.rule), []).append(row)
    for row in rows:
        same = seen[row.meter, row.usd_per_unit, row.rule]
        place = next(number for number, other in enumerate(same) if other is row)
        # Of two for the same time the first is told.
        if not any(
            other is not row and is_within(row, other) and (not is_within(other, row) or number < place)
            for number, other in enumerate(same)
        ):
            yield row
