#!/bin/sh
# Negotiated prices: list and contracted cost side by side, for each team.
set -eu
here=$(dirname "$0")
advisor analyze "$here/inputs/usage.csv" --prices "$here/prices.yaml" --discounts "$here/discounts.yaml" \
    --group-by team --as-of 2026-10-15 --json terms.json
python3 - <<'PROGRAM'
import json
cost = json.load(open("terms.json"))["cost"]
print(f"list {cost['list_total']} {cost['currency']}, contracted {cost['total']} {cost['currency']}")
PROGRAM
