"""What the comparison with own accelerators takes for granted, in sentences."""

from collections.abc import Iterator
from typing import Final

from advisor.analysis import Analysis
from advisor.hosting import Comparison, HostingOptions, Way

_SHORT_HOURS: Final = 24 * 7


def assumptions(found: Comparison, analysis: Analysis, options: HostingOptions) -> Iterator[str]:
    """Yield what a comparison rests on, in sentences."""
    load = found.load
    if options.workloads:
        yield (
            f"Only {', '.join(options.workloads)}: its text is served as it is today, although the plan of the API's side may trim it."
        )
    yield (
        "Replicas are as many as meet the targets in the chosen percentile of the busy minutes; requests come independently "
        "of each other within a minute."
    )
    yield "The hosted model reads from its own prefix cache what the log's provider read from a cache."
    short = {way.model for way in found.ways if _context_of(way) < load.longest_tokens}
    if short:
        yield (
            f"{', '.join(sorted(short))}: the longest requests (1 % need over {load.longest_tokens:,.0f} tokens) do not fit into "
            "the model's context and stay on the API."
        )
    if load.silent_ratio > 0:
        yield f"{load.silent_ratio:.0%} of the requests do not say what was read from a cache: their whole prompts are computed."
    if load.spread:
        yield "Buckets are spread evenly over their minutes: real peaks are higher and need more replicas."
    if load.hours < _SHORT_HOURS:
        yield f"The log covers {load.hours:,} hours: a week has busier and quieter days that it does not show."
    if analysis.cost.unpriced:
        yield "What has no price on the API is left out of both sides."
    if not all(way.tokens_measured for way in found.ways):
        yield "Where a tokenizer was not measured, the hosted model is taken to count the same text alike."
    yield "Replicas by the hour know the next hour's load and start at once: a bound, not a promise."
    yield "Quality is not compared: that a model of another size answers as well is for an evaluation on your own requests."
    yield "People who run it, network and storage are not in it unless given as overheads."


def _context_of(way: Way) -> int:
    return way.hosted.fleet.deployment.model.max_context
