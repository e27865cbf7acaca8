"""Offers of provisioned throughput against the log: the minutes of what each covers, and what that costs by the token."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from advisor.cube_changes import has_word, tokens_in
from pricing.cards import STANDARD_NAMES
from pricing.commitments import Commitment
from pricing.discounts import Usage, usage_of
from pricing.frame import PricedCube
from pricing.meters import CACHE_READ_METERS, INPUT_METERS, OUTPUT_METERS, Meter
from pricing.throughput_offers import MINUTES_PER_HOUR, ThroughputOffer, TokenLoad
from workloads.cube_columns import column
from workloads.minutes import minutes

if TYPE_CHECKING:
    from advisor.evidence import Evidence

Frame = Any
Model = tuple[str | None, str | None]
"""Provider and model as logged."""
Three = tuple[Decimal, Decimal, Decimal]

KINDS: Final = (
    tuple(meter for meter in INPUT_METERS if meter not in CACHE_READ_METERS),
    tuple(CACHE_READ_METERS),
    tuple(OUTPUT_METERS),
)
"""Meters of what is computed of prompts, read from a cache, and written."""
_NOTHING: Final[Three] = (Decimal(0), Decimal(0), Decimal(0))
_LEAST_HOURS: Final = 24
_COUNTS: Final = ["computed_tokens", "cached_tokens", "output_tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """An offer and what of the log it covers.

    Attributes:
        offer: What is offered.
        models: As logged, those that a unit serves.
        tokens: float64, one row a minute: see ``pricing.throughput_offers.TokenLoad``.
        minutes: float64, that each row stands for.
        hours: Of the whole log.
        doubt: Why it cannot be judged; empty where it can.
    """

    offer: ThroughputOffer
    models: frozenset[Model]
    tokens: Any
    minutes: Any
    hours: Decimal
    doubt: str = ""


def find_offered(
    connection: Any,
    records: Any,
    listed: PricedCube,
    offers: Sequence[ThroughputOffer],
    held: Sequence[Commitment],
) -> tuple[Offered, ...]:
    """Return the offers with what they cover of requests at the standard tier.

    Args:
        connection: The engine that holds the records.
        records: Records of the asked days, see ``workloads.cube.prepare``.
        listed: The priced cube of all of them.
        offers: What could be had.
        held: Commitments that are owed already: what their throughput takes needs no other.
    """
    if not offers:
        return ()
    tier = column(records, "service_tier")
    standard = records.filter(tier.isnull() | tier.lower().isin(list(STANDARD_NAMES)))
    frame = minutes(connection, standard)
    usages = _usages(listed.frame)
    taken = {
        model
        for model, usage in usages.items()
        if any(row.covers == "throughput" and row.is_for(usage) for row in held)
    }
    return tuple(_offered(offer, usages, frame, taken) for offer in offers)


def load_of(evidence: "Evidence", offered: Offered, cube: Frame) -> TokenLoad:
    """Return the load that an offer would meet, where a cube is what the log has become.

    Minutes keep their shape. What has come from other models is left out: when it comes is not known.
    """
    before, after = (_tokens(evidence.cube, offered), _tokens(cube, offered))
    ratios = [min(1.0, now / was) if was else 0.0 for was, now in zip(before, after, strict=True)]
    costs = [
        cost * min(Decimal(1), Decimal(was) / Decimal(now)) if now else Decimal(0)
        for cost, was, now in zip(_costs(evidence, offered, cube), before, after, strict=True)
    ]
    whole = TokenLoad(tokens=offered.tokens, minutes=offered.minutes, hours=offered.hours, usd=_NOTHING)
    return whole.scaled((ratios[0], ratios[1], ratios[2]), (costs[0], costs[1], costs[2]))


def _usages(frame: Frame) -> dict[Model, Usage]:
    anytime = datetime.min.replace(tzinfo=UTC)
    names = (
        frame[["provider", "provider_resolved", "model", "model_resolved"]].astype(object).drop_duplicates()
    )
    return {
        (_text(row["provider"]), _text(row["model"])): usage_of(row, anytime) for _, row in names.iterrows()
    }


def _offered(
    offer: ThroughputOffer, usages: dict[Model, Usage], frame: Frame, taken: Collection[Model]
) -> Offered:
    models = frozenset(model for model, usage in usages.items() if offer.is_for(usage))
    pairs = [(_text(one), _text(two)) for one, two in zip(frame["provider"], frame["model"], strict=True)]
    mine = frame[np.array([pair in models for pair in pairs], dtype=bool)]
    by_minute = mine.groupby(["minute", "bucket_minutes"])[_COUNTS].sum().reset_index()
    sizes = by_minute["bucket_minutes"].to_numpy(dtype="float64")
    hours = _hours(frame)
    return Offered(
        offer=offer,
        models=models,
        tokens=by_minute[_COUNTS].to_numpy(dtype="float64") / sizes[:, None],
        minutes=sizes,
        hours=hours,
        doubt=_doubt(by_minute, hours, taken_already=bool(models & set(taken))),
    )


def _hours(frame: Frame) -> Decimal:
    if frame.empty:
        return Decimal(0)
    ends = frame["minute"] + frame["bucket_minutes"]
    return Decimal(int(ends.max() - frame["minute"].min())) / MINUTES_PER_HOUR


def _doubt(by_minute: Frame, hours: Decimal, *, taken_already: bool) -> str:
    if by_minute.empty:
        return "no request of the log, at the standard tier and with a time, is for its models"
    if taken_already:
        return "a commitment that is held covers its models already"
    if len(set(by_minute["bucket_minutes"])) > 1:
        return "the log has buckets of several lengths: what a minute needs is not known"
    if hours < _LEAST_HOURS:
        return f"the log covers {float(hours):.1f} hours, and nobody commits to a month because of less than a day"
    return ""


def _rows(cube: Frame, offered: Offered) -> Any:
    asked = pd.Series(data=False, index=cube.index)
    for provider, model in offered.models:
        asked |= has_word(cube["provider"], (provider,)) & has_word(cube["model"], (model,))
    return asked & has_word(cube["service_tier"], (None, *STANDARD_NAMES), any_case=True)


def _tokens(cube: Frame, offered: Offered) -> list[int]:
    rows = _rows(cube, offered)
    return [sum(tokens_in(cube, rows, str(meter)) for meter in kind) for kind in KINDS]


def _costs(evidence: "Evidence", offered: Offered, cube: Frame) -> list[Decimal]:
    part = cube[_rows(cube, offered)]
    counts = [str(meter) for meter in Meter if str(meter) in part.columns]
    return [
        evidence.cost_of(
            part.assign(**{name: 0 for name in counts if name not in kind}).reset_index(drop=True)
        )
        for kind in KINDS
    ]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
