# Ibis ships no py.typed marker, and its own annotations fail under strict checkers (`value > 1` is an error for a
# Value). Expressions are therefore Any; the modules that build them are small and covered by tests.
from typing import Any

def __getattr__(name: str) -> Any: ...
