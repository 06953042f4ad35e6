"""Whole listings or one clear line; and the connection to an API server, here one of our own."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes.config import incluster_config

from pic import cluster, live
from pic.assemble import Seen
from pic.cluster import CORE, CRD, IDENTITY, NETWORKING, PANGOLIN, Read, StatusError
from pic.config import ResourceSchema, Settings, TargetName
from pic.errors import ClusterError
from pic.model import Schema
from tests.program.api import HASTE, TOKEN, Answer, Api, kubeconfig, serving

DEFAULT = Settings()
FIXED = Settings(resource_schema=ResourceSchema.TARGETS, cluster_id="cluster-1")
INGRESSES = Read("Ingress", NETWORKING, "ingresses")
WHERE = f"{NETWORKING}/ingresses"


class Canned:
    """A transport that has its answers, by path; the page's token comes after the path."""

    def __init__(self, **answers: object) -> None:
        self.answers: dict[str, object] = dict(answers)
        self.asked: list[str] = []

    def get(self, path: str) -> object:
        self.asked.append(path)
        bare, _, query = path.partition("?")
        found = self.answers[f"{bare}#{query.partition('continue=')[2]}" if query else bare]
        if isinstance(found, list):
            found = found.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    def request(self, method: str, path: str, body: object) -> object:
        raise NotImplementedError


def canned(answers: Mapping[str, object]) -> Canned:
    made = Canned()
    made.answers = dict(answers)
    return made


def page(kind: str, *names: str, after: str | None = None) -> dict[str, object]:
    metadata = {} if after is None else {"continue": after}
    return {"kind": kind, "metadata": metadata, "items": [{"metadata": {"name": n}} for n in names]}


def named(*names: str) -> list[dict[str, object]]:
    return [{"metadata": {"name": name}} for name in names]


def problem(transport: Canned, wanted: Read = INGRESSES) -> str:
    with pytest.raises(ClusterError) as caught:
        cluster.listing(transport, wanted)
    return str(caught.value)


# Listings.


def test_a_listing_is_every_object_of_every_page() -> None:
    transport = canned(
        {
            f"{WHERE}#": page("IngressList", "a", "b", after="t/1=="),
            f"{WHERE}#t%2F1%3D%3D": page("IngressList", after="t2"),
            f"{WHERE}#t2": page("IngressList", "c", after=""),
        }
    )

    assert cluster.listing(transport, INGRESSES) == named("a", "b", "c")
    assert transport.asked == [
        f"{WHERE}?limit=500",
        f"{WHERE}?limit=500&continue=t%2F1%3D%3D",
        f"{WHERE}?limit=500&continue=t2",
    ]


def test_an_empty_listing_is_empty() -> None:
    assert cluster.listing(canned({f"{WHERE}#": page("IngressList")}), INGRESSES) == []


def test_a_listing_in_a_namespace_asks_only_there() -> None:
    path = f"{CORE}/namespaces/prod/services"
    transport = canned({f"{path}#": page("ServiceList", "web")})

    assert cluster.listing(transport, Read("Service", CORE, "services", "prod")) == named("web")


def test_a_listing_that_expires_between_pages_begins_again() -> None:
    first = page("IngressList", "a", after="t")
    transport = canned(
        {
            f"{WHERE}#": [first, first],
            f"{WHERE}#t": [StatusError(410, "too old"), page("IngressList", "b")],
        }
    )

    assert cluster.listing(transport, INGRESSES) == named("a", "b")


def test_a_listing_that_always_expires_is_given_up() -> None:
    transport = canned({f"{WHERE}#": StatusError(410, "too old")})

    assert problem(transport) == (
        "listing ingresses in all namespaces expired 3 times before its end: the API server is"
        " under load; run again later"
    )
    assert len(transport.asked) == 3


def test_an_error_after_the_first_page_is_no_half_listing() -> None:
    transport = canned(
        {
            f"{WHERE}#": page("IngressList", "a", after="t"),
            f"{WHERE}#t": StatusError(500, "etcd is away"),
        }
    )

    assert problem(transport) == (
        "cannot list ingresses in all namespaces: etcd is away (HTTP 500); run again when the API"
        " server is well"
    )


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (401, "the credentials are not accepted: renew them"),
        (403, "grant the verb list to who runs pic, or narrow pic:namespaces"),
        (
            404,
            "install the CRDs of the Pangolin operator, or check that this is the right cluster",
        ),
        (429, "run again when the API server is well"),
        (500, "run again when the API server is well"),
    ],
)
def test_a_refused_listing_names_scope_and_remedy(status: int, remedy: str) -> None:
    transport = canned({f"{WHERE}#": StatusError(status, "no")})

    assert problem(transport) == (
        f"cannot list ingresses in all namespaces: no (HTTP {status}); {remedy}"
    )


