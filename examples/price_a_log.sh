#!/bin/sh
# One log, one command: the report, and the same numbers for a spreadsheet, for finance and for programs.
set -eu
here=$(dirname "$0")
advisor analyze "$here/inputs/usage.csv" --prices "$here/prices.yaml" --as-of 2026-10-15 \
    -o report.html --json report.json --xlsx report.xlsx --focus bill.csv --markdown report.md
