"""Resolves the backend of a path to the address, port and scheme that traffic goes to.

The address of a Service is its DNS name, `<service>.<namespace>.svc.<cluster domain>`: the tunnel
ends inside the cluster, where this name resolves. The scheme comes from the annotation, else from
`appProtocol` of the port, else from `pic:backendScheme`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pic.core import names
from pic.core.ingress import Backend, ResourceBackend, Service, ServiceBackend, ServicePort
from pic.core.model import Target
from pic.core.notices import Reason
from pic.planning import hosts
from pic.planning.notice_log import ProblemError
from pic.settings.parse import Settings

Services = Mapping[tuple[str, str], Service]

_HIGHEST_PORT = 65535


class BackendError(ProblemError):
    """Reports a backend that cannot receive traffic."""


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves backends.

    Attributes:
        services: The Services by namespace and name; None if Services were not read.
    """

    services: Services | None
    settings: Settings

    def resolve(self, backend: Backend | None, namespace: str, scheme: str | None) -> Target:
        """Return the target of a backend, without a path.

        Args:
            backend: The backend as written; None if it names no Service.
            namespace: The namespace of the Ingress.
            scheme: The scheme that the Ingress asks for; None if it does not.

        Raises:
            BackendError: The backend cannot be resolved, or is not allowed.
        """
        if backend is None:
            raise BackendError(Reason.BACKEND_INVALID, "the backend names no Service")
        if isinstance(backend, ResourceBackend):
            raise BackendError(
                Reason.RESOURCE_BACKEND,
                f"the backend is {backend.description}, but must be a Service",
            )
        # Objects in manifest files have not passed the API server, and the name becomes part of a
        # DNS name.
        if not names.is_label_name(backend.service):
            raise BackendError(
                Reason.BACKEND_INVALID, f"{backend.service[:80]!r} is not a valid name of a Service"
            )
        if self.services is None:
            return self._unchecked(backend, namespace, scheme)
        service = self.services.get((namespace, backend.service))
        if service is None:
            raise BackendError(
                Reason.BACKEND_NOT_FOUND,
                f"Service {backend.service} does not exist in namespace {namespace}",
            )
        if service.external:
            return self._external(service, backend, scheme)
        return self._checked(service, backend, scheme)

    def _unchecked(self, backend: ServiceBackend, namespace: str, scheme: str | None) -> Target:
        # A plan from files need not include the Services. Only they know which number a name has.
        if not isinstance(backend.port, int):
            raise BackendError(
                Reason.BACKEND_INVALID,
                f"port {backend.port or ''!r} of Service {backend.service} cannot be resolved,"
                " because no Services were read: add the Service, or use a port number",
            )
        port = _legal(backend.port, backend.service)
        return self._target(namespace, backend.service, port, scheme)

    def _checked(self, service: Service, backend: ServiceBackend, scheme: str | None) -> Target:
        port = _find(service, backend.port)
        number = _pod_port(service, port) if service.headless else port.port
        scheme = scheme or _scheme_of(service, port)
        return self._target(service.namespace, service.name, _legal(number, service.name), scheme)

    def _external(self, service: Service, backend: ServiceBackend, scheme: str | None) -> Target:
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
        listed = next(
            (port for port in service.ports if backend.port in (port.port, port.name)), None
        )
        number = (
            backend.port if isinstance(backend.port, int) else _find(service, backend.port).port
        )
        scheme = scheme or (_scheme_of(service, listed) if listed else None)
        method = scheme or self.settings.backend_scheme
        return Target(address, _legal(number, service.name), method)

    def _target(self, namespace: str, service: str, port: int, scheme: str | None) -> Target:
        address = f"{service}.{namespace}.svc.{self.settings.cluster_domain}"
        return Target(address, port, scheme or self.settings.backend_scheme)


def _find(service: Service, wanted: int | str | None) -> ServicePort:
    for port in service.ports:
        if wanted is not None and wanted in (port.port, port.name):
            return port
    if wanted is None:
        raise BackendError(
            Reason.BACKEND_INVALID,
            f"the backend must name one port of Service {service.name}, by number or by name",
        )
    ports = ", ".join(f"{port.port} {port.name}".strip() for port in service.ports) or "none"
    raise BackendError(
        Reason.BACKEND_INVALID,
        f"Service {service.name} has no port {wanted!r}; its ports are: {ports}",
    )


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


def _scheme_of(service: Service, port: ServicePort) -> str | None:
    match port.app_protocol.lower():
        case "http" | "https" as scheme:
            return scheme
        # HTTP/2 without TLS, as gRPC uses it. The field `method` of the CRD has no value for it.
        case "kubernetes.io/h2c":
            raise BackendError(
                Reason.UNSUPPORTED_PROTOCOL,
                f"port {port.port} of Service {service.name} speaks h2c, which Pangolin cannot"
                " forward: offer HTTP or HTTPS, or set the annotation backend-scheme",
            )
        case _:
            # Kubernetes allows any other name here, and it does not say whether TLS is used.
            return None


def _legal(port: int, service: str) -> int:
    if not 1 <= port <= _HIGHEST_PORT:
        raise BackendError(
            Reason.BACKEND_INVALID,
            f"port {port} of Service {service} is not in the range 1 to {_HIGHEST_PORT}",
        )
    return port
