"""What the section on self-hosting and the two phases holds, as plain data: see ``advisor.view_model``."""

from dataclasses import dataclass

from advisor.charts import Series
from advisor.curves import Curves
from advisor.view_model import Pair, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepChart:
    """Both phases by batch, in one unit; lines are prefill, then decode."""

    slug: str
    title: str
    wide: Curves
    narrow: Curves
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepView:
    """One deployment at growing batches.

    Attributes:
        lead: The deployment, the load, and what both lines say.
        charts: Tokens a second, and dollars where a price is known.
        notes: What was left out, and where the log stands.
        table: The numbers behind the charts.
        latency: Latency as two numbers, on that deployment.
    """

    lead: str
    charts: tuple[SweepChart, ...]
    notes: tuple[str, ...]
    table: Table
    latency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeChart:
    """Cost of both sides by multiples of the log's volume."""

    title: str
    legend: tuple[Series, ...]
    wide: Curves
    narrow: Curves
    description: str
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetView:
    """The log's load on own accelerators against its API bill; what cannot be said is None."""

    verdict: str
    notes: tuple[str, ...]
    ways: Table | None
    chart: VolumeChart | None
    utilisation: Table | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostingSection:
    """The two phases on own accelerators, and what the log's requests waited for; what cannot be said is None."""

    lead: str
    sweep: SweepView | None
    techniques: Table | None
    waits: Table | None
    levers: tuple[Pair, ...]
    fleet: FleetView | None = None
    """Only where it was asked for."""
