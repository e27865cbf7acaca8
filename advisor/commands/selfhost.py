"""``advisor selfhost``: would own accelerators be cheaper than a log's API bill?"""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import click

from advisor.cli import EXIT_NOTHING, EXIT_USAGE, Failure
from advisor.commands.analyze import options_of, run_analysis
from advisor.commands.output import Progress, write
from advisor.hosting import HostingOptions, Purchase
from advisor.hosting_choice import accelerators_of, check_models, prices_of
from advisor.hosting_words import lines
from pricing.errors import PricingError
from pricing.gpu_billing import Overhead
from pricing.replica import Targets
from pricing.weights import parse_precision

_UNASKED: Final[dict[str, Any]] = {"show_users": False, "bills": (), "tolerance": "1"}


def run(paths: tuple[str, ...], **given: Any) -> int:
    """Compare, print or write the answer, and return the exit code: 3 when nothing could be compared."""
    asked = asked_of(given)
    # What serves the models is called --engine here; the log is added up by the embedded engine.
    options = replace(options_of({**_UNASKED, **given, "engine": None}), self_host=asked)
    progress = Progress(wanted=given["progress"], quiet=given["quiet"])
    try:
        # names are refused before a long log is read
        check_models(asked)
        if asked.precision is not None:
            parse_precision(asked.precision)
        prices_of(asked, accelerators_of(asked), options.as_of.date())
        analysis = run_analysis(paths, options, progress)
    except PricingError as error:
        raise Failure(str(error), EXIT_USAGE) from error
    finally:
        progress.done()
    found = analysis.self_host
    if found is None:
        raise Failure("nothing to compare: the log has no load over time", EXIT_NOTHING)
    if given["json_file"]:
        from advisor.render.json import render_json  # noqa: PLC0415

        write(given["json_file"], render_json(analysis))
    if given["json_file"] != "-" and not given["quiet"]:
        click.echo("\n".join(lines(found)))
    return 0 if found.left is not None and found.left.ways else EXIT_NOTHING


def asked_of(given: dict[str, Any]) -> HostingOptions:
    """Return what is asked, from the options of the command line."""
    owned = given["owned_usd"]
    return HostingOptions(
        models=tuple(given["open_models"]),
        gpus=tuple(given["gpus"]),
        workloads=tuple(given["workloads"]),
        engine=given["engine"],
        precision=given["precision"],
        targets=Targets(
            ttft_ms=given["ttft_ms"] or None,
            tpot_ms=given["tpot_ms"] or None,
            percentile=given["percentile"],
            redundancy=given["redundancy"],
        ),
        segment=given["segment"],
        price_kind=given["price_kind"].replace("-", "_"),
        usd_per_gpu_hour=_money("--gpu-usd-per-hour", given["gpu_usd_per_hour"]),
        overheads=tuple(_overhead(text) for text in given["overheads"]),
        purchase=None
        if owned is None
        else Purchase(
            capital_usd=_money("--owned-usd", owned) or Decimal(0),
            years=Decimal(str(given["owned_years"])),
            usd_per_kwh=_money("--usd-per-kwh", given["usd_per_kwh"]) or Decimal(0),
        ),
        accelerators_file=_path(given["accelerators_file"]),
        models_file=_path(given["models_file"]),
    )


def _money(option: str, text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        amount = Decimal(str(text).strip().removeprefix("$").replace(",", ""))
    except ArithmeticError:
        amount = Decimal(-1)
    if not amount.is_finite() or amount < 0:
        raise click.UsageError(f"{option} {text!r} is no amount of USD; write it as 2.49")
    return amount


def _overhead(text: str) -> Overhead:
    """``on-call=4000`` is USD a month, ``network=5%`` a share of the accelerators' money."""
    name, mark, value = text.partition("=")
    value = value.strip()
    if mark and name.strip():
        if value.endswith("%"):
            share = _money("--overhead", value.removesuffix("%")) or Decimal(0)
            return Overhead(name=name.strip(), ratio=share / 100)
        return Overhead(name=name.strip(), usd_per_month=_money("--overhead", value) or Decimal(0))
    raise click.UsageError(
        f"--overhead {text!r} is not NAME=USD (a month) or NAME=PCT%, such as on-call=4000"
    )


def _path(value: Any) -> Path | None:
    return Path(value) if value else None
