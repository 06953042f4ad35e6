"""Tests the leader election with a Lease of a real API server."""

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

CANDIDATES, ROUNDS = 6, 5


class Clock:
    """Provides the time to a Leader; a test moves it, so that no test waits for an expiry."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def transport(plane: ControlPlane, user: str = "admin") -> Transport:
    environment = {"KUBECONFIG": str(plane.kubeconfig_for(user))}
    return listing.connect(Settings(), environment, TIMEOUTS)


def lease(plane: ControlPlane, namespace: str) -> dict[str, object]:
    """Return the spec of the Lease without its times."""
    printed = plane.kubectl("get", "lease", "prod", "-n", namespace, "-o", "json")
    spec: dict[str, object] = json.loads(printed)["spec"]
    return {key: value for key, value in spec.items() if not key.endswith("Time")}


def test_only_one_of_many_concurrent_candidates_gets_the_lease(
    control_plane: ControlPlane, namespace: str
) -> None:
    clock = Clock()
    candidates = [
        Leader(transport(control_plane), namespace, "prod", f"p{number}", clock)
        for number in range(CANDIDATES)
    ]
    for turn in range(ROUNDS):
        start = threading.Barrier(CANDIDATES)
        holders: list[str] = []

        def run(
            leader: Leader, start: threading.Barrier = start, holders: list[str] = holders
        ) -> None:
            start.wait()
            if leader.hold():
                holders.append(leader.identity)

        threads = [threading.Thread(target=run, args=(leader,)) for leader in candidates]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert (turn, len(holders)) == (turn, 1)
        assert [leader.problem for leader in candidates] == [""] * CANDIDATES
        assert lease(control_plane, namespace) == {
            "holderIdentity": holders[0],
            "leaseDurationSeconds": 15,
            "leaseTransitions": turn,
        }
        # The Lease expires, and the holder restarts, so that all candidates compete again.
        clock.now += 16
        candidates = [
            leader if leader.identity != holders[0] else restarted(leader, turn)
            for leader in candidates
        ]


def restarted(leader: Leader, turn: int) -> Leader:
    """Return the leader of a new process, as after a kill."""
    return replace(leader, identity=f"{leader.identity}-{turn}")


def test_a_released_lease_can_be_taken_over_at_once(
    control_plane: ControlPlane, namespace: str
) -> None:
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


def test_the_error_about_missing_permissions_says_what_to_grant(
    control_plane: ControlPlane, namespace: str
) -> None:
    leader = Leader(transport(control_plane, "nobody"), namespace, "prod", "a")

    with pytest.raises(ClusterError) as raised:
        leader.hold()

    assert str(raised.value) == (
        f'cannot hold Lease {namespace}/prod: leases.coordination.k8s.io "prod" is forbidden: User'
        ' "nobody" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace'
        f' "{namespace}" (HTTP 403); grant get, create and update on leases of coordination.k8s.io'
        f" in namespace {namespace} to the account that runs pic"
    )


def test_a_missing_namespace_is_an_error_with_the_next_step(control_plane: ControlPlane) -> None:
    with pytest.raises(ClusterError) as raised:
        Leader(transport(control_plane), "nowhere", "prod", "a").hold()

    assert str(raised.value) == (
        'cannot hold Lease nowhere/prod: namespaces "nowhere" not found (HTTP 404); create'
        " namespace nowhere, or name another one with --lease-namespace"
    )
