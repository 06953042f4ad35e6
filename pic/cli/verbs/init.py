"""Implements `pic init`: writes the stack file, and checks the cluster."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from pic.cli import common
from pic.core.errors import SettingsError
from pic.run import stack_config


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "init",
        "bind a stack to the current cluster: write its file, check the cluster",
        "Write stacks/Pulumi.NAME.yaml with the id of the current cluster. From then on pic works"
        " with this cluster only, so a wrong kubeconfig cannot remove hosts. The settings of"
        " --config go into the file too, and an existing file keeps its other settings.\n\n"
        "Then list the CRDs and permissions that the cluster lacks, with exit code 5 if there are"
        " any. Nothing in the cluster changes.",
        "  pic init --stack prod\n"
        "  pic init --stack prod --tunnel-namespace pangolin --config context=prod-cluster",
    )
    verb.add_argument(
        "--tunnel-namespace",
        metavar="NAMESPACE",
        help="the namespace of the PangolinTunnels (default: theirs, if all are in one)",
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Write the stack file, and print what the cluster lacks."""
    # The other verbs save this import: the Kubernetes client takes a fifth of a second.
    from pic.cli import bind  # noqa: PLC0415

    if not options.stack:
        raise SettingsError(["a new stack needs a name: run pic init --stack NAME"])
    common.progress(options, "checking the cluster")
    overrides = stack_config.overrides(options.config)
    if options.tunnel_namespace:
        overrides["tunnelNamespace"] = options.tunnel_namespace
    result = bind.bind_stack(Path.cwd(), options.stack, overrides, environment)
    print(result.text)
    return result.exit_code
