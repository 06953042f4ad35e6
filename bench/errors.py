"""The errors that `make bench` expects."""


class BenchError(Exception):
    """Something cannot be measured; the message says what and why."""
