"""``advisor prices`` and ``advisor explain``."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

import click

from advisor.cli import EXIT_NOTHING, EXIT_USAGE, Failure
from advisor.commands import parse
from advisor.document import money
from pricing.book import PriceBook, load_book
from pricing.charges import Charge, charge
from pricing.errors import PriceFileError, PricingError
from pricing.meters import Meter, TokenUsage


def _book(price_files: Sequence[Path]) -> PriceBook:
    try:
        return load_book(tuple(price_files))
    except PriceFileError as error:
        raise Failure(str(error), EXIT_USAGE) from error


def show(*, model: str | None, provider: str | None, price_files: Sequence[Path]) -> int:
    """Print the cards of a model, or the models; return the exit code: 3 when there is no such model."""
    book = _book(price_files)
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
        per = "1M tokens" if row.meter.is_tokens else "unit"
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
    click.echo("\n".join(_table(rows)))
    click.echo(f"\nBook: {book.version}")
    return 0


def explain(
    *,
    model: str,
    usage: Sequence[str],
    provider: str | None,
    service_tier: str | None,
    at: str | None,
    price_files: Sequence[Path],
) -> int:
    """Print one usage line by line; return the exit code: 3 when it cannot be priced."""
    book = _book(price_files)
    answer = charge(
        TokenUsage(counts=dict(_counts(usage))),
        book,
        provider=provider,
        model=model,
        at=parse.instant("--at", at),
        service_tier=service_tier,
    )
    if not isinstance(answer, Charge):
        raise Failure(f"{answer.model} cannot be priced: {answer.reason}", EXIT_NOTHING)
    rows = [("meter", "count", "x USD", "per", "= USD", "rule", "source", "retrieved")]
    rows += [
        (
            str(line.meter),
            f"{line.quantity:,}",
            money(line.usd_per_unit),
            line.unit,
            money(line.amount),
            line.rule,
            line.source,
            str(line.retrieved or "-"),
        )
        for line in answer.lines
    ]
    click.echo("\n".join(_table(rows)))
    click.echo(
        f"\ntotal {money(answer.total)} USD  ({answer.sheet.provider or '-'} {answer.sheet.model}; book: {book.version})"
    )
    for warning in answer.sheet.warnings:
        click.echo(f"warning: {warning}", err=True)
    return 0


def _counts(usage: Sequence[str]) -> Iterator[tuple[Meter, int]]:
    allowed = ", ".join(Meter)
    for item in usage:
        name, mark, text = item.partition("=")
        if not mark or name not in set(Meter):
            raise click.UsageError(f"{item!r} is not METER=COUNT; meters are {allowed}")
        try:
            count = Decimal(text.replace(",", "").replace("_", ""))
        except ArithmeticError:
            raise click.UsageError(f"{item!r}: the count is no number") from None
        if not count.is_finite() or count != int(count) or count < 0:
            raise click.UsageError(f"{item!r}: the count must be a whole number, not negative")
        yield Meter(name), int(count)


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
