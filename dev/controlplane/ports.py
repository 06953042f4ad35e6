"""Ports of 127.0.0.1 that nobody else can take."""

import socket


class ReservedPort:
    """A free port, held for as long as this object is open.

    Asking for a free port, letting it go and starting a server on it is a race. Here the port stays
    bound, with SO_REUSEPORT, without listening; a server of the same user that sets the same option
    can listen on it, and again after a restart.
    """

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number: int = self._socket.getsockname()[1]

    def release(self) -> None:
        """Let the port go."""
        self._socket.close()
