"""Downloads the official Pulumi CLI: `install.py ROOT VERSION`.

It runs as a process of its own, so that the caller can limit its time: the SDK sets no limit.
"""

import socket
import subprocess
import sys

from pulumi.automation import PulumiCommand
from semver import VersionInfo

_STALL = 10.0  # seconds without an answer


def main() -> None:
    """Install the CLI; on failure, exit with the reason."""
    socket.setdefaulttimeout(_STALL)
    root, version = sys.argv[1:]
    try:
        PulumiCommand.install(root=root, version=VersionInfo.parse(version))
    except subprocess.CalledProcessError as error:  # the official script prints the reason
        sys.exit(error.output.decode(errors="replace").strip() or str(error))
    except Exception as error:  # noqa: BLE001 - the SDK documents no error type
        sys.exit(str(error))


if __name__ == "__main__":
    main()
