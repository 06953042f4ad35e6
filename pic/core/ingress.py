"""Defines Ingresses, and the classes and Services that they name. No I/O.

`pic.core.model` has the other values. Everything here is as the cluster or a manifest file has it:
hosts and paths are not normalised, and a backend may not exist.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

# Kubernetes first deletes every object that names an object with this finalizer as its owner.
FOREGROUND = "foregroundDeletion"


@dataclass(frozen=True, slots=True)
class Deletion:
    """A deletion that Kubernetes has begun: the object goes once its finalizers are removed.

    Attributes:
        since: `metadata.deletionTimestamp` in RFC 3339 and UTC; empty if it cannot be read.
        finalizers: What the deletion waits for; empty while Kubernetes deletes the namespace.
    """

    since: str = ""
    finalizers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServiceBackend:
    """A backend that is a Service, as an Ingress names it.

    Attributes:
        service: The name of the Service, in the namespace of the Ingress.
        port: A port number or a port name; None if the Ingress has neither or both.
    """

    service: str
    port: int | str | None


@dataclass(frozen=True, slots=True)
class ResourceBackend:
    """A backend that is not a Service, which pic cannot expose; `description` is `kind/name`."""

    description: str


Backend = ServiceBackend | ResourceBackend


class PathType(StrEnum):
    """The path types of networking.k8s.io/v1.

    See https://kubernetes.io/docs/concepts/services-networking/ingress/#path-types.
    """

    EXACT = "Exact"
    PREFIX = "Prefix"
    IMPLEMENTATION_SPECIFIC = "ImplementationSpecific"


@dataclass(frozen=True, slots=True)
class IngressPath:
    """One path of a rule, as the Ingress has it.

    Attributes:
        path: Not normalised yet; empty if absent.
        backend: None if absent, which the API server refuses but a manifest file may have.
        where: Its place in the Ingress, such as `spec.rules[0].http.paths[1]`.
    """

    path: str
    kind: PathType
    backend: Backend | None
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of an Ingress.

    Attributes:
        host: Not normalised yet; empty for a rule about all hosts.
        paths: Empty for a rule without `http`, which leads to the default backend.
    """

    host: str
    paths: tuple[IngressPath, ...] = ()


@dataclass(frozen=True, slots=True)
class Slips:
    """What is wrong with the way in which a file writes the annotations of an Ingress.

    Attributes:
        not_text: The keys whose value YAML does not read as text, in the order of the file.
        repeated: The keys that occur more than once; `annotations` if the whole map does.
    """

    not_text: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ingress:
    """An Ingress of any class.

    Attributes:
        uid: Derived from namespace and name for an Ingress that only a manifest file has.
        created: The creation time in RFC 3339 and UTC; empty if unknown.
        class_name: `spec.ingressClassName`; empty if absent.
        annotations: A value is None if a manifest file has a null.
        going: The deletion of the Ingress or of its namespace; None if neither is being deleted.
        slips: What is wrong with its annotations in a file; nothing for a live Ingress.
        origin: The file and the line that it comes from; empty for a live Ingress. It decides
            nothing, so it does not make two Ingresses differ.
    """

    namespace: str
    name: str
    uid: str
    created: str = ""
    class_name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str | None] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    default_backend: Backend | None = None
    going: Deletion | None = None
    slips: Slips = Slips()
    origin: str = field(default="", compare=False)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of its rules as written, each of them once."""
        return tuple(dict.fromkeys(rule.host for rule in self.rules if rule.host))

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name

    @property
    def foreground(self) -> bool:
        """Whether it is being deleted in the foreground.

        Then the garbage collector has deleted its resources or will do so, and Kubernetes waits for
        that.
        """
        return self.going is not None and FOREGROUND in self.going.finalizers

    @property
    def age(self) -> tuple[bool, str, str, str]:
        """Sort key: the oldest first, those without a creation time last; then by key."""
        # Kubernetes stores whole seconds, and one `kubectl apply` creates several objects in one.
        # So the key has to decide between equal times.
        return not self.created, self.created, self.namespace, self.name

    @property
    def precedence(self) -> str:
        """Why it comes first among others, as messages say it: by age, or in files by its name."""
        return "the oldest Ingress" if self.created else "the first Ingress by name"


@dataclass(frozen=True, slots=True)
class IngressClass:
    """An IngressClass; `default` is whether it is marked as the default class of the cluster."""

    name: str
    default: bool


@dataclass(frozen=True, slots=True)
class ServicePort:
    """A port of a Service.

    Attributes:
        target: `targetPort`, a number or a name; None if absent, which means the port itself.
        app_protocol: `appProtocol`, such as `https`; empty if absent.
        protocol: TCP, UDP or SCTP.
    """

    name: str
    port: int
    target: int | str | None = None
    app_protocol: str = ""
    protocol: str = "TCP"


@dataclass(frozen=True, slots=True)
class Service:
    """A Service, as far as a backend depends on it.

    Attributes:
        headless: It has no cluster IP, so its name resolves to its pods.
        external: Its type is ExternalName.
        external_name: The DNS name of such a Service; empty for the other types.
    """

    namespace: str
    name: str
    ports: tuple[ServicePort, ...] = ()
    headless: bool = False
    external: bool = False
    external_name: str = ""
