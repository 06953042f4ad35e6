"""Find, fetch or build the toolchain, and say what came of it: `python -m dev.toolchain`."""

import argparse
import shlex
import sys
from collections.abc import Mapping

from dev import toolchain


def exports(environment: Mapping[str, str]) -> str:
    """Write an environment as a shell takes it in."""
    lines = (f"export {key}={shlex.quote(value)}" for key, value in environment.items())
    return "\n".join(lines)


def _aside(line: str) -> None:
    """Speak beside what a shell takes in."""
    print(line, file=sys.stderr)


def main() -> int:
    """Resolve everything; an expected error is its message alone."""
    parser = argparse.ArgumentParser(prog="python -m dev.toolchain", description=__doc__)
    parser.add_argument(
        "--controlplane", action="store_true", help="only the control plane, not the Pulumi engine"
    )
    parser.add_argument(
        "--export", action="store_true", help="print the environment of the engine for a shell"
    )
    only = parser.parse_args()
    try:
        if only.controlplane:
            toolchain.resolve_controlplane()
        else:
            tools = toolchain.resolve(echo=_aside if only.export else print)
            if only.export:
                print(exports(tools.environment()))
    except (toolchain.ToolchainError, OSError) as error:  # a cache that cannot be written, say
        print(f"toolchain: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("toolchain: interrupted, nothing half-made is left", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
