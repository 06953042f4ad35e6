"""What can go wrong with the control plane."""


class ControlPlaneError(Exception):
    """A part did not start, or the API server refused what it was asked; the text says which."""
