"""From an analysis to a file: one module a format."""
