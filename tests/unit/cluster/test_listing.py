"""Listings are complete or an error of one line; so is a snapshot."""

import threading
from collections.abc import Mapping
from dataclasses import replace

import pytest

from pic.cluster import listing
from pic.cluster.listing import CORE, IDENTITY, NETWORKING, PANGOLIN, Listing, StatusError
from pic.core.errors import ClusterError
from pic.settings.kinds import BY_NAME
from pic.settings.parse import ResourceSchema, Settings, TargetName
from pic.snapshot import pangolin
from pic.snapshot.assemble import RawSnapshot
from tests.support.canned import Canned, named, page

DEFAULT = Settings()
FIXED = Settings(resource_schema=ResourceSchema.TARGETS, cluster_id="cluster-1")
INGRESSES = Listing(BY_NAME["Ingress"])
INGRESSES_PATH = f"{NETWORKING}/ingresses"


def list_error(transport: Canned, collection: Listing = INGRESSES) -> str:
    with pytest.raises(ClusterError) as caught:
        listing.list_objects(transport, collection)
    return str(caught.value)


# Listings.


def test_a_listing_has_every_object_of_every_page() -> None:
    transport = Canned(
        {
            f"{INGRESSES_PATH}#": page("IngressList", "a", "b", next_page="t/1=="),
            f"{INGRESSES_PATH}#t%2F1%3D%3D": page("IngressList", next_page="t2"),
            f"{INGRESSES_PATH}#t2": page("IngressList", "c", next_page=""),
        }
    )

    assert listing.list_objects(transport, INGRESSES) == named("a", "b", "c")
    assert transport.requests == [
        f"{INGRESSES_PATH}?limit=500",
        f"{INGRESSES_PATH}?limit=500&continue=t%2F1%3D%3D",
        f"{INGRESSES_PATH}?limit=500&continue=t2",
    ]


def test_a_collection_without_objects_is_an_empty_listing() -> None:
    assert (
        listing.list_objects(Canned({f"{INGRESSES_PATH}#": page("IngressList")}), INGRESSES) == []
    )


def test_a_listing_in_a_namespace_requests_only_this_namespace() -> None:
    path = f"{CORE}/namespaces/prod/services"
    transport = Canned({f"{path}#": page("ServiceList", "web")})

    assert listing.list_objects(transport, Listing(BY_NAME["Service"], "prod")) == named("web")


def test_a_listing_that_expires_between_pages_starts_again() -> None:
    first = page("IngressList", "a", next_page="t")
    transport = Canned(
        {
            f"{INGRESSES_PATH}#": [first, first],
            f"{INGRESSES_PATH}#t": [StatusError(410, "too old"), page("IngressList", "b")],
        }
    )

    assert listing.list_objects(transport, INGRESSES) == named("a", "b")


def test_a_listing_that_keeps_expiring_is_an_error() -> None:
    transport = Canned({f"{INGRESSES_PATH}#": StatusError(410, "too old")})

    assert list_error(transport) == (
        "listing ingresses in all namespaces expired 3 times before its end: the API server is"
        " overloaded; try again later"
    )
    assert len(transport.requests) == 3


def test_an_error_after_the_first_page_is_an_error_of_the_listing() -> None:
    transport = Canned(
        {
            f"{INGRESSES_PATH}#": page("IngressList", "a", next_page="t"),
            f"{INGRESSES_PATH}#t": StatusError(500, "etcd is away"),
        }
    )

    assert list_error(transport) == (
        "cannot list ingresses in all namespaces: etcd is away (HTTP 500); try again when the API"
        " server is healthy"
    )


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (401, "the API server rejects the credentials: renew them"),
        (403, "grant the verb list to the account that runs pic, or narrow pic:namespaces"),
        (
            404,
            "install the CRDs of the Pangolin operator, or check that this is the right cluster",
        ),
        (429, "try again when the API server is healthy"),
        (500, "try again when the API server is healthy"),
    ],
)
def test_a_refused_listing_names_its_scope_and_a_remedy(status: int, remedy: str) -> None:
    transport = Canned({f"{INGRESSES_PATH}#": StatusError(status, "no")})

    assert list_error(transport) == (
        f"cannot list ingresses in all namespaces: no (HTTP {status}); {remedy}"
    )


