"""Resolves the backend of a path to the address, port and scheme that traffic goes to.

The address of a Service is its DNS name, `<service>.<namespace>.svc.<cluster domain>`: the tunnel
ends inside the cluster, where this name resolves. The scheme comes from the annotation, else from
`appProtocol` of the port, else from `pic:backendScheme`. Only TCP ports can be backends.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pic.core import names
from pic.core.ingress import Backend, ResourceBackend, Service, ServiceBackend, ServicePort
from pic.core.model import Target
from pic.core.notices import Reason
from pic.core.variables import not_filled_in
from pic.planning import hosts
from pic.planning.absences import Absences
from pic.planning.notice_log import Problem, ProblemError
from pic.settings.kinds import SERVICE
from pic.settings.parse import Settings

Services = Mapping[tuple[str, str], Service]

_HIGHEST_PORT = 65535
_TCP = "TCP"
_HTTPS_PORT, _HTTPS_NAME = 443, "https"

# The words of `appProtocol` that say which scheme a port speaks, in lower case. The words below
# kubernetes.io are those of Kubernetes, and the others those that people write. WebSockets begin as
# HTTP requests.
_SCHEMES = {
    **dict.fromkeys(("http", "ws", "kubernetes.io/ws"), "http"),
    **dict.fromkeys(("https", "tls", "ssl", "wss", "kubernetes.io/wss", "grpcs"), "https"),
}
# HTTP/2 without TLS, as gRPC uses it. The field `method` of the CRD has no value for it.
_H2C = frozenset({"grpc", "http2", "h2c", "kubernetes.io/h2c"})


# What decides the scheme of a backend.
BY_ANNOTATION = "annotation pangolin.ingress.k8s.io/backend-scheme"
BY_PORT, BY_SETTING = "appProtocol of the port", "pic:backendScheme"


class BackendError(ProblemError):
    """Reports a backend that cannot receive traffic."""


class Resolved(NamedTuple):
    """A target without a path, and perhaps a remark about how its scheme came about.

    Attributes:
        scheme_origin: What decided the scheme.
    """

    target: Target
    remark: Problem | None = None
    scheme_origin: str = BY_ANNOTATION


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves backends.

    Attributes:
        services: The Services by namespace and name; None if Services were not read.
        absences: Decides what it means that a Service was not read.
    """

    services: Services | None
    settings: Settings
    absences: Absences = field(default_factory=Absences)

    def resolve(self, backend: Backend | None, namespace: str, scheme: str | None) -> Resolved:
        """Return the target of a backend, without a path.

        Args:
            backend: The backend as written; None if it names no Service.
            namespace: The namespace of the Ingress.
            scheme: The scheme that the Ingress asks for; None if it does not.

        Raises:
            BackendError: The backend cannot be resolved, or is not allowed.
        """
        backend = _usable(backend)
        if self.services is None:
            return self._unchecked(backend, namespace, scheme, "no Services were read")
        service = self.services.get((namespace, backend.service))
        if service is None and self.absences.tolerates(SERVICE, namespace, backend.service):
            return self._unchecked(backend, namespace, scheme, "the Service is not in the files")
        if service is None:
            raise BackendError(
                Reason.BACKEND_NOT_FOUND,
                f"Service {backend.service} does not exist in namespace {namespace}",
            )
        if service.external:
            return self._external(service, backend, scheme)
        return self._checked(service, backend, scheme)

    def _unchecked(
        self, backend: ServiceBackend, namespace: str, scheme: str | None, why: str
    ) -> Resolved:
        # A plan from files need not include the Services. Only they know which number a name has.
        if not isinstance(backend.port, int):
            raise BackendError(
                Reason.BACKEND_INVALID,
                f"port {backend.port or ''!r} of Service {backend.service} cannot be resolved,"
                f" because {why}: add the Service, or use its port number",
            )
        number = _legal(backend.port, backend.service)
        address = self._address(backend.service, namespace)
        return self._resolved(address, number, backend.service, ServicePort("", number), scheme)

    def _checked(self, service: Service, backend: ServiceBackend, scheme: str | None) -> Resolved:
        port = _find(service, backend.port)
        number = _pod_port(service, port) if service.headless else port.port
        address = self._address(service.name, service.namespace)
        number = _legal(number, service.name)
        return self._resolved(address, number, service.name, port, scheme)

    def _external(self, service: Service, backend: ServiceBackend, scheme: str | None) -> Resolved:
        if not self.settings.allow_external_name:
            raise BackendError(
                Reason.EXTERNAL_NAME_REFUSED,
                f"Service {service.name} has type ExternalName, which could expose any address:"
                " use another type, or set pic:allowExternalName",
            )
        try:
            address = hosts.normalise(service.external_name)
        except hosts.UnusableHostError as error:
            raise BackendError(
                Reason.BACKEND_INVALID,
                f"the externalName of Service {service.name} is not usable: {error}",
            ) from error
        # An ExternalName Service needs no ports, so a number that it does not list is fine.
        listed = bool(_matching(service, backend.port))
        port = (
            ServicePort("", backend.port)
            if isinstance(backend.port, int) and not listed
            else _find(service, backend.port)
        )
        number = _legal(port.port, service.name)
        return self._resolved(address, number, service.name, port, scheme)

    def _address(self, service: str, namespace: str) -> str:
        return f"{service}.{namespace}.svc.{self.settings.cluster_domain}"

    def _resolved(
        self, address: str, number: int, service: str, port: ServicePort, scheme: str | None
    ) -> Resolved:
        """Return a target with the scheme of the annotation, of the port or of the settings."""
        if scheme:
            return Resolved(Target(address, number, scheme))
        by_port, remark = self._scheme_of(service, port)
        method = by_port or self.settings.backend_scheme
        if by_port is None and remark is None and method == "http":
            remark = _guess(service, port)
        origin = BY_PORT if by_port else BY_SETTING
        return Resolved(Target(address, number, method), remark, origin)

    def _scheme_of(self, service: str, port: ServicePort) -> tuple[str | None, Problem | None]:
        # Pangolin itself can forward HTTP/2 without TLS, which the CRD of operators cannot say.
        if self.settings.publishes and port.app_protocol.strip().lower() in _H2C:
            return "h2c", None
        return _scheme_of(service, port)


