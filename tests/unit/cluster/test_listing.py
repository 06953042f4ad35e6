"""Listings are complete or an error of one line; so is a snapshot."""

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from pic.cluster import listing
from pic.cluster.listing import CORE, CRD, IDENTITY, NETWORKING, PANGOLIN, Listing, StatusError
from pic.core.errors import ClusterError
from pic.core.json_values import Raw
from pic.core.model import Schema
from pic.settings.kinds import BY_NAME
from pic.settings.parse import ResourceSchema, Settings, TargetName
from pic.snapshot import pangolin
from pic.snapshot.assemble import RawSnapshot

DEFAULT = Settings()
FIXED = Settings(resource_schema=ResourceSchema.TARGETS, cluster_id="cluster-1")
INGRESSES = Listing(BY_NAME["Ingress"])
INGRESSES_PATH = f"{NETWORKING}/ingresses"


class Canned:
    """A transport with canned answers, by path; a `#` and the continue token follow the path."""

    def __init__(self, answers: Mapping[str, object]) -> None:
        self.answers = dict(answers)
        self.requests: list[str] = []

    def get(self, path: str) -> object:
        self.requests.append(path)
        bare, _, query = path.partition("?")
        answer = self.answers[f"{bare}#{query.partition('continue=')[2]}" if query else bare]
        if isinstance(answer, list):
            answer = answer.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def now(self) -> str:
        return "2026-11-28T12:00:00Z"

    def request(self, method: str, path: str, body: object) -> object:
        raise NotImplementedError


def page(kind: str, *names: str, next_page: str | None = None) -> dict[str, object]:
    metadata = {} if next_page is None else {"continue": next_page}
    return {
        "kind": kind,
        "metadata": metadata,
        "items": [{"metadata": {"name": name}} for name in names],
    }


def named(*names: str) -> list[dict[str, object]]:
    return [{"metadata": {"name": name}} for name in names]


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


# Namespaces.

LISTED = Settings(namespaces=("a", "b"))
GONE = {"metadata": {"name": "a"}, "status": {"phase": "NotFound"}}


def namespaces(a: object, b: object, settings: Settings = LISTED) -> list[Raw] | None:
    transport = Canned({f"{CORE}/namespaces/a": a, f"{CORE}/namespaces/b": b})
    return listing.read_namespaces(transport, settings)


def namespace_error(a: object, b: object) -> str:
    with pytest.raises(ClusterError) as caught:
        namespaces(a, b)
    return str(caught.value)


def test_a_namespace_that_pic_may_not_read_is_left_out() -> None:
    forbidden, (there,) = StatusError(403, "no"), named("b")

    assert namespaces(forbidden, there) == [there]
    assert namespaces(forbidden, forbidden) is None
    answers = {f"{CORE}/namespaces#": forbidden}
    assert listing.read_namespaces(Canned(answers), Settings()) is None


def test_a_listed_namespace_that_does_not_exist_has_a_phase_that_says_so() -> None:
    missing, (there,) = StatusError(404, "not found"), named("b")

    assert namespaces(missing, there) == [GONE, there]
    assert namespaces(missing, StatusError(403, "no")) == [GONE]


def test_a_run_needs_one_of_the_listed_namespaces() -> None:
    missing = StatusError(404, "not found")

    assert namespace_error(missing, missing) == (
        "the cluster has no namespace a, b: correct pic:namespaces, or check that this is the right"
        " cluster"
    )


def test_a_namespace_that_cannot_be_read_is_an_error() -> None:
    assert namespace_error(StatusError(500, "away"), {}) == (
        "cannot get namespace a: away (HTTP 500); try again when the API server is healthy"
    )
    assert namespace_error(3, {}) == (
        "namespace a cannot be understood: namespace is a number, not a map"
    )


# The cluster id and the schema.


def cluster_id_error(answer: object, settings: Settings = DEFAULT) -> str:
    with pytest.raises(ClusterError) as caught:
        listing.read_cluster_id(Canned({IDENTITY: answer}), settings)
    return str(caught.value)


def test_the_uid_of_kube_system_identifies_the_cluster() -> None:
    transport = Canned({IDENTITY: {"metadata": {"uid": "cluster-1"}}})

    assert listing.read_cluster_id(transport, Settings(cluster_id="cluster-2")) == "cluster-1"


def test_the_setting_replaces_a_forbidden_kube_system() -> None:
    transport = Canned({IDENTITY: StatusError(403, "no")})

    assert listing.read_cluster_id(transport, Settings(cluster_id="cluster-2")) == "cluster-2"


