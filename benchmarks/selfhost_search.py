"""How long the search over every open model, accelerator, layout and precision takes for one load.

python benchmarks/selfhost_search.py          # accelerators with a listed price
python benchmarks/selfhost_search.py --all    # every accelerator of the table, at a price of 1 USD where none is listed
"""

import argparse
import time
from datetime import date
from decimal import Decimal

import numpy as np

from pricing.accelerators import accelerators
from pricing.calibration import calibration
from pricing.fleet_load import LoadSeries
from pricing.fleet_search import search
from pricing.gpu_prices import given_price, gpu_price
from pricing.open_models import open_models
from pricing.replica import Targets


def month() -> LoadSeries:
    """Thirty days by the minute, five requests each, the same in every run."""
    draws = np.random.default_rng(7)
    minutes = np.arange(30 * 1_440, dtype=np.int64) + 1_440 * 20_000
    requests = draws.poisson(5, len(minutes)).astype(float) + 0.01
    return LoadSeries(
        minutes=minutes,
        requests=requests,
        computed_tokens=requests * 1_200,
        cached_tokens=requests * 800,
        output_tokens=requests * 250,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    every = parser.parse_args().all
    chips = list(accelerators().values())
    started = time.perf_counter()
    listed = {
        chip.id: gpu_price(chip.id, None, "on_demand", as_of=date(2026, 11, 29))
        or (given_price(chip.id, Decimal(1)) if every else None)
        for chip in chips
    }
    prices = {name: price for name, price in listed.items() if price is not None}
    found = search(list(open_models().values()), chips, prices, month(), Targets(), calibration())
    seconds = time.perf_counter() - started
    print(
        f"{len(open_models())} models x {len(prices)} accelerators: {found.looked_at:,} deployments fit, {found.feasible:,} "
        f"meet the targets, {len(found.hosted)} sized exactly: {seconds:.1f} s"
    )


if __name__ == "__main__":
    main()
