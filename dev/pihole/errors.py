"""What can go wrong with the simulator itself."""


class PiHoleError(Exception):
    """A part of it is missing or did not start; the text says which."""
