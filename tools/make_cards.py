"""Write ``pricing/data/alibaba.toml``: ``python tools/make_cards.py SNAPSHOT.json``.

genai-prices has no Alibaba. The snapshot of model-prices (MIT) has the history of its prices with a source for each, of
which the standard ones become cards. Its prices of the thinking mode are left out, because a log does not say which mode
a request had; the head of the file lists the models where it costs something else.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).resolve().parent.parent / "pricing" / "data"
RELEASE: Final = "model-prices 0.0.5"
PROVIDER: Final = "alibaba"
CACHE_PAGE: Final = "https://www.alibabacloud.com/help/en/model-studio/context-cache"
METERS: Final[Mapping[str, str]] = {
    "input": "input_uncached",
    "cache_read": "cache_read",
    "cache_write": "cache_write_5m",
    "output": "output",
}
PLACES: Final = Decimal("1e-9")
"""The snapshot went through binary floats; no price has more digits."""

IMPLICIT_RATIO: Final = Decimal("0.2")
EXPLICIT_OF_IMPLICIT: Final = "0.5"

Rates = tuple[tuple[str, Decimal], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Rates of a model from an instant on, as written into a card.

    Attributes:
        start: As the snapshot writes it; None: open to the past.
        rates: USD per million tokens by meter.
        context: Rates above prompt sizes, ascending.
        source: Address.
    """

    start: str | None
    rates: Rates
    context: tuple[tuple[int, Rates], ...]
    source: str


def main(arguments: list[str]) -> int:
    """Write the cards."""
    snapshot = json.loads(Path(arguments[0]).read_text(encoding="utf-8"), parse_float=Decimal)
    models = {
        model: list(periods_of(modes["standard"]))
        for model, modes in sorted(snapshot["prices"][PROVIDER].items())
    }
    day = str(snapshot["updated_at"])[:10]
    text = "".join([*head_of(snapshot), *cards_of(models, day), *explicit_rows(models, day)])
    (DATA / "alibaba.toml").write_text(text, encoding="utf-8")
    print(f"{len(models)} models, {sum(map(len, models.values()))} periods")
    return 0


def periods_of(entries: Sequence[Mapping[str, Any]]) -> Iterator[Period]:
    """Periods in order of time; one that changes no rate belongs to the one before."""
    last: Period | None = None
    for entry in sorted(entries, key=lambda one: one["start"] or ""):
        rates = entry["rates"]
        period = Period(
            start=entry["start"],
            rates=rates_of(rates),
            context=tuple((int(step["above"]), rates_of(step)) for step in rates.get("tiers", ())),
            source=rates["source"],
        )
        if last is None or (last.rates, last.context) != (period.rates, period.context):
            yield period
            last = period


def rates_of(rates: Mapping[str, Any]) -> Rates:
    """Rates by meter. A rate of 0 is left out: it stands for a meter that is not billed apart, not for a gift."""
    known = (
        (meter, Decimal(rates[key]).quantize(PLACES).normalize())
        for key, meter in METERS.items()
        if key in rates
    )
    return tuple((meter, rate) for meter, rate in known if rate)


def head_of(snapshot: Mapping[str, Any]) -> Iterator[str]:
    """Comment lines."""
    yield f"# Made by tools/make_cards.py from {RELEASE} (MIT): run it again instead of editing.\n"
    yield "# USD, international deployment. Left out: the thinking mode of these models, whose output costs more:\n"
    for model, modes in sorted(snapshot["prices"][PROVIDER].items()):
        if "thinking" in modes:
            now, then = (modes[mode][-1]["rates"]["output"] for mode in ("thinking", "standard"))
            if now != then:
                yield f"#   {model}: {now} instead of {then}\n"


def cards_of(models: Mapping[str, Sequence[Period]], day: str) -> Iterator[str]:
    """The rows of all cards."""
    for model, periods in models.items():
        ends = [period.start for period in periods[1:]]
        for period, end in zip(periods, [*ends, None], strict=True):
            yield f'\n[[card]]\nprovider = "{PROVIDER}"\nmodel = "{model}"\n'
            if period.start is not None:
                yield f"valid_from = {period.start}\n"
            if end is not None:
                yield f"valid_until = {end}\n"
            yield f"rates = {table_of(period.rates)}\n"
            if period.context:
                yield "context = [\n"
                for above, rates in period.context:
                    yield f"    {{ above = {above}, rates = {table_of(rates)} }},\n"
                yield "]\n"
            yield f'source = "{period.source} ({RELEASE})"\nchecked_on = {day}\n'


def explicit_rows(models: Mapping[str, Sequence[Period]], day: str) -> Iterator[str]:
    """What a hit of an explicit cache costs, for models whose listed cache price is that of an implicit one.

    The tier stands for the cache mode. A model whose listed price is already a tenth has no row.
    """
    by_start: dict[str | None, list[str]] = {}
    for model, periods in models.items():
        implicit = [one for one in periods if is_implicit(dict(one.rates))]
        if implicit:
            by_start.setdefault(implicit[0].start, []).append(model)
    for start, names in sorted(by_start.items(), key=lambda item: item[0] or ""):
        yield (
            f'\n[[tier]]\nprovider = "{PROVIDER}"\nmodels = [\n'
            + "".join(f'    "{name}",\n' for name in names)
            + "]\n"
        )
        yield f'tier = "explicit_cache"\nmultiplier = "1"\nmultipliers = {{ cache_read = "{EXPLICIT_OF_IMPLICIT}" }}\n'
        if start is not None:
            yield f"valid_from = {start}\n"
        yield f'source = "{CACHE_PAGE} ({RELEASE})"\nchecked_on = {day}\n'


def is_implicit(rates: Mapping[str, Decimal]) -> bool:
    """Whether explicit caches exist (they are written at a price) and the listed read price is the implicit one."""
    read = rates.get("cache_read")
    return "cache_write_5m" in rates and read == rates["input_uncached"] * IMPLICIT_RATIO


def table_of(rates: Rates) -> str:
    """Rates as an inline table."""
    return "{ " + ", ".join(f'{meter} = "{rate:f}"' for meter, rate in rates) + " }"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
