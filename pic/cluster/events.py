"""Creates Kubernetes Events for Ingresses, so that `kubectl describe` shows what pic did."""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime

from pic.cluster.listing import CORE, StatusError, Transport
from pic.core.json_values import Raw
from pic.core.notices import Level
from pic.report.event_texts import EventText

COMPONENT = "pic"
CONFLICT = 409
# Events suit the few changes of a normal run. Each one takes several milliseconds, and the API
# server keeps it for only an hour. The preview and the plan show many changes better. See
# docs/logs.md.
EVENTS_A_RUN = 100


@dataclass(frozen=True, slots=True)
class InvolvedObject:
    """The Ingress that an Event is about."""

    namespace: str
    name: str
    uid: str


def post(
    transport: Transport, subject: InvolvedObject, level: Level, reason: str, message: str
) -> None:
    """Create an Event for something that has just happened.

    Raises:
        StatusError: The API server answered with an error status.
        ClusterError: No answer arrived.
    """
    # The same thing may happen again, so the name is random.
    _create(transport, subject, _body(level, reason, message), uuid.uuid4().hex[:16])


def warn(transport: Transport, warning: EventText) -> None:
    """Create the Event for a warning, unless the API server still has it.

    The name of the Event derives from its text, so a second creation is a conflict, not a copy.

    Raises:
        StatusError: The API server answered with an error status other than a conflict.
        ClusterError: No answer arrived.
    """
    owner = warning.ingress
    subject = InvolvedObject(owner.namespace, owner.name, owner.uid)
    body = _body(Level.WARNING, warning.reason, warning.message)
    try:
        _create(transport, subject, body, warning.digest)
    except StatusError as error:
        if error.status != CONFLICT:
            raise


def _create(transport: Transport, subject: InvolvedObject, body: Raw, suffix: str) -> None:
    event = {
        **body,
        "metadata": {
            # At most 253 characters, and each part must end with a letter or a digit.
            "name": f"{subject.name[:200].rstrip('.-')}.{suffix}",
            "namespace": subject.namespace,
        },
        "involvedObject": {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "namespace": subject.namespace,
            "name": subject.name,
            "uid": subject.uid,
        },
    }
    try:
        transport.request("POST", f"{CORE}/namespaces/{subject.namespace}/events", event)
    except StatusError as error:
        # Together with the namespace, its Ingresses go, and whoever might read the Event.
        if not error.namespace_gone:
            raise


def _body(level: Level, reason: str, message: str) -> Raw:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "type": level.value,
        "reason": reason,
        "message": message[:1024],
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
