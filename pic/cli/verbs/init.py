"""Implements `pic init`: writes the stack file, and checks the cluster."""

import argparse
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from pic.cli import common
from pic.core.errors import SettingsError
from pic.run import stack_config
from pic.settings.parse import Tenants
from pic.settings.stack_file import StackFile


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
        help="the namespace of the PangolinTunnels, where only the platform team may create any"
        " (default: theirs if all are in one, which a user at a terminal has to confirm)",
    )
    verb.add_argument(
        "--register-namespace",
        metavar="NAMESPACE",
        help="the namespace of the register, where only the platform team may write (default: that"
        " of the tunnels; asked for on a terminal if there is none)",
    )
    verb.add_argument(
        "--tenants",
        choices=tuple(map(str, Tenants)),
        help="one: one team has the cluster, such as in a home lab, and its hosts move between"
        " namespaces freely. many: the hosts of each namespace are protected from the people of"
        " the others (default: asked for on a terminal, else many)",
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Write the stack file, and print what the cluster lacks."""
    # The other verbs save this import: the Kubernetes client takes a fifth of a second.
    from pic.cli import bind  # noqa: PLC0415

    if not options.stack:
        raise SettingsError(["a new stack needs a name: run pic init --stack NAME"])
    overrides = stack_config.overrides(options.config)
    if options.tunnel_namespace:
        overrides["tunnelNamespace"] = options.tunnel_namespace
    if options.register_namespace:
        overrides["registerNamespace"] = options.register_namespace
    if tenants := options.tenants or _ask_tenants(options, overrides):
        overrides["tenants"] = tenants
    common.progress(options, "checking the cluster")
    ask = partial(_ask, options)
    result = bind.bind_stack(Path.cwd(), options.stack, overrides, environment, ask)
    print(result.text)
    return result.exit_code


TENANTS_QUESTION = """Who uses this cluster?
  many  several teams: pic protects the hosts of each namespace from the people of the others
  one   one team, such as in a home lab: hosts move between namespaces without an acknowledgement"""


def _ask_tenants(options: argparse.Namespace, overrides: Mapping[str, object]) -> str:
    """Ask who uses the cluster, unless the stack file or a flag says it."""
    file = StackFile(Path.cwd(), options.stack)
    stored = file.settings() if file.path.exists() else {}
    if "tenants" in {**stored, **overrides}:
        return ""
    return _ask(options, f"{TENANTS_QUESTION}\n[many] ")


def _ask(options: argparse.Namespace, question: str) -> str:
    """Return the answer of a user at a terminal; empty without a terminal."""
    # A process may have no standard input at all.
    at_terminal = sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()
    if options.quiet or options.log_format or not at_terminal:
        return ""
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip()
