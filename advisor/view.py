"""Analysis -> ReportView: what the report says, decided once for every rendering."""

from advisor import numbers
from advisor.analysis import Analysis
from advisor.view_advice import advice_section
from advisor.view_costs import cost_section
from advisor.view_data import data_section, method_section, price_table
from advisor.view_finance import finance_section
from advisor.view_headline import headline
from advisor.view_hosting import hosting_section
from advisor.view_map import map_section
from advisor.view_meters import meter_section
from advisor.view_model import ReportView
from advisor.view_reconcile import reconcile_section
from advisor.view_reuse import reuse_section
from advisor.view_time import day_section
from advisor.view_whatif import whatif_section
from advisor.view_workloads import workload_section
from advisor.wording import plural

__all__ = ["ReportView", "build_view"]


def build_view(analysis: Analysis) -> ReportView:
    """The whole report as plain data.

    Args:
        analysis: Everything computed about one log.

    Returns:
        A frozen value that holds every text, number and shape that a rendering shows.
    """
    with numbers.shown_in(analysis.cost.currency):
        return _view(analysis)


def _view(analysis: Analysis) -> ReportView:
    return ReportView(
        title="LLM token cost",
        subtitle=_subtitle(analysis),
        headline=headline(analysis),
        advice=advice_section(analysis),
        whatif=whatif_section(analysis),
        costs=cost_section(analysis),
        days=day_section(analysis),
        finance=finance_section(analysis),
        workloads=workload_section(analysis),
        reuse=reuse_section(analysis),
        phase_map=map_section(analysis),
        meters=meter_section(analysis),
        hosting=hosting_section(analysis),
        reconciliation=reconcile_section(analysis),
        data=data_section(analysis),
        prices=price_table(analysis),
        method=method_section(analysis),
        version=analysis.provenance.version,
    )


def _subtitle(analysis: Analysis) -> str:
    data = analysis.data
    if data.first_request is None or data.last_request is None:
        return f"No times in the log · {plural(len({item.path for item in data.sources}), 'file')}"
    dated = [row.day for row in analysis.by_day if row.day is not None]
    first = min(dated, default=data.first_request.date())
    last = max(dated, default=data.last_request.date())
    return f"{numbers.day_range(first, last)} · {data.timezone} · {plural(len({item.path for item in data.sources}), 'file')}"