def test_the_setting_does_not_hide_any_other_error() -> None:
    assert cluster_id_error(StatusError(500, "no"), Settings(cluster_id="cluster-2")) == (
        "cannot get namespace kube-system: no (HTTP 500); try again when the API server is healthy"
    )


def test_without_the_setting_a_forbidden_kube_system_is_an_error() -> None:
    assert cluster_id_error(StatusError(403, "no")) == (
        "cannot get namespace kube-system: no (HTTP 403); grant the verb get to the account"
        " that runs pic, or set pic:clusterId"
    )


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"metadata": {}}, "it has no uid"),
        ({"metadata": []}, "metadata is a list, not a map"),
        ("hello", "it is text, not a map"),
    ],
)
def test_a_cluster_without_a_uid_is_an_error(answer: object, reason: str) -> None:
    assert cluster_id_error(answer) == f"namespace kube-system cannot be understood: {reason}"


def crd(**spec: object) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"properties": {"spec": {"properties": spec}}}}
    return {"spec": {"versions": [{"name": "v1alpha1", "served": True, "schema": schema}]}}


def schema_error(answer: object) -> str:
    with pytest.raises(ClusterError) as caught:
        listing.read_schema(Canned({CRD: answer}), DEFAULT)
    return str(caught.value)


def test_the_installed_crd_decides_the_schema() -> None:
    transport = Canned({CRD: crd(target={}, httpConfig={"required": ["subdomain"]})})

    assert listing.read_schema(transport, DEFAULT) == Schema(
        single_target=True, subdomain_optional=False, tunnel_namespace=False, protection=False
    )


@pytest.mark.parametrize(
    ("setting", "schema"),
    [
        (ResourceSchema.TARGETS, pangolin.SCHEMA_TARGETS),
        (ResourceSchema.TARGET, pangolin.SCHEMA_TARGET),
    ],
)
def test_a_schema_in_the_settings_is_not_looked_up(setting: ResourceSchema, schema: Schema) -> None:
    assert listing.read_schema(Canned({}), Settings(resource_schema=setting)) == schema


def test_without_the_target_pangolin_the_crd_is_not_looked_up() -> None:
    settings = Settings(targets=(TargetName.PIHOLE,))

    assert listing.read_schema(Canned({}), settings) == pangolin.SCHEMA_TARGETS


def test_a_missing_crd_is_an_error_with_an_install_hint() -> None:
    assert schema_error(StatusError(404, "no")) == (
        "the cluster has no CRD for PangolinResource: install the CRDs of the Pangolin operator,"
        " or check that this is the right cluster"
    )


def test_a_forbidden_crd_is_an_error_that_names_the_setting() -> None:
    assert schema_error(StatusError(403, "no")) == (
        "cannot get the CRD of PangolinResource: no (HTTP 403); grant the verb get to the account"
        " that runs pic, or set pic:resourceSchema"
    )


def test_a_malformed_crd_is_an_error() -> None:
    assert schema_error({"spec": []}) == (
        "the CRD of PangolinResource cannot be understood: spec is a list, not a map"
    )


@pytest.mark.parametrize(
    "part",
    [
        {"metadata": {"deletionTimestamp": "2025-01-01T00:00:00Z"}},
        {"status": {"conditions": [{"type": "Terminating", "status": "True"}]}},
    ],
)
def test_23_a_crd_that_is_being_deleted_is_an_error(part: dict[str, object]) -> None:
    with pytest.raises(ClusterError) as caught:
        listing.read_schema(Canned({CRD: part}), DEFAULT)

    assert str(caught.value) == (
        "Kubernetes is deleting the CRD of PangolinResource, and every object of it: wait until it"
        " is gone, then install the CRDs of the Pangolin operator, or check that this is the right"
        " cluster"
    )


def test_a_crd_in_any_other_condition_is_read() -> None:
    conditions = [{"type": "Established", "status": "True"}, {"type": "Terminating"}]
    version = {"name": "v1alpha1", "served": True}
    crd = {"status": {"conditions": conditions}, "spec": {"versions": [version]}}

    assert listing.read_schema(Canned({CRD: crd}), DEFAULT).subdomain_optional


def test_in_another_cluster_the_listed_namespaces_need_not_exist() -> None:
    settings = Settings(cluster_id="another", namespaces=("a",), targets=(TargetName.PIHOLE,))
    transport = Canned(
        {
            listing.IDENTITY: {"metadata": {"uid": "cluster-1"}},
            "/apis/networking.k8s.io/v1/namespaces/a/ingresses#": page("IngressList"),
            f"{CORE}/namespaces/a": StatusError(404, "not found"),
        }
    )

    raw = listing.read_snapshot(transport, settings)

    assert (raw.cluster_id, raw.objects) == ("cluster-1", {"Ingress": []})
