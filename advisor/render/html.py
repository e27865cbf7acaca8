"""The report as one HTML file that needs nothing else: no network, no script to be complete."""

import os
import sys
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
        bytecode_cache=_compiled_before(),
        # All templates stay compiled in memory.
        cache_size=-1,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["px"] = pixels
    return environment.get_template("report.html.j2")


def compile_all() -> None:
    """Have all templates compiled, for when there is time to spare."""
    environment = page_template().environment
    for name in environment.list_templates(extensions=["j2"]):
        environment.get_template(name)


def _compiled_before() -> jinja2.BytecodeCache | None:
    """Return where compiled templates are kept, beside the compiled modules; None where nothing may be written."""
    folder = Path(__file__).parent / "__pycache__"
    kept = not sys.dont_write_bytecode and os.access(folder, os.W_OK)
    return jinja2.FileSystemBytecodeCache(str(folder)) if kept else None


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
