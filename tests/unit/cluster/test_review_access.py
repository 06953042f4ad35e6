"""The kinds that a cluster serves, and the permissions of the current user."""

from typing import Any

import pytest

from pic.cluster.listing import PANGOLIN, StatusError
from pic.cluster.review_access import REVIEWS_PATH, is_allowed, served_kinds
from pic.core.errors import ClusterError
from pic.core.json_values import MalformedError
from pic.settings.permissions import Permission

LIST_INGRESSES = Permission("networking.k8s.io", "ingresses", "list", "to plan", "prod")
GET_KUBE_SYSTEM = Permission("", "namespaces", "get", "tells clusters apart", name="kube-system")


class Server:
    """A transport that gives one answer, and records the bodies that it receives."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.bodies: list[Any] = []

    def get(self, path: str) -> object:
        assert path == PANGOLIN
        return self._answer()

    def now(self) -> str:
        return "2026-11-28T12:00:00Z"

    def request(self, method: str, path: str, body: object) -> object:
        assert (method, path) == ("POST", REVIEWS_PATH)
        self.bodies.append(body)
        return self._answer()

    def _answer(self) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_the_kinds_are_those_of_the_api_group() -> None:
    server = Server({"resources": [{"name": "pangolinresources"}, {"name": "pangolintunnels"}]})

    assert served_kinds(server) == {"pangolinresources", "pangolintunnels"}


def test_a_cluster_without_the_api_group_serves_no_kind() -> None:
    assert served_kinds(Server(StatusError(404, "no such group"))) == set()


def test_kinds_that_cannot_be_read_are_an_error() -> None:
    message = r"^cannot read the kinds of the cluster: away \(HTTP 500\)$"

    with pytest.raises(ClusterError, match=message):
        served_kinds(Server(StatusError(500, "away")))


def test_kinds_of_another_shape_are_an_error() -> None:
    with pytest.raises(MalformedError, match=r"^kinds.resources is text, not a list$"):
        served_kinds(Server({"resources": "pangolinresources"}))


@pytest.mark.parametrize(
    ("permission", "attributes"),
    [
        (LIST_INGRESSES, ("networking.k8s.io", "ingresses", "list", "prod", "")),
        (GET_KUBE_SYSTEM, ("", "namespaces", "get", "", "kube-system")),
    ],
    ids=["in a namespace", "by name"],
)
def test_a_review_names_the_whole_permission(
    permission: Permission, attributes: tuple[str, ...]
) -> None:
    server = Server({"status": {"allowed": True}})

    assert is_allowed(server, permission)

    keys = ("group", "resource", "verb", "namespace", "name")
    assert server.bodies == [
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": dict(zip(keys, attributes, strict=True))},
        }
    ]


@pytest.mark.parametrize("status", [{"allowed": False}, {"allowed": "true"}, {}, None])
def test_a_permission_needs_an_explicit_yes(status: object) -> None:
    assert not is_allowed(Server({"status": status}), LIST_INGRESSES)


def test_a_refused_review_is_an_error() -> None:
    message = r"^cannot review the permissions: no \(HTTP 403\)$"

    with pytest.raises(ClusterError, match=message):
        is_allowed(Server(StatusError(403, "no")), LIST_INGRESSES)
