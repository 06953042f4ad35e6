"""A watcher under which the ground moves: the CRD goes, etcd and the API server start again."""

import re
from contextlib import closing
from http.client import HTTPConnection

from dev.controlplane.faults import (
    Fault,
    Request,
    Reset,
    forward,
)
from dev.controlplane.proxy import proxied
from tests.engine.stage import Stage
from tests.engine.watcher import watching
from tests.support.waiting import until

CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/pangolinresources.tunnel.pangolin.io"
# A failed run is tried again after 30 s, and then after 60.
SECONDS = 150.0


def hosts(stage: Stage) -> set[str]:
    """Return the live hosts, by their first words."""
    return {host.partition(".")[0] for host in stage.identities()}


def has(stage: Stage, *words: str) -> None:
    """Wait until there are exactly these hosts."""
    until(lambda: hosts(stage) == set(words), f"the hosts are {words}", SECONDS)


def test_a_watcher_outlives_the_end_of_its_crd(other_stage: Stage) -> None:
    stage = other_stage
    stage.ingress("one", "one")
    with watching(stage) as watcher:
        has(stage, "one")

        stage.cluster.api.request("DELETE", CRD)
        until(lambda: not stage.cluster.api.has(CRD), "the CRD is gone")
        stage.ingress("two", "two")
        stage.plane.install_crds("target")

        has(stage, "one", "two")
        # An end of the watcher would interrupt the run before the engine has written its state.
        until(lambda: stage.remembered == sorted(stage.identities()), "the run is over", SECONDS)
        assert watcher.terminate() == 0
    assert stage.pic("diff", "--expect-no-changes").code == 0
    assert stage.remembered == sorted(stage.identities())


def test_a_watcher_outlives_restarts_below_it(other_stage: Stage) -> None:
    stage = other_stage
    stage.ingress("one", "one")
    with watching(stage) as watcher:
        has(stage, "one")

        stage.plane.stop_etcd()
        stage.plane.start_etcd()
        stage.await_service()
        stage.ingress("two", "two")
        has(stage, "one", "two")

        stage.plane.stop_apiserver()
        stage.plane.start_apiserver()
        stage.await_service()
        stage.ingress("one", "one", class_name="nginx")
        has(stage, "two")
        assert watcher.terminate() == 0
    assert stage.pic("diff", "--expect-no-changes").code == 0


def test_a_watcher_whose_watches_are_cut_misses_nothing(stage: Stage) -> None:
    def no_watch(asked: Request) -> Fault | None:
        return Reset() if asked.is_watch else None

    with proxied(stage.plane) as proxy:
        env = {"KUBECONFIG": str(proxy.kubeconfig)}
        with watching(stage, env=env) as watcher:
            stage.ingress("one", "one")
            has(stage, "one")

            proxy.rule = no_watch
            assert proxy.cut_watches() > 0
            stage.ingress("two", "two")
            proxy.rule = forward
            has(stage, "one", "two")
            assert watcher.terminate() == 0


def test_a_watcher_tells_how_it_is(stage: Stage) -> None:
    stage.ingress("one", "one")
    election = ("--leader-elect", "--lease-namespace", stage.name)
    with watching(stage, *election, listen="127.0.0.1:0") as watcher:
        watcher.says("on port ")
        [port] = map(int, PORT.findall("\n".join(watcher.lines)))

        until(lambda: ask(port, "/readyz")[0] == 200, "it is ready")
        has(stage, "one")
        until(lambda: "pic_last_success_timestamp_seconds" in samples(port), "a run has succeeded")
        until(lambda: samples(port)["pic_queue_age_seconds"] == 0.0, "nothing waits")

        assert ask(port, "/healthz") == (200, "[+]loop\n")
        assert ask(port, "/readyz") == (200, READY)
        found = samples(port)
        assert {name: found[name] for name in HEALTHY} == HEALTHY
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


def ask(port: int, path: str) -> tuple[int, str]:
    with closing(HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def samples(port: int) -> dict[str, float]:
    """Return what Prometheus would read."""
    lines = (line for line in ask(port, "/metrics")[1].splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}
