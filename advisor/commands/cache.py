"""``advisor cache``: what prompt caches would have done to a log."""

import json
import shlex
from decimal import Decimal
from typing import Any

import click

from advisor.cache_study import CacheStudy, study
from advisor.cli import EXIT_NOTHING, EXIT_USAGE, Failure
from advisor.commands import parse
from advisor.commands.output import Progress, write
from advisor.commands.prices import book_of
from advisor.commands.say import say
from advisor.document_money import money
from advisor.render.text import aligned
from workloads import cube as scan
from workloads.cache_replay import (
    UNLIMITED,
    Accesses,
    Hits,
    capacity_hits,
    find_accesses,
    refreshed_hits,
    written_hits,
)
from workloads.load import LoadOptions, NothingReadableError, load
from workloads.parallel_calls import strict_hits
from workloads.period import Period
from workloads.relations import connect
from workloads.sources import MappingError, SourceError

_NO_PREFIXES = "the log does not tell what prompts have in common: it has no block hashes, no fingerprints of prefixes and no sessions"


def run(paths: tuple[str, ...], **given: Any) -> int:
    """Replay, print or write the answer, and return the exit code."""
    if given["ttl"] is not None and given["capacity_blocks"] is not None:
        raise click.UsageError("give --ttl or --capacity-blocks, not both")
    if given["no_refresh"] and given["capacity_blocks"] is not None:
        raise click.UsageError("--no-refresh is about lifetimes: it goes with --ttl")
    progress = Progress(wanted=given["progress"], quiet=given["quiet"])
    try:
        document = _document(paths, given, progress)
    except MappingError as error:
        raise Failure(str(error), EXIT_USAGE) from error
    except (NothingReadableError, SourceError) as error:
        hint = f" Try: advisor doctor {shlex.join(paths)}" if isinstance(error, NothingReadableError) else ""
        raise Failure(f"nothing to replay: {error}.{hint}", EXIT_NOTHING) from error
    finally:
        progress.done()
    if given["json_file"]:
        write(given["json_file"], json.dumps(document, indent=1) + "\n")
    elif not given["quiet"]:
        say(_text(document))
    return 0


def _document(paths: tuple[str, ...], given: dict[str, Any], progress: Progress) -> dict[str, Any]:
    book = book_of(given["price_files"], given["price_book"], given["map_models"])
    options = parse.load_options(
        format_name=given["format_name"],
        model=given["model"],
        provider=given["provider"],
        mapping=given["mapping"],
    )
    connection = connect(memory_limit=given["memory_limit"])
    with_prefixes = LoadOptions(
        read=options.read, provider=options.provider, model=options.model, prefixes=True
    )
    loaded = load(connection, paths, with_prefixes, progress)
    period = Period(
        timezone=parse.zone(given["timezone"]),
        since=parse.day("--since", given["since"]),
        until=parse.day("--until", given["until"]),
    )
    progress("replaying a cache")
    records = scan.prepare(connection, loaded.ledger, period)
    accesses = find_accesses(connection, records)
    if accesses is None:
        raise Failure(f"nothing to replay: {_NO_PREFIXES}", EXIT_NOTHING)
    asked = _asked(connection, accesses, given)
    document = {
        "hit_tokens": asked.hit_tokens,
        "input_tokens": asked.input_tokens,
        "hit_ratio": asked.ratio,
        "requests": accesses.requests,
        "left_out": accesses.left_out,
        "basis": str(accesses.basis),
        "ttl_seconds": given["ttl"],
        "refresh": not given["no_refresh"],
        "capacity_blocks": given["capacity_blocks"],
        "measure_last": given["measure_last"],
    }
    if given["capacity_blocks"] is None and not given["no_refresh"]:
        document |= _strict(connection, accesses, given)
    if given["ttl"] is None and given["capacity_blocks"] is None:
        progress("pricing the policies")
        found = study(connection, records, accesses, book, parse.instant("--as-of", given["as_of"]))
        document |= _study(found, book.version)
    return document


