"""The Python API as a notebook would use it: run it, or paste it cell by cell."""

from pathlib import Path

import pandas as pd

import advisor

HERE = Path(__file__).resolve().parent

# The report is a frozen value. Leave out `as_of` for a report of now.
report = advisor.analyse(HERE / "inputs" / "usage.csv", prices=HERE / "prices.yaml", as_of="2026-10-15")
print(report)

# Money is exact. What has no price is listed, and then the total is a lower bound (None: nothing has one).
if not report.complete:
    print(report.unpriced[["model", "reason"]].to_string(index=False))
print(f"{report.total} {report.currency} in {len(report.by_day)} days")

# Which phase makes the bill of each workload?
workloads = report.workloads.set_index("name")
for name, row in workloads.iterrows():
    print(f"{name}: {row['class']}, {row['prefill_share']:.0%} prefill, {row['cost']} {report.currency}")

# Frames are ordinary pandas: the dearest day, and cost by week.
days = report.by_day.assign(cost=lambda frame: frame["cost"].astype(float))
print(days.sort_values("cost").tail(1)[["day", "cost"]].to_string(index=False))
print(days.resample("W", on="day")["cost"].sum().round(2).to_string())

# What to do, and what the steps save together (single savings are not to be added up).
print(report.recommendations[["workload", "title", "saving_expected"]].head(3).to_string(index=False))
print(f"together: {sum(report.plan['saving'])}")

# A log may be a frame already, and prices may be given on the spot.
table = pd.DataFrame({"model": ["our-model"], "prompt_tokens": [1_000], "completion_tokens": [500]})
own = advisor.analyse(table, prices={"models": {"our-model": {"input": "0.40", "output": "1.60"}}})
print(own.total)

# Errors say what was seen, what is allowed and what to do.
try:
    advisor.analyse(HERE / "inputs", group_by="colour")
except advisor.OptionError as error:
    print(error)

report.to_html("notebook.html")
