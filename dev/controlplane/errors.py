"""Defines the error of the control plane."""


class ControlPlaneError(Exception):
    """Says which part did not start, or which request the API server refused."""
