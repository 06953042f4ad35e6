"""Serves the provider of public hosts: `python -m pic.pangolin_api.plugin ENGINE_ADDRESS`."""

import os
from collections.abc import Mapping

from pic.pangolin_api.client import Client, Server, connect
from pic.pangolin_api.provider import Connect, Pangolin
from pic.provider import serving


def connector(environment: Mapping[str, str]) -> Connect:
    """Return a function that connects with the key of the environment."""

    def connect_to(server: Server) -> Client:
        return connect(server, environment)

    return connect_to


def main(environment: Mapping[str, str]) -> None:
    """Serve until the engine ends.

    The engine passes its own address as an argument, for log lines that this provider does not
    send.
    """
    serving.run(Pangolin(connector(environment)))


if __name__ == "__main__":
    main(os.environ)
