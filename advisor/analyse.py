"""The run: load -> price -> slice -> classify, ending in one Analysis. Nothing here prints or reads the clock."""

from collections.abc import Callable, Sequence
from importlib import import_module

from advisor.analysis import Analysis
from advisor.options import AnalyseOptions
from pricing.book import load_book
from workloads.load import load
from workloads.relations import connect

Progress = Callable[[str], None]


def analyse(paths: Sequence[str], options: AnalyseOptions, progress: Progress = lambda _: None) -> Analysis:
    """Return the analysis of the logs behind paths.

    Args:
        paths: Files, folders, globs or ``-``.
        options: Everything that decides the numbers.
        progress: Called with a few words at the start of each step.

    Raises:
        workloads.sources.SourceError: When a path leads to no file, or no record could be read.
        pricing.errors.PriceFileError: When a price file is malformed.
    """
    connection = connect(memory_limit=options.memory_limit)
    book = load_book(options.price_files)
    loaded = load(connection, paths, options.load, progress, meanwhile=_get_ready)
    from advisor.answer import answer  # noqa: PLC0415  (got ready while the engine was reading)

    return answer(connection, loaded, book, options, progress)


def _get_ready() -> None:
    """Import what the steps after reading need."""
    from pricing.genai_cards import model_names  # noqa: PLC0415

    for name in ("advisor.answer", "advisor.view", "advisor.render.html"):
        import_module(name)
    model_names()
    import_module("advisor.render.html").page_template()
