"""Draws raw objects as clusters and files have them, valid ones and broken ones."""

from collections.abc import Mapping, Sequence

from hypothesis import HealthCheck
from hypothesis import settings as running
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from pic.core.names import NAME_LABEL, NAMESPACE_LABEL, STACK_LABEL, UID_LABEL
from pic.core.operator_objects import Schema
from pic.settings.parse import Settings, TargetName
from pic.snapshot.pangolin import SCHEMA_TARGET, SCHEMA_TARGETS

Raw = dict[str, object]
World = dict[str, list[Raw]]

BOTH = (TargetName.PANGOLIN, TargetName.PIHOLE)
SETTINGS = (
    Settings(targets=BOTH, pihole_target_ip="192.0.2.1"),
    Settings(targets=BOTH, adopt=True, allow_external_name=True, tunnel_namespaces=("net",)),
    Settings(host_policy={"aa": ("*.example.com", "example.com"), "bb": ("a.*",)}),
)
SCHEMAS = (SCHEMA_TARGETS, SCHEMA_TARGET, Schema(subdomain_optional=True))
FEW = running(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
MANY = running(FEW, max_examples=400)

all_settings = st.sampled_from(SETTINGS)
all_schemas = st.sampled_from(SCHEMAS)

STACK = "pic.prod"
PREFIX = "pangolin.ingress.k8s.io/"
NAMESPACES = ("aa", "bb")
NAMES = ("web", "api", "long-" + "n" * 240, "dotted.name")
HOSTS = (
    "a.example.com",
    "A.Example.com.",
    "b.example.com",
    "bücher.example.com",
    "x.y.example.com",
    "example.com",
    "a.example.org",
)
BAD_HOSTS = ("", "_", "*.example.com", "192.0.2.1", "nas", "a_b.example.com", "x" * 64 + ".com")
PATHS = (
    "/",
    "",
    "/foo",
    "/foo/",
    "/foo/bar",
    "/f.o",
    "/" + "l" * 500,
    "/" + "m" * 600,
    "/.well-known/x",
)
BAD_PATHS = ("foo", "/a b", "/a`b", "//", "/(?=x)", "/[", "/é", "/" + "n" * 1100)
SERVICES = ("web", "api", "pods", "far", "cm-acme-http-solver-x")
PORTS: tuple[object, ...] = (80, 81, 0, 70000, "http", "grpc", None)
TIMES = (None, "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z", "never")
WORDS = ("true", "false", "YES", "maybe", "", None)
ANNOTATIONS: dict[str, tuple[object, ...]] = {
    f"{PREFIX}enabled": ("true", "true", "false", "maybe"),
    f"{PREFIX}tunnel-name": ("default", "gone", "net/default", "bad name"),
    f"{PREFIX}domain-name": ("example.com", "example.org", "*"),
    f"{PREFIX}subdomain": ("www", "v1.2", "*"),
    f"{PREFIX}sso": WORDS,
    f"{PREFIX}block-access": WORDS,
    f"{PREFIX}path-regex": WORDS,
    f"{PREFIX}backend-scheme": ("http", "https", "ftp"),
    f"{PREFIX}unheard-of": ("x",),
    "nginx.ingress.kubernetes.io/canary": ("true", "false"),
    "pihole.io/register": ("true", "maybe"),
    "pihole.io/hosts": ("nas, *.lan", ""),
    "pihole.io/target-ip": ("192.0.2.1", "192.0.2.1,2001:db8::1", "x"),
}
RENAMING = (f"{PREFIX}domain-name", f"{PREFIX}subdomain")

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
keys = st.sampled_from(
    ("metadata", "name", "spec", "rules", "host", "ports", "port", "f:spec", "status", "domains")
) | st.text(max_size=4)
json_values: SearchStrategy[object] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


def some(options: Sequence[object]) -> SearchStrategy[object]:
    return st.sampled_from(options)


@st.composite
def annotations(draw: DrawFn, leave_out: Sequence[str] = ()) -> Raw:
    allowed = [key for key in ANNOTATIONS if key not in leave_out]
    chosen = draw(st.lists(st.sampled_from(allowed), max_size=3, unique=True))
    return {key: draw(some(ANNOTATIONS[key])) for key in chosen}


@st.composite
def backends(draw: DrawFn) -> Raw:
    port = draw(some(PORTS))
    named = {"name": port} if isinstance(port, str) else {"number": port}
    service: Raw = {"service": {"name": draw(some(SERVICES)), "port": named}}
    return draw(st.just(service) | st.just({"resource": {"kind": "Bucket", "name": "b"}}))


@st.composite
def ingress_paths(draw: DrawFn) -> Raw:
    return {
        "path": draw(some(PATHS) | some(BAD_PATHS)),
        "pathType": draw(some(("Prefix", "Exact", "ImplementationSpecific", None))),
        "backend": draw(backends()),
    }


@st.composite
def rules(draw: DrawFn, hosts: Sequence[str]) -> Raw:
    paths = draw(st.lists(ingress_paths(), max_size=3))
    return {"host": draw(some(hosts)), **({"http": {"paths": paths}} if paths else {})}


@st.composite
def deletions(draw: DrawFn) -> Raw:
    """Draw the metadata of an object that Kubernetes may be deleting."""
    if draw(st.integers(0, 9)):
        return {}
    finalizers = draw(some(("foregroundDeletion", "example.org/x")))
    return {"deletionTimestamp": "2025-01-01T00:00:00Z", "finalizers": [finalizers]}


@st.composite
def ingresses(
    draw: DrawFn, namespace: str, name: str, hosts: Sequence[str], leave_out: Sequence[str] = ()
) -> Raw:
    metadata: Raw = {
        "namespace": namespace,
        "name": name,
        "uid": f"uid-{namespace}-{name}",
        "creationTimestamp": draw(some(TIMES)),
        "annotations": draw(annotations(leave_out)),
        **draw(deletions()),
    }
    spec: Raw = {
        "ingressClassName": draw(some(("pangolin", "pangolin", "pangolin-eu", "nginx"))),
        "rules": draw(st.lists(rules(hosts), max_size=4)),
    }
    if draw(st.booleans()):
        spec["defaultBackend"] = draw(backends())
    return {"kind": "Ingress", "metadata": metadata, "spec": spec}


def named(kind: str, namespace: str, name: str, **more: object) -> Raw:
    return {"kind": kind, "metadata": {"namespace": namespace, "name": name}, **more}


def services(namespace: str) -> list[Raw]:
    ports = [{"port": 80, "name": "http"}, {"port": 81, "appProtocol": "https"}]
    grpc = [*ports, {"port": 82, "name": "grpc", "appProtocol": "kubernetes.io/h2c"}]
    pods = [{"port": 80, "name": "http", "targetPort": 8080}, {"port": 81, "targetPort": "x"}]
    far = {"type": "ExternalName", "externalName": "far.example.net", "ports": ports}
    return [
        named("Service", namespace, "web", spec={"ports": ports}),
        named("Service", namespace, "api", spec={"ports": grpc}),
        named("Service", namespace, "pods", spec={"clusterIP": "None", "ports": pods}),
        named("Service", namespace, "far", spec=far),
    ]


@st.composite
def tunnels(draw: DrawFn) -> list[Raw]:
    places = draw(st.lists(st.sampled_from((*NAMESPACES, "net")), max_size=3, unique=True))
    ref = draw(some(({}, {"name": "acme", "namespace": "net"}, {"name": "none"})))
    status = {"status": draw(some(("Ready", "Creating", None)))}
    raws = [
        named("PangolinTunnel", place, "default", spec={"organizationRef": ref}) for place in places
    ]
    return [{**tunnel, "status": status} for tunnel in raws]


@st.composite
def organizations(draw: DrawFn) -> list[Raw]:
    bases = draw(
        st.lists(st.sampled_from(("example.com", "y.example.com", "example.org")), max_size=2)
    )
    domains = [
        {"baseDomain": base, "domainId": draw(some(("d1", None))), "verified": draw(st.booleans())}
        for base in bases
    ]
    return [named("PangolinOrganization", "net", "acme", status={"domains": domains})]


@st.composite
def live_objects(draw: DrawFn, namespace: str, name: str) -> Raw:
    owner = draw(st.sampled_from(NAMES))
    uid = f"uid-{namespace}-{owner}"
    seed = {NAME_LABEL: owner[:63], NAMESPACE_LABEL: namespace, UID_LABEL: uid[:63].strip("-")}
    stack = {**seed, STACK_LABEL: STACK}
    domain = draw(some(("example.com", "example.org")))
    labels = draw(some((stack, stack, {**stack, STACK_LABEL: "pic.test"}, seed, {})))
    owned = draw(some(({}, {"f:targets": {}, "f:name": {}}, {"f:httpConfig": {"f:sso": {}}})))
    managed = [{"manager": draw(some(("pic", "other"))), "fieldsV1": {"f:spec": owned}}]
    metadata: Raw = {
        "namespace": namespace,
        "name": name,
        "uid": f"uid-{name}",
        "labels": labels,
        "ownerReferences": draw(some(([], [{"kind": "Ingress", "name": owner, "uid": uid}]))),
        **({"managedFields": managed} if draw(st.booleans()) else {}),
        **draw(deletions()),
    }
    spec: Raw = {
        "name": "shown",
        "tunnelRef": {"name": "default"},
        "httpConfig": {
            "domainName": domain,
            "subdomain": draw(some(("a", "b", "x.y", "www"))),
            "sso": draw(st.booleans()),
        },
        "targets": [{"ip": "old", "port": 80, "priority": 100}],
    }
    return {"kind": "PangolinResource", "metadata": metadata, "spec": spec}


@st.composite
def worlds(draw: DrawFn, leave_out: Sequence[str] = ()) -> World:
    """Draw a small cluster in which hosts, names and namespaces often coincide."""
    keys = st.tuples(st.sampled_from(NAMESPACES), st.sampled_from(NAMES))
    where = draw(st.lists(keys, max_size=4, unique=True))
    world: World = {
        "Ingress": [draw(ingresses(*key, (*HOSTS, *BAD_HOSTS), leave_out)) for key in where],
        "PangolinResource": [
            draw(live_objects(namespace, f"pic-{at}"))
            for at, namespace in enumerate(draw(st.lists(st.sampled_from(NAMESPACES), max_size=4)))
        ],
    }
    if draw(st.booleans()):
        world["Service"] = [service for namespace in NAMESPACES for service in services(namespace)]
    if draw(st.booleans()):
        world["Namespace"] = [
            {"kind": "Namespace", "metadata": {"name": namespace, **draw(deletions())}}
            for namespace in NAMESPACES
        ]
    if draw(st.booleans()):
        world["PangolinTunnel"] = draw(tunnels())
        world["PangolinOrganization"] = draw(organizations())
    return world


@st.composite
def damaged(draw: DrawFn, value: object) -> object:
    """Draw the value with one part of it replaced by any JSON value."""
    if isinstance(value, Mapping) and value and draw(st.integers(0, 4)):
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: draw(damaged(value[key]))}
    if isinstance(value, list) and value and draw(st.integers(0, 4)):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], draw(damaged(value[at])), *value[at + 1 :]]
    return draw(json_values)