@pytest.mark.parametrize(
    ("wanted", "remedy"),
    [
        (Read("Service", CORE, "services"), ", or narrow pic:namespaces"),
        (
            Read("IngressClass", NETWORKING, "ingressclasses"),
            ", or take the empty class out of pic:ingressClasses",
        ),
        (Read("PangolinTunnel", PANGOLIN, "pangolintunnels"), ", or set pic:tunnelNamespace"),
        (Read("X", PANGOLIN, "pangolinorganizations"), ", or set pic:tunnelNamespace"),
        (Read("PangolinResource", PANGOLIN, "pangolinresources"), ""),
    ],
)
def test_a_forbidden_listing_names_the_setting_that_makes_do_with_less(
    wanted: Read, remedy: str
) -> None:
    transport = canned({f"{wanted.path}#": StatusError(403, "no")})

    assert problem(transport, wanted) == (
        f"cannot list {wanted}: no (HTTP 403); grant the verb list to who runs pic{remedy}"
    )


@pytest.mark.parametrize(
    ("answer", "what"),
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
def test_what_is_no_whole_list_is_an_error(answer: object, what: str) -> None:
    assert problem(canned({f"{WHERE}#": [answer]})) == (
        f"listing ingresses in all namespaces gave {what}, not a whole IngressList"
    )


# Reads by need.


def shown(settings: Settings) -> list[str]:
    return [str(each) for each in cluster.reads(settings)]


def test_by_default_everything_is_read_everywhere_but_no_classes() -> None:
    assert shown(DEFAULT) == [
        "ingresses in all namespaces",
        "services in all namespaces",
        "pangolintunnels in all namespaces",
        "pangolinorganizations in all namespaces",
        "pangolinresources in all namespaces",
    ]


def test_our_own_objects_are_read_everywhere_whatever_the_namespaces() -> None:
    assert shown(Settings(namespaces=("a", "b"))) == [
        "ingresses in namespace a",
        "ingresses in namespace b",
        "services in namespace a",
        "services in namespace b",
        "pangolintunnels in all namespaces",
        "pangolinorganizations in all namespaces",
        "pangolinresources in all namespaces",
    ]


def test_tunnels_are_read_only_where_they_may_be() -> None:
    settings = Settings(tunnel_namespace="t", tunnel_namespaces=("t", "u"))

    assert shown(settings)[2:] == [
        "pangolintunnels in namespace t",
        "pangolinorganizations in namespace t",
        "pangolintunnels in namespace u",
        "pangolinorganizations in namespace u",
        "pangolinresources in all namespaces",
    ]


def test_classes_are_read_when_an_ingress_without_class_may_be_ours() -> None:
    settings = Settings(ingress_classes=("pangolin", ""))

    assert shown(settings)[:3] == [
        "ingresses in all namespaces",
        "ingressclasses in all namespaces",
        "services in all namespaces",
    ]


def test_only_ingresses_are_read_for_pihole() -> None:
    assert shown(Settings(targets=(TargetName.PIHOLE,))) == ["ingresses in all namespaces"]


# The whole snapshot.

HERE: dict[str, object] = {
    IDENTITY: {"metadata": {"uid": "cluster-1"}},
    f"{NETWORKING}/ingresses#": page("IngressList", "web"),
    f"{CORE}/services#": page("ServiceList", "web"),
    f"{PANGOLIN}/pangolintunnels#": page("PangolinTunnelList"),
    f"{PANGOLIN}/pangolinorganizations#": page("PangolinOrganizationList"),
    f"{PANGOLIN}/pangolinresources#": page("PangolinResourceList", "pic-web"),
}


def test_a_snapshot_has_every_kind_that_was_read() -> None:
    assert cluster.read(canned(HERE), FIXED) == Seen(
        {
            "Ingress": named("web"),
            "Service": named("web"),
            "PangolinTunnel": [],
            "PangolinOrganization": [],
            "PangolinResource": named("pic-web"),
        },
        "cluster-1",
        live.SCHEMA_TARGETS,
    )


def test_the_namespaces_of_one_kind_are_read_together() -> None:
    lists: dict[str, object] = {
        f"{NETWORKING}/namespaces/a/ingresses#": page("IngressList", "x"),
        f"{NETWORKING}/namespaces/b/ingresses#": page("IngressList", "y"),
    }
    settings = Settings(namespaces=("a", "b"), targets=(TargetName.PIHOLE,))

    seen = cluster.read(canned({**HERE, **lists}), settings)

    assert seen.objects == {"Ingress": named("x", "y")}


@pytest.mark.parametrize("path", HERE)
def test_one_read_that_fails_fails_the_snapshot(path: str) -> None:
    transport = canned({**HERE, path: StatusError(500, "away")})

    with pytest.raises(ClusterError, match=r"away \(HTTP 500\); run again when"):
        cluster.read(transport, FIXED)


def test_after_an_error_the_reads_that_wait_are_not_begun() -> None:
    held = threading.Event()

    class Slow(Canned):
        def get(self, path: str) -> object:
            if path != IDENTITY:
                held.wait(5)
            return super().get(path)

    transport = Slow()
    transport.answers = {**HERE, IDENTITY: StatusError(401, "who are you")}
    threading.Timer(0.05, held.set).start()

    with pytest.raises(ClusterError) as caught:
        cluster.read(transport, FIXED)

    assert str(caught.value) == (
        "cannot get namespace kube-system: who are you (HTTP 401); the credentials are not"
        " accepted: renew them"
    )
    assert len(transport.asked) < len(HERE)


# Which cluster, and what its CRD can hold.


def identity_problem(answer: object, settings: Settings = DEFAULT) -> str:
    with pytest.raises(ClusterError) as caught:
        cluster.cluster_id(canned({IDENTITY: answer}), settings)
    return str(caught.value)


def test_the_uid_of_kube_system_names_the_cluster() -> None:
    transport = canned({IDENTITY: {"metadata": {"uid": "cluster-1"}}})

    assert cluster.cluster_id(transport, Settings(cluster_id="cluster-2")) == "cluster-1"


def test_the_setting_stands_in_where_kube_system_may_not_be_read() -> None:
    transport = canned({IDENTITY: StatusError(403, "no")})

    assert cluster.cluster_id(transport, Settings(cluster_id="cluster-2")) == "cluster-2"


def test_the_setting_does_not_stand_in_for_any_other_error() -> None:
    assert identity_problem(StatusError(500, "no"), Settings(cluster_id="cluster-2")) == (
        "cannot get namespace kube-system: no (HTTP 500); run again when the API server is well"
    )


def test_without_the_setting_a_forbidden_kube_system_is_an_error() -> None:
    assert identity_problem(StatusError(403, "no")) == (
        "cannot get namespace kube-system: no (HTTP 403); grant the verb get to who runs pic, or"
        " set pic:clusterId"
    )


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"metadata": {}}, "it has no uid"),
        ({"metadata": []}, "metadata is a list, not a map"),
        ("hello", "it is text, not a map"),
    ],
)
def test_a_cluster_without_a_uid_is_an_error(answer: object, why: str) -> None:
    assert identity_problem(answer) == f"namespace kube-system cannot be understood: {why}"


