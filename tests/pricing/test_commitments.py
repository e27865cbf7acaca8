"""Commitments, worked by hand: what is owed, what usage drew down, what went beyond, what was not used."""

from datetime import date
from decimal import Decimal
from typing import Any

from deals import AS_OF, cube, row, total
from hypothesis import given, settings
from hypothesis import strategies as st

from pricing.commitment_use import CommitmentUse, use_of
from pricing.commitments import Commitment
from pricing.discounts import Discount, contracted


def spend(usd_per_month: str, **more: Any) -> Commitment:
    given = {"name": "prepaid", "covers": "spend", "where": "d.yaml: commitments.0", **more}
    return Commitment(usd_per_month=Decimal(usd_per_month), **given)


def ptu(usd_per_hour: str, **more: Any) -> Commitment:
    given = {
        "name": "ptu",
        "covers": "throughput",
        "where": "d.yaml: commitments.1",
        "models": ("alpha",),
        **more,
    }
    return Commitment(usd_per_hour=Decimal(usd_per_hour), **given)


def october(*amounts: int, model: str = "beta") -> list[dict[str, Any]]:
    """A log of the whole of October with these millions of input tokens ($1 each of beta)."""
    edges = [row(model, 0, 0, "2026-10-01"), row(model, 0, 0, "2026-10-31")]
    return [*edges, *(row(model, million * 1_000_000, 0, "2026-10-10") for million in amounts)]


def one(rows: list[dict[str, Any]], commitment: Commitment, timezone: str = "UTC") -> CommitmentUse:
    (found,) = use_of(cube(rows), [commitment], timezone=timezone)
    return found


def test_a_prepaid_month_that_is_not_used_up() -> None:
    use = one(october(30, 20), spend("80"))
    assert (use.committed_usd, use.contracted_usd, use.effective_usd) == (80, 50, 80)
    assert (use.unused_usd, use.utilisation_ratio, use.difference_usd) == (30, 0.625, 30)
    assert not use.is_partial


def test_usage_beyond_it_is_paid_at_its_contracted_cost() -> None:
    use = one(october(30, 70), spend("80"))
    assert (use.effective_usd, use.unused_usd, use.utilisation_ratio) == (100, 0, 1.0)
    assert use.difference_usd == 0


def test_it_is_drawn_down_at_contracted_cost() -> None:
    half = Discount(multiplier=Decimal("0.5"), where="d", provider="anthropic")
    priced, _ = contracted(cube(october(100)), [half], as_of=AS_OF)
    (use,) = use_of(priced, [spend("80")], timezone="UTC")
    assert (use.contracted_usd, use.effective_usd, use.unused_usd) == (50, 80, 30)


def test_a_month_that_the_log_covers_in_part_carries_its_part() -> None:
    rows = [row("beta", 1_000_000, 0, "2026-09-29"), row("beta", 1_000_000, 0, "2026-10-10")]
    september, october_ = use_of(cube(rows), [spend("31")], timezone="UTC")
    # 29 and 30 September of 30 days, 1 to 10 October of 31 days
    assert (september.month, september.days, september.committed_usd) == (
        date(2026, 9, 1),
        2,
        Decimal("2.066667"),
    )
    assert (october_.days, october_.committed_usd, october_.is_partial) == (10, 10, True)


def test_it_is_owed_only_while_it_is_valid() -> None:
    valid = spend("31", valid_from=date(2026, 10, 9), valid_until=date(2026, 10, 11))
    use = one(october(5), valid)
    assert (use.first, use.last, use.committed_usd) == (date(2026, 10, 9), date(2026, 10, 10), 2)
    assert use.contracted_usd == 5
    assert use_of(cube(october(5)), [spend("1", valid_from=date(2026, 11, 1))], timezone="UTC") == ()


def test_only_its_provider_and_models_draw_on_it() -> None:
    rows = [*october(5), *october(7, model="alpha")]
    assert one(rows, spend("100")).contracted_usd == Decimal("22.5")
    assert one(rows, spend("100", provider="claude")).contracted_usd == 5
    assert one(rows, spend("100", models=("ALPHA",))).contracted_usd == Decimal("17.5")


