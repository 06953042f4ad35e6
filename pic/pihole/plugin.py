"""Serves the provider of DNS records: `python -m pic.pihole.plugin ENGINE_ADDRESS`."""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager

from pic.pihole.batching import Owned, window_for
from pic.pihole.protocol import Hosts
from pic.pihole.provider import OpenSession, Pihole
from pic.provider import serving
from pic.settings.parse import Settings


def session_opener(environment: Mapping[str, str]) -> OpenSession:
    """Return a function that opens a session with the password of the environment."""

    def open_session(
        settings: Settings, cluster_id: str, owned: Owned
    ) -> AbstractContextManager[Hosts]:
        # A preview or a run without records never loads the client.
        from pic.pihole import connect  # noqa: PLC0415

        return connect.open_session(settings, cluster_id, environment, owned)

    return open_session


def main(environment: Mapping[str, str]) -> None:
    """Serve until the engine ends.

    The engine passes its own address as an argument, for log lines that this provider does not
    send.
    """
    window = window_for(environment.get("PULUMI_PARALLEL", ""))
    serving.run(Pihole(session_opener(environment), window))


if __name__ == "__main__":
    main(os.environ)
