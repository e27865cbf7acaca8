"""Which open models, accelerators and prices a comparison looks at, and how they were chosen, in words."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Final

from advisor.analysis import Analysis
from advisor.hosting import HostingOptions, Purchase
from pricing.accelerators import Accelerator, accelerator, accelerators, add_accelerators
from pricing.errors import PricingError, UnknownOpenModelError
from pricing.gpu_billing import Ownership, owned_fixed_usd_per_hour, owned_power_usd_per_hour, power_kw
from pricing.gpu_prices import GpuPrice, given_price, gpu_price
from pricing.open_model import OpenModel
from pricing.open_models import add_open_models, from_config, open_model, open_models

RECENT_MONTHS: Final = 24
_CLASSES: Final[tuple[tuple[Decimal, str, float, float], ...]] = (
    (Decimal(8), "large", 200.0, 4_000.0),
    (Decimal("1.5"), "medium", 24.0, 200.0),
    (Decimal(0), "small", 3.0, 36.0),
)
"""Least list price of a million output tokens, the class that it stands for, and the open models' parameters in billions.

No evaluation stands behind it: prices follow what models can do only loosely, and sizes even less. It says where to look."""
_USUAL_SERVER_WATTS: Final = 700.0


class NoPriceError(PricingError):
    """Raised when accelerators that were asked for have no price; the message says what to give."""


def models_of(
    options: HostingOptions, analysis: Analysis, longest_tokens: float, as_of: date
) -> tuple[list[OpenModel], str]:
    """Return the open models to look at, and how they were chosen.

    Raises:
        PricingError: When a name is not known (the nearest are in the message) or a file is malformed.
    """
    table, config = _model_table(options.models_file)
    if options.models:
        return [_named(name, table) for name in options.models], "named"
    if config is not None:
        return [config], f"described by {options.models_file}"
    enough = [one for one in table.values() if one.max_context >= longest_tokens]
    same = [one for one in _same(analysis, table) if one in enough]
    price, named = _dearest(analysis)
    if price is None:
        return same or enough, "no model of the log has a known price, so open models of every size"
    name, floor, ceiling = next((name, low, high) for usd, name, low, high in _CLASSES if price >= usd)
    most = _open_one(named, table)
    if most is not None:
        name, floor, ceiling = "similarly large", most.total_params_b / 2, most.total_params_b * 2
    month = _month_before(as_of)
    found = [
        one
        for one in enough
        if floor <= one.total_params_b < ceiling and (one.released or "9") >= month and one not in same
    ]
    words = (
        f"{name} open models ({floor:,.0f} to {ceiling:,.0f} B parameters, of the last {RECENT_MONTHS} months), because most of the "
        f"bill is {named} at ${price:.2f} a million output tokens; by size and price alone: whether one answers well enough "
        "is for your own evaluation to say"
    )
    if same:
        words = f"{', '.join(one.id for one in same)}, which the log itself uses, and {words}"
    return [*same, *found], words


def check_models(options: HostingOptions) -> None:
    """Look up the models that were named.

    Raises:
        PricingError: When a name is not known (the nearest are in the message) or a file is malformed.
    """
    table, _ = _model_table(options.models_file)
    for name in options.models:
        _named(name, table)


def _named(name: str, table: Mapping[str, OpenModel]) -> OpenModel:
    """A row of the table, or what a ``config.json`` describes."""
    path = Path(name)
    return (
        from_config(path) if path.suffix.casefold() == ".json" and path.is_file() else open_model(name, table)
    )


def accelerators_of(options: HostingOptions) -> list[Accelerator]:
    """Return the accelerators to look at: those asked for, or all.

    Raises:
        PricingError: When a name is not known (the nearest are in the message) or a file is malformed.
    """
    table = accelerators()
    if options.accelerators_file is not None:
        table = add_accelerators(options.accelerators_file)
    return [accelerator(name, table) for name in options.gpus] or list(table.values())


def prices_of(options: HostingOptions, chips: Sequence[Accelerator], as_of: date) -> dict[str, GpuPrice]:
    """Return what each accelerator costs, of those with a price; old prices only where it was asked for or all are old.

    Raises:
        NoPriceError: When none that was asked for has one.
    """
    if options.usd_per_gpu_hour is not None:
        if not options.gpus:
            raise NoPriceError("A price for an hour needs the accelerator that it is for: --gpu NAME.")
        return {chip.id: given_price(chip.id, options.usd_per_gpu_hour) for chip in chips}
    found = {
        chip.id: price
        for chip in chips
        if (price := gpu_price(chip.id, options.segment, options.price_kind, as_of=as_of)) is not None
    }
    if options.purchase is not None and options.gpus:
        found |= {chip.id: _owned_price(chip, options.purchase) for chip in chips if chip.id not in found}
    if not found and (options.gpus or options.segment or options.price_kind != "on_demand"):
        names = ", ".join(chip.id for chip in chips[:4]) if options.gpus else "any accelerator"
        kind = options.price_kind.replace("_", " ")
        where = f" of the segment {options.segment}" if options.segment else ""
        raise NoPriceError(
            f"No dated {kind} price{where} of {names} is known; give yours with --gpu-usd-per-hour, or --owned-usd for what "
            "you buy."
        )
    fresh = {name: price for name, price in found.items() if not (price.listed and price.listed.is_stale)}
    return found if options.gpus else fresh or found


def ownership(chip: Accelerator, terms: Purchase) -> Ownership:
    """Return the terms of owning one accelerator; its draw is the data sheet's with its share of the machine."""
    return Ownership(
        capital_usd=terms.capital_usd,
        years=terms.years,
        power_kw=power_kw(chip.tdp_w or _USUAL_SERVER_WATTS),
        usd_per_kwh=terms.usd_per_kwh,
        yearly_usd=terms.yearly_usd,
    )


