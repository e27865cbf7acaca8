"""What finance asks for besides: unit costs of single requests, who pays, flat plans. Options and their texts."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:  # only runs with budgets read them
    from advisor.budget import Budget

Command = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FinanceOptions:
    """What is asked.

    Attributes:
        unit_costs: Whether single requests, sessions and users are looked at.
        showback: Labels that money is allocated by.
        shared_cost: What becomes of money without a label, see ``allocation.parse_sharing``.
        plans: Name and price a month of flat plans.
        budgets: Limits to hold the log against.
    """

    unit_costs: bool = False
    showback: tuple[str, ...] = ()
    shared_cost: str = "none"
    plans: tuple[tuple[str, Decimal], ...] = ()
    budgets: "tuple[Budget, ...]" = ()


NOTHING: Final = FinanceOptions()


def finance_options(command: Command) -> Command:
    """Say what finance asks for besides."""
    options = [
        click.option(
            "--unit-costs",
            is_flag=True,
            help="Median and 95th percentile of cost per request, session and user, too.",
        ),
        click.option(
            "--showback", metavar="KEYS", help="Who pays: allocate cost by labels, e.g. team,project,user."
        ),
        click.option(
            "--shared-cost",
            default="none",
            show_default=True,
            metavar="RULE",
            help="Share what carries no label: even, proportional, or fixed percents (red=60,blue=40).",
        ),
        click.option(
            "--plan",
            "plans",
            multiple=True,
            metavar="NAME=USD",
            help="A flat plan that coding agents are paid by, and its price a month. Repeatable.",
        ),
        click.option(
            "--budget",
            "budget_file",
            metavar="FILE",
            help="Budgets to show the log against (`advisor check` is the gate): docs/finance.md.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def options_from(
    given: dict[str, Any], group_keys: Callable[[str | None], tuple[str, ...]]
) -> FinanceOptions:
    """Return what is asked, from the options of a command line; nothing for commands that have none of them.

    Args:
        given: Options by name.
        group_keys: Reads a list of labels.
    """
    if "showback" not in given:
        return NOTHING
    _check_sharing(given["shared_cost"])
    return FinanceOptions(
        unit_costs=given["unit_costs"],
        showback=group_keys(given["showback"]),
        shared_cost=given["shared_cost"],
        plans=tuple(_plan(text) for text in given["plans"]),
        budgets=_budgets(given["budget_file"], given["currency"]) if given["budget_file"] else (),
    )


def _check_sharing(rule: str) -> None:
    if rule == "none":
        return
    from advisor.allocation import SharingError, parse_sharing  # noqa: PLC0415  (only by runs that share)

    try:
        parse_sharing(rule)
    except SharingError as error:
        raise click.UsageError(f"--shared-cost: {error}") from error


def _budgets(file: str, currency: str) -> "tuple[Budget, ...]":
    from advisor.budget_file import BudgetError, read_budgets  # noqa: PLC0415  (only by runs that have some)

    try:
        return read_budgets(Path(file), currency.strip().upper())
    except BudgetError as error:
        raise click.UsageError(f"--budget {error}") from error


def _plan(text: str) -> tuple[str, Decimal]:
    name, _, number = text.rpartition("=")
    try:
        price = Decimal(number.strip())
    except ArithmeticError:
        price = Decimal(-1)
    if not name.strip() or not price.is_finite() or price < 0:
        raise click.UsageError(f"--plan {text!r} is not NAME=USD a month, such as team-seats=200")
    return name.strip(), price
