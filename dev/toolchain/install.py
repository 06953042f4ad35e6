"""Fetch the official Pulumi CLI: `install.py ROOT VERSION`.

A program of its own, so that the caller can bound its time: the SDK downloads without a limit.
"""

import socket
import sys

from pulumi.automation import PulumiCommand
from semver import VersionInfo

_STALL = 10.0  # seconds without an answer


def main() -> None:
    """Install, and say in one line why that did not work."""
    socket.setdefaulttimeout(_STALL)
    root, version = sys.argv[1:]
    try:
        PulumiCommand.install(root=root, version=VersionInfo.parse(version))
    except Exception as error:  # noqa: BLE001 - the SDK raises what its parts raise
        sys.exit(str(error))


main()
