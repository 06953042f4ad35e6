"""Defines the error of the simulator itself."""


class PiHoleError(Exception):
    """A part of the simulator is missing or did not start; the message names it."""