@pytest.mark.parametrize(
    ("collection", "remedy"),
    [
        (Listing(BY_NAME["Service"]), ", or narrow pic:namespaces"),
        (
            Listing(BY_NAME["IngressClass"]),
            ', or remove "" from pic:ingressClasses',
        ),
        (Listing(BY_NAME["PangolinTunnel"]), ", or set pic:tunnelNamespace"),
        (Listing(BY_NAME["PangolinOrganization"]), ", or set pic:tunnelNamespace"),
        (Listing(BY_NAME["PangolinResource"]), ""),
    ],
)
def test_a_forbidden_listing_names_the_setting_that_avoids_it(
    collection: Listing, remedy: str
) -> None:
    transport = Canned({f"{collection.path}#": StatusError(403, "no")})

    assert list_error(transport, collection) == (
        f"cannot list {collection}: no (HTTP 403); grant the verb list to the account that runs"
        f" pic{remedy}"
    )


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (page("ServiceList"), "ServiceList"),
        ({"kind": "Status", "metadata": {}, "items": []}, "Status"),
        ({"kind": "IngressList", "metadata": {}}, "IngressList"),
        ({"kind": "IngressList", "metadata": {}, "items": None}, "IngressList"),
        ({"kind": "IngressList", "metadata": {}, "items": [{}, 3]}, "IngressList"),
        ({"kind": "IngressList", "metadata": 3, "items": []}, "IngressList"),
        ({"kind": "IngressList", "items": []}, "IngressList"),
        ({"metadata": {}, "items": []}, "no kind"),
        ([], "no object"),
        (None, "no object"),
    ],
)
def test_an_answer_that_is_not_the_expected_list_is_an_error(answer: object, kind: str) -> None:
    assert list_error(Canned({f"{INGRESSES_PATH}#": [answer]})) == (
        f"listing ingresses in all namespaces gave {kind}, not a whole IngressList"
    )


# Snapshots.

ANSWERS: dict[str, object] = {
    IDENTITY: {"metadata": {"uid": "cluster-1"}},
    f"{NETWORKING}/ingresses#": page("IngressList", "web"),
    f"{CORE}/services#": page("ServiceList", "web"),
    f"{CORE}/namespaces#": page("NamespaceList", "prod"),
    f"{PANGOLIN}/pangolintunnels#": page("PangolinTunnelList"),
    f"{PANGOLIN}/pangolinorganizations#": page("PangolinOrganizationList"),
    f"{PANGOLIN}/pangolinresources#": page("PangolinResourceList", "pic-web"),
}


def test_a_snapshot_has_every_kind_that_a_run_needs() -> None:
    assert listing.read_snapshot(Canned(ANSWERS), FIXED) == RawSnapshot(
        {
            "Ingress": named("web"),
            "Service": named("web"),
            "PangolinTunnel": [],
            "PangolinOrganization": [],
            "PangolinResource": named("pic-web"),
            "Namespace": named("prod"),
        },
        "cluster-1",
        pangolin.SCHEMA_TARGETS,
        now="2026-11-28T12:00:00Z",
    )


REGISTER_PATH = f"{CORE}/namespaces/pic/configmaps"
REMEMBERING = replace(FIXED, register_namespace="pic")


def test_a_snapshot_has_the_config_maps_of_the_register_and_no_others() -> None:
    transport = Canned({**ANSWERS, f"{REGISTER_PATH}#": page("ConfigMapList", "pic-prod-0")})

    raw = listing.read_snapshot(transport, REMEMBERING)

    assert raw.objects["ConfigMap"] == named("pic-prod-0")
    assert [path for path in transport.requests if path.startswith(REGISTER_PATH)] == [
        f"{REGISTER_PATH}?limit=500&labelSelector=pic.ingress.k8s.io%2Fbucket"
    ]


def test_a_register_that_pic_may_not_read_is_left_out_and_any_other_error_fails() -> None:
    def read(error: StatusError) -> Mapping[str, object]:
        return listing.read_register(Canned({f"{REGISTER_PATH}#": error}), REMEMBERING)

    assert read(StatusError(403, "no")) == {}
    with pytest.raises(ClusterError, match=r"cannot list configmaps in namespace pic: away"):
        read(StatusError(500, "away"))
    assert listing.read_register(Canned({}), FIXED) == {}


def test_the_objects_of_all_namespaces_are_in_one_list() -> None:
    lists: dict[str, object] = {
        f"{NETWORKING}/namespaces/a/ingresses#": page("IngressList", "x"),
        f"{NETWORKING}/namespaces/b/ingresses#": page("IngressList", "y"),
        f"{CORE}/namespaces/a": {"metadata": {"name": "a"}},
        f"{CORE}/namespaces/b": {"metadata": {"name": "b"}},
    }
    settings = Settings(namespaces=("a", "b"), targets=(TargetName.PIHOLE,))

    raw = listing.read_snapshot(Canned({**ANSWERS, **lists}), settings)

    assert raw.objects == {"Ingress": named("x", "y"), "Namespace": named("a", "b")}


@pytest.mark.parametrize("path", ANSWERS)
def test_one_failed_request_fails_the_snapshot(path: str) -> None:
    transport = Canned({**ANSWERS, path: StatusError(500, "away")})

    with pytest.raises(ClusterError, match=r"away \(HTTP 500\); try again when"):
        listing.read_snapshot(transport, FIXED)


def test_after_an_error_no_further_request_is_sent() -> None:
    released = threading.Event()

    class Slow(Canned):
        def get(self, path: str) -> object:
            if path != IDENTITY:
                released.wait(5)
            return super().get(path)

    transport = Slow({**ANSWERS, IDENTITY: StatusError(401, "who are you")})
    threading.Timer(0.05, released.set).start()

    with pytest.raises(ClusterError) as caught:
        listing.read_snapshot(transport, FIXED)

    assert str(caught.value) == (
        "cannot get namespace kube-system: who are you (HTTP 401); the API server rejects"
        " the credentials: renew them"
    )
    assert len(transport.requests) < len(ANSWERS)