@st.composite
def damaged_worlds(draw: DrawFn) -> World:
    """Draw a cluster in which every object is damaged but is still a map."""
    world = draw(worlds())
    kinds = {**world, "IngressClass": [named("IngressClass", "", "pangolin")]}
    return {
        kind: [broken for raw in raws if isinstance(broken := draw(damaged(raw)), dict)]
        for kind, raws in kinds.items()
    }


@st.composite
def sound_worlds(draw: DrawFn) -> World:
    """Draw a cluster in which every Ingress is valid, so that every host is exposed."""
    return {
        "Ingress": [draw(sound_ingresses(*key)) for key in zip(NAMESPACES, NAMES, strict=False)]
    }


@st.composite
def sound_ingresses(draw: DrawFn, namespace: str, name: str) -> Raw:
    labels = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True)
    hosts = draw(st.lists(labels, min_size=1, max_size=3, unique=True))
    switches = {
        key: draw(some(("no", "0", "off", "true")))
        for key in (f"{PREFIX}sso", f"{PREFIX}block-access")
    }
    scheme = {f"{PREFIX}backend-scheme": draw(some(("http", "https")))}
    metadata: Raw = {
        "namespace": namespace,
        "name": name,
        "uid": f"uid-{namespace}-{name}",
        "annotations": {**switches, **scheme, f"{PREFIX}tunnel-name": draw(labels)},
    }
    rules = [
        {"host": f"{host}.{draw(labels)}.example.com", "http": {"paths": draw(sound_paths())}}
        for host in hosts
    ]
    return {
        "kind": "Ingress",
        "metadata": metadata,
        "spec": {"ingressClassName": "pangolin", "rules": rules},
    }


def sound_paths() -> SearchStrategy[list[Raw]]:
    text = st.from_regex(r"(/[A-Za-z0-9.+*(){}|$^~!@:=&,_-]{1,12}){1,4}/?", fullmatch=True)
    backend = st.builds(
        lambda port: {"service": {"name": "web", "port": {"number": port}}}, st.integers(1, 65535)
    )
    kinds = st.sampled_from(("Prefix", "Exact", "ImplementationSpecific"))
    path: SearchStrategy[Raw] = st.fixed_dictionaries(
        {"path": st.just("/") | text, "pathType": kinds, "backend": backend}
    )
    return st.lists(path, min_size=1, max_size=4)
