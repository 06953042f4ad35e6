"""Fetch the official Pulumi CLI: `install.py ROOT VERSION`.

A program of its own, so that the caller can bound its time: the SDK downloads without a limit.
"""

import socket
import subprocess
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
    except subprocess.CalledProcessError as error:  # the official script tells the reason
        sys.exit(error.output.decode(errors="replace").strip() or str(error))
    except Exception as error:  # noqa: BLE001 - the SDK raises what its parts raise
        sys.exit(str(error))


if __name__ == "__main__":
    main()
