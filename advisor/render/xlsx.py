"""The report as an Excel workbook whose costs follow its inputs."""

from advisor.analysis import Analysis
from advisor.render.xlsx_book import Book
from advisor.render.xlsx_findings import data_quality, recommendations, reconciliation, self_host
from advisor.render.xlsx_prices import assumptions
from advisor.render.xlsx_summary import summary
from advisor.render.xlsx_usage import usage_sheets


def render_xlsx(analysis: Analysis) -> bytes:
    """Return the workbook: the same analysis gives the same bytes.

    Args:
        analysis: With its cost lines, which the formulas are made from.
    """
    book = Book(analysis.provenance.as_of)
    first = book.sheet("Summary")
    prices = assumptions(book, analysis)
    usage = usage_sheets(book, analysis, prices)
    summary(first, analysis, usage)
    recommendations(book, analysis)
    reconciliation(book, analysis)
    self_host(book, analysis)
    data_quality(book, analysis)
    return book.close()
