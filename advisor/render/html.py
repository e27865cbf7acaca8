"""The report as one HTML file that needs nothing else: no network, no script to be complete."""

from functools import cache
from pathlib import Path

import jinja2

from advisor.view_model import ReportView


def template_dir() -> Path:
    """Where the templates are: inside the package when installed, beside it in a checkout.

    Returns:
        An existing folder.

    Raises:
        FileNotFoundError: Neither place has them.
    """
    package = Path(__file__).resolve().parent.parent
    places = (package / "templates", package.parent / "templates")
    for place in places:
        if (place / "report.html.j2").is_file():
            return place
    looked = " and ".join(map(str, places))
    raise FileNotFoundError(f"The report's templates are missing: looked in {looked}. Reinstall the package.")


@cache
def page_template() -> jinja2.Template:
    """Return the report's template, compiled."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_dir()),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["px"] = pixels
    return environment.get_template("report.html.j2")


def render_html(view: ReportView) -> str:
    """The report as a page.

    Args:
        view: What to show.

    Returns:
        A complete HTML document; the same view always gives the same text.
    """
    return page_template().render(view=view)


def pixels(value: float) -> str:
    """A coordinate with at most one decimal."""
    return (
        f"{value:.1f}".removesuffix(".0").replace("-0", "0")
        if abs(value) < 1
        else f"{value:.1f}".removesuffix(".0")
    )
