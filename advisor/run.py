"""The run: load -> price -> slice -> classify, ending in one Analysis. Nothing here prints or reads the clock."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module

from advisor.analysis import Analysis
from advisor.input_hashes import begin_hashes
from advisor.options import AnalyseOptions
from advisor.problems import sources_of
from advisor.reconciliation import Bill
from advisor.terms import load_terms
from pricing.book import load_book
from workloads.engines import open_log

Progress = Callable[[str], None]


def analyse(paths: Sequence[str], options: AnalyseOptions, progress: Progress = lambda _: None) -> Analysis:
    """Return the analysis of the logs behind paths.

    Args:
        paths: Files, folders, globs or ``-``.
        options: Everything that decides the numbers.
        progress: Called with a few words at the start of each step.

    Raises:
        advisor.reconciliation.BillError: When a bill is given and cannot be compared.
        workloads.sources.SourceError: When a path leads to no file, or no record could be read.
        pricing.errors.PriceFileError: When a file of prices, discounts or exchange rates is malformed.
    """
    book = load_book(options.price_files, options.price_book, options.model_names)
    terms = load_terms(options)
    bill = _bill(options, progress)
    connection, loaded = open_log(
        paths,
        options.load,
        engine=options.engine,
        memory_limit=options.memory_limit,
        progress=progress,
        meanwhile=_get_ready,
    )
    hashes = begin_hashes(sources_of(loaded.report), loaded.report.hashes)
    import pandas as pd  # noqa: PLC0415  (got ready while the engine was reading, as the next is)

    from advisor.answer import answer  # noqa: PLC0415

    # Tables are small and many from here on: texts in Python's own objects are faster there than in Arrow's.
    with pd.option_context("mode.string_storage", "python"):
        analysis = answer(connection, loaded, book, options, progress, terms, bill)
    analysis = replace(analysis, provenance=replace(analysis.provenance, inputs=hashes()))
    if options.self_host is None:
        return analysis
    from advisor.hosting_run import with_self_host  # noqa: PLC0415  (only by runs that compare)

    progress("working out own accelerators")
    return with_self_host(analysis, connection, loaded.ledger, options.self_host, options)


def _bill(options: AnalyseOptions, progress: Progress) -> Bill | None:
    if not options.bills:
        return None
    from advisor.bill import read_bill  # noqa: PLC0415  (only by runs that have one)

    progress("reading the bill")
    return read_bill(options.bills, options.period, progress, memory_limit=options.memory_limit)


def _get_ready() -> None:
    """Import what the steps after reading need."""
    from pricing.catalog import sellers  # noqa: PLC0415

    for name in ("advisor.answer", "advisor.view", "advisor.render.html"):
        import_module(name)
    sellers()
    import_module("advisor.render.html").compile_all()
