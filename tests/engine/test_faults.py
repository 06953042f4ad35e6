"""Whatever goes wrong before the API server: a clear word or a success, and nothing is deleted."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from dev.controlplane.faults import (
    PLUGIN,
    Fault,
    Request,
    Reset,
    Rule,
    Slow,
    Truncated,
    broken,
    overloaded,
    wrong_kind,
)
from dev.controlplane.proxy import Proxy, proxied
from tests.engine.stage import Said, Stage
from tests.support.waiting import until

# What a run reads, by the end of the path: as it names it, and what it says of a wrong kind.
READS = {
    "/namespaces/kube-system": (
        "get",
        "namespace kube-system",
        "namespace kube-system cannot be understood: it has no uid",
    ),
    "/customresourcedefinitions/pangolinresources.tunnel.pangolin.io": (
        "get",
        "the CRD of PangolinResource",
        "the installed CRD of PangolinResource does not serve v1alpha1: install the CRDs of a"
        " Pangolin operator that does",
    ),
    **{
        f"/{plural}": (
            "list",
            f"{plural} {where}",
            f"listing {plural} {where} gave PartialObjectMetadataList, not a whole {kind}List",
        )
        for plural, where, kind in (
            ("ingresses", "in namespace {0}", "Ingress"),
            ("services", "in namespace {0}", "Service"),
            ("pangolintunnels", "in namespace {0}", "PangolinTunnel"),
            ("pangolinorganizations", "in namespace {0}", "PangolinOrganization"),
            ("pangolinresources", "in all namespaces", "PangolinResource"),
        )
    },
}
READERS = 4
DONE = "Done: 1 created, 1 deleted, 1 updated."
AFTER = {"kept", "changed", "made"}
FAULTS: dict[str, Fault] = {
    "500": broken(),
    "429": overloaded(),
    "reset": Reset(),
    "truncated": Truncated(),
    "kind": wrong_kind(),
}


def always(fault: Fault, end: str) -> Rule:
    """Return the rule that every request for a path comes to grief."""
    return lambda request: fault if request.path.endswith(end) else None


@dataclass
class Once:
    """The rule that the first request for each path comes to grief."""

    fault: Fault
    chosen: Callable[[Request], bool]
    met: set[tuple[str, str]] = field(default_factory=set)

    def __call__(self, request: Request) -> Fault | None:
        what = request.method, request.path
        if not self.chosen(request) or what in self.met:
            return None
        self.met.add(what)
        return self.fault


def is_read(request: Request) -> bool:
    return request.agent != PLUGIN and request.path.endswith(tuple(READS))


def is_write(request: Request) -> bool:
    return request.agent == PLUGIN and request.method in ("PATCH", "DELETE")


@pytest.fixture
def waiting(stage: Stage) -> Stage:
    """A stage where hosts are to be made, changed and removed."""
    stage.ingress("kept", "kept")
    stage.ingress("changed", "changed")
    stage.ingress("left", "left")
    assert stage.pic("up").code == 0
    stage.ingress("changed", "changed", paths=("/new",))
    stage.ingress("left", "left", class_name="nginx")
    stage.ingress("made", "made")
    return stage


def by(stage: Stage, proxy: Proxy, *arguments: str) -> Said:
    """Run pic through a proxy."""
    said = stage.pic(*arguments, KUBECONFIG=str(proxy.kubeconfig))
    return Said(said.code, said.out, said.err.replace(proxy.url, "URL"))


def last(said: Said) -> tuple[int, str, str]:
    """Return the exit code, what was printed, and the last line of what was complained."""
    return said.code, said.out, said.err.splitlines()[-1] if said.err else ""


def whole_words(words: str) -> str:
    """Leave out how many bytes an answer had."""
    return re.sub(r"IncompleteRead\([^)]*\)", "IncompleteRead", words)


def refused(what: str, verb: str, why: str) -> str:
    return f"pic: cannot {verb} {what}: {why}; try again when the API server is healthy"


def expected(stage: Stage, fault: str, end: str) -> str:
    """Return the last words of a run that meets a fault at every attempt to read something."""
    verb, what, kind = READS[end]
    what = what.format(stage.name)
    match fault:
        case "500":
            return refused(what, verb, "etcdserver: request timed out (HTTP 500)")
        case "429":
            return refused(what, verb, "too many requests, please try again later (HTTP 429)")
        case "reset":
            why = "('Connection aborted.', ConnectionResetError(104, 'Connection reset by peer'))"
        case "truncated":
            why = "('Connection broken: IncompleteRead', IncompleteRead)"
        case _:
            return f"pic: {kind.format(stage.name)}"
    return f"pic: no answer from URL: {why}. Check the network, KUBECONFIG and pic:context"


# One way to read is everybody's, so that one fault is enough to show that a run heeds it too.
@pytest.mark.parametrize(("verb", "fault"), [*(("diff", each) for each in FAULTS), ("up", "500")])
def test_what_cannot_be_read_is_told_and_nothing_is_done(
    waiting: Stage, verb: str, fault: str
) -> None:
    before = waiting.identities()

    def attempt(end: str) -> tuple[int, str, str]:
        with proxied(waiting.plane, always(FAULTS[fault], end)) as proxy:
            code, out, err = last(by(waiting, proxy, verb))
            return code, out, whole_words(err)

    # Each waits most of its time, between one attempt and the next.
    with ThreadPoolExecutor(READERS) as pool:
        said = dict(zip(READS, pool.map(attempt, READS), strict=True))

    assert said == {end: (5, "", expected(waiting, fault, end)) for end in READS}
    assert waiting.identities() == before


@pytest.mark.parametrize("fault", ["429", "truncated"])
def test_what_is_read_at_the_second_attempt_is_as_good(waiting: Stage, fault: str) -> None:
    rule = Once(FAULTS[fault], is_read)
    with proxied(waiting.plane, rule) as proxy:
        said = by(waiting, proxy, "up")

    assert (said.code, said.out.splitlines()[-1]) == (0, DONE)
    assert len(rule.met) == len(READS)
    assert hosts(waiting) == AFTER


def test_slow_answers_are_waited_for(waiting: Stage) -> None:
    with proxied(waiting.plane, Once(Slow(1.0), is_read)) as proxy:
        said = by(waiting, proxy, "up")

    assert (said.code, said.out.splitlines()[-1]) == (0, DONE)
    assert hosts(waiting) == AFTER


@pytest.mark.parametrize(
    "fault",
    [broken(), overloaded(), Reset(done=True), Truncated()],
    ids=["500", "429", "done", "truncated"],
)
def test_a_write_that_comes_to_grief_costs_nothing_else(waiting: Stage, fault: Fault) -> None:
    kept = waiting.identities()[waiting.host("kept")]
    with proxied(waiting.plane, Once(fault, is_write)) as proxy:
        said = by(waiting, proxy, "up")

    assert said.code in (0, 6), said.err
    between = set(waiting.identities())
    assert {waiting.host("kept"), waiting.host("changed")} <= between
    assert waiting.pic("up").code == 0
    assert hosts(waiting) == AFTER
    assert waiting.remembered == sorted(waiting.host(word) for word in AFTER)
    assert waiting.identities()[waiting.host("kept")] == kept
    assert waiting.pic("up").out == "Nothing to do: everything is as it was deployed.\n"


def test_a_run_outlives_a_restart_of_etcd(other_stage: Stage) -> None:
    stage = other_stage
    stage.ingress("kept", "kept")
    assert stage.pic("up").code == 0
    before = stage.identities()
    stage.ingress("made", "made")

    stage.plane.stop_etcd()
    try:
        with ThreadPoolExecutor(1) as pool, proxied(stage.plane) as proxy:
            run = pool.submit(by, stage, proxy, "up")
            until(lambda: proxy.received, "pic asks")
            stage.plane.start_etcd()
            said = run.result()
    finally:
        stage.await_service()

    assert said.code in (0, 5), said.err
    assert stage.pic("up").code == 0
    assert hosts(stage) == {"kept", "made"}
    assert stage.identities()[stage.host("kept")] == before[stage.host("kept")]


def hosts(stage: Stage) -> set[str]:
    """Return the live hosts, by their first words."""
    return {host.partition(".")[0] for host in stage.identities()}
