#!/bin/sh
# Why is this week dearer than the last? Saved documents are compared, so the logs may be gone by then.
set -eu
here=$(dirname "$0")
week() {
    advisor analyze "$here/inputs/usage.csv" --prices "$here/prices.yaml" --as-of 2026-10-15 -q "$@"
}
week --until 2026-10-07 --json before.json
week --since 2026-10-08 --json after.json
advisor diff before.json after.json
