"""Measures the time and the memory that planning takes, for several numbers of Ingresses."""

import json
import resource
import subprocess
import sys
import time

from tabulate import tabulate

from pic.core.ingress import (
    Ingress,
    IngressPath,
    PathType,
    Rule,
    Service,
    ServiceBackend,
    ServicePort,
)
from pic.core.model import Snapshot
from pic.core.operator_objects import Tunnel
from pic.planning.ownership import Ownership
from pic.run.targets import build_plan
from pic.settings.fields import OWN_NAMESPACE
from pic.settings.parse import Settings

SIZES = (1_000, 2_500, 5_000, 10_000)
HOSTS_PER_INGRESS = 2
LABEL = "pic.bench"


def make_snapshot(ingresses: int) -> Snapshot:
    """Return a snapshot with Ingresses that have two hosts with two paths each."""
    namespaces = [_namespace(number) for number in range(50)]
    return Snapshot(
        cluster_id="bench",
        ingresses=tuple(_ingress(number) for number in range(ingresses)),
        services=tuple(Service(name, "web", (ServicePort("http", 80),)) for name in namespaces),
        tunnels=tuple(Tunnel(name, "default", status="Ready") for name in namespaces),
    )


def _namespace(number: int) -> str:
    return f"team-{number % 50}"


def _ingress(number: int) -> Ingress:
    backend = ServiceBackend("web", "http")
    paths = (
        IngressPath("/", PathType.PREFIX, backend),
        IngressPath(f"/api/v{number % 7}", PathType.PREFIX, backend),
    )
    rules = tuple(
        Rule(f"h{host}.app-{number}.example.com", paths) for host in range(HOSTS_PER_INGRESS)
    )
    return Ingress(
        _namespace(number), f"app-{number}", f"uid-{number}", class_name="pangolin", rules=rules
    )


def measure(ingresses: int) -> dict[str, float]:
    """Plan once in this process, and return hosts, seconds and megabytes."""
    snapshot = make_snapshot(ingresses)
    settings = Settings(tunnel_namespaces=(OWN_NAMESPACE,))
    start = time.perf_counter()
    plan = build_plan(snapshot, settings, LABEL, Ownership(LABEL))
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"hosts": len(plan.resources), "seconds": seconds, "megabytes": memory}


def main() -> None:
    """Print a table. Each size runs in its own process, so that it shows the memory of one plan."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]))))
        return
    rows = []
    for size in SIZES:
        command = [sys.executable, "-m", "bench.plan", str(size)]
        process = subprocess.run(command, check=True, capture_output=True, text=True)
        figures = json.loads(process.stdout)
        rows.append(
            {
                "ingresses": size,
                "hosts": figures["hosts"],
                "seconds": f"{figures['seconds']:.2f}",
                "µs per host": f"{figures['seconds'] / figures['hosts'] * 1e6:.0f}",
                "MB resident": f"{figures['megabytes']:.0f}",
            }
        )
    print(tabulate(rows, headers="keys"))


if __name__ == "__main__":
    main()