def crd(**spec: object) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"properties": {"spec": {"properties": spec}}}}
    return {"spec": {"versions": [{"name": "v1alpha1", "served": True, "schema": schema}]}}


def schema_problem(answer: object) -> str:
    with pytest.raises(ClusterError) as caught:
        cluster.resource_schema(canned({CRD: answer}), DEFAULT)
    return str(caught.value)


def test_the_installed_crd_decides_the_schema() -> None:
    transport = canned({CRD: crd(target={}, httpConfig={"required": ["subdomain"]})})

    assert cluster.resource_schema(transport, DEFAULT) == Schema(
        single_target=True, subdomain_optional=False, tunnel_namespace=False, protection=False
    )


@pytest.mark.parametrize(
    ("setting", "schema"),
    [
        (ResourceSchema.TARGETS, live.SCHEMA_TARGETS),
        (ResourceSchema.TARGET, live.SCHEMA_TARGET),
    ],
)
def test_a_schema_that_is_set_is_not_looked_up(setting: ResourceSchema, schema: Schema) -> None:
    assert cluster.resource_schema(canned({}), Settings(resource_schema=setting)) == schema


def test_without_the_target_pangolin_the_crd_is_not_looked_up() -> None:
    settings = Settings(targets=(TargetName.PIHOLE,))

    assert cluster.resource_schema(canned({}), settings) == live.SCHEMA_TARGETS


def test_a_missing_crd_comes_with_the_install_hint() -> None:
    assert schema_problem(StatusError(404, "no")) == (
        "the cluster has no CRD for PangolinResource: install the CRDs of the Pangolin operator,"
        " or check that this is the right cluster"
    )


