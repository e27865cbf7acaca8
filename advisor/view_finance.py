"""The section that finance reads: what it will be, and why it changed."""

from advisor.analysis import Analysis
from advisor.view_bridge import bridge_part
from advisor.view_finance_model import FinanceSection
from advisor.view_forecast import forecast_part


def finance_section(analysis: Analysis) -> FinanceSection | None:
    """Return the section; None where nobody asked for it."""
    found = analysis.finance
    if found is None:
        return None
    return FinanceSection(forecast=forecast_part(analysis, found.outlook), bridge=bridge_part(found.variance))
