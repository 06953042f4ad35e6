"""Times planning from memory, and its growth, in processes of their own."""

import json
import resource
import subprocess
import sys
import time

from tabulate import tabulate

from pic.core.model import (
    Ingress,
    IngressPath,
    PathType,
    Rule,
    Service,
    ServiceBackend,
    ServicePort,
    Snapshot,
    Tunnel,
)
from pic.planning import plan
from pic.planning.ownership import Ownership
from pic.settings.parse import Settings

SIZES = (1_000, 2_500, 5_000, 10_000)
HOSTS_EACH = 2
LABEL = "pic.bench"


def snapshot(ingresses: int) -> Snapshot:
    """Return a cluster of that many Ingresses with two hosts of two paths each."""
    return Snapshot(
        cluster_id="bench",
        ingresses=tuple(_ingress(number) for number in range(ingresses)),
        services=tuple(Service(_place(n), "web", (ServicePort("http", 80),)) for n in range(50)),
        tunnels=tuple(Tunnel(_place(n), "default", status="Ready") for n in range(50)),
    )


def _place(number: int) -> str:
    return f"team-{number % 50}"


def _ingress(number: int) -> Ingress:
    backend = ServiceBackend("web", "http")
    paths = (
        IngressPath("/", PathType.PREFIX, backend),
        IngressPath(f"/api/v{number % 7}", PathType.PREFIX, backend),
    )
    rules = tuple(Rule(f"h{at}.app-{number}.example.com", paths) for at in range(HOSTS_EACH))
    return Ingress(
        _place(number), f"app-{number}", f"uid-{number}", class_name="pangolin", rules=rules
    )


def measure(ingresses: int) -> dict[str, float]:
    """Plan once in this process and return the figures."""
    seen = snapshot(ingresses)
    start = time.perf_counter()
    planned = plan.build(seen, Settings(), LABEL, Ownership(LABEL))
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"hosts": len(planned.resources), "seconds": seconds, "megabytes": memory}


def main() -> None:
    """Print a table, one process a size so that memory is that of one plan."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]))))
        return
    rows = []
    for size in SIZES:
        command = [sys.executable, "-m", "bench.plan", str(size)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found = json.loads(done.stdout)
        rows.append(
            {
                "ingresses": size,
                "hosts": found["hosts"],
                "seconds": f"{found['seconds']:.2f}",
                "µs a host": f"{found['seconds'] / found['hosts'] * 1e6:.0f}",
                "MB resident": f"{found['megabytes']:.0f}",
            }
        )
    print(tabulate(rows, headers="keys"))


if __name__ == "__main__":
    main()
