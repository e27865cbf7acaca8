"""Hosting a log's requests on own accelerators, against its API bill: what was asked, and what came out, as frozen values.

Money is USD for the period of the log. Both sides are for the same text: tokens are counted by the hosted model's tokenizer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Final

from pricing.fleet_money import BreakEven, FleetCost, PhasePrices
from pricing.fleet_search import Hosted, Refusal
from pricing.gpu_billing import HOURS_PER_MONTH, Overhead
from pricing.offers import PriceKind, Segment
from pricing.replica import Targets


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """Terms of buying accelerators; draw comes from the part's power.

    Attributes:
        capital_usd: Of one accelerator with its share of machine and network.
        years: Over which it is written off.
        usd_per_kwh: Of electricity.
        yearly_usd: Space, support and people for one accelerator.
    """

    capital_usd: Decimal
    years: Decimal = Decimal(4)
    usd_per_kwh: Decimal = Decimal("0.12")
    yearly_usd: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostingOptions:
    """What is asked.

    Attributes:
        models: Open models by name; empty: those of a class comparable to the log's models.
        gpus: Accelerators by name; empty: all with a listed price.
        workloads: Of the log; empty: all of it.
        engine, precision: None for the usual ones.
        targets: What users are promised.
        segment: Kind of provider; None: all.
        price_kind: How accelerators are taken.
        usd_per_gpu_hour: A price that was quoted, for the named accelerators; None: listed prices.
        overheads: What else a fleet takes.
        purchase: Terms of buying; None: no figure for owned accelerators.
        accelerators_file, models_file: Rows of the user's own; the latter may be a model's ``config.json``.
    """

    models: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    engine: str | None = None
    precision: str | None = None
    targets: Targets = field(default_factory=Targets)
    segment: Segment | None = None
    price_kind: PriceKind = "on_demand"
    usd_per_gpu_hour: Decimal | None = None
    overheads: tuple[Overhead, ...] = ()
    purchase: Purchase | None = None
    accelerators_file: Path | None = None
    models_file: Path | None = None


VOLUMES: Final = tuple(2.0**power for power in range(-3, 7))
"""Multiples of a load's volume that are looked at: an eighth to 64."""


class Answer(StrEnum):
    """What the comparison says."""

    HOST = "host"
    """Cheaper even where the estimate is too good by as much as the band says."""
    STAY = "stay"
    """Dearer even where it is too bad by as much."""
    STRADDLES = "straddles"
    """The band has the bill in it: measure before you decide."""
    UNKNOWN = "unknown"
    """Nothing can be hosted under the targets, or there is no bill to compare with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedLoad:
    """The load in figures, in tokens of the log.

    Attributes:
        hours: Whole hours from the first request's to the last one's.
        busy_minutes: With requests.
        requests, computed_tokens, cached_tokens, output_tokens: In all.
        peak_requests: In the busiest minute.
        percentile_requests: In the busy minute at the percentile of the targets.
        silent_ratio: Records that do not report cache reads: their prompts count as computed.
        spread: Whether buckets were spread evenly.
        longest_tokens: Prompt and answer that 99 % of the requests do not exceed.
    """

    hours: int
    busy_minutes: int
    requests: int
    computed_tokens: int
    cached_tokens: int
    output_tokens: int
    peak_requests: float
    percentile_requests: float
    silent_ratio: float
    spread: bool
    longest_tokens: float

    @property
    def month_factor(self) -> Decimal:
        """Months are so many times the period."""
        return HOURS_PER_MONTH / self.hours


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to host the load, with its money.

    Attributes:
        hosted: Deployment, fleet and band.
        cost: All replicas always on, at the asked kind of price; what the comparison is made with.
        costs: Other ways to take the accelerators, and replicas by the hour.
        low_usd, high_usd: ``cost`` where the model is off by as much as its band; high is None where the targets may be
            met by no count at all.
        cheap_usd, dear_usd: ``cost`` at the lowest and the highest listed price.
        prices: Of tokens.
        even: Where it meets the bill.
        by_volume: What it costs at multiples of the load's volume, for the same period.
        answer: Against the bill.
        token_ratio: Tokens of the hosted model for one of the log, prompts and answers together.
        tokens_measured: Whether both tokenizers were measured; else the same text is taken to be counted alike.
        quantised: Whether weights are narrower than they were published.
    """

    hosted: Hosted
    cost: FleetCost
    costs: tuple[FleetCost, ...]
    low_usd: Decimal
    high_usd: Decimal | None
    cheap_usd: Decimal
    dear_usd: Decimal
    prices: PhasePrices
    even: BreakEven
    by_volume: tuple[tuple[float, Decimal], ...]
    answer: Answer
    token_ratio: float
    tokens_measured: bool
    quantised: bool

    @property
    def model(self) -> str:
        """Hub id of the hosted model."""
        return self.hosted.fleet.deployment.model.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A bill, and the ways to host the load that it is for.

    Attributes:
        bill_usd: Of the API, for the period.
        load: What it is for.
        ways: Cheapest first, one a model.
        fastest: Those of all ways that nothing cheaper answers as fast as (time between tokens), cheapest first.
        refused: Models that nothing hosts, and why.
        sure: Where the cheapest way is undecided: the cheapest of all that the bill is above even at its dear end.
        looked_at, feasible: Deployments that fit, and that meet the targets.
    """

    bill_usd: Decimal
    load: ServedLoad
    ways: tuple[Way, ...] = ()
    sure: Way | None = None
    fastest: tuple[Way, ...] = ()
    refused: tuple[Refusal, ...] = ()
    looked_at: int = 0
    feasible: int = 0

    @property
    def best(self) -> Way | None:
        """The way to take: one that is surely cheaper than the bill, else the cheapest."""
        return self.sure or (self.ways[0] if self.ways else None)

    @property
    def answer(self) -> Answer:
        """Of that way."""
        return self.best.answer if self.best else Answer.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfHosting:
    """What came out.

    Attributes:
        options: What was asked.
        today: The log as it is, and its bill; None where the log has no load over time, and then ``why_not`` says why.
        left: What is left of load and bill after the levers on the API: the comparison that counts.
        chosen_by: How models were chosen, in words.
        assumptions: What is taken for granted.
    """

    options: HostingOptions
    today: Comparison | None = None
    left: Comparison | None = None
    chosen_by: str = ""
    assumptions: tuple[str, ...] = ()
    why_not: str = ""


Ratios = Mapping[tuple[str | None, str | None], float]
"""Tokens of a hosted model for one of the log, by provider and model as logged."""