def _asked(connection: Any, accesses: Accesses, given: dict[str, Any]) -> Hits:
    share = given["measure_last"]
    if given["capacity_blocks"] is not None:
        size = given["capacity_blocks"]
        return capacity_hits(connection, accesses, [size], share)[size]
    lifetime = UNLIMITED if given["ttl"] is None else given["ttl"]
    if given["no_refresh"]:
        return written_hits(connection, accesses, lifetime, share)
    return refreshed_hits(connection, accesses, [lifetime], share)[lifetime]


def _strict(connection: Any, accesses: Accesses, given: dict[str, Any]) -> dict[str, Any]:
    lifetime = UNLIMITED if given["ttl"] is None else given["ttl"]
    found = strict_hits(connection, accesses, lifetime, given["measure_last"])
    return {
        "hit_tokens_after_first_answer": found.hits.hit_tokens,
        "hit_ratio_after_first_answer": found.hits.ratio,
        "answer_start_known_ratio": found.known_ratio,
    }


def _study(found: CacheStudy, book: str) -> dict[str, Any]:
    return {
        "logged_read_tokens": found.logged_read_tokens,
        "policies": [
            {
                "name": one.name,
                "hit_tokens": one.hit_tokens,
                "written_tokens": one.written_tokens,
                "pings": one.pings,
                "hit_ratio": one.hit_tokens / found.accesses.input_tokens
                if found.accesses.input_tokens
                else 0.0,
                "input_cost_ratio": one.input_cost_ratio,
                "cost_usd": None if one.cost_usd is None else money(one.cost_usd),
                "saving_usd": None if one.saving_usd is None else money(one.saving_usd),
            }
            for one in found.policies
        ],
        "best": found.best,
        "break_even": [
            {
                "model": one.model,
                "lifetime": one.lifetime,
                "write_multiple": one.write_multiple,
                "read_multiple": one.read_multiple,
                "hit_ratio": one.hit_ratio,
                "most_pings": one.pings,
            }
            for one in found.break_even
        ],
        "curve": [
            {
                "lifetime_seconds": None if age == UNLIMITED else age,
                "hit_tokens": hits.hit_tokens,
                "hit_ratio": hits.ratio,
            }
            for age, hits in found.curve.items()
        ],
        "assumptions": list(found.assumptions),
        "price_book": book,
    }


def _text(document: dict[str, Any]) -> str:
    lines = [
        f"{document['requests']:,} requests, {document['input_tokens']:,} prompt tokens; reuse told by {document['basis']}"
        + (f"; {document['left_out']:,} requests left out" if document["left_out"] else ""),
        f"found in the cache: {document['hit_tokens']:,} tokens ({document['hit_ratio']:.2%})",
    ]
    if "hit_tokens_after_first_answer" in document:
        lines.append(
            f"of that, without what starts before the first answer: {document['hit_tokens_after_first_answer']:,} tokens "
            f"({document['hit_ratio_after_first_answer']:.2%}); {document['answer_start_known_ratio']:.0%} of the requests "
            f"tell when it began or ended, of the others only calls of one moment are taken apart"
        )
    if "policies" not in document:
        return "\n".join(lines)
    rows = [("policy", "read", "written", "share read", "cost of prompts", "cost", "saves")]
    rows += [
        (
            ("* " if one["name"] == document["best"] else "  ") + one["name"],
            f"{one['hit_tokens']:,}",
            f"{one['written_tokens']:,}",
            f"{one['hit_ratio']:.1%}",
            "-" if one["input_cost_ratio"] is None else f"x{one['input_cost_ratio']:.4f}",
            _usd(one["cost_usd"]),
            _usd(one["saving_usd"]),
        )
        for one in document["policies"]
    ]
    lines += ["", *aligned(rows), ""]
    lines += [
        f"{one['model']} {one['lifetime']}: pays above {one['hit_ratio']:.1%} of hits{_pings(one['most_pings'])}"
        for one in document["break_even"]
        if one["hit_ratio"]
    ]
    lines += [f"- {text}" for text in document["assumptions"]]
    return "\n".join(lines)


def _pings(most: int | None) -> str:
    return f"; up to {most} pings over a pause cost no more than writing again" if most else ""


def _usd(text: str | None) -> str:
    if text is None:
        return "-"
    amount = Decimal(text)
    return f"{'-' if amount < 0 else ''}${abs(amount):,.2f}"
