"""From two JSON documents of ``advisor analyze`` to their difference."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Final

from advisor.diff import ZERO, Difference, Part, Side, added, meter_rows, rows
from advisor.diff_drivers import drivers
from advisor.document_model import Document, ModelDoc, WorkloadDoc
from advisor.variance_terms import Bridge
from pricing.charges import exact_sum
from pricing.meters import TOKEN_METERS, Meter
from pricing.rules import EXACT
from pricing.units import SECONDS_PER_DAY

_METERS: Final = frozenset(map(str, Meter))
_UNLIKE_DAYS: Final = 0.1
"""Part by which the lengths of the periods may differ without a word."""
_Name = tuple[str | None, str]


class DiffError(ValueError):
    """Two documents that cannot be compared."""


def compare(before: Document, after: Document, names: tuple[str, str]) -> Difference:
    """Return what changed from one document to the other.

    Args:
        before: The earlier one.
        after: The later one.
        names: What they are called.

    Raises:
        DiffError: Their currencies differ.
    """
    if before.cost.currency != after.cost.currency:
        raise DiffError(
            f"{names[0]} is in {before.cost.currency} and {names[1]} in {after.cost.currency}: "
            "amounts of two currencies cannot be compared; analyse one again with --currency and --fx"
        )
    models = rows(_models(before), _models(after))
    compared = [row for row in models if row.change is not None]
    effects = [row.effects for row in compared if row.effects is not None]
    known = {row.name for row in compared}
    both = [(row.before, row.after) for row in compared]
    sides = (_side(before, names[0]), _side(after, names[1]))
    pairs = {key for document in (before, after) for key, name in _names(document).items() if name in known}
    costs = tuple(exact_sum(part.known_cost or ZERO for part in side) for side in zip(*both, strict=True))
    made = drivers(before.by_tier, after.by_tier, pairs, (costs[0], costs[1])) if compared else None
    return Difference(
        currency=before.cost.currency,
        before=sides[0],
        after=sides[1],
        change=exact_sum(row.change for row in compared if row.change is not None),
        effects=added(effects) if len(effects) == len(compared) else None,
        uncompared_before=exact_sum(row.before.cost or ZERO for row in models if row.change is None),
        uncompared_after=exact_sum(row.after.cost or ZERO for row in models if row.change is None),
        models=models,
        workloads=rows(_workloads(before), _workloads(after)),
        meters=meter_rows(models),
        notes=(*_notes(sides), *_driver_notes(before, after, made)),
        drivers=made,
    )


def _side(document: Document, name: str) -> Side:
    first, last = document.data.first_request, document.data.last_request
    span = None if first is None or last is None else (_day(first), _day(last))
    return Side(
        name=name,
        period="no times" if span is None else " to ".join(dict.fromkeys(f"{at:%Y-%m-%d}" for at in span)),
        days=None if span is None else (span[1] - span[0]).total_seconds() / SECONDS_PER_DAY,
        price_book=document.provenance.price_book_sha256,
        requests=document.data.requests,
        tokens=sum(document.tokens.get(str(meter), 0) for meter in TOKEN_METERS),
        total=Decimal(document.cost.total),
        complete=document.cost.complete and not _unconverted(document),
    )


def _day(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _unconverted(document: Document) -> bool:
    return document.cost.fx is not None and bool(document.cost.fx.unconverted)


def _models(document: Document) -> dict[str, Part]:
    lost: dict[_Name, list[tuple[int, Mapping[str, int]]]] = {}
    for item in document.cost.unpriced:
        lost.setdefault((item.provider, item.model), []).append((item.requests, item.tokens))
    shown = _names(document)
    return {
        shown[one.provider, one.model]: _model(one, lost.get((one.provider, one.model), []))
        for one in document.by_model
    }


def _names(document: Document) -> dict[_Name, str]:
    """Return what models are called, by provider and name."""
    found: dict[_Name, str] = {}
    # First those whose provider is known, so that a model that is called like one of them gets another name.
    for one in sorted(document.by_model, key=lambda one: one.provider is None):
        name = one.model if one.provider is None else f"{one.provider}/{one.model}"
        taken = name in found.values()
        found[one.provider, one.model] = f"{name} (no provider)" if taken else name
    return found


def _model(one: ModelDoc, lost: list[tuple[int, Mapping[str, int]]]) -> Part:
    """Return a model; what of it has no price is taken off the counts that its cost is divided by."""
    units = {meter: count for meter, count in one.tokens.items() if meter in _METERS}
    priced = {
        meter: count - sum(tokens.get(meter, 0) for _, tokens in lost) for meter, count in units.items()
    }
    return Part(
        requests=one.requests,
        units=units,
        cost=_money(one.cost),
        priced_requests=None
        if _has_unconverted(one)
        else one.requests - sum(requests for requests, _ in lost),
        priced_units=priced,
        cost_by_meter=_amounts(one.cost_by_meter),
        complete=not lost and not _has_unconverted(one),
    )


def _workloads(document: Document) -> dict[str, Part]:
    lost = {item.model for item in document.cost.unpriced}
    return {one.name: _workload(one, complete=not lost & set(one.models)) for one in document.workloads}


def _workload(one: WorkloadDoc, *, complete: bool) -> Part:
    """Return a workload; the document does not tell which of its tokens have no price, so that then nothing is split."""
    whole = complete and not _has_unconverted(one)
    units = {meter: count for meter, count in one.tokens.items() if meter in _METERS}
    return Part(
        requests=one.requests,
        units=units,
        cost=_money(one.cost),
        priced_requests=one.requests if whole else None,
        priced_units=units,
        cost_by_meter=_amounts(one.cost_by_meter),
        complete=whole,
    )


def _has_unconverted(one: ModelDoc | WorkloadDoc) -> bool:
    return one.unconverted_usd is not None and bool(Decimal(one.unconverted_usd))


def _money(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def _amounts(texts: Mapping[str, str]) -> dict[str, Decimal]:
    return {meter: Decimal(text) for meter, text in texts.items()}


def _notes(sides: tuple[Side, Side]) -> Iterator[str]:
    before, after = sides
    for side in sides:
        if not side.complete:
            yield f"{side.name}: some of it has no price, so that its total is at least that."
    if before.days and after.days and abs(after.days / before.days - 1) > _UNLIKE_DAYS:
        yield (
            f"The periods differ in length ({before.days:.1f} and {after.days:.1f} days): that is part of the volume."
        )
    if before.price_book != after.price_book:
        yield "The two are priced by different price books: that is part of the price effect."


def _driver_notes(before: Document, after: Document, made: Bridge | None) -> Iterator[str]:
    if made is None:
        if not (before.by_tier and after.by_tier):
            yield (
                "One side does not hold sums by model and service tier: model mix, tiers and caches are part of volume, "
                "size and price."
            )
        return
    if any(one.requests is None for one in (*before.by_tier, *after.by_tier)):
        yield "Not all requests are counted, so volume is tokens, and tokens per request are part of it."


def gap(difference: Difference) -> Decimal:
    """Return the difference of the totals that is no change: what has a price on one side only."""
    return EXACT.subtract(difference.uncompared_after, difference.uncompared_before)