def test_a_forbidden_crd_names_the_setting_that_stands_in() -> None:
    assert schema_problem(StatusError(403, "no")) == (
        "cannot get the CRD of PangolinResource: no (HTTP 403); grant the verb get to who runs"
        " pic, or set pic:resourceSchema"
    )


def test_a_crd_of_a_strange_shape_is_an_error() -> None:
    assert schema_problem({"spec": []}) == (
        "the CRD of PangolinResource cannot be understood: spec is a list, not a map"
    )


# The connection, to a server of our own.


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as made:
        yield made


def connected(api: Api, tmp_path: Path) -> cluster.ApiTransport:
    return cluster.connect(DEFAULT, {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}, HASTE)


def failure(transport: cluster.ApiTransport, method: str = "GET") -> str:
    with pytest.raises(ClusterError) as caught:
        transport.request(method, "/x", None)
    return str(caught.value)


def test_a_get_sends_the_credentials_and_no_body(api: Api, tmp_path: Path) -> None:
    api.says("/x", Answer({"it": "is"}))

    assert connected(api, tmp_path).get("/x") == {"it": "is"}

    asked = api.asked[0]
    assert (asked.method, asked.path, asked.body) == ("GET", "/x", b"")
    assert {key.lower(): value for key, value in asked.headers.items()} == {
        "accept": "application/json",
        "accept-encoding": "identity",
        "authorization": f"Bearer {TOKEN}",
        "host": f"127.0.0.1:{api.port}",
        "user-agent": asked.headers["User-Agent"],
    }


@pytest.mark.parametrize(
    ("method", "content"), [("POST", "application/json"), ("PATCH", "application/merge-patch+json")]
)
def test_a_body_is_sent_as_what_it_is(api: Api, tmp_path: Path, method: str, content: str) -> None:
    api.says("/x", Answer({}, 201))

    assert connected(api, tmp_path).request(method, "/x", {"a": "ü"}) == {}

    asked = api.asked[0]
    assert (asked.method, asked.headers["Content-Type"]) == (method, content)
    assert json.loads(asked.body) == {"a": "ü"}


def test_what_the_server_says_no_to_has_its_status_and_words(api: Api, tmp_path: Path) -> None:
    api.refuses("/x", 403, "you may not")

    with pytest.raises(StatusError) as caught:
        connected(api, tmp_path).get("/x")

    assert (caught.value.status, str(caught.value)) == (403, "you may not")


@pytest.mark.parametrize("body", [b"<html>", b'"text"', b"{}"])
def test_a_no_without_words_is_still_a_no(api: Api, tmp_path: Path, body: bytes) -> None:
    api.says("/x", Answer(body, 404))

    with pytest.raises(StatusError, match=r"^no reason given$"):
        connected(api, tmp_path).get("/x")


def test_a_yes_that_is_no_json_is_an_error(api: Api, tmp_path: Path) -> None:
    api.says("/x", Answer(b"<html>"))

    assert failure(connected(api, tmp_path)) == (
        f"{api.server}/x answered with something that is not JSON"
    )


def test_a_server_that_is_busy_is_asked_again(api: Api, tmp_path: Path) -> None:
    api.says("/x", Answer({}, 429, {"Retry-After": "3600"}), Answer({}, 503), Answer([1]))

    assert connected(api, tmp_path).get("/x") == [1]
    assert len(api.asked) == 3


def test_a_server_that_stays_busy_is_told(api: Api, tmp_path: Path) -> None:
    api.refuses("/x", 429, "too many")

    with pytest.raises(StatusError, match=r"^too many$"):
        connected(api, tmp_path).get("/x")

    assert len(api.asked) == 4


def test_what_writes_is_not_sent_twice(api: Api, tmp_path: Path) -> None:
    api.refuses("/x", 503, "away")

    with pytest.raises(StatusError, match=r"^away$"):
        connected(api, tmp_path).request("POST", "/x", {})

    assert len(api.asked) == 1


def test_an_answer_that_is_cut_off_is_no_answer(api: Api, tmp_path: Path) -> None:
    api.says("/x", Answer({"items": ["a long list"]}, cut=True))

    said = failure(connected(api, tmp_path))

    assert said == (
        f"no answer from {api.server}: ('Connection broken: IncompleteRead(13 bytes read, 13 more"
        " expected)', IncompleteRead(13 bytes read, 13 more expected)). Check the network,"
        " KUBECONFIG and pic:context"
    )


