"""Defines the error of the toolchain."""


class ToolchainError(Exception):
    """Says which part can be neither found nor built, and what to do about it."""
