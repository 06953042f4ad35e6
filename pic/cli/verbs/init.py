"""`pic init`: the stack file, and what the cluster lacks."""

import argparse
from collections.abc import Mapping

from pic.cli import common
from pic.core.errors import SettingsError
from pic.run import stack_config


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "init",
        "write the stack file, and check the cluster",
        "Writes stacks/Pulumi.<stack>.yaml with the cluster's id and the namespace of"
        " the tunnels, and says which CRDs and permissions are missing.",
        "  pic init --stack prod\n"
        "  pic init --stack prod --tunnel-namespace pangolin --config context=prod-cluster",
    )
    verb.add_argument(
        "--tunnel-namespace",
        metavar="NAMESPACE",
        help="where the PangolinTunnels are (default: found, if they are all in one)",
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Write the stack file and tell what the cluster lacks."""
    # The Kubernetes client takes a fifth of a second to import, which other verbs do without.
    from pic.cli import bind  # noqa: PLC0415

    if not options.stack:
        raise SettingsError(["name the new stack: pic init --stack NAME"])
    common.progress(options, "asking the cluster")
    overrides = stack_config.overrides(options.config)
    if options.tunnel_namespace:
        overrides["tunnelNamespace"] = options.tunnel_namespace
    result = bind.run(options.stack, overrides, environment)
    print(result.text)
    return result.exit_code
