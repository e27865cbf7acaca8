"""Ways to cache: what each model does under each of them, and which one costs least."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from pricing.cache_rules import CacheRule, Lifetime, rule_for, rules_for
from pricing.meters import Meter
from workloads.cache_policies import Model, ModelPolicy, StablePart
from workloads.prefix_uses import BLOCK_BASES, Basis

AS_LOGGED: Final = "as logged"
NO_CACHE: Final = "none"
DEFAULT: Final = "provider default"
MIXED: Final = "mixed 1h + 5m"
PING: Final = "ping"
FREE_WRITES: Final = "5m, free writes"
SHORT_SECONDS: Final = 300
LONG_SECONDS: Final = 3_600
PINGS: Final = (1, 3, 11)
"""Numbers of pings that are tried: at 1.25 for a write and 0.1 for a read, more than 11 over one pause never pay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One way to cache, and what it comes to.

    Attributes:
        name: ``none``, ``as logged``, or a lifetime.
        hit_tokens: Read from the cache.
        written_tokens: Written, as far as that has a meter of its own.
        pings: Requests that only keep an entry alive; what they cost is in all costs.
        input_cost_ratio: Cost of prompts, against no cache; None without a price.
        cost_usd: Cost of everything, answers too; None without a price.
        saving_usd: Against what was logged; negative where it would cost more.
    """

    name: str
    hit_tokens: int
    written_tokens: int
    pings: int = 0
    input_cost_ratio: float | None = None
    cost_usd: Decimal | None = None
    saving_usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """A lifetime that a model's provider sells."""

    rule: CacheRule
    lifetime: Lifetime
    seconds: float
    is_default: bool
    """Whether it is what holds when nobody chooses: of the cache that needs no asking, where there is one."""

    def policy(self, hits: str, **more: Any) -> ModelPolicy:
        """Return the policy that uses it."""
        return ModelPolicy(
            hits=hits,
            write_meter=self.lifetime.write_meter,
            minimum_tokens=self.rule.minimum_tokens,
            granularity_tokens=self.rule.granularity_tokens,
            **more,
        )


def offers(model: Model, as_of: datetime) -> list[Offer]:
    """Return the lifetimes that can be had; of one that varies the shortest, and none that nobody states."""
    provider, name = model
    if name is None:
        return []
    usual = rule_for(provider, name, as_of)
    return [
        Offer(rule, lifetime, lifetime.shortest_seconds, rule == usual and lifetime == rule.default_lifetime)
        for rule in rules_for(provider, name, as_of)
        for lifetime in rule.lifetimes
        if lifetime.shortest_seconds is not None
    ]


def ping_name(most: int) -> str:
    """Return the name of 5 minutes with pings."""
    return f"5m + {most} {PING}{'s' if most > 1 else ''}"


def plans(
    found: Mapping[Model, list[Offer]], columns: Mapping[float, str], basis: Basis
) -> dict[str, dict[Model, ModelPolicy]]:
    """Return what each model does under each policy: none, each lifetime where it is sold, the usual one, a mix, and pings.

    Args:
        found: What can be had.
        columns: Columns of the stored hits, by lifetime in seconds.
        basis: How the log tells reuse.
    """
    out: dict[str, dict[Model, ModelPolicy]] = {NO_CACHE: {model: ModelPolicy(hits=None) for model in found}}
    every = sorted({(one.seconds, one.lifetime.name) for mine in found.values() for one in mine})
    for name in dict.fromkeys(name for _, name in every):
        out[name] = {
            model: one.policy(columns[one.seconds])
            for model, mine in found.items()
            for one in mine
            if one.lifetime.name == name
        }
    usual = {
        model: one.policy(columns[one.seconds])
        for model, mine in found.items()
        for one in mine
        if one.is_default
    }
    out |= {DEFAULT: usual} if usual else {}
    short = {
        model: one
        for model, mine in found.items()
        for one in mine
        if one.seconds == SHORT_SECONDS and one.lifetime.write_meter is Meter.CACHE_WRITE_5M
    }
    both = {
        model: one
        for model, one in short.items()
        if any(
            other.seconds == LONG_SECONDS and other.lifetime.write_meter is Meter.CACHE_WRITE_1H
            for other in found[model]
        )
    }
    if both and basis in BLOCK_BASES:
        part = StablePart(
            tokens="stable", hits="stable_read", all_hits="mixed_read", write_meter=Meter.CACHE_WRITE_1H
        )
        out[MIXED] = {model: one.policy(columns[one.seconds], stable=part) for model, one in both.items()}
    refreshing = {model: one for model, one in short.items() if one.lifetime.refreshes}
    for most in PINGS if refreshing else ():
        out[ping_name(most)] = {
            model: one.policy(f"read_{most}", pings=f"sent_{most}") for model, one in refreshing.items()
        }
    return out


def best_of(policies: Iterable[Policy]) -> str | None:
    """Return the name of the cheapest policy, of equal ones the first; None where nothing has a price."""
    # What a write costs is not for the caller to choose.
    known = [one for one in policies if one.input_cost_ratio is not None and one.name != FREE_WRITES]

    def cost(one: Policy) -> Decimal:
        return Decimal(str(one.input_cost_ratio)) if one.cost_usd is None else one.cost_usd

    return min(known, key=cost).name if known else None
