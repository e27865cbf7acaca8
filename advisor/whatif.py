"""A scenario on a log: load -> cut into cells by the prices of today's models and of those that would be used -> apply."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pandas as pd

from advisor.log_cuts import log_cuts
from advisor.options import AnalyseOptions
from advisor.scenario import Outcome, apply
from advisor.scenario_model import Scenario, SwapModel
from advisor.scenario_world import Pricing
from advisor.terms import USD, Terms, load_terms, settle
from pricing.book import PriceBook, load_book
from pricing.frame import PricedCube
from pricing.meters import Meter
from workloads import cube as scan
from workloads.grouping import choose_grouping
from workloads.load import NothingReadableError, load
from workloads.rate_cuts import RateCuts
from workloads.relations import connect

Progress = Callable[[str], None]

_KEPT: Final = (
    "day",
    "workload",
    "provider",
    "model",
    "service_tier",
    "region",
    "api_key",
    "price_at",
    "last_at",
    "context_tokens",
    "records",
    "requests",
    "bucketed",
    "charge_only",
    "recorded_cost_usd",
    "reasoning",
    *map(str, Meter),
)
"""What of the cube decides or shows a cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """A scenario applied to a log, and what that rests on."""

    outcome: Outcome
    currency: str
    price_book: str
    assumptions: tuple[str, ...]


def what_if(
    paths: Sequence[str], scenario: Scenario, options: AnalyseOptions, progress: Progress = lambda _: None
) -> WhatIf:
    """Return what a scenario would make of the logs behind paths.

    Args:
        paths: Files, folders, globs or ``-``.
        scenario: The steps.
        options: Everything that decides the numbers, as for an analysis.
        progress: Called with a few words at the start of each step.

    Raises:
        advisor.scenario_world.StepError: A step names something that is not there.
        workloads.sources.SourceError: When a path leads to no file, or no record could be read.
        pricing.errors.PriceFileError: When a file of prices, discounts or exchange rates is malformed.
    """
    connection = connect(memory_limit=options.memory_limit)
    book = load_book(options.price_files, options.price_book, options.model_names)
    terms = load_terms(options)
    loaded = load(connection, paths, options.load, progress)
    progress("adding up tokens")
    records = scan.prepare(connection, loaded.ledger, options.period)
    if not connection.execute(records.count()):
        raise NothingReadableError("no record lies in the asked days", loaded.report)
    grouping = choose_grouping(connection, records, options.group_by, show_users=options.show_users)
    cuts = _cuts(scan.models_of(connection, records), scenario, book, terms)
    cube = scan.usage_cube(connection, records, grouping, cuts)
    usage = cube[~cube["charge_only"].astype(bool)].reset_index(drop=True)
    if usage.empty:
        raise NothingReadableError(
            "the log states money and no tokens, so that no step can change it", loaded.report
        )
    progress("applying the scenario")

    def shown(priced: PricedCube) -> PricedCube:
        return settle(priced, terms, options).shown

    pricing = Pricing(book=book, as_of=options.as_of, settle=shown)
    return WhatIf(
        outcome=apply(scenario, _narrowed(usage), pricing),
        currency=options.currency,
        price_book=book.version,
        assumptions=tuple(_assumptions(scenario, usage, terms, options)),
    )


def _narrowed(cube: pd.DataFrame) -> pd.DataFrame:
    return cube[[name for name in _KEPT if name in cube.columns]]


def _cuts(
    models: Sequence[tuple[str | None, str]], scenario: Scenario, book: PriceBook, terms: Terms
) -> RateCuts:
    """Return where prices change, of the models of the log and of those that steps would move to.

    The cells are those of an analysis, so that its page and this command say the same. A target's hours and regions split the
    requests of all models, since each may move there.
    """
    targets = {
        (provider, step.to)
        for step in scenario.steps
        if isinstance(step, SwapModel)
        for provider in (*(name for name, _ in models), step.to_provider, None)
    }
    own = log_cuts(models, book, terms)
    new = book.rate_keys(sorted(targets, key=lambda pair: (pair[0] or "", pair[1])))
    return replace(
        own,
        breakpoints=sorted({*own.breakpoints, *new.breakpoints}),
        context_thresholds=sorted({*own.context_thresholds, *new.context_thresholds}),
        clock_edges=sorted({*own.clock_edges, *new.clock_edges}),
        clocked=list(models) if new.clocked else own.clocked,
        regional=list(models) if new.regional else own.regional,
    )


def _assumptions(
    scenario: Scenario, cube: pd.DataFrame, terms: Terms, options: AnalyseOptions
) -> Iterator[str]:
    kinds = {step.do for step in scenario.steps}
    if "swap_model" in kinds:
        yield (
            "What another model costs is an estimate: it is taken to need as many requests and to write as much; "
            "whether its answers are good enough is not known."
        )
    if "cache" in kinds:
        yield "The shares of a cache are taken as given: `advisor cache` replays what it would really do."
    if {"trim", "swap_model"} & kinds:
        yield "Requests fall under a context threshold only when the largest one of their cell does."
    if cube["price_at"].isna().any():
        yield f"Records without a time are priced as of {options.as_of:%Y-%m-%d}."
    if terms.commitments:
        yield "Commitments are left out: amounts are contracted cost."
    if options.currency != USD:
        yield f"Amounts are in {options.currency}, at the rate of each day of usage."
