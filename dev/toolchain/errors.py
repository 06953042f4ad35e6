"""The one error of the toolchain: something the reader can act on."""


class ToolchainError(Exception):
    """A part can be neither found nor made; the message is one line with the next step."""
