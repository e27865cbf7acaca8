"""A scenario: what would be otherwise, as a list of steps. ``advisor whatif --schema`` prints the schema of these models.

Every step may be narrowed down to workloads, models and providers by name; without these it is for everything. Shares and
factors are decimal numbers and are taken exactly as written.
"""

import json
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from pricing.meters import Meter

_DIGITS: Final = 9
MOST_STEPS: Final = 100


def _no_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("expected a number")  # noqa: TRY004  (pydantic turns only this into a message)
    return value


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_Number = Annotated[Decimal, BeforeValidator(_no_bool)]
Share = Annotated[_Number, Field(ge=0, le=1, decimal_places=_DIGITS)]
"""0..1."""
Factor = Annotated[_Number, Field(ge=0, le=1_000_000, decimal_places=_DIGITS)]
Names = Annotated[
    tuple[str, ...],
    BeforeValidator(_as_list, json_schema_input_type=str | tuple[str, ...]),
    Field(min_length=1),
]
"""One name, or a list of them."""
MeterName = Literal[
    "all",
    "input_uncached",
    "cache_read",
    "cache_write_5m",
    "cache_write_30m",
    "cache_write_1h",
    "cache_write_12h",
    "output",
    "audio_input",
    "audio_cache_read",
    "audio_output",
    "image_input",
    "image_output",
    "web_search_calls",
    "request_calls",
    "cache_storage_token_hours",
]
"""Every meter, or ``all``."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Step(_Model):
    workload: Names | None = Field(
        default=None, description="Only these workloads, as the report names them."
    )
    model: Names | None = Field(default=None, description="Only these models, as logged or as priced.")
    provider: Names | None = Field(default=None, description="Only these providers, as logged or as priced.")

    @property
    def scope(self) -> str:
        """What it is for, in words: `` (chat, gpt-4o)``; empty for everything."""
        names = [name for names in (self.workload, self.model, self.provider) for name in names or ()]
        return f" ({', '.join(names)})" if names else ""


class SwapModel(_Step):
    """Send requests to another model."""

    do: Literal["swap_model"]
    to: str = Field(min_length=1, description="The model to use instead.")
    to_provider: str | None = Field(
        default=None,
        min_length=1,
        description="Who sells it; left out: the provider of today if it does, else the one that does.",
    )
    share: Share = Field(default=Decimal(1), description="Part of the requests that moves.")
    token_ratio: Factor = Field(
        default=Decimal(1), description="Tokens of the new model for one token of the old, for the same text."
    )

    @property
    def title(self) -> str:
        """What it does, in words."""
        return f"swap {_percent(self.share)} to {self.to}"


class Batch(_Step):
    """Send requests as batch jobs, where their model is sold so; only those at the standard tier."""

    do: Literal["batch"]
    share: Share = Field(description="Part of the requests that can wait.")

    @property
    def title(self) -> str:
        """What it does, in words."""
        return f"send {_percent(self.share)} as batch jobs"


class Cache(_Step):
    """Read part of the prompt text from a cache; fewer reads than today are possible too."""

    do: Literal["cache"]
    read_share: Share = Field(description="Part of the prompt text that is read from a cache.")
    written_share: Share | None = Field(
        default=None,
        description="Part that is written to it; left out: the writes of the log, as far as they fit.",
    )
    lifetime: Literal["5m", "30m", "1h", "12h"] = Field(
        default="5m", description="Which kind of write, where written_share is given."
    )

    @model_validator(mode="after")
    def _fits(self) -> "Cache":
        if self.written_share is not None and self.read_share + self.written_share > 1:
            raise ValueError(
                f"read_share {self.read_share} and written_share {self.written_share} are more than 1 together"
            )
        return self

    @property
    def title(self) -> str:
        """What it does, in words."""
        return f"read {_percent(self.read_share)} of the prompt text from a cache"


class Trim(_Step):
    """Shorten prompts (text of every kind: new, read and written), answers, or both."""

    do: Literal["trim"]
    prompt: Share = Field(default=Decimal(0), description="Part of the prompt text that goes away.")
    answer: Share = Field(
        default=Decimal(0), description="Part of the answers, reasoning included, that goes away."
    )

    @property
    def title(self) -> str:
        """What it does, in words."""
        parts = (("prompts", self.prompt), ("answers", self.answer))
        return "trim " + (
            " and ".join(f"{_percent(part)} of {word}" for word, part in parts if part) or "nothing"
        )


class Grow(_Step):
    """More or fewer requests of the same kind."""

    do: Literal["grow"]
    factor: Factor = Field(description="Requests for each one today: 1.5 is half as many again.")

    @property
    def title(self) -> str:
        """What it does, in words."""
        return f"{_plain(self.factor)} x the requests"


class Price(_Step):
    """Other prices: multiples of the list price."""

    do: Literal["price"]
    multiples: dict[MeterName, Factor] = Field(
        min_length=1, description="By meter, or `all`; one that is named goes before `all`."
    )

    @property
    def title(self) -> str:
        """What it does, in words."""
        return "price " + ", ".join(f"{meter} x {_plain(factor)}" for meter, factor in self.multiples.items())


Step = SwapModel | Batch | Cache | Trim | Grow | Price
STEPS: Final[dict[str, type[_Step]]] = {
    "swap_model": SwapModel,
    "batch": Batch,
    "cache": Cache,
    "trim": Trim,
    "grow": Grow,
    "price": Price,
}


class Scenario(_Model):
    """Steps, applied one after the other."""

    name: str = Field(default="Scenario", min_length=1)
    steps: tuple[Annotated[Step, Field(discriminator="do")], ...] = Field(min_length=1, max_length=MOST_STEPS)


def multiple_of(step: Price, meter: Meter) -> Decimal:
    """Return what a step multiplies a meter's price by."""
    named: dict[str, Decimal] = {str(name): factor for name, factor in step.multiples.items()}
    return named.get(str(meter), named.get("all", Decimal(1)))


def schema_json() -> str:
    """Return the JSON Schema of a scenario."""
    return json.dumps(Scenario.model_json_schema(), indent=1, sort_keys=True) + "\n"


def _percent(share: Decimal) -> str:
    return f"{_plain(share * 100)} %"


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
