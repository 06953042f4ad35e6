"""A Lease of a real API server, and two who want it."""

import json
import threading
from dataclasses import replace

import pytest

from dev.controlplane import ControlPlane
from pic.cluster import listing
from pic.cluster.listing import Transport
from pic.core.errors import ClusterError
from pic.settings.parse import Settings
from pic.watch.leader import TIMEOUTS, Leader

CONTENDERS, ROUNDS = 6, 5


class Clock:
    """A clock that a test moves; no test waits for a Lease to expire."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def transport(plane: ControlPlane, user: str = "admin") -> Transport:
    known = {"KUBECONFIG": str(plane.kubeconfig_for(user))}
    return listing.connect(Settings(), known, TIMEOUTS)


def lease(plane: ControlPlane, namespace: str) -> dict[str, object]:
    """Return what the Lease says, without its times."""
    said = plane.kubectl("get", "lease", "prod", "-n", namespace, "-o", "json")
    spec: dict[str, object] = json.loads(said)["spec"]
    return {key: value for key, value in spec.items() if not key.endswith("Time")}


def test_of_many_at_once_one_holds_it(control_plane: ControlPlane, namespace: str) -> None:
    clock = Clock()
    all_of_them = [
        Leader(transport(control_plane), namespace, "prod", f"p{at}", clock)
        for at in range(CONTENDERS)
    ]
    for turn in range(ROUNDS):
        start = threading.Barrier(CONTENDERS)
        held: list[str] = []

        def run(who: Leader, start: threading.Barrier = start, held: list[str] = held) -> None:
            start.wait()
            if who.hold():
                held.append(who.identity)

        threads = [threading.Thread(target=run, args=(each,)) for each in all_of_them]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert (turn, len(held)) == (turn, 1)
        assert [each.problem for each in all_of_them] == [""] * CONTENDERS
        assert lease(control_plane, namespace) == {
            "holderIdentity": held[0],
            "leaseDurationSeconds": 15,
            "leaseTransitions": turn,
        }
        # Nobody renews it, so that all want it again.
        clock.now += 16
        all_of_them = [
            each if each.identity != held[0] else replaced(each, turn) for each in all_of_them
        ]


def replaced(who: Leader, turn: int) -> Leader:
    """Return a process that begins anew, as after a kill."""
    return replace(who, identity=f"{who.identity}-{turn}")


def test_it_is_handed_over_without_a_wait(control_plane: ControlPlane, namespace: str) -> None:
    first, second = (
        Leader(transport(control_plane), namespace, "prod", name) for name in ("a", "b")
    )
    assert (first.hold(), second.hold(), first.hold()) == (True, False, True)

    first.release()
    assert lease(control_plane, namespace) == {
        "holderIdentity": "",
        "leaseDurationSeconds": 1,
        "leaseTransitions": 0,
    }

    assert (second.hold(), first.hold()) == (True, False)
    assert lease(control_plane, namespace) == {
        "holderIdentity": "b",
        "leaseDurationSeconds": 15,
        "leaseTransitions": 1,
    }


def test_who_may_not_is_told_what_to_grant(control_plane: ControlPlane, namespace: str) -> None:
    nobody = Leader(transport(control_plane, "nobody"), namespace, "prod", "a")

    with pytest.raises(ClusterError) as caught:
        nobody.hold()

    assert str(caught.value) == (
        f'cannot hold Lease {namespace}/prod: leases.coordination.k8s.io "prod" is forbidden: User'
        ' "nobody" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace'
        f' "{namespace}" (HTTP 403); grant get, create and update on leases of coordination.k8s.io'
        f" in namespace {namespace} to who runs pic"
    )


def test_a_namespace_that_is_missing_is_told(control_plane: ControlPlane) -> None:
    with pytest.raises(ClusterError) as caught:
        Leader(transport(control_plane), "nowhere", "prod", "a").hold()

    assert str(caught.value) == (
        'cannot hold Lease nowhere/prod: namespaces "nowhere" not found (HTTP 404); create'
        " namespace nowhere, or name another"
    )