def is_quantised(model: OpenModel, precision: str) -> bool:
    """Return whether weights are served narrower than they were published."""
    native = (model.native_precision or "bf16").casefold()
    widths = {"bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "fp4": 4, "nvfp4": 4, "mxfp4": 4, "int4": 4}
    published = min((bits for word, bits in widths.items() if word in native), default=16)
    served = precision.partition("/")[0].casefold()
    return widths.get(served, 4) < published


def _owned_price(chip: Accelerator, terms: Purchase) -> GpuPrice:
    """For ranking what nobody lets: what an owned one costs in an hour of work."""
    own = ownership(chip, terms)
    usd = owned_fixed_usd_per_hour(own) + owned_power_usd_per_hour(own, 1)
    return GpuPrice(accelerator_id=chip.id, kind="owned", low=usd, usual=usd, high=usd)


def _model_table(path: Path | None) -> tuple[Mapping[str, OpenModel], OpenModel | None]:
    """The table to look in, and the model that a ``config.json`` describes."""
    if path is None:
        return open_models(), None
    if path.suffix.casefold() != ".json":
        return add_open_models(path), None
    model = from_config(path)
    return {**open_models(), model.id: model}, model


def _same(analysis: Analysis, table: Mapping[str, OpenModel]) -> list[OpenModel]:
    """Open models that the log itself uses."""
    found: list[OpenModel] = []
    for row in analysis.by_model:
        one = _open_one(row.model, table)
        found += [] if one is None or one in found else [one]
    return found


def _open_one(name: str, table: Mapping[str, OpenModel]) -> OpenModel | None:
    try:
        return open_model(name, table)
    except UnknownOpenModelError:
        return None


def _dearest(analysis: Analysis) -> tuple[Decimal | None, str]:
    """The list price of a million output tokens of the model with the largest bill, and its name."""
    priced = [row for row in analysis.by_model if row.output_usd_per_mtok]
    if not priced:
        return None, ""
    most = max(priced, key=lambda row: row.whole.total)
    return most.output_usd_per_mtok, most.model


def _month_before(as_of: date) -> str:
    months = as_of.year * 12 + as_of.month - 1 - RECENT_MONTHS
    return f"{months // 12}-{months % 12 + 1:02d}"
