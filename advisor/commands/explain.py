"""``advisor explain``: one usage line by line, or a list of usages as JSON."""

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from advisor.cli import EXIT_NOTHING, EXIT_USAGE, Failure
from advisor.commands import parse
from advisor.commands.output import write
from advisor.commands.prices import book_of
from advisor.document_money import money
from advisor.render.text import aligned
from advisor.usage_list import Entry, Unreadable, UsageListError, read_entries
from pricing.book import PriceBook
from pricing.charges import Charge, ChargeLine, charge
from pricing.meters import Meter, TokenUsage


def explain_one(
    *,
    model: str,
    usage: Sequence[str],
    provider: str | None,
    service_tier: str | None,
    region: str | None,
    at: str | None,
    price_files: Sequence[Path],
    price_book: Path | None,
    map_models: Sequence[str],
) -> int:
    """Print one usage line by line; return the exit code: 3 when it cannot be priced."""
    book = book_of(price_files, price_book, map_models)
    answer = charge(
        TokenUsage(counts=dict(_counts(usage))),
        book,
        provider=provider,
        model=model,
        at=parse.instant("--at", at),
        service_tier=service_tier,
        region=region,
        requests=1,
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
    click.echo("\n".join(aligned(rows)))
    click.echo(
        f"\ntotal {money(answer.total)} USD  ({answer.sheet.provider or '-'} {answer.sheet.model}; book: {book.version})"
    )
    for warning in answer.sheet.warnings:
        click.echo(f"warning: {warning}", err=True)
    return 0


def explain_file(
    path: Path,
    target: str,
    *,
    price_files: Sequence[Path],
    price_book: Path | None,
    map_models: Sequence[str],
) -> int:
    """Price a JSON list of usages and write the answers as JSON; return the exit code: 3 when none has a price."""
    book = book_of(price_files, price_book, map_models)
    try:
        entries = read_entries(path)
    except UsageListError as error:
        raise Failure(str(error), EXIT_USAGE) from error
    answers = [_answer(entry, book) for entry in entries]
    write(target, json.dumps(answers, indent=1) + "\n")
    for entry in entries:
        if isinstance(entry, Unreadable):
            click.echo(f"warning: {entry.reason}", err=True)
    return 0 if any(answer["total"] is not None for answer in answers) else EXIT_NOTHING


def _answer(entry: Entry | Unreadable, book: PriceBook) -> dict[str, Any]:
    if isinstance(entry, Unreadable):
        return {"id": entry.id, "total": None, "lines": [], "reason": entry.reason}
    found = charge(
        entry.usage,
        book,
        provider=entry.provider,
        model=entry.model,
        at=entry.at,
        service_tier=entry.service_tier,
        region=entry.region,
        context_tokens=entry.usage.input_tokens if entry.single else None,
        requests=1 if entry.single else None,
    )
    if not isinstance(found, Charge):
        return {"id": entry.id, "total": None, "lines": [], "reason": found.reason}
    warnings = [*entry.warnings, *found.sheet.warnings]
    return {
        "id": entry.id,
        "total": money(found.total),
        "lines": [_line(line) for line in found.lines],
        **({"warnings": warnings} if warnings else {}),
    }


def _line(line: ChargeLine) -> dict[str, Any]:
    return {
        "meter": str(line.meter),
        "quantity": line.quantity,
        "usd_per_unit": money(line.usd_per_unit),
        "unit": line.unit,
        "amount": money(line.amount),
        "rule": line.rule,
        "source": line.source,
        "retrieved": None if line.retrieved is None else line.retrieved.isoformat(),
    }


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
