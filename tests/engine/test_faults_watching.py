"""Tests a watcher while its CRD is deleted, and while etcd and the API server restart."""

import re
from contextlib import closing
from http.client import HTTPConnection

from dev.controlplane.faults import Fault, Request, Reset, forward
from dev.controlplane.proxy import proxied
from tests.engine.stage import Stage
from tests.engine.watcher import watching
from tests.support.waiting import until

CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/pangolinresources.tunnel.pangolin.io"
# A failed run is retried after 30 s, and then after 60 s.
SECONDS = 150.0


def hosts(stage: Stage) -> set[str]:
    """Return the first labels of all live hosts."""
    return {host.partition(".")[0] for host in stage.identities()}


def until_hosts(stage: Stage, *words: str) -> None:
    """Wait until exactly these hosts are live."""
    until(lambda: hosts(stage) == set(words), f"the hosts are {words}", SECONDS)


def test_a_watcher_survives_the_deletion_of_its_crd(other_stage: Stage) -> None:
    stage = other_stage
    stage.ingress("one", "one")
    with watching(stage) as watcher:
        until_hosts(stage, "one")

        stage.cluster.api.request("DELETE", CRD)
        until(lambda: not stage.cluster.api.has(CRD), "the CRD is gone")
        stage.ingress("two", "two")
        stage.plane.install_crds("target")

        until_hosts(stage, "one", "two")
        # The watcher stops its run when it ends, maybe before the engine has written its state.
        until(lambda: stage.remembered == sorted(stage.identities()), "the run is over", SECONDS)
        assert watcher.terminate() == 0
    assert stage.pic("diff", "--expect-no-changes").code == 0
    assert stage.remembered == sorted(stage.identities())


def test_a_watcher_survives_restarts_of_etcd_and_the_api_server(other_stage: Stage) -> None:
    stage = other_stage
    stage.ingress("one", "one")
    with watching(stage) as watcher:
        until_hosts(stage, "one")

        stage.plane.stop_etcd()
        stage.plane.start_etcd()
        stage.await_service()
        stage.ingress("two", "two")
        until_hosts(stage, "one", "two")

        stage.plane.stop_apiserver()
        stage.plane.start_apiserver()
        stage.await_service()
        stage.ingress("one", "one", class_name="nginx")
        until_hosts(stage, "two")
        assert watcher.terminate() == 0
    assert stage.pic("diff", "--expect-no-changes").code == 0


def test_a_watcher_misses_no_change_when_its_watches_are_cut(stage: Stage) -> None:
    def no_watch(request: Request) -> Fault | None:
        return Reset() if request.is_watch else None

    with proxied(stage.plane) as proxy:
        env = {"KUBECONFIG": str(proxy.kubeconfig)}
        with watching(stage, env=env) as watcher:
            stage.ingress("one", "one")
            until_hosts(stage, "one")

            proxy.rule = no_watch
            assert proxy.cut_watches() > 0
            stage.ingress("two", "two")
            proxy.rule = forward
            until_hosts(stage, "one", "two")
            assert watcher.terminate() == 0


def test_a_watcher_serves_its_health_and_metrics(stage: Stage) -> None:
    stage.ingress("one", "one")
    election = ("--leader-elect", "--lease-namespace", stage.name)
    with watching(stage, *election, listen="127.0.0.1:0") as watcher:
        watcher.wait_for("on port ")
        [port] = map(int, PORT.findall("\n".join(watcher.lines)))

        until(lambda: get(port, "/readyz")[0] == 200, "the watcher is ready")
        until_hosts(stage, "one")
        until(lambda: "pic_last_success_timestamp_seconds" in samples(port), "a run has succeeded")
        until(lambda: samples(port)["pic_queue_age_seconds"] == 0.0, "no change waits")

        assert get(port, "/healthz") == (200, "[+]loop\n")
        assert get(port, "/readyz") == (200, READY)
        values = samples(port)
        assert {name: values[name] for name in HEALTHY} == HEALTHY
        assert watcher.terminate() == 0


READY = """\
[+]leader
[+]api
[+]cache Ingress
[+]cache PangolinOrganization
[+]cache PangolinResource
[+]cache PangolinTunnel
[+]cache Service
[+]run
[+]target pangolin
"""
HEALTHY = {
    'pic_hosts{state="declared",target="pangolin"}': 1.0,
    'pic_hosts{state="held",target="pangolin"}': 0.0,
    'pic_hosts{state="refused",target="pangolin"}': 0.0,
    'pic_runs_total{outcome="changed"}': 1.0,
    "pic_leader": 1.0,
    "pic_removals_refused": 0.0,
}
PORT = re.compile(r"on port (\d+)")


def get(port: int, path: str) -> tuple[int, str]:
    with closing(HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def samples(port: int) -> dict[str, float]:
    """Return what Prometheus would read."""
    lines = (line for line in get(port, "/metrics")[1].splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}
