"""How amounts and the user's own terms fill the JSON document."""

from decimal import Decimal

from advisor.analysis import CostReport
from advisor.document_model import CommitmentDoc, DiscountDoc, FxDoc, Money, UnconvertedDoc


def money(amount: Decimal) -> Money:
    """Return an amount as a plain decimal string, exact, without trailing zeros.

    >>> money(Decimal("0.017640")), money(Decimal("1E+3")), money(Decimal(0))
    ('0.01764', '1000', '0')
    """
    text = format(amount, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def maybe_money(amount: Decimal | None) -> Money | None:
    """Return an amount as text; None when it is not known."""
    return None if amount is None else money(amount)


def discounts_of(cost: CostReport) -> list[DiscountDoc]:
    """Return what each discount did."""
    return [
        DiscountDoc(
            source=one.discount.where,
            scope=one.discount.scope,
            multiplier=money(one.discount.multiplier),
            list_usd=money(one.list_usd),
            contracted_usd=money(one.contracted_usd),
        )
        for one in cost.discounts
    ]


def commitments_of(cost: CostReport) -> list[CommitmentDoc]:
    """Return what each commitment cost, month by month."""
    return [
        CommitmentDoc(
            name=use.commitment.name,
            covers=use.commitment.covers,
            month=use.month.strftime("%Y-%m"),
            first=use.first.isoformat(),
            last=use.last.isoformat(),
            partial=use.is_partial,
            committed_usd=money(use.committed_usd),
            contracted_usd=money(use.contracted_usd),
            effective_usd=money(use.effective_usd),
            unused_usd=maybe_money(use.unused_usd),
            utilisation_ratio=use.utilisation_ratio,
            tokens=use.tokens,
        )
        for use in cost.commitments
    ]


def fx_of(cost: CostReport) -> FxDoc | None:
    """Return the rates that were used, and what has none; None for a report in USD."""
    done = cost.conversion
    if done is None:
        return None
    return FxDoc(
        source=done.source,
        rates={key: money(rate) for key, rate in done.rates.items()},
        unconverted=[
            UnconvertedDoc(month=month, amount_usd=money(usd)) for month, usd in done.unconverted.items()
        ],
    )
