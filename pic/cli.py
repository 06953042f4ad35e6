"""The command line: verbs, flags and exit codes. The only place that prints."""

import argparse
import io
import json
import os
import sys
from collections.abc import Mapping, Sequence

from pic import plan as planning
from pic import report, sources, wire
from pic.errors import PicError, SettingsError
from pic.model import Plan
from pic.notices import Notice

EPILOG = """\
exit codes: 0 done · 1 unexpected · 2 settings or usage · 3 refused by the guard ·
5 cluster unreachable or incomplete"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="pic",
        description="Exposes Kubernetes Ingresses through Pangolin as a reviewed Pulumi diff.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    _plan_parser(verbs)
    _init_parser(verbs)
    return top


def _plan_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    verb = verbs.add_parser(
        "plan",
        help="print what should exist; changes nothing and needs no Pulumi",
        description="Prints the plan: one PangolinResource for each public host, and notices.",
        epilog="examples:\n"
        "  pic plan --stack prod                     what the live cluster asks for\n"
        "  pic plan --stack prod --manifests deploy/ the same with files of a branch\n"
        "  helm template . | pic plan --offline --manifests -",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verb.add_argument(
        "--manifests",
        nargs="+",
        default=[],
        metavar="PATH",
        help="files, folders or - for standard input, laid over the live cluster",
    )
    verb.add_argument("--offline", action="store_true", help="use the manifests only, no cluster")
    verb.add_argument(
        "--output", choices=("text", "json"), default="text", help="form of the plan (text)"
    )
    _common(verb)
    verb.set_defaults(run=run_plan)


def _init_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    verb = verbs.add_parser(
        "init",
        help="write the stack file, and check the cluster",
        description="Writes stacks/Pulumi.<stack>.yaml with the cluster's id and the namespace of"
        " the tunnels, and says which CRDs and permissions are missing.",
        epilog="examples:\n"
        "  pic init --stack prod\n"
        "  pic init --stack prod --tunnel-namespace pangolin --config context=prod-cluster",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verb.add_argument(
        "--tunnel-namespace",
        metavar="NAMESPACE",
        help="where the PangolinTunnels are (default: found, if they are all in one)",
    )
    _common(verb)
    verb.set_defaults(run=run_init)


def _common(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--stack", metavar="NAME", help="the stack (default: the only one)")
    verb.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting without the pic: prefix, over those of the stack; repeatable",
    )
    verb.add_argument("--quiet", action="store_true", help="no progress on standard error")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; expected errors are one clear message."""
    options = parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # An arrow that the terminal's encoding lacks is no reason to fail.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        result: int = options.run(options, os.environ)
        sys.stdout.flush()
    except PicError as error:
        print(f"pic: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return result


def run_plan(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Print the plan."""
    if options.offline and not options.manifests:
        raise SettingsError(["--offline needs --manifests: there is nothing else to plan from"])
    run = sources.run_for(options, environment)
    if options.offline:
        snapshot = sources.offline_snapshot(options.manifests, run.settings)
    else:
        _progress(options, "reading the cluster")
        snapshot = sources.live_snapshot(run.settings, environment, options.manifests)
    plan = planning.build(snapshot, run.settings, run.label, run.ownership)
    print(_rendered(plan, run.remarks, options.output))
    return 0


def _progress(options: argparse.Namespace, what: str) -> None:
    if not options.quiet and sys.stderr.isatty():
        print(f"pic: {what} …", file=sys.stderr)


def _rendered(plan: Plan, notices: Sequence[Notice], output: str) -> str:
    found = sorted({*plan.notices, *notices}, key=lambda notice: notice.order)
    whole = Plan(plan.resources, plan.records, tuple(found))
    if output == "json":
        return json.dumps(wire.plan(whole), indent=2, ensure_ascii=False)
    return report.plan(whole)


def run_init(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Write the stack file and tell what the cluster lacks."""
    # The Kubernetes client takes a fifth of a second to import, which other verbs do without.
    from pic import initialise  # noqa: PLC0415

    if not options.stack:
        raise SettingsError(["name the new stack: pic init --stack NAME"])
    _progress(options, "asking the cluster")
    given = sources.given(options.config)
    if options.tunnel_namespace:
        given["tunnelNamespace"] = options.tunnel_namespace
    result = initialise.run(options.stack, given, environment)
    print(result.text)
    return result.exit_code
