"""Implements `pic watch`: stays, follows the cluster, and deploys what its Ingresses ask for."""

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
    from pic.cluster.listing import ClusterAccess
    from pic.watch.health import Health
    from pic.watch.leader import Leader
    from pic.watch.loop import StopReason
    from pic.watch.wakeup import Wakeup
    from pic.watch.watcher import WatchConfig

# Kubernetes puts the namespace of a pod into this file of the pod.
NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "watch",
        "stay running, and deploy every change; for a pod in the cluster",
        "Watch Ingresses and every other object that planning reads. Once they have been quiet for"
        " 2 s (30 s at most), plan in memory, and start pic up if that has work to do. Also do so"
        " every pic:resyncPeriod. There is one run at a time.\n\n"
        "A failed run is retried after 30 s, doubling to 5 min, and after at least 60 s if a target"
        " limits its requests. What the guard refused, or what is invalid, is not retried before"
        " something changes.\n\n"
        "On SIGTERM the run stops cleanly, then the watcher, with exit code 0. When the stack file"
        " changes, the watcher restarts with the new settings.",
        "  pic watch --stack prod\n"
        "  pic watch --stack prod --listen 127.0.0.1:9090 --log-format json\n"
        "  pic watch --stack prod --no-leader-elect --listen ''     on a workstation",
    )
    verb.add_argument(
        "--listen",
        type=_address,
        default=("", 8080),
        metavar="ADDR",
        help="serve /healthz, /readyz and /metrics at HOST:PORT; empty to serve nothing (:8080)",
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
        help="how long a run may take to stop; less than the pod's terminationGracePeriodSeconds"
        " (25)",
    )
    verb.add_argument(
        "--run-timeout",
        type=common.seconds,
        default=900.0,
        metavar="SECONDS",
        help="how long a run may take before pic stops it (900)",
    )


def _add_election(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--leader-elect",
        action=argparse.BooleanOptionalAction,
        help="start runs only while holding a Lease (default: only in a pod)",
    )
    verb.add_argument(
        "--lease-namespace",
        metavar="NAME",
        help="the namespace of the Lease pic-STACK (default: the namespace of the pod)",
    )