def _usable(backend: Backend | None) -> ServiceBackend:
    """Return a backend that can name a Service and a port; raise an error for any other."""
    if backend is None:
        raise BackendError(Reason.BACKEND_INVALID, "the backend names no Service")
    if isinstance(backend, ResourceBackend):
        raise BackendError(
            Reason.RESOURCE_BACKEND,
            f"the backend is {backend.description}, but must be a Service",
        )
    port = backend.port if isinstance(backend.port, str) else ""
    if variable := not_filled_in(backend.service) or not_filled_in(port):
        raise BackendError(Reason.BACKEND_INVALID, f"the backend has a {variable}")
    # Objects in manifest files have not passed the API server, and the name becomes part of a
    # DNS name.
    if not names.is_label_name(backend.service):
        raise BackendError(
            Reason.BACKEND_INVALID, f"{backend.service[:80]!r} is not a valid name of a Service"
        )
    if port.strip().isdigit():
        raise BackendError(
            Reason.BACKEND_INVALID,
            f"port {port[:20]!r} of Service {backend.service} is text, and no name of a port has"
            " only digits: remove the quotes",
        )
    return backend


def _matching(service: Service, wanted: int | str | None) -> list[ServicePort]:
    """Return the ports with a number or a name."""
    return [
        port for port in service.ports if wanted is not None and wanted in (port.port, port.name)
    ]


def _find(service: Service, wanted: int | str | None) -> ServicePort:
    matching = _matching(service, wanted)
    # A Service may have one number for several protocols, such as 443 for HTTP/3 over UDP.
    if tcp := next((port for port in matching if port.protocol == _TCP), None):
        return tcp
    if wanted is None:
        raise BackendError(
            Reason.BACKEND_INVALID,
            f"the backend must name one port of Service {service.name}, by number or by name",
        )
    if matching:
        protocols = " and ".join(sorted({port.protocol for port in matching}))
        raise BackendError(
            Reason.BACKEND_INVALID,
            f"port {wanted} of Service {service.name} is a {protocols} port, but only TCP ports can"
            " be exposed",
        )
    ports = ", ".join(map(_shown, service.ports)) or "none"
    raise BackendError(
        Reason.BACKEND_INVALID,
        f"Service {service.name} has no port {wanted!r}; its ports are: {ports}",
    )


def _shown(port: ServicePort) -> str:
    protocol = "" if port.protocol == _TCP else f"/{port.protocol}"
    return f"{port.port}{protocol} {port.name}".strip()


def _pod_port(service: Service, port: ServicePort) -> int:
    """Return the port of the pods, which traffic to a headless Service reaches directly."""
    # A named port can have another number in each pod, and pic does not read the pods.
    if isinstance(port.target, str):
        raise BackendError(
            Reason.BACKEND_INVALID,
            f"headless Service {service.name} has targetPort {port.target!r}, but needs a number",
        )
    # In Kubernetes, an absent targetPort means the port of the Service.
    return port.target or port.port


def _scheme_of(service: str, port: ServicePort) -> tuple[str | None, Problem | None]:
    """Return the scheme that `appProtocol` of a port asks for, or a remark that it says nothing."""
    word = port.app_protocol.strip().lower()
    if word in _H2C:
        raise BackendError(
            Reason.UNSUPPORTED_PROTOCOL,
            f"port {port.port} of Service {service} speaks HTTP/2 without TLS (appProtocol"
            f" {word}), which the operator cannot forward: offer HTTP or HTTPS, or set the"
            " annotation backend-scheme",
        )
    if not word or word in _SCHEMES:
        return _SCHEMES.get(word), None
    # Kubernetes allows any other name here, and it does not say whether TLS is used.
    message = (
        f"appProtocol {port.app_protocol[:40]} of port {port.port} of Service {service} names"
        " neither http nor https, so pic ignores it: set the annotation backend-scheme if the port"
        " speaks HTTPS"
    )
    return None, Problem(Reason.APP_PROTOCOL_IGNORED, message)


def _guess(service: str, port: ServicePort) -> Problem | None:
    """Return a remark if a port seems to speak HTTPS, although nothing says so."""
    if port.port != _HTTPS_PORT and port.name.lower() != _HTTPS_NAME:
        return None
    return Problem(
        Reason.SCHEME_GUESS,
        f"port {port.port} of Service {service} looks like HTTPS, but pic uses http: if it speaks"
        " HTTPS, set the annotation pangolin.ingress.k8s.io/backend-scheme, or appProtocol of the"
        " port, to https",
    )


def _legal(port: int, service: str) -> int:
    if not 1 <= port <= _HIGHEST_PORT:
        raise BackendError(
            Reason.BACKEND_INVALID,
            f"port {port} of Service {service} is not in the range 1 to {_HIGHEST_PORT}",
        )
    return port
