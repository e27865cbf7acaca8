#!/bin/sh
# A change before it is made: each step priced on what the one before has left.
set -eu
here=$(dirname "$0")
advisor whatif "$here/inputs/usage.csv" --prices "$here/prices.yaml" --scenario "$here/scenario.yaml" \
    --as-of 2026-10-15
