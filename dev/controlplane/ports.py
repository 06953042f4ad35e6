"""Reserves ports of 127.0.0.1 so that no other program can take them."""

import socket


class ReservedPort:
    """Keeps a free port bound until it is released.

    To find a free port, close it and start a server on it would be a race. This socket stays bound
    with SO_REUSEPORT and never listens. A server of the same user that sets the same option can
    listen on the port, also after a restart.
    """

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number: int = self._socket.getsockname()[1]

    def release(self) -> None:
        """Close the socket, so that any program can take the port."""
        self._socket.close()
