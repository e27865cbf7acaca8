"""What one unit costs: a request, a session, a user, an accepted outcome, a workload, a thousand and a million tokens of each kind.

Means are exact money over exact counts, rounded to 12 decimals. Medians and 95th percentiles come from the engine and are
estimates to six significant digits; without them only means are told.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Final

from advisor.analysis import Analysis
from advisor.numbers import share
from advisor.outcomes import Outcomes
from advisor.unit_scan import Spread
from pricing.charges import exact_sum
from pricing.meters import CACHE_READ_METERS, INPUT_METERS, OUTPUT_METERS, Meter

_WIDE: Final = Context(prec=400)
_PLACES: Final = Decimal("1e-12")
_SIX: Final = Context(prec=6, rounding=ROUND_HALF_EVEN)
_MILLION: Final = 1_000_000
_THOUSAND: Final = 1_000
_TOKEN_UNITS: Final[tuple[tuple[str, frozenset[Meter] | None, int, str], ...]] = (
    ("1k_tokens", None, _THOUSAND, "all tokens, at what they cost together"),
    ("1M_tokens", None, _MILLION, "all tokens, at what they cost together"),
    (
        "1M_prompt_tokens",
        frozenset(INPUT_METERS) - frozenset(CACHE_READ_METERS),
        _MILLION,
        "prompt tokens that no cache had, cache writes included",
    ),
    ("1M_cached_tokens", frozenset(CACHE_READ_METERS), _MILLION, "prompt tokens read from a cache"),
    ("1M_answer_tokens", frozenset(OUTPUT_METERS), _MILLION, "answer tokens, reasoning included"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCost:
    """What one unit costs, of what has a price.

    Attributes:
        unit: ``request``, ``session``, ``user``, ``accepted_outcome``, ``workload``, ``1k_tokens``, ``1M_tokens`` ...
        count: How many units there are; of a million tokens, how many tokens.
        cost: What they cost together.
        mean: A unit's share of it.
        median: Half of them cost less; None: not asked for, or no unit of its own.
        p95: Nineteen of twenty cost less; None likewise.
        basis: What is divided by what, in words.
    """

    unit: str
    count: int
    cost: Decimal
    mean: Decimal
    median: Decimal | None
    p95: Decimal | None
    basis: str


def unit_costs(
    analysis: Analysis, spreads: Mapping[str, Spread], outcomes: Outcomes | None = None
) -> tuple[UnitCost, ...]:
    """Return the unit costs that the log allows; none where a part of its money could not be converted.

    Args:
        analysis: What is known of the log.
        spreads: What single requests, sessions and users cost, see ``unit_scan``; empty: not asked for.
        outcomes: What came of requests; None: the log does not say.
    """
    if analysis.whole.unconverted_usd or not analysis.whole.is_priced:
        return ()
    return tuple(_units(analysis, spreads, outcomes))


def _units(
    analysis: Analysis, spreads: Mapping[str, Spread], outcomes: Outcomes | None
) -> Iterator[UnitCost]:
    whole = analysis.whole
    if whole.priced_requests:
        yield _unit("request", whole.priced_requests, whole.total, spreads.get("request"), "priced requests")
    for kind, basis in (("session", "requests that name a session"), ("user", "requests that name a user")):
        seen = spreads.get(kind)
        if seen is not None:
            cost = _estimate(seen.mean * seen.count)
            yield UnitCost(
                unit=kind,
                count=seen.count,
                cost=cost,
                mean=_estimate(seen.mean),
                median=_estimate(seen.median),
                p95=_estimate(seen.p95),
                basis=basis,
            )
    if outcomes is not None:
        yield from _of_outcomes(outcomes)
    workloads = [one for one in analysis.workloads if one.whole.is_priced]
    if workloads:
        yield _unit("workload", len(workloads), whole.total, None, "workloads with a price")
    yield from _of_tokens(analysis)


def _of_outcomes(found: Outcomes) -> Iterator[UnitCost]:
    """Yield what an accepted outcome costs; where some requests say nothing, also with these as part of the work."""
    part = f" ({share(found.told / found.requests)} of those of their workloads)" if found.requests else ""
    basis = f"requests that tell their outcome{part}, by outcomes accepted"
    yield _unit("accepted_outcome", found.accepted, found.told_cost, None, basis)
    if found.cost != found.told_cost:
        yield _unit(
            "accepted_outcome_all_requests",
            found.accepted,
            found.cost,
            None,
            "all requests of these workloads, by outcomes accepted: one request may tell for a whole task",
        )


def _of_tokens(analysis: Analysis) -> Iterator[UnitCost]:
    whole = analysis.whole
    for unit, meters, size, basis in _TOKEN_UNITS:
        kinds = [meter for meter in whole.tokens if meter.is_tokens and (meters is None or meter in meters)]
        lost = sum(item.tokens.get(meter, 0) for item in analysis.cost.unpriced for meter in kinds)
        count = sum(whole.tokens[meter] for meter in kinds) - lost
        if count > 0:
            cost = exact_sum(whole.cost.get(meter, Decimal(0)) for meter in kinds)
            yield _unit(unit, count, cost, None, basis, size)


def _unit(unit: str, count: int, cost: Decimal, spread: Spread | None, basis: str, size: int = 1) -> UnitCost:
    mean = _WIDE.divide(cost * size, Decimal(count)).quantize(_PLACES, ROUND_HALF_EVEN, _WIDE)
    return UnitCost(
        unit=unit,
        count=count,
        cost=cost,
        mean=mean,
        median=None if spread is None else _estimate(spread.median),
        p95=None if spread is None else _estimate(spread.p95),
        basis=basis,
    )


def _estimate(amount: float) -> Decimal:
    return _SIX.create_decimal_from_float(amount)