def test_a_server_that_is_too_slow_is_no_answer(api: Api, tmp_path: Path) -> None:
    api.says("/x", Answer({}, delay=0.3), Answer({}))
    patience = cluster.Patience(read=0.05, backoff=0.0)
    config = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}

    transport = cluster.connect(DEFAULT, config, patience)

    assert failure(transport, "POST").endswith(
        "Read timed out. (read timeout=0.05). Check the network, KUBECONFIG and pic:context"
    )
    time.sleep(0.3)


def test_a_server_that_is_gone_is_no_answer(tmp_path: Path) -> None:
    with serving() as api:
        transport = connected(api, tmp_path)

    said = failure(transport)

    assert said.startswith(f"no answer from {api.server}: ")
    assert said.endswith("Connection refused. Check the network, KUBECONFIG and pic:context")


def test_a_server_without_tls_is_no_answer_to_who_expects_it(api: Api, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(kubeconfig(api.server.replace("http:", "https:"))))

    said = failure(cluster.connect(DEFAULT, {"KUBECONFIG": str(path)}, HASTE))

    assert said.startswith(f"no answer from https://127.0.0.1:{api.port}: ")


# Finding the way.


def no_way(settings: Settings, environment: Mapping[str, str]) -> str:
    with pytest.raises(ClusterError) as caught:
        cluster.connect(settings, environment)
    return str(caught.value)


REMEDY = ". Set KUBECONFIG, or pic:context to one of its contexts"


def test_a_kubeconfig_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert no_way(DEFAULT, {"KUBECONFIG": str(tmp_path / "none")}) == (
        "no way to the cluster: Invalid kube-config file. No configuration found." + REMEDY
    )


@pytest.mark.parametrize("text", ["{", "- a\n", "text", "clusters: 3\n", "current-context: 3\n"])
def test_a_kubeconfig_of_the_wrong_shape_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)

    said = no_way(DEFAULT, {"KUBECONFIG": str(path)})

    assert said.startswith("no way to the cluster: ")
    assert said.endswith(REMEDY)


def test_a_context_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(kubeconfig("http://one.example.com")))

    said = no_way(Settings(context="moon"), {"KUBECONFIG": str(path)})

    assert "moon" in said
    assert said.endswith(REMEDY)


def written(path: Path, server: str, context: str) -> str:
    text = yaml.safe_dump(kubeconfig(server, context)).replace("name: c", f"name: c-{context}")
    path.write_text(text.replace("cluster: c", f"cluster: c-{context}"))
    return str(path)


def test_several_kubeconfig_files_are_one(tmp_path: Path) -> None:
    one = written(tmp_path / "1", "http://one.example.com", "one")
    two = written(tmp_path / "2", "http://two.example.com", "two")
    environment = {"KUBECONFIG": f"{one}:{tmp_path / 'none'}:{two}"}

    assert cluster.connect(DEFAULT, environment).server == "http://one.example.com"
    assert cluster.connect(Settings(context="two"), environment).server == "http://two.example.com"


def test_the_kubeconfig_of_the_settings_wins(tmp_path: Path) -> None:
    one = written(tmp_path / "1", "http://one.example.com", "one")
    two = written(tmp_path / "2", "http://two.example.com/", "two")

    found = cluster.connect(Settings(kubeconfig=two), {"KUBECONFIG": one})

    assert found.server == "http://two.example.com"


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What a pod has: a service account in files, and the server in the environment."""
    (tmp_path / "token").write_text("of-the-pod")
    (tmp_path / "ca.crt").write_text("")
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
    return {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


def test_an_incomplete_service_account_is_told(pod: dict[str, str]) -> None:
    assert no_way(DEFAULT, pod) == (
        "no way to the cluster: Cert file exists but empty.. Set KUBECONFIG, or pic:context to one"
        " of its contexts"
    )


def test_in_a_pod_its_service_account_is_taken(pod: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("a certificate")

    found = cluster.connect(DEFAULT, pod)

    assert found.server == "https://10.0.0.1:443"
    assert found.api.configuration.auth_settings()["BearerToken"]["value"] == "bearer of-the-pod"


def test_a_kubeconfig_or_a_context_goes_before_the_pod(pod: dict[str, str], tmp_path: Path) -> None:
    path = written(tmp_path / "1", "http://one.example.com", "one")

    assert cluster.connect(DEFAULT, {**pod, "KUBECONFIG": path}).server == "http://one.example.com"
    assert no_way(Settings(context="moon"), pod).startswith("no way to the cluster: Invalid kube")
