"""Budgets from a file (YAML, JSON or TOML). ``advisor check --schema`` prints the schema of these models."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from advisor.budget import Budget, Limit
from pricing.errors import PriceFileError
from pricing.file_syntax import parse_syntax, read_bytes
from workloads.ledger import LABEL_COLUMNS

LABELS: Final = (*LABEL_COLUMNS, "user")
_SHORT: Final = 60
_FIRST_MISTAKES: Final = 5


class BudgetError(ValueError):
    """A file of budgets that cannot be used: file, key, the value seen, and what is allowed."""


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _no_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("expected a number")  # noqa: TRY004  (pydantic turns only this into a message)
    return value


_Names = Annotated[
    tuple[str, ...],
    BeforeValidator(_as_list, json_schema_input_type=str | tuple[str, ...]),
    Field(min_length=1),
]
_Amount = Annotated[Decimal, BeforeValidator(_no_bool), Field(ge=0, le=10**15)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScopeRow(_Model):
    """Whose usage it is; several keys must all fit. Of labels (team, project ...) one may be named."""

    provider: _Names | None = Field(default=None, description="As logged or as priced.")
    model: _Names | None = Field(default=None, description="As logged or as priced.")
    workload: _Names | None = Field(default=None, description="As the report names them; no label beside it.")
    team: _Names | None = None
    project: _Names | None = None
    application: _Names | None = None
    endpoint: _Names | None = None
    environment: _Names | None = None
    api_key: _Names | None = None
    user: _Names | None = Field(default=None, description="As reports show them, see --show-users.")

    @model_validator(mode="after")
    def _one_label(self) -> "ScopeRow":
        named = [key for key in ("workload", *LABELS) if getattr(self, key) is not None]
        if len(named) > 1:
            raise ValueError(f"{' and '.join(named)} are both named; one of them may be")
        return self


class BudgetRow(_Model):
    """A budget: at least one limit."""

    name: str | None = Field(default=None, min_length=1)
    scope: ScopeRow = Field(default=ScopeRow(), description="Left out: all usage.")
    monthly_cost: _Amount | None = Field(default=None, description="Of any calendar month, at most.")
    cost_per_request: _Amount | None = Field(default=None, description="On average, at most.")
    change_percent: _Amount | None = Field(
        default=None, description="Against the period before, at most (20: a fifth more)."
    )

    @model_validator(mode="after")
    def _has_a_limit(self) -> "BudgetRow":
        if all(getattr(self, limit.value) is None for limit in Limit):
            raise ValueError(f"no limit; name one of {', '.join(Limit)}")
        return self


class BudgetFile(_Model):
    """The budgets of ``advisor check``."""

    currency: str | None = Field(default=None, description="Of the amounts; must be that of the report.")
    budgets: tuple[BudgetRow, ...] = Field(min_length=1)


def schema_json() -> str:
    """Return the JSON Schema of a file of budgets."""
    return json.dumps(BudgetFile.model_json_schema(), indent=1) + "\n"


def read_budgets(path: Path, currency: str) -> tuple[Budget, ...]:
    """Return the budgets of a file.

    Args:
        path: YAML, JSON or TOML.
        currency: Of the report.

    Raises:
        BudgetError: It cannot be read, has mistakes, or is in another currency.
    """
    try:
        found = BudgetFile.model_validate(parse_syntax(read_bytes(path), path))
    except PriceFileError as error:
        raise BudgetError(str(error)) from None
    except ValidationError as error:
        # Items that are wrong themselves are not missing as well.
        wrong = [one for one in error.errors() if not (one["type"] == "too_short" and one["input"])]
        raise BudgetError("\n".join(_line(path, one) for one in wrong[:_FIRST_MISTAKES])) from None
    if found.currency is not None and found.currency.upper() != currency:
        raise BudgetError(
            f"{path}: currency is {found.currency!r} and the report is in {currency}: "
            "amounts of two currencies cannot be compared; use --currency and --fx"
        )
    return tuple(_budget(row) for row in found.budgets)


def _budget(row: BudgetRow) -> Budget:
    scope = {key: names for key, names in row.scope.model_dump().items() if names is not None}
    named = ", ".join(f"{key} {' or '.join(names)}" for key, names in scope.items())
    return Budget(
        name=row.name or named or "total",
        scope=scope,
        limits={limit: getattr(row, limit.value) for limit in Limit if getattr(row, limit.value) is not None},
    )


def _line(path: Path, mistake: Any) -> str:
    where = ".".join(str(part + 1) if isinstance(part, int) else str(part) for part in mistake["loc"])
    seen = repr(mistake["input"])
    seen = (
        ""
        if mistake["type"] == "missing"
        else f", got {seen if len(seen) <= _SHORT else seen[:_SHORT] + '...'}"
    )
    if mistake["type"] == "extra_forbidden":
        kinds: dict[int, type[_Model]] = {1: BudgetFile, 3: BudgetRow}
        kind = kinds.get(len(mistake["loc"]), ScopeRow)
        return f"{path}: {where}: unknown key, allowed: {', '.join(kind.model_fields)}"
    return f"{path}: {where or 'the file'}: {mistake['msg'].removeprefix('Value error, ')}{seen}"
