"""How long a busy API server is waited for; here, since it takes its time."""

import time
from pathlib import Path

from pic import cluster
from pic.config import Settings
from tests.program.api import Answer, Api


def test_a_busy_server_is_waited_for_as_it_asks_but_within_a_bound(
    api: Api, tmp_path: Path
) -> None:
    api.says("/x", Answer({}, 429, {"Retry-After": "3600"}), Answer([1]))
    environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}
    transport = cluster.connect(Settings(), environment, cluster.Patience(retry_after=1))
    started = time.monotonic()

    assert transport.get("/x") == [1]
    assert 1 <= time.monotonic() - started < 10
