"""A ledger that is kept: a folder of Parquet files by day and provider, and a manifest of what they were read from.

The manifest alone says which files belong to the ledger. It is replaced in one step, so that whoever looks sees the ledger
before or after a change and never between; a file that it does not name is left over from a run that was stopped.
"""
