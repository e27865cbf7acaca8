"""The section that finance reads: what it will be, why it changed, what one unit costs, and who pays."""

from advisor.analysis import Analysis
from advisor.view_anomalies import anomaly_line, anomaly_table
from advisor.view_bridge import bridge_part
from advisor.view_budget import budget_table
from advisor.view_finance_model import FinanceSection
from advisor.view_forecast import forecast_part
from advisor.view_units import allocation_table, plan_line, unit_table


def finance_section(analysis: Analysis) -> FinanceSection | None:
    """Return the section; None where nobody asked for it."""
    found = analysis.finance
    if found is None:
        return None
    return FinanceSection(
        forecast=forecast_part(analysis, found.outlook),
        budgets=budget_table(found.checks),
        bridge=bridge_part(found.variance),
        unusual=anomaly_line(found.unusual),
        unusual_table=anomaly_table(found.unusual),
        units=unit_table(analysis, found.units),
        allocations=tuple(allocation_table(analysis, one) for one in found.allocations),
        plans=plan_line(found.plan_use),
    )
