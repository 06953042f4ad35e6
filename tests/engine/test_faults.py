"""Tests faults of the API server: a run succeeds or reports the fault, and deletes nothing."""

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
from tests.engine.stage import PicRun, Stage
from tests.support.waiting import until

# What a run reads, by the end of the path: the verb, the name in messages, and the message about an
# answer of the wrong kind.
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
AFTER = {"same", "changed", "new"}
FAULTS: dict[str, Fault] = {
    "500": broken(),
    "429": overloaded(),
    "reset": Reset(),
    "truncated": Truncated(),
    "kind": wrong_kind(),
}


def always(fault: Fault, end: str) -> Rule:
    """Return a rule that injects a fault into every request for a path."""
    return lambda request: fault if request.path.endswith(end) else None


@dataclass
class Once:
    """Injects a fault into the first request for each path."""

    fault: Fault
    matches: Callable[[Request], bool]
    affected: set[tuple[str, str]] = field(default_factory=set)

    def __call__(self, request: Request) -> Fault | None:
        key = request.method, request.path
        if not self.matches(request) or key in self.affected:
            return None
        self.affected.add(key)
        return self.fault


def is_read(request: Request) -> bool:
    return request.agent != PLUGIN and request.path.endswith(tuple(READS))


def is_write(request: Request) -> bool:
    return request.agent == PLUGIN and request.method in ("PATCH", "DELETE")


@pytest.fixture
def changed_stage(stage: Stage) -> Stage:
    """Provide a stage with a host to create, one to update and one to delete."""
    stage.ingress("same", "same")
    stage.ingress("changed", "changed")
    stage.ingress("old", "old")
    assert stage.pic("up").code == 0
    stage.ingress("changed", "changed", paths=("/new",))
    stage.ingress("old", "old", class_name="nginx")
    stage.ingress("new", "new")
    return stage


def run_through(stage: Stage, proxy: Proxy, *arguments: str) -> PicRun:
    """Run pic through a proxy."""
    run = stage.pic(*arguments, KUBECONFIG=str(proxy.kubeconfig))
    return PicRun(run.code, run.out, run.err.replace(proxy.url, "URL"))


def last(run: PicRun) -> tuple[int, str, str]:
    """Return the exit code, the output, and the last line of the errors."""
    return run.code, run.out, run.err.splitlines()[-1] if run.err else ""


def without_sizes(words: str) -> str:
    """Drop the sizes of answers from a message."""
    return re.sub(r"IncompleteRead\([^)]*\)", "IncompleteRead", words)


def refused(what: str, verb: str, why: str) -> str:
    return f"pic: cannot {verb} {what}: {why}; try again when the API server is healthy"


def expected(stage: Stage, fault: str, end: str) -> str:
    """Return the message of a run whose every attempt to read something fails."""
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


# All verbs read in the same way, so one fault is enough to check that `up` stops as well.
@pytest.mark.parametrize(("verb", "fault"), [*(("diff", fault) for fault in FAULTS), ("up", "500")])
def test_a_failed_read_is_reported_and_nothing_changes(
    changed_stage: Stage, verb: str, fault: str
) -> None:
    before = changed_stage.identities()

    def attempt(end: str) -> tuple[int, str, str]:
        with proxied(changed_stage.plane, always(FAULTS[fault], end)) as proxy:
            code, out, err = last(run_through(changed_stage, proxy, verb))
            return code, out, without_sizes(err)

    # Each attempt waits most of the time for its next retry.
    with ThreadPoolExecutor(READERS) as pool:
        messages = dict(zip(READS, pool.map(attempt, READS), strict=True))

    assert messages == {end: (5, "", expected(changed_stage, fault, end)) for end in READS}
    assert changed_stage.identities() == before


@pytest.mark.parametrize("fault", ["429", "truncated"])
def test_a_read_that_succeeds_at_the_second_attempt_is_enough(
    changed_stage: Stage, fault: str
) -> None:
    rule = Once(FAULTS[fault], is_read)
    with proxied(changed_stage.plane, rule) as proxy:
        run = run_through(changed_stage, proxy, "up")

    assert (run.code, run.out.splitlines()[-1]) == (0, DONE)
    assert len(rule.affected) == len(READS)
    assert hosts(changed_stage) == AFTER


def test_a_run_waits_for_slow_answers(changed_stage: Stage) -> None:
    with proxied(changed_stage.plane, Once(Slow(1.0), is_read)) as proxy:
        run = run_through(changed_stage, proxy, "up")

    assert (run.code, run.out.splitlines()[-1]) == (0, DONE)
    assert hosts(changed_stage) == AFTER


@pytest.mark.parametrize(
    "fault",
    [broken(), overloaded(), Reset(done=True), Truncated()],
    ids=["500", "429", "done", "truncated"],
)
def test_a_failed_write_affects_no_other_host(changed_stage: Stage, fault: Fault) -> None:
    same = changed_stage.identities()[changed_stage.host("same")]
    with proxied(changed_stage.plane, Once(fault, is_write)) as proxy:
        run = run_through(changed_stage, proxy, "up")

    assert run.code in (0, 6), run.err
    between = set(changed_stage.identities())
    assert {changed_stage.host("same"), changed_stage.host("changed")} <= between
    assert changed_stage.pic("up").code == 0
    assert hosts(changed_stage) == AFTER
    assert changed_stage.remembered == sorted(changed_stage.host(word) for word in AFTER)
    assert changed_stage.identities()[changed_stage.host("same")] == same
    assert changed_stage.pic("up").out == "Nothing to do: everything is as it was deployed.\n"


def test_a_run_survives_a_restart_of_etcd(other_stage: Stage) -> None:
    stage = other_stage
    stage.ingress("same", "same")
    assert stage.pic("up").code == 0
    before = stage.identities()
    stage.ingress("new", "new")

    stage.plane.stop_etcd()
    try:
        with ThreadPoolExecutor(1) as pool, proxied(stage.plane) as proxy:
            future = pool.submit(run_through, stage, proxy, "up")
            until(lambda: proxy.received, "pic sends a request")
            stage.plane.start_etcd()
            run = future.result()
    finally:
        stage.await_service()

    assert run.code in (0, 5), run.err
    assert stage.pic("up").code == 0
    assert hosts(stage) == {"same", "new"}
    assert stage.identities()[stage.host("same")] == before[stage.host("same")]


def hosts(stage: Stage) -> set[str]:
    """Return the first labels of the live hosts."""
    return {host.partition(".")[0] for host in stage.identities()}
