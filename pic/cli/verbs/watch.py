"""`pic watch`: stay, follow the cluster, and deploy whatever its Ingresses come to ask for."""

import argparse
import gc
import os
import secrets
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pic.cli import common, deploying
from pic.core import logs
from pic.core.errors import SettingsError
from pic.run.stack_config import StackConfig
from pic.settings.stack_file import StackFile

if TYPE_CHECKING:
    from pic.watch.leader import Leader
    from pic.watch.loop import StopReason
    from pic.watch.protocols import Health
    from pic.watch.wakeup import Wakeup
    from pic.watch.watcher import WatchConfig

# Where a pod finds its own namespace.
NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "watch",
        "stay, and deploy what changes; for a pod in the cluster",
        "Follows Ingresses and everything that planning looks at. Once they have been quiet for 2 s"
        " (30 s at most), plans in memory, and starts `pic up` where something is to be done; every"
        " pic:resyncPeriod it looks again. A run that failed is tried again after 30 s, doubling to"
        " 5 min; after 60 s where a target is asked too often; not before a change where the guard"
        " refused it or what is asked for is invalid. Never two runs at once. SIGTERM ends a run"
        " cleanly and then the watcher, with exit code 0. A change of the stack file is followed.",
        "  pic watch --stack prod\n"
        "  pic watch --stack prod --listen 127.0.0.1:9090 --log-format json\n"
        "  pic watch --stack prod --no-leader-elect --listen ''     on a workstation",
    )
    verb.add_argument(
        "--listen",
        type=_address,
        default=("", 8080),
        metavar="ADDR",
        help="serve /healthz, /readyz and /metrics at HOST:PORT; empty is nowhere (:8080)",
    )
    _add_times(verb)
    _add_election(verb)
    verb.set_defaults(run=run)


def _add_times(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--grace",
        type=common.seconds,
        default=25.0,
        metavar="SECONDS",
        help="how long a run that is asked to end may take for it, less than the pod's"
        " terminationGracePeriodSeconds (25)",
    )
    verb.add_argument(
        "--run-timeout",
        type=common.seconds,
        default=900.0,
        metavar="SECONDS",
        help="how long a run may take before it is asked to end (900)",
    )


def _add_election(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--leader-elect",
        action=argparse.BooleanOptionalAction,
        help="start runs only while holding a Lease (default: in a pod)",
    )
    verb.add_argument(
        "--lease-namespace",
        metavar="NAME",
        help="where the Lease pic-STACK is (default: the pod's own namespace)",
    )


def _address(given: str) -> tuple[str, int] | None:
    """Read host and port; nothing where there is nothing.

    Raises:
        argparse.ArgumentTypeError: It is something else.
    """
    if not given:
        return None
    host, _, port = given.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{given!r} is not HOST:PORT")
    return host.strip("[]"), int(port)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Watch until a signal, with the settings of the moment."""
    # What only this verb needs is not loaded by the others.
    from pic.watch.loop import StopReason  # noqa: PLC0415
    from pic.watch.wakeup import stop_on_signals  # noqa: PLC0415

    # Other verbs are over before any garbage would matter.
    gc.enable()
    with stop_on_signals() as bell:
        while _watch(options, environment, bell) is StopReason.SETTINGS:
            logs.log(logs.INFO, "the settings have changed: beginning anew")
    logs.log(logs.INFO, "ended")
    return 0


def _watch(
    options: argparse.Namespace, environment: Mapping[str, str], bell: "Wakeup"
) -> "StopReason":
    from pic.watch import watcher  # noqa: PLC0415 - as above
    from pic.watch.runs import RunLimits  # noqa: PLC0415
    from pic.watch.schedule import Intervals  # noqa: PLC0415

    stack, config = deploying.config(options, environment)
    work = watcher.WatchConfig(
        config,
        _arguments(options, stack, environment),
        environment,
        RunLimits(options.run_timeout, options.grace),
        Intervals(resync=config.settings.resync_period.total_seconds()),
    )
    transport = watcher.connect(work)
    with _health(options, work) as health:
        leader = _leader(options, environment, stack, work)
        logs.log(logs.INFO, f"watching for stack {stack}")
        renewed = _Renewal(options, environment, (stack, config))
        return watcher.watch(work, watcher.Dependencies(transport, health, leader, renewed), bell)


def _arguments(
    options: argparse.Namespace, stack: str, environment: Mapping[str, str]
) -> list[str]:
    """Return what each run is asked for: the same as this process.

    While the Lease is held no other watcher has a run: what its pod has left may go.
    """
    pairs = [word for pair in options.config for word in ("--config", pair)]
    form = ["--log-format", options.log_format] if options.log_format else []
    quiet = ["--quiet"] if options.quiet else []
    steal = ["--steal-locks"] if _is_elected(options, environment) else []
    return ["up", "--stack", stack, *pairs, *form, *quiet, *steal]


def _is_elected(options: argparse.Namespace, environment: Mapping[str, str]) -> bool:
    """Say whether runs are started only while a Lease is held."""
    if options.leader_elect is None:
        return bool(environment.get("KUBERNETES_SERVICE_HOST"))
    return bool(options.leader_elect)


@contextmanager
def _health(options: argparse.Namespace, work: "WatchConfig") -> "Iterator[Health]":
    from pic.core.version import installed_version  # noqa: PLC0415 - as above
    from pic.watch import health  # noqa: PLC0415
    from pic.watch.probes import MaxAges  # noqa: PLC0415

    settings = work.config.settings
    limits = MaxAges.for_resync(settings.resync_period, work.limits.run + work.limits.grace)
    state = health.Health(limits, settings.targets, installed_version())
    if options.listen is None:
        yield state
        return
    with health.serve(options.listen, state) as port:
        logs.log(logs.INFO, f"serving /healthz, /readyz and /metrics on port {port}")
        yield state


def _leader(
    options: argparse.Namespace, environment: Mapping[str, str], stack: str, work: "WatchConfig"
) -> "Leader | None":
    from pic.cluster import listing  # noqa: PLC0415 - as above
    from pic.watch import leader  # noqa: PLC0415

    if not _is_elected(options, environment):
        return None
    transport = listing.connect(
        work.config.settings, environment, leader.TIMEOUTS, in_subprocess=True
    )
    identity = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    return leader.Leader(transport, _namespace(options), f"pic-{stack}".lower(), identity)


def _namespace(options: argparse.Namespace) -> str:
    """Return where the Lease is.

    Raises:
        SettingsError: Nothing says.
    """
    if options.lease_namespace:
        return str(options.lease_namespace)
    if NAMESPACE.is_file():
        return NAMESPACE.read_text(encoding="utf-8").strip()
    raise SettingsError(["name a namespace for the Lease: --lease-namespace, outside of a pod"])


@dataclass
class _Renewal:
    """Says whether the stack file has come to hold other settings that can be right."""

    options: argparse.Namespace
    environment: Mapping[str, str]
    known: tuple[str, StackConfig]
    stamp: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.stamp = self.stamp_now()

    def __call__(self) -> bool:
        before, self.stamp = self.stamp, self.stamp_now()
        if self.stamp == before:
            return False
        try:
            # An engine writes into the file as well.
            return deploying.config(self.options, self.environment) != self.known
        except SettingsError as error:
            logs.log(logs.ERROR, f"going on with the settings as they were: {error}")
            return False

    def stamp_now(self) -> tuple[int, ...]:
        try:
            found = StackFile(Path.cwd(), self.known[0]).path.stat()
        except OSError:
            return ()
        return (found.st_ino, found.st_size, found.st_mtime_ns)
