"""Find, fetch or build the toolchain, and say what came of it: `python -m dev.toolchain`."""

import argparse
import sys

from dev import toolchain


def main() -> int:
    """Resolve everything; an expected error is its message alone."""
    parser = argparse.ArgumentParser(prog="python -m dev.toolchain", description=__doc__)
    parser.add_argument(
        "--controlplane", action="store_true", help="only the control plane, not the Pulumi engine"
    )
    only = parser.parse_args()
    try:
        if only.controlplane:
            toolchain.resolve_controlplane()
        else:
            toolchain.resolve()
    except (toolchain.ToolchainError, OSError) as error:  # a cache that cannot be written, say
        print(f"toolchain: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("toolchain: interrupted, nothing half-made is left", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
