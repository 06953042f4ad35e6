"""Defines the error of the measurements."""


class BenchError(Exception):
    """Says what cannot be measured, and why."""
