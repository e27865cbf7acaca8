"""The JSON document as text."""

import json

from advisor.analysis import Analysis
from advisor.document import document_of
from advisor.document_model import Document


def render_json(analysis: Analysis) -> str:
    """Return the document, indented, ending in a newline."""
    return document_of(analysis).model_dump_json(indent=1, by_alias=True) + "\n"


def schema_json() -> str:
    """Return the JSON Schema of the document."""
    return json.dumps(Document.model_json_schema(by_alias=True), indent=1, sort_keys=True) + "\n"