def test_throughput_is_paid_by_the_hour_instead_of_by_the_token() -> None:
    rows = october(100, model="alpha")
    rows[0]["web_search_calls"] = 10
    use = one(rows, ptu("2", units=Decimal(3), included_tokens_per_minute=1_000))
    # 31 days x 24 hours x 3 units x $2; the ten searches stay what they are
    assert (use.committed_usd, use.contracted_usd, use.effective_usd) == (4_464, 250, 4_464)
    # 100 million tokens of 744 hours x 60 minutes x 3 units x 1,000
    assert use.tokens == 100_000_000
    assert use.utilisation_ratio is not None
    assert abs(use.utilisation_ratio - 100_000 / (744 * 60 * 3)) < 1e-12
    assert use.unused_usd is not None
    assert round(use.unused_usd, 3) == round(4_464 - Decimal(100_000) * 2 / 60, 3)


def test_utilisation_is_unknown_without_a_capacity() -> None:
    use = one(october(1, model="alpha"), ptu("2"))
    assert (use.utilisation_ratio, use.unused_usd) == (None, None)


def test_throughput_by_the_month() -> None:
    monthly = Commitment(
        name="m",
        covers="throughput",
        where="d",
        models=("alpha",),
        usd_per_month=Decimal(60),
        units=Decimal(2),
    )
    assert one(october(1, model="alpha"), monthly).committed_usd == 120


def test_no_token_is_paid_twice() -> None:
    rows = [*october(5), *october(7, model="alpha")]
    rows[-1]["web_search_calls"] = 100
    prepaid, hours = use_of(cube(rows), [spend("100"), ptu("1")], timezone="UTC")
    # The prepaid amount is drawn on by beta and by alpha's searches; alpha's tokens are paid by the hour.
    assert (prepaid.contracted_usd, hours.contracted_usd) == (6, Decimal("17.5"))


def test_hours_are_those_of_the_zone() -> None:
    # Clocks in Berlin go back on 25 October 2026.
    rows = [row("alpha", 1, 0, "2026-10-25")]
    assert one(rows, ptu("1"), "Europe/Berlin").committed_usd == 25
    assert one(rows, ptu("1")).committed_usd == 24


def test_without_days_nothing_is_owed_that_is_known() -> None:
    assert use_of(cube([row("beta", 1, 0, None)]), [spend("10")], timezone="UTC") == ()
    assert use_of(cube(october(1)), [], timezone="UTC") == ()


months = st.lists(
    st.tuples(st.sampled_from(("alpha", "beta")), st.integers(0, 10**9), st.integers(0, 120)),
    min_size=1,
    max_size=8,
).map(
    lambda parts: [
        row(
            model, tokens, 0, (date(2026, 8, 20).fromordinal(date(2026, 8, 20).toordinal() + ago)).isoformat()
        )
        for model, tokens, ago in parts
    ]
)
amounts = st.decimals(0, 1_000, places=2).map(str)


@settings(deadline=None)
@given(months, amounts, amounts, st.randoms())
def test_what_is_paid_is_what_is_owed_and_what_goes_beyond(
    rows: list[dict[str, Any]], prepaid: str, hourly: str, random: Any
) -> None:
    commitments = [spend(prepaid), ptu(hourly)]
    uses = use_of(cube(rows), commitments, timezone="UTC")
    assert sum((use.contracted_usd for use in uses), Decimal(0)) == total(cube(rows))
    for use in uses:
        assert use.effective_usd >= use.committed_usd
        if use.commitment.covers == "spend":
            assert use.unused_usd is not None
            beyond = use.effective_usd - use.committed_usd
            assert use.committed_usd - use.unused_usd + beyond == use.contracted_usd
            assert not (beyond and use.unused_usd)
    random.shuffle(rows)
    random.shuffle(commitments)
    assert use_of(cube(rows), commitments, timezone="UTC") == uses