def _address(value: str) -> tuple[str, int] | None:
    """Read HOST:PORT; an empty value is None.

    Raises:
        argparse.ArgumentTypeError: The value has another form.
    """
    if not value:
        return None
    host, _, port = value.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{value!r} is not HOST:PORT")
    return host.strip("[]"), int(port)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Watch until a signal; restart the watcher when the settings change."""
    # The other verbs do not need these modules, so only this one loads them.
    from pic.watch.loop import StopReason  # noqa: PLC0415
    from pic.watch.wakeup import stop_on_signals  # noqa: PLC0415

    # pic turns the garbage collector off, because other verbs end before it would matter.
    gc.enable()
    with stop_on_signals() as wakeup:
        while _watch(options, environment, wakeup) is StopReason.SETTINGS:
            logs.log(logs.INFO, "the settings have changed: restarting with the new settings")
    logs.log(logs.INFO, "stopped")
    return 0


def _watch(
    options: argparse.Namespace, environment: Mapping[str, str], wakeup: "Wakeup"
) -> "StopReason":
    from pic.cluster import listing  # noqa: PLC0415 - as above
    from pic.watch import watcher  # noqa: PLC0415
    from pic.watch.runs import RunLimits  # noqa: PLC0415
    from pic.watch.schedule import Intervals  # noqa: PLC0415

    stack, config = deploying.config(options, environment)
    watch_config = watcher.WatchConfig(
        config,
        _arguments(options, stack, environment),
        environment,
        RunLimits(options.run_timeout, options.grace),
        Intervals(resync=config.settings.resync_period.total_seconds()),
    )
    # Another process reads the credentials, so this one does not load the Kubernetes client.
    access = listing.resolve(config.settings, environment, in_subprocess=True)
    transport = listing.connect_to(access, watcher.TIMEOUTS)
    with _health(options, watch_config) as health:
        leader = _leader(options, environment, stack, access)
        logs.log(logs.INFO, f"watching for stack {stack}")
        changed = _SettingsCheck(options, environment, (stack, config))
        dependencies = watcher.Dependencies(transport, health, leader, changed)
        return watcher.watch(watch_config, dependencies, wakeup)


def _arguments(
    options: argparse.Namespace, stack: str, environment: Mapping[str, str]
) -> list[str]:
    """Return the arguments of each run, which has the same settings as this process.

    While this watcher holds the Lease, no other one has a run. A lock of another pod is left over.
    """
    pairs = [word for pair in options.config for word in ("--config", pair)]
    form = ["--log-format", options.log_format] if options.log_format else []
    quiet = ["--quiet"] if options.quiet else []
    steal = ["--steal-locks"] if _is_elected(options, environment) else []
    # The watcher itself reports what is held, once for each digest.
    return ["up", "--stack", stack, "--allow-held", *pairs, *form, *quiet, *steal]


def _is_elected(options: argparse.Namespace, environment: Mapping[str, str]) -> bool:
    """Say whether runs start only while this watcher holds a Lease."""
    if options.leader_elect is None:
        return bool(environment.get("KUBERNETES_SERVICE_HOST"))
    return bool(options.leader_elect)


@contextmanager
def _health(options: argparse.Namespace, watch_config: "WatchConfig") -> "Iterator[Health]":
    from pic.core.version import installed_version  # noqa: PLC0415 - as above
    from pic.watch.health import Health, serve  # noqa: PLC0415
    from pic.watch.probes import MaxAges  # noqa: PLC0415

    settings, limits = watch_config.config.settings, watch_config.limits
    max_ages = MaxAges.for_resync(settings.resync_period, limits.run + limits.grace)
    health = Health(max_ages, settings.targets, installed_version())
    if options.listen is None:
        yield health
        return
    with serve(options.listen, health) as port:
        logs.log(logs.INFO, f"serving /healthz, /readyz and /metrics on port {port}")
        yield health


def _leader(
    options: argparse.Namespace,
    environment: Mapping[str, str],
    stack: str,
    access: "ClusterAccess",
) -> "Leader | None":
    from pic.cluster import listing  # noqa: PLC0415 - as above
    from pic.watch.leader import TIMEOUTS, Leader  # noqa: PLC0415

    if not _is_elected(options, environment):
        return None
    transport = listing.connect_to(access, TIMEOUTS)
    identity = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    return Leader(transport, _namespace(options), f"pic-{stack}".lower(), identity)


def _namespace(options: argparse.Namespace, file: Path = NAMESPACE_FILE) -> str:
    """Return the namespace of the Lease.

    Args:
        options: The flag names it.
        file: Names the namespace of a pod, for a watcher without the flag.

    Raises:
        SettingsError: There is no flag, and this is not a pod.
    """
    if options.lease_namespace:
        return str(options.lease_namespace)
    if file.is_file():
        return file.read_text(encoding="utf-8").strip()
    raise SettingsError(
        ["the Lease has no namespace: outside a pod, name one with --lease-namespace"]
    )


@dataclass
class _SettingsCheck:
    """Says whether the stack file has changed to other settings that are valid."""

    options: argparse.Namespace
    environment: Mapping[str, str]
    current: tuple[str, StackConfig]
    stamp: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.stamp = self.read_stamp()

    def __call__(self) -> bool:
        before, self.stamp = self.stamp, self.read_stamp()
        if self.stamp == before:
            return False
        try:
            # The engine writes the file too, so another stamp need not mean other settings.
            return deploying.config(self.options, self.environment) != self.current
        except SettingsError as error:
            logs.log(logs.ERROR, f"keeping the current settings: {error}")
            return False

    def read_stamp(self) -> tuple[int, ...]:
        try:
            status = StackFile(Path.cwd(), self.current[0]).path.stat()
        except OSError:
            return ()
        return (status.st_ino, status.st_size, status.st_mtime_ns)
